"""A batch as a producer sends it, and any field of it otherwise."""

import struct
from dataclasses import dataclass

from magicbyte.checksum import crc32, crc32c

TIME = 1714000000000

Headers = tuple[tuple[bytes, bytes | None], ...]


def varint(number: int) -> bytes:
    mapped = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while mapped > 0x7F:
        out.append(mapped & 0x7F | 0x80)
        mapped >>= 7
    return bytes([*out, mapped])


def sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


@dataclass(frozen=True, kw_only=True)
class Record:
    timestamp_delta: int = 0
    offset_delta: int = 0
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: Headers = ()
    attributes: int = 0
    num_headers: bytes | None = None
    """The number of headers, encoded; by default as it is."""

    def __bytes__(self) -> bytes:
        count = self.num_headers or varint(len(self.headers))
        headers = b"".join(sized(key) + sized(value) for key, value in self.headers)
        return sized(
            struct.pack(">b", self.attributes)
            + varint(self.timestamp_delta)
            + varint(self.offset_delta)
            + sized(self.key)
            + sized(self.value)
            + count
            + headers
        )


TWO = (
    Record(headers=((b"h", b"x"), (b"h", None))),
    Record(timestamp_delta=5, offset_delta=1, key=b"", value=None),
)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A sound batch of two records, unless told otherwise."""

    records: tuple[Record | bytes, ...] = TWO
    payload: bytes | None = None
    """What stands behind the header; by default the records as they are."""
    base_offset: int = 0
    partition_leader_epoch: int = -1
    magic: int = 2
    crc: int | None = None
    attributes: int = 0
    last_offset_delta: int | None = None
    base_timestamp: int = TIME
    max_timestamp: int = TIME + 5
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    num_records: int | None = None

    @property
    def plain(self) -> bytes:
        return b"".join(map(bytes, self.records))

    def __bytes__(self) -> bytes:
        count = len(self.records) if self.num_records is None else self.num_records
        last = max(count - 1, 0) if self.last_offset_delta is None else self.last_offset_delta
        covered = struct.pack(
            ">hiqqqhii",
            self.attributes,
            last,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            count,
        ) + (self.plain if self.payload is None else self.payload)
        crc = crc32c(covered) if self.crc is None else self.crc
        rest = struct.pack(">ibI", self.partition_leader_epoch, self.magic, crc) + covered
        return struct.pack(">qi", self.base_offset, len(rest)) + rest


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of an old format."""

    magic: int = 1
    attributes: int = 0
    timestamp: int = TIME
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    offset: int = 0

    def __bytes__(self) -> bytes:
        covered = struct.pack(">bb", self.magic, self.attributes)
        if self.magic == 1:
            covered += struct.pack(">q", self.timestamp)
        for data in (self.key, self.value):
            covered += (
                struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
            )
        rest = struct.pack(">I", crc32(covered)) + covered
        return struct.pack(">qi", self.offset, len(rest)) + rest
