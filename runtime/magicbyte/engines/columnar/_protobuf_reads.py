"""Part of the kernel for Protobuf that reads the wire format: `protobuf_program` says what its numbers mean."""

from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar._avro_reads import field
from magicbyte.engines.columnar.protobuf_program import FIELD_BYTES, UNUSUAL, USUAL
from magicbyte_kernels.primitives import called, inlined, u1

MAX_TAG_BYTES, MAX_LENGTH_BYTES, MAX_VARINT_BYTES = 5, 5, 10
MAX_TAG = (1 << 32) - 1
MAX_STEPS = 8
"""Fields that are compared one after the other before a binary search."""
SECONDS_TAG, NANOSECONDS_TAG = 0x08, 0x10
MAX_SECONDS = 9_223_372_033
"""Seconds, before or after 1970, up to which any number of nanoseconds fits 64 bits with them."""
NANOSECONDS = 1_000_000_000


@called
def _long_varint(p: int, end: int, max_bytes: int) -> tuple[int, int]:
    number, shift, last = 0, 0, p + max_bytes
    if last > end:
        last = end
    while p < last:
        byte = u1(p)
        p += 1
        if shift < 63:
            number |= (byte & 127) << shift
        elif byte > 1:
            return 0, 0
        elif byte == 1:
            number |= -(1 << 63)
        if byte < 128:
            return number, p
        shift += 7
    return 0, 0


@inlined
def read_varint(p: int, end: int, max_bytes: int) -> tuple[int, int]:
    """Return the varint at *p*, and the address after it; 0 if it is not whole, or longer than *max_bytes*."""
    if p < end:
        byte = u1(p)
        if byte < 128:
            return byte, p + 1
    return _long_varint(p, end, max_bytes)


@called
def _search(fields: int, first: int, last: int, number: int) -> int:
    """Return the entry of *number* among the fields from *first* to before *last*; -1 if there is none."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if field(fields + middle * FIELD_BYTES, code.NUMBER) < number:
            first = middle + 1
        else:
            last = middle
    if first < end and field(fields + first * FIELD_BYTES, code.NUMBER) == number:
        return first
    return -1


@inlined
def find_field(fields: int, cursor: int, first: int, last: int, number: int) -> int:
    """Return the entry of *number*; most messages have their fields in order, so it is at *cursor* or soon after."""
    steps = 0
    while cursor < last and steps < MAX_STEPS:
        found = field(fields + cursor * FIELD_BYTES, code.NUMBER)
        if found == number:
            return cursor
        if found > number:
            break
        cursor += 1
        steps += 1
    return _search(fields, first, last, number)


@called
def _is_enum_number(closed_enums: int, first: int, last: int, number: int) -> bool:
    number = ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    while first < last:
        middle = (first + last) >> 1
        found = field(closed_enums, middle)
        if found == number:
            return True
        if found < number:
            first = middle + 1
        else:
            last = middle
    return False


@called
def is_known(at: int, closed_enums: int, kind: int, number: int) -> bool:
    """Return whether the varint *number* is one of the closed enum of the field *at*."""
    return kind == code.CLOSED_ENUM and _is_enum_number(
        closed_enums, field(at, code.INNER), field(at, code.INNER_END), number
    )


@inlined
def count_varints(p: int, end: int) -> int:
    """Return the varints from *p* to *end*: bytes that end one."""
    count = 0
    while p < end:
        count += 1 - (u1(p) >> 7)
        p += 1
    return count


@inlined
def read_length(p: int, end: int) -> tuple[int, int]:
    """Return the address of the end of the bytes whose length is at *p*, and of their beginning, 0 for a fault."""
    size, p = read_varint(p, end, MAX_LENGTH_BYTES)
    if p == 0 or size < 0 or size > end - p:
        return 0, 0
    return p + size, p


@inlined
def read_tag(p: int, end: int) -> tuple[int, int, int]:
    """Return the number and the wire type at *p*, and the address after them, 0 if they are none."""
    tag, p = read_varint(p, end, MAX_TAG_BYTES)
    number, wire = tag >> 3, tag & 7
    if number == 0 or tag > MAX_TAG or wire > code.FIXED32:
        p = 0
    return number, wire, p


@called
def read_time(p: int, end: int) -> tuple[int, int]:
    """Return the nanoseconds of the message of a time from *p* to *end*, and the verdict on it."""
    seconds, nanoseconds, seen_bits = 0, 0, 0
    while p < end:
        tag = u1(p)
        number, p = read_varint(p + 1, end, MAX_VARINT_BYTES)
        bit = tag >> 3
        if p == 0 or (tag != SECONDS_TAG and tag != NANOSECONDS_TAG) or seen_bits & bit:
            return 0, UNUSUAL
        seen_bits |= bit
        if tag == SECONDS_TAG:
            seconds = number
        else:
            nanoseconds = ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    if seconds > MAX_SECONDS or seconds < -MAX_SECONDS:
        return 0, UNUSUAL
    return seconds * NANOSECONDS + nanoseconds, USUAL
