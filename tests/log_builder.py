"""An encoder of Kafka's formats that shares nothing with the code under test, and readers of rows."""

import gzip
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import cramjam
import crc32c
import lz4.frame
import pyarrow as pa
import zstandard

import magicbyte as mb

TIME = 1_714_000_000_000
"""Of every record unless told otherwise: 2024-04-24T23:06:40Z."""

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON = 8, 16, 32, 64
ABORT, COMMIT = 0, 1


def varint(number: int) -> bytes:
    """Zigzag, seven bits to a byte, the lowest first."""
    left, out = (number << 1) ^ (number >> 63), bytearray()
    left &= (1 << 64) - 1
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def sized(data: bytes | None, stated: int | None = None) -> bytes:
    length = (-1 if data is None else len(data)) if stated is None else stated
    return varint(length) + (data or b"")


def record(
    value: bytes | None = b"v",
    key: bytes | None = None,
    headers: Iterable[tuple[bytes, bytes | None]] = (),
    *,
    delta: int = 0,
    time_delta: int = 0,
    attributes: int = 0,
    len_key: int | None = None,
    len_value: int | None = None,
    num_headers: int | None = None,
    length: int | None = None,
    more: bytes = b"",
) -> bytes:
    """One record of v2; what is stated can differ from what is there."""
    headers = list(headers)
    body = bytes([attributes]) + varint(time_delta) + varint(delta)
    body += sized(key, len_key) + sized(value, len_value)
    body += varint(len(headers) if num_headers is None else num_headers)
    body += b"".join(sized(name) + sized(content) for name, content in headers) + more
    return varint(len(body) if length is None else length) + body


def records(count: int, *, start: int = 0) -> list[bytes]:
    return [record(b"v%d" % (start + i), b"k", delta=i) for i in range(count)]


def compress(codec: int, plain: bytes) -> bytes:
    match codec:
        case 0:
            return plain
        case 1:
            return gzip.compress(plain, mtime=0)
        case 2:
            return bytes(cramjam.snappy.compress_raw(plain))
        case 3:
            framed: bytes = lz4.frame.compress(plain, block_linked=False, store_size=False)
            return framed
        case 4:
            return zstandard.ZstdCompressor().compress(plain)
    raise ValueError(codec)


def batch(
    content: list[bytes] | bytes | None = None,
    base: int = 0,
    *,
    count: int | None = None,
    last_delta: int | None = None,
    codec: int = 0,
    flags: int = 0,
    time: int = TIME,
    max_time: int | None = None,
    producer: int = -1,
    epoch: int | None = None,
    sequence: int | None = None,
    leader_epoch: int = 0,
    magic: int = 2,
    length: int | None = None,
    crc: int | None = None,
    section: bytes | None = None,
) -> bytes:
    """One batch of v2. *section* stands for the compressed bytes as they are."""
    if content is None:
        content = records(1)
    plain = content if isinstance(content, bytes) else b"".join(content)
    number = 1 if isinstance(content, bytes) else len(content)
    number = number if count is None else count
    delta = max(number - 1, 0) if last_delta is None else last_delta
    section = compress(codec, plain) if section is None else section
    is_producer = producer >= 0
    checked = struct.pack(
        ">hiqqqhii",
        codec | flags,
        delta,
        time,
        time if max_time is None else max_time,
        producer,
        (0 if is_producer else -1) if epoch is None else epoch,
        (0 if is_producer else -1) if sequence is None else sequence,
        number,
    )
    checked += section
    crc = crc32c.crc32c(checked) if crc is None else crc
    length = len(checked) + 9 if length is None else length
    return struct.pack(">qiibI", base, length, leader_epoch, magic, crc) + checked


def control(
    kind: int,
    base: int,
    producer: int,
    *,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    key: bytes | None = b"\0",
    value: bytes | None = b"\0",
    flags: int = TRANSACTIONAL | CONTROL,
    **more: Any,
) -> bytes:
    """A transaction marker, unless *key*, *value* or *flags* make it something else."""
    if key == b"\0":
        key = struct.pack(">hh", 0, kind)
    if value == b"\0":
        value = struct.pack(">hi", 0, coordinator_epoch)
    return batch(
        [record(value, key)], base, flags=flags, producer=producer, epoch=epoch, sequence=-1, **more
    )


def message(
    value: bytes | None = b"v",
    offset: int = 0,
    key: bytes | None = None,
    *,
    magic: int = 1,
    attributes: int = 0,
    time: int = TIME,
    len_key: int | None = None,
    len_value: int | None = None,
    more: bytes = b"",
    crc: int | None = None,
    size: int | None = None,
) -> bytes:
    """One message of v0 or v1."""
    checked = struct.pack(">bb", magic, attributes) + (struct.pack(">q", time) if magic else b"")
    for data, stated in ((key, len_key), (value, len_value)):
        length = (-1 if data is None else len(data)) if stated is None else stated
        checked += struct.pack(">i", length) + (data or b"")
    checked += more
    crc = zlib.crc32(checked) if crc is None else crc
    size = len(checked) + 4 if size is None else size
    return struct.pack(">qiI", offset, size, crc) + checked


