"""Builds logs for tests with the Construct twin, which shares no code with the code under test.

Lengths, counts and checksums are computed unless a test passes them, right or wrong.
"""

import gzip
import struct
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import cramjam
import lz4.frame
import zstandard

import magicbyte_construct as twin

TIME = 1_714_000_000_000
"""Timestamp of records by default: 2024-04-24T23:06:40Z."""

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
_COMPRESSORS: dict[int, Callable[[bytes], Any]] = {
    0: bytes,
    GZIP: partial(gzip.compress, mtime=0),
    SNAPPY: cramjam.snappy.compress_raw,
    LZ4: partial(lz4.frame.compress, block_linked=False, store_size=False),
    ZSTD: zstandard.compress,
}

APPEND_TIME, TRANSACTIONAL, CONTROL, HORIZON = 8, 16, 32, 64
ABORT, COMMIT = 0, 1


def varint(number: int) -> bytes:
    """Encode *number*, of 32 or 64 bits, as a zigzag varint, as in records."""
    return bytes(twin.Varlong.build(number))


def uvarint(number: int) -> bytes:
    """Encode *number* modulo 2**32 as an unsigned varint, as in KRaft's messages."""
    return bytes(twin.Uvarint.build(number & 0xFFFFFFFF))


def sized(data: bytes | None) -> bytes:
    """Encode *data* after its length as a varint; null has length -1."""
    return varint(-1) if data is None else varint(len(data)) + data


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
    """Return a v2 record; *more* are bytes after its last field."""
    fields = {
        "len_body": length,
        "attributes": (attributes ^ 0x80) - 0x80,
        "timestamp_delta": time_delta,
        "offset_delta": delta,
        "len_key": len_key,
        "key": key,
        "len_value": len_value,
        "value": value,
        "num_headers": num_headers,
        "headers": [{"key": name, "value": content} for name, content in headers],
        "trailing": more,
    }
    return bytes(twin.Record.build(fields))


def records(count: int, *, start: int = 0) -> list[bytes]:
    """Return *count* v2 records with values ``v0``, ``v1``..., numbered from *start*."""
    return [record(b"v%d" % (start + i), b"k", delta=i) for i in range(count)]


def compress(codec: int, data: bytes) -> bytes:
    """Return *data* compressed with the codec of this number."""
    return bytes(_COMPRESSORS[codec](data))


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
    """Return a v2 batch of records, one by default; *section* is its payload as stored."""
    content = records(1) if content is None else content
    data = content if isinstance(content, bytes) else b"".join(content)
    if count is None:
        count = 1 if isinstance(content, bytes) else len(content)
    no_producer = -1 if producer < 0 else 0
    fields = {
        "base_offset": base,
        "len_batch": length,
        "partition_leader_epoch": leader_epoch,
        "magic": magic,
        "crc": crc,
        "attributes": (codec | flags) & 0xFFFF,
        "last_offset_delta": max(count - 1, 0) if last_delta is None else last_delta,
        "base_timestamp": time,
        "max_timestamp": time if max_time is None else max_time,
        "producer_id": producer,
        "producer_epoch": no_producer if epoch is None else epoch,
        "base_sequence": no_producer if sequence is None else sequence,
        "num_records": count,
        "records": compress(codec, data) if section is None else section,
    }
    return bytes(twin.RecordBatch.build(fields))


def batch_of(
    base: int, *values: bytes, key: bytes | None = None, producer: int = -1, **fields: Any
) -> bytes:
    """Return a v2 batch with the record *values*; it is transactional if *producer* is given."""
    content = [record(value, key, delta=delta) for delta, value in enumerate(values)]
    flags = fields.pop("flags", 0) | (TRANSACTIONAL if producer >= 0 else 0)
    return batch(content, base, flags=flags, producer=producer, **fields)


