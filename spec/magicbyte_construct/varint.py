"""Integers of seven bits to a byte, with Kafka's limits (org.apache.kafka.common.utils.ByteUtils).

construct's own VarInt and ZigZag read any number of bytes into a number of any size. Kafka's end
with an error where the last byte that they may have asks for another, and drop without a word
the bits of that byte for which there is no room.
"""

from typing import Any

from construct import Construct, IntegerError
from construct.core import stream_read, stream_write


class Stored(int):
    """An integer beside the bytes that stand for it, which are not those that Kafka writes.

    Parsing gives one for an over-long form (``80 00`` for 0) and where high bits were dropped.
    It builds as it was read. ``Stored(0, b"\\x80\\x00")`` builds any other bytes as well.
    """

    stored: bytes

    def __new__(cls, value: int, stored: bytes) -> "Stored":
        self = super().__new__(cls, value)
        self.stored = stored
        return self

    def __getnewargs__(self) -> Any:  # int's own has one argument; copies need both
        return int(self), self.stored


class Base128(Construct):
    """An integer of *bits* bits, the lowest seven first; zigzag where it has a sign."""

    def __init__(self, bits: int, *, signed: bool) -> None:
        super().__init__()
        self.bits, self.signed = bits, signed
        self.max_bytes = -(-bits // 7)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        read = stream_read(stream, 1, path)
        raw, shift = read[0] & 0x7F, 0
        while read[-1] & 0x80:
            if len(read) == self.max_bytes:
                text = f"no end after {self.max_bytes} bytes: {read.hex()}"
                raise IntegerError(text, path=path)
            read += stream_read(stream, 1, path)
            shift += 7
            raw |= (read[-1] & 0x7F) << shift
        kept = raw & ((1 << self.bits) - 1)
        value = (kept >> 1) ^ -(kept & 1) if self.signed else kept
        if kept != raw or (read[-1] == 0 and shift):
            return Stored(value, read)
        return value

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        data = obj.stored if isinstance(obj, Stored) else self.shortest(obj, path)
        stream_write(stream, data, len(data), path)
        return obj

    def shortest(self, value: Any, path: str) -> bytes:
        """Return *value* as Kafka writes it."""
        if not isinstance(value, int):
            raise IntegerError(f"{value!r} is not an integer", path=path)
        lowest = -(1 << (self.bits - 1)) if self.signed else 0
        highest = -1 - lowest if self.signed else (1 << self.bits) - 1
        if not lowest <= value <= highest:
            text = f"{value} does not lie between {lowest} and {highest}"
            raise IntegerError(text, path=path)
        rest = (value << 1) ^ (value >> (self.bits - 1)) if self.signed else value
        data = bytearray()
        while rest > 0x7F:
            data.append(rest & 0x7F | 0x80)
            rest >>= 7
        data.append(rest)
        return bytes(data)


Varint = Base128(32, signed=True)
"""A signed integer of 32 bits in at most 5 bytes: lengths, counts and deltas of offsets."""

Varlong = Base128(64, signed=True)
"""A signed integer of 64 bits in at most 10 bytes: deltas of timestamps."""

Uvarint = Base128(32, signed=False)
"""An integer of 32 bits without a sign in at most 5 bytes: Kafka's flexible messages."""
