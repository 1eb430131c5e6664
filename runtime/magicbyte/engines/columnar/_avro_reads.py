"""Parts of the kernel for Avro: access to its numbers, reads of varints and strings, writes of byte strings."""

from magicbyte.engines.columnar import avro_program as code
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte_kernels.primitives import (
    BITS_63,
    called,
    copy,
    inlined,
    is_ascii,
    put1,
    put4,
    put8,
    s8le,
    u1,
)

NO_MEMORY = 1000
"""Negative addresses stand for faults. Those from -NO_MEMORY down say that a buffer lacks memory."""


@inlined
def field(at: int, index: int) -> int:
    return s8le(at + 8 * index)


@inlined
def set_field(at: int, index: int, number: int) -> None:
    put8(at + 8 * index, number)


@called
def _long_varint(p: int, end: int) -> tuple[int, int]:
    number, shift = 0, 0
    while p < end:
        byte = u1(p)
        p += 1
        if shift == 63 and byte > 1:
            return 0, -Fault.LONG_VARINT
        number |= (byte & 127) << shift
        if byte < 128:
            return ((number >> 1) & BITS_63) ^ -(number & 1), p
        shift += 7
    return 0, -Fault.ENDS_EARLY


@inlined
def read_long(p: int, end: int) -> tuple[int, int]:
    """Return the zigzag varint at *p*, and the address after it or the negative fault."""
    if p < end:
        byte = u1(p)
        if byte < 128:
            return (byte >> 1) ^ -(byte & 1), p + 1
    return _long_varint(p, end)


@called
def is_utf8(p: int, size: int) -> bool:
    """Return whether the bytes are UTF-8: no surrogates, no longer forms, nothing above U+10FFFF."""
    end = p + size
    while p < end:
        byte = u1(p)
        p += 1
        if byte < 0x80:
            continue
        low, high = 0x80, 0xBF
        if byte < 0xC2 or byte > 0xF4:
            return False
        if byte < 0xE0:
            count = 1
        elif byte < 0xF0:
            count = 2
            if byte == 0xE0:
                low = 0xA0
            elif byte == 0xED:
                high = 0x9F
        else:
            count = 3
            if byte == 0xF0:
                low = 0x90
            elif byte == 0xF4:
                high = 0x8F
        if end - p < count or u1(p) < low or u1(p) > high:
            return False
        for following in range(1, count):
            if u1(p + following) & 0xC0 != 0x80:
                return False
        p += count
    return True


@inlined
def is_text(p: int, size: int) -> bool:
    return is_ascii(p, size) or is_utf8(p, size)


@inlined
def copy_within(to: int, p: int, size: int, fast_end: int) -> None:
    """Copy *size* bytes, and up to SLACK more if the source is not within SLACK bytes of its end."""
    if p + size <= fast_end:
        copy(to, p, size)
    else:
        _copy_exactly(to, p, size)


@called
def _copy_exactly(to: int, p: int, size: int) -> None:
    end = p + size
    while end - p >= 8:
        put8(to, s8le(p))
        p += 8
        to += 8
    while p < end:
        put1(to, u1(p))
        p += 1
        to += 1


@inlined
def reserve(columns: int, column_number: int, row_index: int, size: int, control: int) -> int:
    """Return the address for the *size* bytes of *row_index* in a column of byte strings; 0 without memory for them."""
    at = columns + column_number * code.COLUMN_BYTES
    used = field(at, code.USED)
    after = used + size
    if after > field(at, code.CAPACITY):
        set_field(control, code.FULL_INDEX, column_number)
        set_field(control, code.NEEDED, after)
        return 0
    set_field(at, code.USED, after)
    put4(field(at, code.OFFSETS) + 4 * (row_index + 1), after)
    return field(at, code.DATA) + used