def transactional(base: int, producer: int, *, count: int = 1, **fields: Any) -> bytes:
    """Return a transactional batch of *count* records."""
    content = records(count, start=base)
    return batch(content, base, flags=TRANSACTIONAL, producer=producer, **fields)


def control(
    kind: int,
    base: int,
    producer: int,
    *,
    coordinator_epoch: int = 0,
    key: bytes | None = b"\0",
    value: bytes | None = b"\0",
    flags: int = TRANSACTIONAL | CONTROL,
    **fields: Any,
) -> bytes:
    """Return a transaction marker, unless *key*, *value* or *flags* make it something else."""
    if key == b"\0":
        key = struct.pack(">hh", 0, kind)
    if value == b"\0":
        value = struct.pack(">hi", 0, coordinator_epoch)
    content = [record(value, key)]
    return batch(content, base, flags=flags, producer=producer, sequence=-1, **fields)


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
    """Return a v0 or v1 message."""
    fields = {
        "offset": offset,
        "len_message": size,
        "crc": crc,
        "magic": magic,
        "attributes": attributes & 0xFF,
        "timestamp": time if magic > 0 else None,
        "len_key": len_key,
        "key": key,
        "len_value": len_value,
        "value": value,
        "trailing": more,
    }
    return bytes(twin.Message.build(fields))


def wrapper(
    inner: list[bytes] | bytes,
    offset: int,
    *,
    magic: int = 1,
    codec: int = GZIP,
    section: bytes | None = None,
    flags: int = 0,
    **fields: Any,
) -> bytes:
    """Return a wrapper message around the messages *inner*."""
    data = inner if isinstance(inner, bytes) else b"".join(inner)
    value = compress(codec, data) if section is None else section
    if codec == LZ4 and magic == 0 and section is None:
        # Kafka wrote the checksum of the frame's header over the frame's magic too (KAFKA-3160).
        value = value[:6] + bytes([value[6] ^ 0xFF]) + value[7:]
    return message(value, offset, magic=magic, attributes=codec | flags, **fields)


def transaction_index(*aborted: tuple[int, int, int], version: int = 0) -> bytes:
    """Return a ``.txnindex``: producer id, first offset and marker's offset of each transaction."""
    entries = [
        {
            "version": version,
            "producer_id": producer,
            "first_offset": first,
            "last_offset": last,
            "last_stable_offset": last + 1,
        }
        for producer, first, last in aborted
    ]
    return bytes(twin.TransactionIndex.build({"entries": entries}))


def producer_snapshot(*producers: tuple[int, int, int, int], version: int = 1) -> bytes:
    """Return a ``.snapshot``: id, epoch, last offset, open transaction's first offset or -1."""
    entries = [
        {
            "producer_id": producer,
            "epoch": epoch,
            "last_sequence": min(last, 0),
            "last_offset": last,
            "timestamp": TIME,
            "coordinator_epoch": 0,
            "current_transaction_first_offset": first,
        }
        for producer, epoch, last, first in producers
    ]
    return bytes(twin.ProducerSnapshot.build({"version": version, "producers": entries}))


class Folder:
    """A log.dir to which tests write files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def log_dir(self, name: str = "", cluster: str = "cluster") -> "Folder":
        folder = Folder(self.path / name if name else self.path)
        folder.path.mkdir(parents=True, exist_ok=True)
        node = 1 + len(list(self.path.glob("*/meta.properties")))
        properties = f"version=1\ncluster.id={cluster}\nnode.id={node}\n"
        (folder.path / "meta.properties").write_text(properties)
        return folder

    def segment(
        self, partition: str, data: bytes, base: int = 0, kind: str = "log", suffix: str = ""
    ) -> Path:
        """Write a segment, or a file of another *kind*, into the folder *partition*."""
        path = self.path / partition / f"{base:020}.{kind}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def checkpoint(self, name: str, offsets: dict[tuple[str, int], int]) -> None:
        lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
        (self.path / name).write_text("\n".join(["0", str(len(lines)), *lines, ""]))
