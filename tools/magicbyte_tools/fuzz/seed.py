"""Parses a sound log entry as a seed of mutations: payload, and positions of the numbers in it."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from crc32c import crc32c

from magicbyte import codecs
from magicbyte.engines.entry import OVERHEAD, stored_size
from magicbyte.errors import MagicbyteError
from magicbyte_formats.wire import CODEC_NAMES, Codec, EntryHeader, MessageHeader, RecordBatchHeader
from magicbyte_tools.fuzz.compressed_forms import FORMS, USUAL
from magicbyte_tools.fuzz.numbers import read_varint

MAGIC_AT = EntryHeader.POSITIONS["magic"]
MAX_PAYLOAD_BYTES = 1 << 20


UNREADABLE = (MagicbyteError, ValueError, IndexError, struct.error)
"""Errors of `taken_apart` if the entry is damaged, or cut, or there is no such codec."""


class SeedField(NamedTuple):
    """Position of a number in a payload, and of the length field of its record or message."""

    begin: int
    end: int
    is_varint: bool
    owner: int
    """Index of that length in the list of fields; a length has its own index."""


@dataclass(frozen=True, slots=True)
class Seed:
    data: bytes
    form: str
    """Compressed form of the payload."""
    payload: bytes | None
    """Decompressed records of a batch or messages of a wrapper; None if there are none."""
    fields: tuple[SeedField, ...]
    """Positions of the numbers in the payload."""
    of_header: tuple[tuple[int, int], ...]
    """Positions and widths of the numbers in the entry's header."""

    @property
    def magic(self) -> int:
        return self.data[MAGIC_AT]

    @property
    def kind(self) -> str:
        """Format and codec of the log entry as text, such as `v2 lz4`."""
        return f"v{self.magic} {CODEC_NAMES[FORMS[self.form].codec]}"

    def holding(self, payload: bytes, count: int | None = None) -> bytearray:
        """Return this entry with *payload*, compressed, with the right size and with *count* records.

        The checksum is not changed, so it is wrong.
        """
        section = FORMS[self.form].compress(payload)
        begin = section_begin(self.data)
        made = bytearray(self.data[:begin]) + section
        if self.magic < 2:
            made[begin - 4 : begin] = len(section).to_bytes(4, "big")
        elif count is not None:
            at = RecordBatchHeader.POSITIONS["num_records"]
            made[at : at + 4] = count.to_bytes(4, "big", signed=True)
        set_size(made)
        return made

    @property
    def num_records(self) -> int:
        return RecordBatchHeader.unpack_from(self.data).num_records


def section_begin(data: bytes) -> int:
    """Return the position of the records in the batch *data*, or of the value in the message *data*."""
    if data[MAGIC_AT] == 2:
        return RecordBatchHeader.SIZE
    at = MessageHeader.SIZE + 8 * data[MAGIC_AT]
    return at + 8 + max(int.from_bytes(data[at : at + 4], "big", signed=True), 0)


def taken_apart(data: bytes, form: str | None = None) -> Seed:
    """Return the sound entry *data* as a seed; *form* is its compressed form, by default its codec's usual one.

    Raises MagicbyteError if its payload cannot be read.
    """
    payload: bytes | None = None
    fields: list[SeedField] = []
    if data[MAGIC_AT] == 2:
        header = RecordBatchHeader.unpack_from(data)
        codec = Codec(header.codec)
        of_header = tuple(_numbers(RecordBatchHeader.POSITIONS, RecordBatchHeader.SIZE))
        if header.num_records:
            payload = _plain(codec, data)
            fields = list(_of_records(payload, header.num_records))
    else:
        codec = Codec(MessageHeader.unpack_from(data).codec)
        key = MessageHeader.SIZE + 8 * data[MAGIC_AT]
        value = section_begin(data) - 4
        of_header = (*_numbers(MessageHeader.POSITIONS, MessageHeader.SIZE), (key, 4), (value, 4))
        if codec:
            payload = _plain(codec, data)
            fields = list(_of_messages(payload))
    return Seed(data, form or USUAL[codec], payload, tuple(fields), of_header)


def _plain(codec: Codec, data: bytes) -> bytes:
    section = data[section_begin(data) :]
    return codecs.decompress(codec, section, magic=data[MAGIC_AT], max_bytes=MAX_PAYLOAD_BYTES)


def _numbers(positions: dict[str, int], end: int) -> Iterator[tuple[int, int]]:
    begins = [*sorted(positions.values()), end]
    for begin, behind in pairwise(begins):
        yield begin, behind - begin


def _of_records(payload: bytes, count: int) -> Iterator[SeedField]:
    at = number = 0

    def varint(owner: int) -> tuple[SeedField, int]:
        nonlocal at, number
        begin = at
        value, at = read_varint(payload, at)
        number += 1
        return SeedField(begin, at, True, owner), value

    for _ in range(count):
        owner = number
        yield varint(owner)[0]
        at += 1  # attributes
        yield varint(owner)[0]
        yield varint(owner)[0]
        for _ in ("key", "value"):
            field, length = varint(owner)
            yield field
            at += max(length, 0)
        field, num_headers = varint(owner)
        yield field
        for _ in range(2 * num_headers):
            field, length = varint(owner)
            yield field
            at += max(length, 0)


def _of_messages(payload: bytes) -> Iterator[SeedField]:
    begin = number = 0
    while len(payload) - begin >= OVERHEAD:
        key = begin + MessageHeader.SIZE + 8 * payload[begin + MAGIC_AT]
        value = begin + section_begin(payload[begin:]) - 4
        of_header = _numbers(MessageHeader.POSITIONS, MessageHeader.SIZE)
        places = [(begin + at, width) for at, width in of_header]
        for at, width in (*places, (key, 4), (value, 4)):
            yield SeedField(at, at + width, False, number + 1)
        number += len(places) + 2
        begin += stored_size(payload, begin) + OVERHEAD


# Size and checksum of an entry


def set_size(entry_buffer: bytearray) -> None:
    """Set the size field of the log entry *entry_buffer* to the number of bytes after it."""
    entry_buffer[8:OVERHEAD] = (len(entry_buffer) - OVERHEAD).to_bytes(4, "big", signed=True)


def seal(entry_buffer: bytearray) -> None:
    """Set the checksum of the log entry *entry_buffer* to the right value, if its header is complete."""
    if len(entry_buffer) <= MAGIC_AT:
        return
    kind, checksum = (
        (RecordBatchHeader, crc32c) if entry_buffer[MAGIC_AT] == 2 else (MessageHeader, crc32)
    )
    if len(entry_buffer) >= kind.SIZE:
        at, start = kind.CHECKSUM.field_position, kind.CHECKSUM.start
        entry_buffer[at : at + 4] = checksum(bytes(entry_buffer[start:])).to_bytes(4, "big")


def seal_messages(payload: bytearray) -> None:
    """Set the checksums of the messages in *payload* to the right values, up to the first wrong size."""
    begin = 0
    while len(payload) - begin > MAGIC_AT:
        end = begin + stored_size(memoryview(payload), begin) + OVERHEAD
        if not begin + MAGIC_AT < end <= len(payload):
            return
        one = payload[begin:end]
        if one[MAGIC_AT] < 2:
            seal(one)
            payload[begin:end] = one
        begin = end