def wrapper(
    inner: list[bytes] | bytes,
    offset: int,
    *,
    magic: int = 1,
    codec: int = GZIP,
    section: bytes | None = None,
    flags: int = 0,
    **more: Any,
) -> bytes:
    """A compressed message around *inner*."""
    plain = inner if isinstance(inner, bytes) else b"".join(inner)
    value = compress(codec, plain) if section is None else section
    if codec == LZ4 and magic == 0 and section is None:
        # Kafka wrote the checksum of the frame's header over the frame's magic too (KAFKA-3160).
        value = value[:6] + bytes([value[6] ^ 0xFF]) + value[7:]
    return message(value, offset, magic=magic, attributes=codec | flags, **more)


def transaction_index(*entries: tuple[int, int, int], version: int = 0) -> bytes:
    """Producer, first offset and the marker's offset of each aborted transaction."""
    return b"".join(
        struct.pack(">hqqqq", version, producer, first, last, last + 1)
        for producer, first, last in entries
    )


def producer_snapshot(*producers: tuple[int, int, int, int], version: int = 1) -> bytes:
    """Id, epoch, last offset and first offset of the open transaction (-1) of each producer."""
    body = struct.pack(">i", len(producers)) + b"".join(
        struct.pack(">qhiqiqiq", producer, epoch, -1 if last < 0 else 0, last, 0, TIME, 0, first)
        for producer, epoch, last, first in producers
    )
    return struct.pack(">hI", version, crc32c.crc32c(body)) + body


class Build:
    """The functions above, as a fixture hands them to tests."""

    TIME, GZIP, SNAPPY, LZ4, ZSTD = TIME, GZIP, SNAPPY, LZ4, ZSTD
    APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON = APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON
    ABORT, COMMIT = ABORT, COMMIT
    varint, record, records = staticmethod(varint), staticmethod(record), staticmethod(records)
    batch, control = staticmethod(batch), staticmethod(control)
    message, wrapper = staticmethod(message), staticmethod(wrapper)
    compress = staticmethod(compress)
    transaction_index = staticmethod(transaction_index)
    producer_snapshot = staticmethod(producer_snapshot)

    @staticmethod
    def transactional(
        base: int, producer: int, *, epoch: int = 0, count: int = 1, **more: Any
    ) -> bytes:
        """A batch of data in a transaction."""
        return batch(
            records(count, start=base),
            base,
            flags=TRANSACTIONAL,
            producer=producer,
            epoch=epoch,
            **more,
        )


class Folder:
    """A log.dir in the making."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def log_dir(self, name: str = "", cluster: str = "cluster") -> "Folder":
        folder = Folder(self.path / name if name else self.path)
        folder.path.mkdir(parents=True, exist_ok=True)
        (folder.path / "meta.properties").write_text(f"version=1\ncluster.id={cluster}\n")
        return folder

    def segment(
        self, partition: str, data: bytes, base: int = 0, kind: str = "log", suffix: str = ""
    ) -> Path:
        """Write a file of *partition*, a folder's name."""
        path = self.path / partition / f"{base:020}.{kind}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def checkpoint(self, name: str, offsets: dict[tuple[str, int], int]) -> None:
        lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
        (self.path / name).write_text("\n".join(["0", str(len(lines)), *lines, ""]))


def spans(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each entry of sound *data* begins and ends: the ten lines that judge framing."""
    position = 0
    while position < len(data):
        end = position + 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        yield position, end
        position = end


def plain(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of *table* with times as milliseconds, which Python's calendar may not hold."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            times = table.column(index).cast(pa.int64())
            table = table.set_column(index, field.name, times)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


class Read:
    """A whole read of bytes in memory, or of a dataset, with damage skipped."""

    engine = "auto"
    ALL = (
        "superseded",
        "duplicate",
        "damaged",
        "over_limit",
        "below_log_start",
        "outside_range",
        "withheld",
        "aborted",
        "control",
        "delivered",
    )

    def __init__(self, source: bytes | mb.Dataset, **options: Any) -> None:
        if isinstance(source, bytes):
            options = {"on_damage": "skip", "engine": self.engine} | options
            self.dataset = mb.from_bytes(source, **options)
        else:
            self.dataset = source
        rows = self.dataset.records(
            [
                "offset",
                "timestamp",
                "timestamp_type",
                "key",
                "value",
                "headers",
                "sequence",
                "magic",
                "codec",
                "position",
                "disposition",
                "outcome",
            ],
            dispositions=self.ALL,
        )
        self.rows = plain(rows.to_table())
        self.report = rows.report
        self.findings = self.report.findings

    @property
    def values(self) -> list[bytes | None]:
        return [row["value"] for row in self.rows if row["disposition"] == "delivered"]

    @property
    def offsets(self) -> list[int]:
        return [row["offset"] for row in self.rows if row["disposition"] == "delivered"]

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    def at(self, code: str) -> list[int | None]:
        """Where there is a finding of *code*."""
        return [finding.position for finding in self.findings if finding.code == code]

    @property
    def errors(self) -> list[tuple[str, int | None]]:
        return [(f.code, f.position) for f in self.findings if f.severity == "error"]
