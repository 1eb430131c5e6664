"""Functions of encode kernels: validity of Arrow values, bounds of numbers, the producer's limit, copies."""

from numpy import float32

from magicbyte_kernels.primitives import copy, inlined, put1, put8, s8le, u1

LEN_COPY = 64
"""Most bytes that `copy` reads and writes after those it copies."""


@inlined
def is_valid(bitmap: int, bit: int) -> bool:
    """Return whether *bit* of Arrow's validity bitmap is set; without a bitmap (0) all values are valid."""
    return bitmap == 0 or u1(bitmap + (bit >> 3)) >> (bit & 7) & 1 != 0


@inlined
def fits_32_bits(number: int) -> bool:
    """Return whether *number* fits a signed number of 32 bits."""
    return -(1 << 31) <= number < 1 << 31


@inlined
def has_room(num_bytes: int, size: int, most: int, is_estimated: int) -> bool:
    """Return whether Kafka's producer adds a row of *size* bytes to *num_bytes* of rows.

    The rule of MemoryRecordsBuilder.hasRoomFor. If the rows are to be compressed, *is_estimated*: it
    counts those that are there 1.05 times, in 32-bit floating point.
    """
    if is_estimated:
        num_bytes = int(float32(float32(num_bytes) * float32(1.05)))
    return num_bytes + size <= most


@inlined
def copy_within(to: int, p: int, size: int, end: int) -> None:
    """Copy *size* bytes from *p*, and read none at *end* or after it."""
    if end - p - size >= LEN_COPY:
        copy(to, p, size)
        return
    while size >= 8:
        put8(to, s8le(p))
        to, p, size = to + 8, p + 8, size - 8
    for number in range(size):
        put1(to + number, u1(p + number))
