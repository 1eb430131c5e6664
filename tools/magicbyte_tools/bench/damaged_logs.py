"""Builds logs in which a share of the entries is damaged, each by one fault of a chosen kind.

Where a fault is in bytes that the checksum covers, the checksum is made right again, so that the entry is
decompressed and decoded up to the fault.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from magicbyte import checksum
from magicbyte_formats.wire import EntryHeader, MessageHeader, RecordBatchHeader
from magicbyte_tools.bench import encode
from magicbyte_tools.bench.record_data import SHAPES, RecordData, rows
from magicbyte_tools.fuzz.numbers import varint

NUM_TEMPLATES = 16
"""Different entries of a log, which are repeated with other offsets."""

RECORD_BYTES = 140
"""Bytes of a record of the shape 100B, about."""

LEN_NOISE = 64
"""Zeros or random bytes that are put before an entry."""

UNKNOWN_CODEC = 7
UNKNOWN_MAGIC = 9


@dataclass(frozen=True, slots=True)
class LogShape:
    """Format, size and codec of all entries of a log."""

    magic: int
    num_records: int
    """Records of an entry; 1 for messages that are not compressed."""
    codec: str


SHAPES_OF_LOGS = {
    **{
        f"{size}k-{codec}": LogShape(2, (size << 10) // RECORD_BYTES, codec)
        for size in (1, 16)
        for codec in ("none", "gzip", "snappy", "lz4", "zstd")
    },
    **{f"v{magic}": LogShape(magic, 1, "none") for magic in (0, 1)},
    # A v0 wrapper has absolute offsets inside, which would differ in each.
    **{f"v1-{codec}": LogShape(1, 100, codec) for codec in ("gzip", "lz4")},
}
"""Shapes by name: batches of 1 and of 16 KiB before compression, messages, wrapper messages."""


@dataclass(frozen=True, slots=True)
class Template:
    """The records of an entry."""

    shape: LogShape
    rows: Sequence[RecordData]

    def entry(self) -> bytearray:
        """Return the sound entry."""
        if self.shape.magic == 2:
            return self.batch(self.records())
        return bytearray(encode.messages(self.rows, self.shape.magic, self.shape.codec))

    def records(self) -> list[bytes]:
        """Return the encoded records of a batch."""
        first = self.rows[0]
        return [encode.record(row, first.offset, first.timestamp) for row in self.rows]

    def batch(self, records: Sequence[bytes]) -> bytearray:
        """Return a batch with the header for the rows, and *records*."""
        return bytearray(encode.batch(self.rows, b"".join(records), self.shape.codec))

    def inner_messages(self) -> list[bytes]:
        """Return the messages in a v1 wrapper message."""
        first = self.rows[0].offset
        relative = (row._replace(offset=row.offset - first) for row in self.rows)
        return [encode.messages([row], self.shape.magic, "none") for row in relative]


Fault = Callable[[Template, random.Random], bytes | bytearray]
"""Returns an entry with the fault."""


def _resealed(encoded: bytearray) -> bytearray:
    """Make the checksum of the entry *encoded* right, and return it."""
    is_batch = encoded[EntryHeader.POSITIONS["magic"]] == 2
    header = RecordBatchHeader if is_batch else MessageHeader
    function = checksum.crc32c if is_batch else checksum.crc32
    computed: int = function(memoryview(encoded)[header.CHECKSUM.start :])
    at = header.POSITIONS["crc"]
    encoded[at : at + 4] = computed.to_bytes(4, "big")
    return encoded


def _added(field: str, number: int, *, is_resealed: bool) -> Fault:
    """Return the fault that a 4-byte *field* of a batch's header is too high by *number*."""
    at = RecordBatchHeader.POSITIONS[field]

    def build(template: Template, chance: random.Random) -> bytearray:
        encoded = template.entry()
        value = int.from_bytes(encoded[at : at + 4], "big") + number
        encoded[at : at + 4] = value.to_bytes(4, "big")
        return _resealed(encoded) if is_resealed else encoded

    return build


def _size(template: Template, chance: random.Random) -> bytearray:
    """Return an entry whose size field has one wrong bit of the lower 16."""
    encoded = template.entry()
    at = EntryHeader.POSITIONS["size"] + 2
    value = int.from_bytes(encoded[at : at + 2], "big") ^ 1 << chance.randrange(16)
    encoded[at : at + 2] = value.to_bytes(2, "big")
    return encoded


def _checksum(template: Template, chance: random.Random) -> bytearray:
    encoded = template.entry()
    header = RecordBatchHeader if template.shape.magic == 2 else MessageHeader
    encoded[header.POSITIONS["crc"]] ^= 1
    return encoded


def _magic(template: Template, chance: random.Random) -> bytearray:
    encoded = template.entry()
    encoded[EntryHeader.POSITIONS["magic"]] = UNKNOWN_MAGIC
    return encoded


def _codec(template: Template, chance: random.Random) -> bytearray:
    encoded = template.entry()
    is_batch = template.shape.magic == 2
    at = RecordBatchHeader.POSITIONS["attributes"] + 1
    encoded[at if is_batch else MessageHeader.POSITIONS["attributes"]] |= UNKNOWN_CODEC
    return _resealed(encoded)


def _compressed_middle(template: Template, chance: random.Random) -> bytearray:
    """Return an entry with eight wrong bytes in the middle of the compressed ones."""
    encoded = template.entry()
    middle = (RecordBatchHeader.SIZE + len(encoded)) // 2
    for at in range(middle, middle + 8):
        encoded[at] ^= 0xFF
    return _resealed(encoded)


