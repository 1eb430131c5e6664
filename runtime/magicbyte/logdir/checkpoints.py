"""The text checkpoints of a log.dir (CheckpointFile, OffsetCheckpointFile)."""

import base64
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from magicbyte.errors import FormatError, MissingError, UnreadableError
from magicbyte.findings import Finding, excerpt
from magicbyte.logdir.file_names import LOG_DIR_MARKS
from magicbyte.storage import Storage, Store, read_small_file

MAX_CHECKPOINT_BYTES = 64 << 20
"""A million partitions have lines of about 60 bytes; a longer file is not a checkpoint."""

MAX_NUMBER_LENGTH = 4000
"""Digits of a number, leading zeros included. Python converts at most 4,300."""

EPOCH_CHECKPOINT = "leader-epoch-checkpoint"

TOPIC_ID_FILE = "partition.metadata"

DESCRIBING_FILES = (TOPIC_ID_FILE, EPOCH_CHECKPOINT)
"""Files of a partition folder with facts about the partition."""

ID_BYTES = 16
"""Bytes of a topic id or directory id, which are UUIDs."""

MAX_ID_LENGTH = 24
"""Characters of an id in base64 with padding (Uuid.fromString)."""

Offsets = dict[tuple[str, int], int]

Parts = TypeVar("Parts", bound=tuple[Any, ...])


# Line ends of java.io.BufferedReader, and the characters that \s matches in Java.
LINE_END = re.compile("\r\n|\r|\n")
BLANK = " \t\v\f"
BLANKS = re.compile(f"[{BLANK}]+")
COLON = re.compile(f":[{BLANK}]+")
NUMBER = re.compile(r"[+-]?\d+")


def parse_offsets(data: bytes) -> Offsets:
    """Return topic and partition -> offset of an offset checkpoint.

    Raises FormatError (`checkpoint-invalid`) with the line that is wrong. A file that ends after its
    version has no entries, and the last of two lines for a partition counts, as in Kafka.
    """
    partition_offsets: Offsets = {}
    for topic, partition, offset in _entries(data, _offset_entry, OFFSET_LINE):
        partition_offsets[topic, partition] = offset
    return partition_offsets


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
    """Return leader epochs and start offsets, without earlier entries that are not below a later one.

    A broker removes these as well, so that both numbers increase.
    """
    kept: list[tuple[int, int]] = []
    for epoch, start in epochs:
        while kept and (kept[-1][0] >= epoch or kept[-1][1] >= start):
            kept.pop()
        kept.append((epoch, start))
    return kept


def read_lineage(folder: str, store: Store | None) -> list[tuple[int, int]] | None:
    """Return the `lineage` of the partition folder *folder* in *store*; None if a broker cannot read it."""
    path = f"{folder}/{EPOCH_CHECKPOINT}"
    try:
        data = read_small_file(path, max_bytes=MAX_CHECKPOINT_BYTES, store=store)
        return lineage(parse_epochs(data))
    except (FormatError, MissingError, UnreadableError):
        return None


def _entries(
    data: bytes, parse_parts: Callable[[list[str]], Parts | None], expected: str
) -> list[Parts]:
    """Return the results of *parse_parts* for the fields of each line after version and count.

    Raises FormatError, with the *expected* fields, if *parse_parts* returns None for a line.
    """
    lines = _lines(data)

    def bad(number: int, expected: str) -> FormatError:
        return bad_checkpoint(f"line {number + 1}", lines[number], expected)

    if lines and _number(lines[0], bits=32) != 0:
        raise bad(0, "version 0")
    if len(lines) < 2:
        return []
    count = _number(lines[1], bits=32)
    if count is None:
        raise bad(1, "a count of entries")
    entries = []
    for number, line in enumerate(lines[2:], 2):
        # Blanks at the end are ignored; those at the beginning follow an empty field.
        entry = parse_parts(BLANKS.split(line.rstrip(BLANK)))
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
    properties = []
    for number, line in enumerate(_lines(data), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, mark, value = line.partition(separator)
        if not mark:
            raise bad_checkpoint(f"line {number}", line, f"a name, {separator!r} and a value")
        value = value.strip().replace("\\:", ":").replace("\\=", "=")
        properties.append((name.strip(), value))
    return properties


def parse_topic_id(data: bytes) -> str:
    """Return the topic id that a broker's startup reads in `partition.metadata`, without padding.

    Raises FormatError (`checkpoint-invalid`) with the line that is wrong. The id is 16 bytes, not
    all of them 0, in base64 of the URL kind (RFC 4648, section 5).
    """
    # Kafka (PartitionMetadataReadBuffer) splits the first two lines at `:\s+`, and reads neither the
    # names before the colon nor further lines. It refuses comments, empty lines, and blanks at the end.
    lines = _lines(data)

    def bad(number: int, expected: str) -> FormatError:
        line = lines[number] if number < len(lines) else ""
        return bad_checkpoint(f"line {number + 1}", line, expected)

    values = []
    for number in range(2):
        parts = COLON.split(lines[number]) if number < len(lines) else []
        while parts and not parts[-1]:
            parts.pop()
        if len(parts) != 2:
            raise bad(number, "a name, a colon, a blank and a value")
        values.append(parts[1])
    # Brokers 3.9.2, 4.3.1 and 4.4.0 start with version 1; below 0 they refuse.
    version = _number(values[0], bits=32)
    if version is None or version < 0:
        raise bad(0, "version 0 or above")
    topic_id = uuid_bytes(values[1])
    if topic_id is None or not any(topic_id):
        raise bad(1, "a topic id")
    return base64.urlsafe_b64encode(topic_id).decode().rstrip("=")


def uuid_bytes(text: str) -> bytes | None:
    """Return the 16 bytes of a topic id or directory id in base64 of the URL kind; None if it is none."""
    if len(text) > MAX_ID_LENGTH or "+" in text or "/" in text:  # Python takes these, too
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars="-_", validate=True)
    except ValueError:  # binascii.Error is a subclass
        return None
    return raw if len(raw) == ID_BYTES else None


