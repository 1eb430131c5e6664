"""The text checkpoints of a log.dir (CheckpointFile, OffsetCheckpointFile)."""

import base64
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, TypeVar

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.storage import Storage

MAX_CHECKPOINT_BYTES = 64 << 20
"""Lines of some 60 bytes for a million partitions; what is longer is no checkpoint."""

MAX_NUMBER_LENGTH = 4000
"""Longer digits, zeros in front, are no checkpoint's; Python itself converts no more than 4300."""

Offsets = dict[tuple[str, int], int]

Parts = TypeVar("Parts", bound=tuple[Any, ...])


# What java.io.BufferedReader ends a line with, and what the pattern \s stands for in Java.
LINE_END = re.compile("\r\n|\r|\n")
BLANK = " \t\v\f"
BLANKS = re.compile(f"[{BLANK}]+")
COLON = re.compile(f":[{BLANK}]+")
NUMBER = re.compile(r"[+-]?\d+")


def parse_offsets(data: bytes) -> Offsets:
    """Return topic and partition -> offset of an offset checkpoint.

    Raises FormatError (`checkpoint-invalid`) with the line that is wrong. A file that ends behind
    its version has no entries, and of two lines for a partition the last counts, as in Kafka.
    """
    offsets: Offsets = {}
    for topic, partition, offset in _entries(data, _offset_entry, OFFSET_LINE):
        offsets[topic, partition] = offset
    return offsets


def parse_offset_lines(data: bytes) -> list[tuple[str, int, int]]:
    """Return topic, partition and offset of each line, as `parse_offsets` reads them."""
    return _entries(data, _offset_entry, OFFSET_LINE)


def _offset_entry(fields: list[str]) -> tuple[str, int, int] | None:
    topic, partition, offset = fields if len(fields) == 3 else ("", "", "")
    key, value = _number(partition, bits=32), _number(offset, bits=64)
    return None if key is None or value is None else (topic, key, value)


OFFSET_LINE = "topic, partition, offset"


def parse_epochs(data: bytes) -> list[tuple[int, int]]:
    """Return leader epoch and start offset of each line of a leader-epoch-checkpoint.

    Raises FormatError (`checkpoint-invalid`) as `parse_offsets` does.
    """

    def parts(fields: list[str]) -> tuple[int, int] | None:
        epoch, start = fields if len(fields) == 2 else ("", "")
        key, value = _number(epoch, bits=32), _number(start, bits=64)
        return None if key is None or value is None else (key, value)

    return _entries(data, parts, "leader epoch, start offset")


