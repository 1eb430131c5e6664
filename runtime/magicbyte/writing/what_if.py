"""Estimate the size of logs with another codec, format or batch size, from samples, and the CPU that a conversion takes."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from magicbyte.errors import InputError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import PartitionReader, SourceRun
from magicbyte.writing._output_parts import EntryBytes
from magicbyte.writing.convert import Conversion, PartitionConverter
from magicbyte.writing.rewrite import ChangeCounts, RefusedError

SAMPLES = 32
"""Pieces of a partition, of 4 MiB each, that are converted by default."""

CONFIDENCE = 1.96
"""Standard errors on either side of the estimate that hold the true value in 95 of 100 cases."""

SEED = 1
"""Seed of the choice of samples: the same log gives the same estimate."""


@dataclass(slots=True)
class SizeEstimate:
    """Size of a partition after a conversion.

    Attributes:
        topic: Topic of the partition.
        partition: Number of the partition.
        log_bytes: Bytes of the batches now.
        sampled_bytes: Bytes of the batches that were converted.
        estimated_bytes: Bytes after the conversion. None if the partition cannot be converted.
        error_bytes: Half of the interval in which the true size is in 95 of 100 cases; 0 if all was converted.
        cpu_seconds: CPU time of the conversion, without reading and writing files, on this machine.
        refusal: Reason why the partition cannot be converted; None if it can.
    Example:
        >>> from magicbyte.writing.what_if import SizeEstimate
        >>> SizeEstimate("t", 0, 200, 200, 100.0, 0.0, 0.1).ratio
        0.5
    """

    topic: str | None
    partition: int | None
    log_bytes: int
    sampled_bytes: int
    estimated_bytes: float | None
    error_bytes: float
    cpu_seconds: float
    refusal: str | None = None

    @property
    def ratio(self) -> float | None:
        """Bytes after the conversion, divided by the bytes now; None without either."""
        if self.estimated_bytes is None or not self.log_bytes:
            return None
        return self.estimated_bytes / self.log_bytes

    def row(self) -> dict[str, Any]:
        """Return the attributes as a dict, bytes rounded.

        Example:
            >>> from magicbyte.writing.what_if import SizeEstimate
            >>> SizeEstimate("t", 0, 200, 200, 100.2, 0.0, 0.1).row()["estimated_bytes"]
            100
        """
        estimated = self.estimated_bytes
        return {
            "topic": self.topic,
            "partition": self.partition,
            "log_bytes": self.log_bytes,
            "sampled_bytes": self.sampled_bytes,
            "estimated_bytes": None if estimated is None else round(estimated),
            "error_bytes": math.ceil(self.error_bytes),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "refusal": self.refusal,
        }


@dataclass(slots=True)
class _Samples:
    """Sizes of pieces before and after a conversion."""

    sizes_before: list[int] = field(default_factory=list)
    sizes_after: list[int] = field(default_factory=list)
    cpu_seconds: float = 0.0

    def estimate(self, log: PartitionLog, num_pieces: int, log_bytes: int) -> SizeEstimate:
        """Return the estimate for the partition *log* of *num_pieces*, which has *log_bytes*."""
        count, sampled = len(self.sizes_before), sum(self.sizes_before)
        if not sampled:
            return SizeEstimate(log.topic, log.partition, log_bytes, 0, float(log_bytes), 0.0, 0.0)
        ratio = sum(self.sizes_after) / sampled
        error = 0.0
        if count < num_pieces:
            # The ratio estimator: pieces differ in how far they are from the common ratio.
            residuals = [
                b - ratio * a for a, b in zip(self.sizes_before, self.sizes_after, strict=True)
            ]
            variance = sum(residual**2 for residual in residuals) / max(count - 1, 1)
            unsampled = 1 - count / num_pieces
            mean_error = math.sqrt(unsampled * variance / count) / (sampled / count)
            error = CONFIDENCE * mean_error * log_bytes
        return SizeEstimate(
            log.topic,
            log.partition,
            log_bytes,
            sampled,
            ratio * log_bytes,
            error,
            self.cpu_seconds * log_bytes / sampled,
        )


def what_if(
    dataset: Dataset, conversion: Conversion, *, num_samples: int = SAMPLES
) -> Iterator[SizeEstimate]:
    """Yield an estimate for each partition of a conversion that is not made.

    Args:
        dataset: Partitions, from `open`; damage is left out with ``on_damage="skip"``.
        conversion: The conversion, from `conversion_of`.
        num_samples: Pieces of a partition, of 4 MiB each, that are converted in memory. Smaller partitions are
            converted as a whole, and their estimates have no error.
    Returns:
        An estimate per partition, in the order of the dataset.
    Raises:
        InputError: *num_samples* is below 2.
    Example:
        >>> from magicbyte.writing.convert import conversion_of
        >>> from magicbyte.writing.what_if import what_if
        >>> dataset = mb.open("log-0", topics=["fenced"])
        >>> [estimate.error_bytes for estimate in what_if(dataset, conversion_of(codec="lz4"))]
        [0.0, 0.0]
    """
    if num_samples < 2:
        raise InputError(f"num_samples {num_samples}", "at least 2: one sample shows no error")
    for log in dataset.logs:
        yield _estimate(PartitionReader(dataset, log), conversion, num_samples)


def _estimate(
    partition_reader: PartitionReader, conversion: Conversion, num_samples: int
) -> SizeEstimate:
    samples, log = _Samples(), partition_reader.log
    num_pieces, pieces = partition_reader.sampled_parts(num_samples, Random(SEED))
    for sampled_runs in pieces:
        start = time.process_time()
        try:
            after = _converted_bytes(sampled_runs, conversion, partition_reader)
        except RefusedError as error:
            return SizeEstimate(
                log.topic, log.partition, log.log_bytes, 0, None, 0.0, 0.0, str(error)
            )
        samples.cpu_seconds += time.process_time() - start
        samples.sizes_before.append(sum(len(run.data) for run in sampled_runs))
        samples.sizes_after.append(after)
    return samples.estimate(log, num_pieces, log.log_bytes)


def _converted_bytes(
    sampled_runs: list[SourceRun], conversion: Conversion, partition_reader: PartitionReader
) -> int:
    """Return the bytes of the entries of *sampled_runs* after the *conversion*."""
    converter = PartitionConverter(conversion, partition_reader.limits, ChangeCounts())
    parts = converter.parts(iter(sampled_runs))
    return sum(len(part.data) for part in parts if isinstance(part, EntryBytes))
