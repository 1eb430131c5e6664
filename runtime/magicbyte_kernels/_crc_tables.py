"""CRC-32 and CRC-32C by tables, and the effect of zero bytes on a checksum."""

from typing import Any

import numpy as np

from magicbyte_kernels.primitives import inlined, s8le, u1, u4le


def _tables(polynomial: int) -> Any:
    """Return the eight tables with which a checksum takes eight bytes per step."""
    table = np.zeros((8, 256), np.int64)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
        table[0, byte] = crc
    for row in range(1, 8):
        table[row] = (table[row - 1] >> 8) ^ table[0, table[row - 1] & 255]
    return table


def zeros(length: int, crc_table: Any) -> Any:
    """Return a 4 x 256 table: what each byte of a checksum contributes after *length* zero bytes."""
    crc = np.left_shift(1, np.arange(32, dtype=np.int64))
    for _ in range(length):
        crc = (crc >> 8) ^ crc_table[0, crc & 255]
    effects = np.zeros((4, 256), np.int64)
    for bit in range(32):
        has_bit = (np.arange(256) >> bit % 8 & 1).astype(bool)
        effects[bit // 8, has_bit] ^= crc[bit]
    return effects


CASTAGNOLI_POLYNOMIAL, IEEE_POLYNOMIAL = 0x82F63B78, 0xEDB88320
"""Polynomials of CRC-32C and CRC-32, with the lowest power in the highest bit."""

CASTAGNOLI = _tables(CASTAGNOLI_POLYNOMIAL)
IEEE = _tables(IEEE_POLYNOMIAL)


@inlined
def _after_8_bytes(crc_table: Any, bits: int) -> int:
    """Return the checksum after eight bytes; *bits* are those bytes XOR the checksum before them."""
    return (
        crc_table[7, bits & 255]
        ^ crc_table[6, (bits >> 8) & 255]
        ^ crc_table[5, (bits >> 16) & 255]
        ^ crc_table[4, (bits >> 24) & 255]
        ^ crc_table[3, (bits >> 32) & 255]
        ^ crc_table[2, (bits >> 40) & 255]
        ^ crc_table[1, (bits >> 48) & 255]
        ^ crc_table[0, (bits >> 56) & 255]
    )


@inlined
def _after_4_bytes(crc_table: Any, bits: int) -> int:
    """Return the checksum after four bytes; *bits* are those bytes XOR the checksum before them."""
    return (
        crc_table[3, bits & 255]
        ^ crc_table[2, (bits >> 8) & 255]
        ^ crc_table[1, (bits >> 16) & 255]
        ^ crc_table[0, (bits >> 24) & 255]
    )


@inlined
def by_table(crc_table: Any, p: int, end: int, crc: int) -> int:
    """Return the checksum of the bytes from *p* to *end*; *crc* is the initial value."""
    while end - p >= 8:
        crc = _after_8_bytes(crc_table, s8le(p) ^ crc)
        p += 8
    if end - p >= 4:
        crc = _after_4_bytes(crc_table, u4le(p) ^ crc)
        p += 4
    while p < end:
        crc = (crc >> 8) ^ crc_table[0, (crc ^ u1(p)) & 255]
        p += 1
    return crc ^ 0xFFFFFFFF
