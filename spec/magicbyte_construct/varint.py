"""Base-128 integers with Kafka's limits (org.apache.kafka.common.utils.ByteUtils).

construct's own VarInt and ZigZag read any number of bytes into a number of any size. Kafka limits
the number of bytes; a longer integer is an error, and the excess bits of the last byte are
silently dropped.
"""

from typing import Any

from construct import Construct, IntegerError
from construct.core import stream_read, stream_write


class Stored(int):
    """Integer with its stored bytes, which differ from those that Kafka writes.

    Parsing returns it for an over-long form (``80 00`` for 0), and if high bits were dropped. It
    builds the stored bytes, which can be any: ``Stored(0, b"\\x80\\x00")``.
    """

    stored: bytes

    def __new__(cls, value: int, stored: bytes) -> "Stored":
        self = super().__new__(cls, value)
        self.stored = stored
        return self

    def __getnewargs__(self) -> Any:  # for copies: int's own method passes only one argument
        return int(self), self.stored


class Base128(Construct):
    """Integer of *bits* bits, the lowest seven first; zigzag-encoded if it is signed."""

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
        unsigned = raw & ((1 << self.bits) - 1)
        value = (unsigned >> 1) ^ -(unsigned & 1) if self.signed else unsigned
        if unsigned != raw or (read[-1] == 0 and shift):
            return Stored(value, read)
        return value

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        data = obj.stored if isinstance(obj, Stored) else self.shortest(obj, path)
        stream_write(stream, data, len(data), path)
        return obj

    def shortest(self, value: Any, path: str) -> bytes:
        """Return the bytes of *value*, as Kafka writes them."""
        if not isinstance(value, int):
            raise IntegerError(f"{value!r} is not an integer", path=path)
        lowest = -(1 << (self.bits - 1)) if self.signed else 0
        highest = -1 - lowest if self.signed else (1 << self.bits) - 1
        if not lowest <= value <= highest:
            text = f"{value} is not between {lowest} and {highest}"
            raise IntegerError(text, path=path)
        rest = (value << 1) ^ (value >> (self.bits - 1)) if self.signed else value
        data = bytearray()
        while rest > 0x7F:
            data.append(rest & 0x7F | 0x80)
            rest >>= 7
        data.append(rest)
        return bytes(data)


Varint = Base128(32, signed=True)
"""Signed integer of 32 bits in at most 5 bytes: lengths, counts and deltas of offsets."""

Varlong = Base128(64, signed=True)
"""Signed integer of 64 bits in at most 10 bytes: deltas of timestamps."""

Uvarint = Base128(32, signed=False)
"""Unsigned integer of 32 bits in at most 5 bytes: lengths in Kafka's flexible messages."""
