"""A task of Spark that reads splits, pickled in few bytes: the driver sends millions of splits to the JVM.

A pickled split is 500 bytes of names of classes and values that nearly all splits share. Compressed with
a dictionary that has these, it is about 100 bytes by itself, and 20 in a task of many.
"""

import pickle
import zlib
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


class SplitsTask(InputPartition):
    """Splits that one task reads."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(splits)
        self.splits = splits

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, (type(self), packed(self.arguments()))

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments with which a task is created again."""
        return (self.splits,)


def packed(value: Any) -> bytes:
    """Pickle and compress *value*, which contains splits."""
    compressor = zlib.compressobj(zdict=_dictionary())
    return compressor.compress(pickle.dumps(value, PICKLE_PROTOCOL)) + compressor.flush()


def unpacked(task_type: type[SplitsTask], data: bytes) -> SplitsTask:
    """Return the task that was pickled.

    Raises RuntimeError where another version of magicbyte has pickled it.
    """
    try:
        pickled = zlib.decompressobj(zdict=_dictionary()).decompress(data)
    except zlib.error as error:
        raise RuntimeError(
            f"this executor has magicbyte {magicbyte.__version__} and the driver another version: "
            "install the same version on all machines"
        ) from error
    return task_type(*pickle.loads(pickled))


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
