"""Implementations of CRC-32 and CRC-32C, by the instructions that a processor has.

Each is compiled for one processor, by `functions`; LLVM aborts the process if a processor lacks an
instruction.
"""

from collections.abc import Callable, Set
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from magicbyte_kernels._crc_folding import (
    I8,
    I32,
    I64,
    LEN_BLOCK,
    NUM_VECTORS,
    folding,
    padded,
)
from magicbyte_kernels._crc_tables import (
    CASTAGNOLI,
    CASTAGNOLI_POLYNOMIAL,
    IEEE,
    IEEE_POLYNOMIAL,
    by_table,
    zeros,
)
from magicbyte_kernels.checksums import CRC32, CRC32C
from magicbyte_kernels.primitives import inlined, prefetch, s8le, u1

Checksum = Callable[[int, int], int]
"""Function of the addresses of the first byte and after the last byte."""

LONG, SHORT, AHEAD = 1024, 256, 3072
"""Bytes of each of three streams, in long and in short steps; distance of prefetches."""


def functions(features: Set[str]) -> dict[str, Checksum]:
    """Return the fastest checksum functions for a processor with *features*, by symbol.

    *features* are LLVM's names. The names that matter differ between x86-64 and aarch64.
    """
    num_lanes = 0
    if "pclmul" in features:
        num_lanes = 1
        if "vpclmulqdq" in features:
            num_lanes = 4 if "avx512bw" in features else 2
    if num_lanes == 4 and "sse4.2" in features:
        return {
            CRC32: _padded(IEEE_POLYNOMIAL),
            CRC32C: _padded(CASTAGNOLI_POLYNOMIAL),
        }
    if "crc" in features:
        return {
            CRC32: _in_three_streams(IEEE, *_arm_instructions("crc32")),
            CRC32C: _in_three_streams(CASTAGNOLI, *_arm_instructions("crc32c")),
        }
    rest_ieee, rest_castagnoli = _by_table(IEEE), _by_table(CASTAGNOLI)
    crc32, crc32c = _whole(rest_ieee), _whole(rest_castagnoli)
    if num_lanes:
        crc32 = _folded(IEEE_POLYNOMIAL, 1, crc32, rest_ieee)
    if num_lanes == 2:
        crc32 = _folded(IEEE_POLYNOMIAL, 2, crc32, rest_ieee)
    if "sse4.2" in features:
        crc32c = _in_three_streams(CASTAGNOLI, *_x86_instructions())
        if num_lanes == 2:
            rest_castagnoli = _by_instruction(*_x86_instructions())
            crc32c = _folded(CASTAGNOLI_POLYNOMIAL, 2, _whole(rest_castagnoli), rest_castagnoli)
    return {CRC32: crc32, CRC32C: crc32c}


def _by_table(crc_table: Any) -> Any:
    """Return a function that continues a checksum over the bytes from *p* to *end* by *crc_table*."""

    @inlined
    def rest(p: int, end: int, crc: int) -> int:
        return by_table(crc_table, p, end, crc)

    return rest


def _by_instruction(crc8: Any, crc1: Any) -> Any:
    """Return a function that continues a checksum by instructions for eight bytes and for one byte."""

    @inlined
    def rest(p: int, end: int, crc: int) -> int:
        while end - p >= 8:
            crc = crc8(crc, s8le(p))
            p += 8
        while p < end:
            crc = crc1(crc, u1(p))
            p += 1
        return crc ^ 0xFFFFFFFF

    return rest


def _whole(rest: Any) -> Checksum:
    """Return a checksum function that is *rest* from the first byte on."""

    @inlined
    def checksum(p: int, end: int) -> int:
        return rest(p, end, 0xFFFFFFFF)

    return checksum


