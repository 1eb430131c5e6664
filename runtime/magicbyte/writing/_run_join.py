"""Join the runs of a partition: in order, with final offsets, as parts that become segments."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, Scan
from magicbyte.errors import InputError, error_of
from magicbyte.findings import Finding
from magicbyte.limits import DEFAULT_LIMITS
from magicbyte.writing._output_parts import EntryBytes, NewSegment, OutputPart, starts_of
from magicbyte.writing.record_runs import RecordRun
from magicbyte_formats.wire import RecordBatchHeader

CHUNK_BYTES = 4 << 20
"""Bytes of a run that are read at a time, unless one batch is larger."""

BASE_OFFSET = RecordBatchHeader.POSITIONS["base_offset"]
OFFSET_BYTES = 8


def joined_runs(
    folder: Path, runs: Sequence[RecordRun], starting_offset: int
) -> Iterator[OutputPart]:
    """Yield the batches of all *runs* of a partition, whose files are in *folder*.

    Runs with offsets of their own are joined in the order of these, and gaps stay. Others get consecutive offsets from
    *starting_offset* on, in the order in which they are given: no checksum covers the base offset of a batch.
    Raises InputError where runs overlap.
    """
    if runs[0].has_own_offsets:
        runs = sorted(runs, key=lambda run: run.first_offset)
        check_no_overlap(runs)
        next_offset = runs[0].first_offset
    else:
        next_offset = starting_offset
    yield NewSegment(next_offset)
    for run in runs:
        shift = 0 if run.has_own_offsets else next_offset
        yield from _shifted_batches(folder / run.file_name, shift)
        next_offset = run.last_offset + 1 + shift


def check_no_overlap(runs: Sequence[RecordRun]) -> None:
    """Raise InputError where one of *runs*, which are sorted, begins before the previous one ends."""
    for before, after in pairwise(runs):
        if after.first_offset <= before.last_offset:
            raise InputError(
                f"offsets {after.first_offset} to {after.last_offset} of {after.partition_name} in one task, and "
                f"{before.first_offset} to {before.last_offset} in another",
                "offsets of tasks that do not overlap: repartition the rows by topic and partition, then sort each "
                "task by offset",
            )


def _obstacle(scan: Scan) -> Finding:
    """Return the finding about the batch at which *scan* stopped."""
    if scan.stopped_by is not None:
        return scan.stopped_by
    assert scan.unsound is not None
    return scan.unsound.over_limit(DEFAULT_LIMITS)


def _shifted_batches(path: Path, shift: int) -> Iterator[EntryBytes]:
    """Yield the batches of the file *path*, with *shift* added to their offsets."""
    scanner = engine("auto")
    num_bytes, position, size = path.stat().st_size, 0, CHUNK_BYTES
    with path.open("rb") as file:
        while position < num_bytes:
            file.seek(position)
            data = bytearray(file.read(size))
            scan = scanner.scan(Chunk(memoryview(data), 0), verify=False, limits=DEFAULT_LIMITS)
            if not scan.end:
                if len(data) == num_bytes - position:
                    raise error_of(_obstacle(scan))
                size *= 2  # the next batch is larger than the chunk
                continue
            if shift:
                positions = starts_of(scan.entries) + BASE_OFFSET
                fields = np.frombuffer(data, np.uint8)
                shifted = scan.entries.column("first_offset") + shift
                numbers = shifted.astype(">i8").view(np.uint8).reshape(-1, OFFSET_BYTES)
                fields[positions[:, None] + np.arange(OFFSET_BYTES)] = numbers
                yield EntryBytes(memoryview(data)[: scan.end])
            else:
                yield EntryBytes(memoryview(data)[: scan.end], scan.entries)
            position += scan.end
            size = CHUNK_BYTES
