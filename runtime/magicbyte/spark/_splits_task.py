"""A task of Spark that reads splits, pickled in few bytes: the driver sends millions of splits to the JVM.

A pickled split is 500 bytes of names of classes and values that nearly all splits share. Compressed with
a dictionary that has these, it is about 100 bytes by itself, and 20 in a task of many.
"""

import pickle
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from pyspark.sql.datasource import InputPartition

import magicbyte
from magicbyte._transactions import PlannedOutcomes
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.split import Split

PICKLE_PROTOCOL = 5

PACKED_TOGETHER = 1 << 10
"""Splits that are packed together while they wait for their task."""


class SplitsTask(InputPartition):
    """Splits that one task reads."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(None)
        self.splits = splits

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), packed(self.arguments()))

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments with which a task is created again."""
        return (self.splits,)


class PackedTask(InputPartition):
    """A SplitsTask in pickled form: a plan may have a million splits."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(None)
        self._data = packed((splits,))

    @property
    def splits(self) -> tuple[Split, ...]:
        splits: tuple[Split, ...] = unpacked(self._data)[0]
        return splits

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (SplitsTask, self._data)


def restored(task_type: type[SplitsTask], data: bytes) -> SplitsTask:
    """Return the task of *task_type* that was pickled as *data*.

    Raises RuntimeError where another version of magicbyte has pickled it.
    """
    return task_type(*unpacked(data))


def packed(value: Any) -> bytes:
    """Pickle and compress *value*, which contains splits."""
    compressor = zlib.compressobj(zdict=_dictionary())
    return compressor.compress(pickle.dumps(value, PICKLE_PROTOCOL)) + compressor.flush()


def unpacked(data: bytes) -> Any:
    """Return the value that `packed` turned into *data*.

    Raises RuntimeError where another version of magicbyte has packed it.
    """
    try:
        pickled = zlib.decompressobj(zdict=_dictionary()).decompress(data)
    except zlib.error as error:
        raise RuntimeError(
            f"this executor has magicbyte {magicbyte.__version__} and the driver another version: "
            "install the same version on all machines"
        ) from error
    return pickle.loads(pickled)


class PackedSplits:
    """Splits in order; all but the last few are packed."""

    def __init__(self) -> None:
        self.num_bytes = 0
        """Bytes of files that they read."""
        self._count = 0
        self._packed: list[bytes] = []
        self._last: list[Split] = []

    def add(self, split: Split) -> None:
        self.num_bytes += split.end - split.start
        self._count += 1
        self._last.append(split)
        if len(self._last) == PACKED_TOGETHER:
            self._packed.append(packed(self._last))
            self._last = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Split]:
        for data in self._packed:
            yield from unpacked(data)
        yield from self._last


@cache
def _dictionary() -> bytes:
    """Return the pickle of a split with common values, and the version, in which tasks must agree."""
    topic, name = "topic", f"{0:020}.log"
    file = LogFile(
        path=f"/var/lib/kafka/data/{topic}-0/{name}",
        name=name,
        kind="log",
        base_offset=0,
        size_bytes=1 << 30,
    )
    split = Split(
        topic=topic,
        partition=0,
        file=file,
        segment=0,
        start=0,
        end=1 << 30,
        bounds=Bounds(floor=-1, ceiling=None),
        first=None,
        unsound_ranges=(),
        is_verified=False,
        has_transactions=False,
        planned_outcomes=PlannedOutcomes(at_end=((0, "committed"), (1, "aborted"))),
        log_start_offset=0,
        last_stable_offset=None,
        options=ReadOptions(),
    )
    return magicbyte.__version__.encode() + pickle.dumps(((split,),), PICKLE_PROTOCOL)