def _compressed_begin(template: Template, chance: random.Random) -> bytearray:
    """Return an entry whose compressed bytes do not begin as the codec's do."""
    encoded = template.entry()
    value = MessageHeader.SIZE + 8 + 4 + 4
    begin = RecordBatchHeader.SIZE if template.shape.magic == 2 else value
    encoded[begin : begin + 4] = b"\x55" * 4
    return _resealed(encoded)


def _cut(template: Template, chance: random.Random) -> bytearray:
    """Return an entry that lacks its last quarter, as after a write that did not end."""
    encoded = template.entry()
    return encoded[: len(encoded) * 3 // 4]


def _zeros(template: Template, chance: random.Random) -> bytes:
    return bytes(LEN_NOISE) + template.entry()


def _noise(template: Template, chance: random.Random) -> bytes:
    return chance.randbytes(LEN_NOISE) + template.entry()


def _body(record: bytes) -> bytes:
    """Return *record* without its length."""
    return record[1 if record[0] < 0x80 else 2 :]


def _long_body(record: bytes) -> bytes:
    return varint(len(_body(record)) + 1) + _body(record)


def _endless_varint(record: bytes) -> bytes:
    body = _body(record)
    return record[: -len(body)] + body[:1] + b"\xff" * 10 + body[11:]


def _bad_header(record: bytes) -> bytes:
    """Return *record*, which has no headers, with one whose key has a length of -1."""
    body = _body(record)[:-1] + varint(1) + varint(-1)
    return varint(len(body)) + body


def _negative_length(record: bytes) -> bytes:
    """Return a record whose key and value have a length of -2: a warning, and no error."""
    return varint(6) + bytes(3) + varint(-2) + varint(-2) + varint(0)


def _record(share: float, alter: Callable[[bytes], bytes]) -> Fault:
    """Return the fault that *alter* makes in the record before which *share* of a batch's records are."""

    def build(template: Template, chance: random.Random) -> bytearray:
        records = template.records()
        number = int(share * (len(records) - 1))
        records[number] = alter(records[number])
        return template.batch(records)

    return build


def _inner(position: int) -> Fault:
    """Return the fault of a byte of the last message in a wrapper message."""

    def build(template: Template, chance: random.Random) -> bytes:
        inner = template.inner_messages()
        last = bytearray(inner[-1])
        last[position] ^= 8
        shape = template.shape
        data = b"".join([*inner[:-1], last])
        return encode.wrapper(template.rows[-1], data, shape.magic, shape.codec)

    return build


def _value_length(template: Template, chance: random.Random) -> bytearray:
    """Return a message whose value is stated to be longer than the message."""
    encoded = template.entry()
    at = len(encoded) - len(template.rows[-1].value or b"") - 4
    encoded[at : at + 4] = (1 << 20).to_bytes(4, "big")
    return _resealed(encoded)


FAULTS: dict[str, Fault] = {
    "checksum": _checksum,
    "magic": _magic,
    "size": _size,
    "cut": _cut,
    "zeros": _zeros,
    "noise": _noise,
    "codec": _codec,
}
"""Faults of all shapes."""

BATCH_FAULTS: dict[str, Fault] = {
    "first-record": _record(0, _long_body),
    "middle-record": _record(0.5, _long_body),
    "last-record": _record(1, _long_body),
    "varint": _record(0.5, _endless_varint),
    "header": _record(0.5, _bad_header),
    "negative-length": _record(0.5, _negative_length),
    "count-high": _added("num_records", 1, is_resealed=True),
    "count-low": _added("num_records", -1, is_resealed=True),
    "delta": _added("last_offset_delta", -1, is_resealed=True),
}

CODEC_FAULTS: dict[str, Fault] = {
    "compressed-begin": _compressed_begin,
    "compressed-middle": _compressed_middle,
}

MESSAGE_FAULTS: dict[str, Fault] = {"value-length": _value_length}

WRAPPER_FAULTS: dict[str, Fault] = {
    "inner-checksum": _inner(MessageHeader.POSITIONS["crc"]),
    "inner-magic": _inner(MessageHeader.POSITIONS["magic"]),
    "inner-size": _inner(EntryHeader.POSITIONS["size"] + 2),
}


def faults(shape: LogShape) -> dict[str, Fault]:
    """Return the faults that entries of *shape* can have."""
    is_compressed = shape.codec != "none"
    of_format = MESSAGE_FAULTS
    if shape.magic == 2:
        of_format = BATCH_FAULTS
    elif is_compressed:
        of_format = WRAPPER_FAULTS
    return FAULTS | of_format | (CODEC_FAULTS if is_compressed else {})


def damaged_log(shape: LogShape, fault: Fault | None, size: int, share: int, seed: int) -> bytes:
    """Return a log of about *size* bytes, before compression; *share* percent of its entries have *fault*."""
    count, chance = shape.num_records, random.Random(seed)
    records = rows(SHAPES["100B"], seed)
    templates = [Template(shape, [*islice(records, count)]) for _ in range(NUM_TEMPLATES)]
    sound = [template.entry() for template in templates]
    damaged = [fault(template, chance) for template in templates] if fault else sound
    num_entries = max(size // (RECORD_BYTES * count), 1)
    numbers = set(chance.sample(range(num_entries), num_entries * share // 100))
    log = bytearray()
    for number in range(num_entries):
        which = number % NUM_TEMPLATES
        is_damaged = number in numbers
        begin = len(log)
        log += damaged[which] if is_damaged else sound[which]
        if is_damaged and fault in (_zeros, _noise):
            begin += LEN_NOISE
        # A batch states the offset of its first record, a wrapper message the offset of its last one.
        offset = number * count + (0 if shape.magic == 2 else count - 1)
        log[begin : begin + 8] = offset.to_bytes(8, "big")
    return bytes(log)