def lineage(epochs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return leader epochs and their first offsets as a broker keeps them: both go up."""
    kept: list[tuple[int, int]] = []
    for epoch, start in epochs:
        while kept and (kept[-1][0] >= epoch or kept[-1][1] >= start):
            kept.pop()
        kept.append((epoch, start))
    return kept


def _entries(data: bytes, parts: Callable[[list[str]], Parts | None], expected: str) -> list[Parts]:
    """Return what *parts* makes of each line behind version and count; None is *expected* instead."""
    lines = _lines(data)

    def bad(number: int, expected: str) -> FormatError:
        return _bad_checkpoint(f"line {number + 1}", lines[number], expected)

    if lines and _number(lines[0], bits=32) != 0:
        raise bad(0, "version 0")
    if len(lines) < 2:
        return []
    count = _number(lines[1], bits=32)
    if count is None:
        raise bad(1, "a count of entries")
    entries = []
    for number, line in enumerate(lines[2:], 2):
        # Blanks at the end are nothing, and those at the beginning are behind an empty field.
        entry = parts(BLANKS.split(line.rstrip(BLANK)))
        if entry is None:
            raise bad(number, expected)
        entries.append(entry)
    if len(entries) != count:
        raise bad(1, f"{len(entries)}, the number of entries that follow")
    return entries


def parse_properties(data: bytes, separator: str) -> list[tuple[str, str]]:
    """Return name and value of each line of *data*; lines that begin with # are comments.

    Raises FormatError (`checkpoint-invalid`) with the line that has no *separator*.
    """
    found = []
    for number, line in enumerate(_lines(data), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, mark, value = line.partition(separator)
        if not mark:
            raise _bad_checkpoint(f"line {number}", line, f"a name, {separator!r} and a value")
        value = value.strip().replace("\\:", ":").replace("\\=", "=")
        found.append((name.strip(), value))
    return found


def parse_topic_id(data: bytes) -> str:
    """Return the topic id that a start finds in a `partition.metadata` (PartitionMetadataFile).

    Raises FormatError (`checkpoint-invalid`) with the line that is wrong. The id is 16 bytes, not
    all of them 0, in base64 of the URL kind (RFC 4648, section 5).
    """
    # Kafka splits two lines at `:\s+`, so it is stricter than parse_properties: a comment or an
    # empty line is a wrong line to it, and so is a value with no blank in front.
    lines = _lines(data.rstrip())
    values = {"version": "", "topic_id": ""}

    def bad(number: int, expected: str) -> FormatError:
        line = lines[number] if number < len(lines) else ""
        return _bad_checkpoint(f"line {number + 1}", line[:60], expected)

    for number, (name, line) in enumerate(zip_longest(values, lines[:2], fillvalue="")):
        found, *rest = COLON.split(line.rstrip(BLANK), maxsplit=1)
        if found != name or not rest:
            raise bad(number, f"{name!r}, a colon, a blank and a value")
        values[name] = rest[0]
    if values["version"] != "0":
        raise bad(0, "version 0")
    if not _is_id(values["topic_id"]):
        raise bad(1, "a topic id")
    if len(lines) > len(values):  # which Kafka does not read, and no broker writes
        raise bad(2, "no more than two lines")
    return values["topic_id"]


def _is_id(text: str) -> bool:
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
    except ValueError:  # binascii.Error is one
        return False
    return len(found) == 16 and any(found)


def _lines(data: bytes) -> list[str]:
    try:
        lines = LINE_END.split(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        found = data[error.start : error.start + 8].hex()
        raise _bad_checkpoint(f"byte {error.start}", found, "UTF-8") from error
    return lines if lines[-1] else lines[:-1]


def _number(text: str, *, bits: int) -> int | None:
    """Return what Integer.parseInt or Long.parseLong makes of *text*; None where they refuse."""
    if not NUMBER.fullmatch(text) or len(text) > MAX_NUMBER_LENGTH:
        return None
    number = int(text)
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None


def _bad_checkpoint(place: str, found: str, expected: str) -> FormatError:
    return FormatError(
        Finding(
            code="checkpoint-invalid",
            message=f"{place}: {found!r}, expected {expected}",
            field=place,
            found=found,
            expected=expected,
        )
    )


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log.dir's own files."""

    path: str
    cluster_id: str | None = None
    is_kraft: bool = False
    """Whether its broker needs no ZooKeeper: then each partition has a topic id."""
    log_start: Offsets | None = None
    """None where the file is absent or cannot be read."""
    cleaner: Offsets | None = None
    high_watermark: Offsets | None = None
    recovery_point: Offsets | None = None
    clean_shutdown: bool = False
    findings: tuple[Finding, ...] = field(default=())

    def of(self, topic: str, partition: int) -> "LogDir":
        """Return what the files say of one partition: as small as that, however many there are."""
        place = (topic, partition)
        own: dict[str, Any] = {
            name: {place: offsets[place]} if place in offsets else {}
            for name in OFFSET_CHECKPOINTS
            if (offsets := getattr(self, name)) is not None
        }
        return replace(self, **own, findings=())


OFFSET_CHECKPOINTS = {
    "log_start": "log-start-offset-checkpoint",
    "cleaner": "cleaner-offset-checkpoint",
    "high_watermark": "replication-offset-checkpoint",
    "recovery_point": "recovery-point-offset-checkpoint",
}
"""By attribute of a LogDir, the file that has its offsets by partition."""


def read_log_dir(path: str, storage: Storage) -> LogDir:
    """Return the content of the files of the log.dir *path*; None for a missing or malformed one."""
    findings: list[Finding] = []
    offsets: dict[str, Offsets] = {}
    for attribute, name in OFFSET_CHECKPOINTS.items():
        if storage.exists(f"{path}/{name}"):
            data = storage.read_small(f"{path}/{name}", max_bytes=MAX_CHECKPOINT_BYTES)
            try:
                offsets[attribute] = parse_offsets(data)
            except FormatError as error:
                message = f"{name}: {error.message}"
                findings.append(replace(error.finding, message=message, file=name))
    properties = _read_properties(f"{path}/meta.properties", "=", storage, max_bytes=1 << 16)
    return LogDir(
        path,
        cluster_id=properties.get("cluster.id"),
        is_kraft=properties.get("version") == "1",
        clean_shutdown=storage.exists(f"{path}/.kafka_cleanshutdown"),
        findings=tuple(findings),
        **offsets,
    )


def _read_properties(
    path: str, separator: str, storage: Storage, *, max_bytes: int
) -> dict[str, str]:
    """Return the properties in the file *path*; none if it is missing or malformed."""
    if not storage.exists(path):
        return {}
    try:
        data = storage.read_small(path, max_bytes=max_bytes)
        return dict(parse_properties(data, separator))
    except FormatError:
        return {}


def read_topic_id(folder: str, storage: Storage) -> str | None:
    """Return the topic id in the partition's folder *folder*, None where there is none."""
    path = f"{folder}/partition.metadata"
    return _read_properties(path, ":", storage, max_bytes=1 << 12).get("topic_id")


def read_first_epoch_start(folder: str, storage: Storage) -> int | None:
    """Return where the first leader epoch in the partition's folder *folder* begins, if it says."""
    place = f"{folder}/leader-epoch-checkpoint"
    if not storage.exists(place):
        return None
    text = storage.read_small(place, max_bytes=MAX_CHECKPOINT_BYTES).decode("utf-8", "replace")
    match [line.split() for line in text.splitlines()]:
        case [["0"], [_], [_, start], *_] if start.isdecimal():
            return int(start)
    return None