def _folded(polynomial: int, num_lanes: int, short: Any, rest: Any) -> Checksum:
    """Return a checksum function that multiplies *num_lanes* blocks by one instruction.

    *short* is the function for less than a line, *rest* continues a checksum over less than a block.
    """
    fold = folding(polynomial, num_lanes)
    len_vector = num_lanes * LEN_BLOCK
    len_line = NUM_VECTORS * len_vector

    @inlined
    def checksum(p: int, end: int) -> int:
        lines, left = (end - p) // len_line, (end - p) % len_line
        if not lines:
            return short(p, end)
        vectors, left = left // len_vector, left % len_vector
        crc = fold(p, lines, vectors, left // LEN_BLOCK, 0xFFFFFFFF)
        return rest(end - left % LEN_BLOCK, end, crc)

    return checksum


def _padded(polynomial: int, num_lanes: int = 4) -> Checksum:
    """Return a checksum function that folds whole lines alone, as `padded` explains."""
    fold = padded(polynomial, num_lanes)
    len_line = NUM_VECTORS * num_lanes * LEN_BLOCK
    before = np.zeros(
        len_line, np.int64
    )  # the checksums that n zero bytes turn into the initial one
    crc = 0xFFFFFFFF
    for number in range(len_line):
        before[number] = crc
        for _ in range(8):
            has_carried = crc >> 31
            crc = ((crc ^ polynomial) << 1 | 1) if has_carried else crc << 1

    @inlined
    def checksum(p: int, end: int) -> int:
        if end <= p:
            return 0
        return fold(p, end, before[(p - end) % len_line]) ^ 0xFFFFFFFF

    return checksum


@inlined
def _after_zeros(zeros: Any, crc: int) -> int:
    return (
        zeros[0, crc & 255]
        ^ zeros[1, (crc >> 8) & 255]
        ^ zeros[2, (crc >> 16) & 255]
        ^ zeros[3, (crc >> 24) & 255]
    )


def _in_three_streams(crc_table: Any, crc8: Any, crc1: Any) -> Checksum:
    """Return a checksum function by instructions; in a single stream, each would wait for the one before."""
    zeros_long, zeros_short = zeros(LONG, crc_table), zeros(SHORT, crc_table)
    rest = _by_instruction(crc8, crc1)

    @inlined
    def checksum(p: int, end: int) -> int:
        crc = 0xFFFFFFFF
        while end - p >= 3 * LONG:
            second = 0
            third = 0
            for line in range(0, LONG, 64):
                prefetch(p + line + AHEAD)
                prefetch(p + line + LONG + AHEAD)
                prefetch(p + line + 2 * LONG + AHEAD)
                for at in range(line, line + 64, 8):
                    crc = crc8(crc, s8le(p + at))
                    second = crc8(second, s8le(p + LONG + at))
                    third = crc8(third, s8le(p + 2 * LONG + at))
            crc = _after_zeros(zeros_long, crc) ^ second
            crc = _after_zeros(zeros_long, crc) ^ third
            p += 3 * LONG
        while end - p >= 3 * SHORT:
            second = 0
            third = 0
            for at in range(0, SHORT, 8):
                crc = crc8(crc, s8le(p + at))
                second = crc8(second, s8le(p + SHORT + at))
                third = crc8(third, s8le(p + 2 * SHORT + at))
            crc = _after_zeros(zeros_short, crc) ^ second
            crc = _after_zeros(zeros_short, crc) ^ third
            p += 3 * SHORT
        return rest(p, end, crc)

    return checksum


def _instruction(name: str, crc_type: Any, number_type: Any) -> Any:
    """Return a function that continues a checksum by the instruction that LLVM calls *name*."""

    def cut(builder: Any, number: Any, int_type: Any) -> Any:
        return number if int_type.width == number.type.width else builder.trunc(number, int_type)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(crc_type, [crc_type, number_type])
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        numbers = zip(args, (crc_type, number_type), strict=True)
        crc = builder.call(function, [cut(builder, *number) for number in numbers])
        return crc if crc_type is I64 else builder.zext(crc, I64)

    @intrinsic
    def instruction(typing: Any, crc: Any, number: Any) -> Any:
        return types.int64(types.int64, types.int64), codegen

    return instruction


def _arm_instructions(bytes_name: str) -> tuple[Any, Any]:
    """Return the instructions of aarch64 for eight bytes and for one byte."""
    prefix = f"llvm.aarch64.{bytes_name}"
    return _instruction(f"{prefix}x", I32, I64), _instruction(f"{prefix}b", I32, I32)


def _x86_instructions() -> tuple[Any, Any]:
    """Return the instructions of SSE 4.2 for eight bytes and for one byte."""
    prefix = "llvm.x86.sse42.crc32"
    return _instruction(f"{prefix}.64.64", I64, I64), _instruction(f"{prefix}.32.8", I32, I8)
