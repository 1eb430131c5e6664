"""Checkpoint and metadata files that make a startup fail where they are invalid."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from magicbyte.errors import FormatError, MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import (
    BLANK,
    BLANKS,
    LINE_END,
    MAX_CHECKPOINT_BYTES,
    MAX_NUMBER_LENGTH,
    NUMBER,
    LogDir,
    bad_checkpoint,
    parse_epochs,
    parse_offsets,
    parse_topic_id,
)
from magicbyte.logdir.file_names import MAX_OFFSET
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import Store, read_small_file
from magicbyte.verification.startup._prediction import StartupRefusedError

LENIENT = ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint")
"""Since 3.x a startup survives text in place of a number here: recovery points are then 0, and log
starts are the first offsets."""

HIGH_WATERMARK_FILE = "replication-offset-checkpoint"

CLEANER_FILE = "cleaner-offset-checkpoint"
"""The log cleaner reads it, right after the startup (LogCleanerManager.allCleanerCheckpoints)."""


def check_epochs(data: bytes) -> None:
    """Raise FormatError where a startup cannot use *data*, the bytes of a leader-epoch-checkpoint.

    A number below 0 is an IllegalArgumentException (LeaderEpochFileCache; brokers of 4.4.0).
    """
    for number, entry in enumerate(parse_epochs(data), 3):
        if min(entry) < 0:
            raise bad_checkpoint(f"line {number}", f"{entry[0]} {entry[1]}", "no number below 0")


PARSERS: dict[str, Callable[[bytes], object]] = {
    "leader-epoch-checkpoint": check_epochs,
    "partition.metadata": parse_topic_id,
}
"""Files of a partition folder that a startup reads, and the function that parses each."""


@dataclass(frozen=True, slots=True)
class CheckpointFault:
    """A checkpoint file of a log.dir that a broker cannot read or parse."""

    name: str
    error: FormatError | UnreadableError
    is_word: bool
    """True if the only fault is text in place of a number, or a count below 0: releases differ in what
    they do then."""


def checkpoint_faults(path: str, store: Store | None) -> Iterator[CheckpointFault]:
    """Yield the checkpoint files in the log.dir *path* that a broker cannot read or parse."""
    for name in (*LENIENT, HIGH_WATERMARK_FILE, CLEANER_FILE):
        data = None
        try:
            data = _read(f"{path}/{name}", store)
            parse_offsets(data or b"")
        except UnreadableError as error:
            yield CheckpointFault(name, error, is_word=False)
        except FormatError as error:
            yield CheckpointFault(name, error, _has_text_for_number(data or b"", str(error.field)))


def check_log_dir(log_dir: LogDir, store: Store | None) -> None:
    """Raise StartupRefusedError where a checkpoint takes *log_dir* or its partitions offline."""
    for fault in checkpoint_faults(log_dir.path, store):
        if fault.name == CLEANER_FILE:
            continue  # read after the partitions are loaded, and not where log.cleaner.enable is false
        if isinstance(fault.error, UnreadableError):
            raise fault.error
        if not (fault.is_word and fault.name in LENIENT):
            raise StartupRefusedError(f"{fault.name}: {fault.error.message}") from fault.error


def _has_text_for_number(data: bytes, field: str) -> bool:
    """Return whether the line in *field* ("line 3") has three fields, not all of them numbers.

    A count of entries below 0, in line 2, has the same effect: an exception that is no IOException.
    """
    number = int(field.removeprefix("line ")) if field.startswith("line ") else 0
    if number < 2:
        return False
    line = LINE_END.split(data.decode("utf-8"))[number - 1]
    if number == 2:
        return _is_negative(line)
    return len(BLANKS.split(line.rstrip(BLANK))) == 3


def _is_negative(line: str) -> bool:
    """Return whether *line* is a number below 0 that a broker reads as an int."""
    return re.fullmatch(r"-\d{1,10}", line) is not None and -(1 << 31) <= int(line) < 0


@dataclass(frozen=True, slots=True)
class InvalidFile:
    """A small file of a partition folder that a broker cannot read or parse."""

    finding: Finding
    is_word: bool
    """True if the fault is a text in place of a number, or a number below 0."""


def invalid_files(log: PartitionLog) -> Iterator[InvalidFile]:
    """Yield each small file of the partition folder that cannot be read or parsed."""
    store = log.files[0].store if log.files else None
    for name, parse in PARSERS.items():
        data = None
        try:
            data = _read(f"{log.folder}/{name}", store)
            if data is not None:
                parse(data)
        except (FormatError, UnreadableError) as error:
            finding = error.finding.at(log.topic, log.partition, name, log.replica)
            yield InvalidFile(finding, _has_epoch_word(data or b"", finding.field or ""))


def _has_epoch_word(data: bytes, field: str) -> bool:
    """Return whether the line in *field* ("line 3") has a word where a leader epoch or offset belongs.

    A number below 0, also as the count of entries in line 2, has the same effect.
    """
    if not field.startswith("line "):
        return False
    number = int(field.removeprefix("line "))
    lines = LINE_END.split(data.decode("utf-8"))
    line = lines[number - 1] if number <= len(lines) else ""
    if number == 2 and _is_negative(line):
        return True
    fields = line.split()
    return len(fields) == 2 and not all(
        re.fullmatch(r"[+-]?\d{1,19}", text) and 0 <= int(text) < 1 << bits
        for text, bits in zip(fields, (31, 63), strict=True)
    )


def check_partition(log: PartitionLog) -> None:
    """Raise StartupRefusedError where a file of the partition folder makes the startup fail.

    Raises UnreadableError where one of them cannot be read.
    """
    for invalid in invalid_files(log):
        finding = invalid.finding
        if finding.code == "unreadable":
            raise UnreadableError(finding)
        raise StartupRefusedError(f"{finding.file}: {finding.message}")
    for file in log.files:
        is_of_segment = file.name.endswith(
            (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
        )
        if is_of_segment and file.base_offset is None and not has_offset_name(file.name):
            raise StartupRefusedError(f"{file.name}: the file name does not begin with an offset")


def has_offset_name(name: str) -> bool:
    """Return whether a broker can read an offset from the start of the file name *name*."""
    return offset_in_name(name) is not None


def offset_in_name(name: str) -> int | None:
    """Return the offset that a broker reads from the start of the file name *name*; None if it cannot.

    Leading zeros and a sign are allowed (Long.parseLong), but the broker then opens the file whose
    name has 20 digits, `segment_name` of the offset.
    """
    text = name.split(".")[0]
    if not NUMBER.fullmatch(text) or len(text) > MAX_NUMBER_LENGTH:
        return None
    offset = int(text)
    return offset if -MAX_OFFSET <= offset + 1 <= MAX_OFFSET + 1 else None


def segment_name(base_offset: int) -> str:
    """Return the name of the `.log` file that a broker opens for *base_offset*, also below 0."""
    return f"{'-' * (base_offset < 0)}{abs(base_offset):020}.log"


def _read(path: str, store: Store | None) -> bytes | None:
    try:
        return read_small_file(path, max_bytes=MAX_CHECKPOINT_BYTES, store=store)
    except MissingError:
        return None