def _lines(data: bytes) -> list[str]:
    try:
        lines = LINE_END.split(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        found = data[error.start : error.start + 8].hex()
        raise bad_checkpoint(f"byte {error.start}", found, "UTF-8") from error
    return lines if lines[-1] else lines[:-1]


def _number(text: str, *, bits: int) -> int | None:
    """Return the number that Integer.parseInt or Long.parseLong returns for *text*; None if they refuse."""
    if len(text) > MAX_NUMBER_LENGTH or not NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None


def bad_checkpoint(where: str, line: str, expected: str) -> FormatError:
    """Return the error for *line*, which is at *where* ("line 3") and differs from *expected*."""
    found = excerpt(line)
    return FormatError(
        Finding(
            code="checkpoint-invalid",
            message=f"{where}: {found!r}, expected {expected}",
            field=where,
            found=found,
            expected=expected,
        )
    )


@dataclass(frozen=True, slots=True)
class LogDir:
    """The contents of the checkpoint and properties files of a log.dir."""

    path: str
    cluster_id: str | None = None
    broker_id: str | None = None
    """Value of `node.id`, or `broker.id` before KRaft, in meta.properties, as it stands there."""
    is_kraft: bool = False
    """True if its broker runs without ZooKeeper: then each partition has a topic id."""
    log_start: Offsets | None = None
    """Offsets by partition; None if the file is absent or invalid. So for the other checkpoints."""
    cleaner: Offsets | None = None
    high_watermark: Offsets | None = None
    recovery_point: Offsets | None = None
    clean_shutdown: bool = False
    findings: tuple[Finding, ...] = field(default=())

    def of(self, topic: str, partition: int) -> "LogDir":
        """Return a copy with the offsets of one partition only, which is small to pickle."""
        key = (topic, partition)
        own: dict[str, Any] = {
            name: {key: offsets[key]} if key in offsets else {}
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
"""The checkpoint files, by attribute of LogDir."""


def is_log_dir(path: str, storage: Storage) -> bool:
    return any(map(storage.exists, map(partial(posixpath.join, path), LOG_DIR_MARKS)))


def log_dir_at(path: str, log_dirs: dict[str, LogDir], storage: Storage) -> LogDir:
    """Return the log.dir *path* from *log_dirs*, to which it is added when it is read."""
    if path not in log_dirs:
        log_dirs[path] = read_log_dir(path, storage)
    return log_dirs[path]


def read_log_dir(path: str, storage: Storage) -> LogDir:
    """Read the checkpoint and properties files of the log.dir *path*; a missing or malformed file is None."""
    findings: list[Finding] = []
    offsets_by_file: dict[str, Offsets] = {}
    for attribute, name in OFFSET_CHECKPOINTS.items():
        try:
            data = storage.read_if_present(f"{path}/{name}", max_bytes=MAX_CHECKPOINT_BYTES)
            if data is not None:
                offsets_by_file[attribute] = parse_offsets(data)
        except FormatError as error:
            message = f"{name}: {error.message}"
            findings.append(replace(error.finding, message=message, file=name))
        except UnreadableError as error:
            findings.append(error.finding)
    properties: dict[str, str] = {}
    try:
        properties = _read_properties(f"{path}/meta.properties", "=", storage, max_bytes=1 << 16)
    except UnreadableError as error:
        findings.append(error.finding)
    return LogDir(
        path,
        cluster_id=properties.get("cluster.id"),
        broker_id=properties.get("node.id", properties.get("broker.id")),
        is_kraft=properties.get("version") == "1",
        clean_shutdown=storage.exists(f"{path}/.kafka_cleanshutdown"),
        findings=tuple(findings),
        **offsets_by_file,
    )


def _read_properties(
    path: str, separator: str, storage: Storage, *, max_bytes: int
) -> dict[str, str]:
    """Return the properties in the file *path*; none if it is missing or malformed.

    Raises UnreadableError where it cannot be read.
    """
    data = storage.read_if_present(path, max_bytes=max_bytes)
    try:
        return {} if data is None else dict(parse_properties(data, separator))
    except FormatError:
        return {}


def read_topic_id(folder: str, storage: Storage) -> str | None:
    """Return the topic id of the partition folder *folder*; None if it has none, or one that is not a UUID.

    Raises UnreadableError where it cannot be read.
    """
    path = f"{folder}/{TOPIC_ID_FILE}"
    topic_id = _read_properties(path, ":", storage, max_bytes=1 << 12).get("topic_id", "")
    return None if uuid_bytes(topic_id) is None else topic_id


def read_first_epoch_start(folder: str, storage: Storage) -> int | None:
    """Return the start offset of the first leader epoch in the partition folder *folder*; None without one.

    Raises UnreadableError where it cannot be read.
    """
    data = storage.read_if_present(f"{folder}/{EPOCH_CHECKPOINT}", max_bytes=MAX_CHECKPOINT_BYTES)
    try:
        epochs = parse_epochs(data or b"")
    except FormatError:
        return None
    return epochs[0][1] if epochs else None
