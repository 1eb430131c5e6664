"""Unsigned base-128 integer, which begins a snappy block."""

from magicbyte.errors import CodecError

MAX_BYTES = 5


def read_uvarint(data: memoryview, position: int, end: int, *, codec: str) -> tuple[int, int]:
    """Return the unsigned 32-bit integer at *position*, and the position after it.

    Forms longer than necessary are accepted, as by Google's snappy. Raises CodecError, naming
    *codec*, if the integer does not end before *end* or does not fit.
    """
    value = shift = 0
    for index in range(position, min(position + MAX_BYTES, end)):
        byte = data[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 32:
                break
            return value, index + 1
        shift += 7
    if end - position < MAX_BYTES:
        raise CodecError.of(codec, "the bytes end inside the length", position=position)
    raise CodecError.of(codec, "the length does not fit 32 bits", position=position)
