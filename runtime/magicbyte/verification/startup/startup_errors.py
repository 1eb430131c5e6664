"""Small files that end a start when they are wrong."""

import re
from collections.abc import Callable, Iterator

from magicbyte.errors import FormatError, MissingError
from magicbyte.logdir.checkpoints import (
    BLANK,
    BLANKS,
    LINE_END,
    MAX_CHECKPOINT_BYTES,
    LogDir,
    parse_epochs,
    parse_offsets,
    parse_topic_id,
)
from magicbyte.logdir.discover import PartitionLog
from magicbyte.storage import Store, read_small_file
from magicbyte.verification.startup.prediction import RefusedError

LENIENT = ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint")
"""A word where a number belongs ends no start since 3.x: all points are 0, then, and all starts the
first offset."""

HIGH_WATERMARKS = "replication-offset-checkpoint"

PARSERS: dict[str, Callable[[bytes], object]] = {
    "leader-epoch-checkpoint": parse_epochs,
    "partition.metadata": parse_topic_id,
}
"""The small files of a partition's folder that a start reads, and what refuses them."""


def check_log_dir(log_dir: LogDir, store: Store | None) -> None:
    """Raise RefusedError where a checkpoint of *log_dir* takes it offline, or its partitions."""
    for name in (*LENIENT, HIGH_WATERMARKS):
        data = _data(f"{log_dir.path}/{name}", store)
        if data is None:
            continue
        try:
            parse_offsets(data)
        except FormatError as error:
            if name in LENIENT and _is_word(data, str(error.field)):
                continue
            raise RefusedError(f"{name}: {error.message}") from error


def _is_word(data: bytes, place: str) -> bool:
    """Return whether the line that *place* names has as many fields as it must, but no numbers."""
    number = int(place.removeprefix("line ")) if place.startswith("line ") else 0
    if number <= 2:
        return False
    line = LINE_END.split(data.decode("utf-8"))[number - 1]
    return len(BLANKS.split(line.rstrip(BLANK))) == 3


def wrong_files(log: PartitionLog) -> Iterator[tuple[str, FormatError]]:
    """Yield the small files of the partition's folder that are not what they must be, and why."""
    store = log.files[0].store if log.files else None
    for name, parse in PARSERS.items():
        data = _data(f"{log.folder}/{name}", store)
        if data is None:
            continue
        try:
            parse(data)
        except FormatError as error:
            yield name, error


def check_partition(log: PartitionLog) -> None:
    """Raise RefusedError where a file of the partition's folder ends the start."""
    for name, error in wrong_files(log):
        raise RefusedError(f"{name}: {error.message}") from error
    for file in log.files:
        is_ours = file.name.endswith((".log", ".index", ".timeindex", ".txnindex", ".snapshot"))
        if is_ours and file.base_offset is None and not has_offset_name(file.name):
            raise RefusedError(f"{file.name}: the name does not begin with an offset")


def has_offset_name(name: str) -> bool:
    """Return whether the file name *name* begins with what a broker reads as an offset."""
    return re.fullmatch(r"[+-]?\d{1,19}", name.split(".")[0]) is not None


def _data(path: str, store: Store | None) -> bytes | None:
    try:
        return read_small_file(path, max_bytes=MAX_CHECKPOINT_BYTES, store=store)
    except MissingError:
        return None
