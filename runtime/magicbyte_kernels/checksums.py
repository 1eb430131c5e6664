"""CRC-32 and CRC-32C for kernels, with the fastest instructions that the processor has.

Functions take addresses and, like `primitives`, are ordinary Python with NUMBA_DISABLE_JIT=1.
"""

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from magicbyte_kernels._crc_folding import (
    I8,
    I32,
    I64,
    LEN_BLOCK,
    NUM_VECTORS,
    crc8_of,
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
from magicbyte_kernels.primitives import called, inlined, prefetch, s8le, u1


def has_instruction(feature: str) -> bool:
    """Return whether the target processor has the instructions that LLVM calls *feature*.

    Callers must ask first: LLVM aborts the process if the target lacks an instruction.
    """
    if config.DISABLE_JIT:
        return False
    if config.CPU_FEATURES is not None:
        return f"+{feature}" in config.CPU_FEATURES.split(",")
    if config.CPU_NAME is not None and config.CPU_NAME != "host":
        return False
    return bool(llvmlite.binding.get_host_cpu_features().get(feature))


LEN_LINE = NUM_VECTORS * LEN_BLOCK

if has_instruction("pclmul"):
    _fold_ieee = folding(IEEE_POLYNOMIAL, 1)

    @inlined
    def _narrow_crc32(p: int, end: int) -> int:
        lines, rest = (end - p) // LEN_LINE, (end - p) % LEN_LINE
        crc = 0xFFFFFFFF
        if lines:
            crc = _fold_ieee(p, lines, rest // LEN_BLOCK, 0, crc)
            p = end - rest % LEN_BLOCK
        return by_table(IEEE, p, end, crc)


def _num_lanes() -> int:
    """Return the number of blocks that the processor multiplies by one instruction."""
    if not has_instruction("vpclmulqdq"):
        return 1
    return 4 if has_instruction("avx512bw") else 2


NUM_LANES = _num_lanes()
LEN_WIDE_VECTOR = NUM_LANES * LEN_BLOCK
LEN_WIDE_LINE = NUM_VECTORS * LEN_WIDE_VECTOR


if NUM_LANES == 4:

    def _before_zeros(polynomial: int) -> Any:
        """Return the checksums, by index n, that n zero bytes turn into the initial checksum."""
        before = np.zeros(LEN_WIDE_LINE, np.int64)
        crc = 0xFFFFFFFF
        for number in range(LEN_WIDE_LINE):
            before[number] = crc
            for _ in range(8):
                has_carried = crc >> 31
                crc = ((crc ^ polynomial) << 1 | 1) if has_carried else crc << 1
        return before

    BEFORE_IEEE_ZEROS = _before_zeros(IEEE_POLYNOMIAL)
    BEFORE_CASTAGNOLI_ZEROS = _before_zeros(CASTAGNOLI_POLYNOMIAL)
    _padded_ieee = padded(IEEE_POLYNOMIAL, NUM_LANES)
    _padded_castagnoli = padded(CASTAGNOLI_POLYNOMIAL, NUM_LANES)

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        if end <= p:
            return 0
        begin = BEFORE_IEEE_ZEROS[(p - end) % LEN_WIDE_LINE]
        return _padded_ieee(p, end, begin) ^ 0xFFFFFFFF

elif NUM_LANES == 2:
    _fold_ieee_wide = folding(IEEE_POLYNOMIAL, NUM_LANES)
    _fold_castagnoli_wide = folding(CASTAGNOLI_POLYNOMIAL, NUM_LANES)

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        lines, rest = (end - p) // LEN_WIDE_LINE, (end - p) % LEN_WIDE_LINE
        if not lines:
            return _narrow_crc32(p, end)
        vectors, rest = rest // LEN_WIDE_VECTOR, rest % LEN_WIDE_VECTOR
        crc = _fold_ieee_wide(p, lines, vectors, rest // LEN_BLOCK, 0xFFFFFFFF)
        return by_table(IEEE, end - rest % LEN_BLOCK, end, crc)

elif has_instruction("pclmul"):

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        return _narrow_crc32(p, end)

else:

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        return by_table(IEEE, p, end, 0xFFFFFFFF)


if has_instruction("sse4.2"):

    @intrinsic
    def _crc8(typing: Any, crc: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return crc8_of(builder, *args)

        return types.int64(types.int64, types.int64), codegen

    @intrinsic
    def _crc1(typing: Any, crc: Any, byte: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(I32, [I32, I8])
            name = "llvm.x86.sse42.crc32.32.8"
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            cut = [builder.trunc(args[0], I32), builder.trunc(args[1], I8)]
            return builder.zext(builder.call(function, cut), I64)

        return types.int64(types.int64, types.int64), codegen

    @inlined
    def _by_instruction(p: int, end: int, crc: int) -> int:
        while end - p >= 8:
            crc = _crc8(crc, s8le(p))
            p += 8
        while p < end:
            crc = _crc1(crc, u1(p))
            p += 1
        return crc ^ 0xFFFFFFFF


if NUM_LANES == 4:

    @called
    def crc32c(p: int, end: int) -> int:
        """Return the CRC-32C of the bytes from *p* to *end*."""
        if end <= p:
            return 0
        begin = BEFORE_CASTAGNOLI_ZEROS[(p - end) % LEN_WIDE_LINE]
        return _padded_castagnoli(p, end, begin) ^ 0xFFFFFFFF

elif has_instruction("sse4.2") and NUM_LANES == 2:

    @called
    def crc32c(p: int, end: int) -> int:
        """Return the CRC-32C of the bytes from *p* to *end*."""
        crc = 0xFFFFFFFF
        lines, rest = (end - p) // LEN_WIDE_LINE, (end - p) % LEN_WIDE_LINE
        if lines:
            vectors, rest = rest // LEN_WIDE_VECTOR, rest % LEN_WIDE_VECTOR
            crc = _fold_castagnoli_wide(p, lines, vectors, rest // LEN_BLOCK, crc)
            p = end - rest % LEN_BLOCK
        return _by_instruction(p, end, crc)

elif has_instruction("sse4.2"):
    LONG, SHORT, AHEAD = 1024, 256, 3072
    """Bytes of each of three streams, in long and in short steps; distance of prefetches."""
    ZEROS_LONG, ZEROS_SHORT = zeros(LONG, CASTAGNOLI), zeros(SHORT, CASTAGNOLI)

    @inlined
    def _after_zeros(zeros: Any, crc: int) -> int:
        return (
            zeros[0, crc & 255]
            ^ zeros[1, (crc >> 8) & 255]
            ^ zeros[2, (crc >> 16) & 255]
            ^ zeros[3, (crc >> 24) & 255]
        )

    @called
    def crc32c(p: int, end: int) -> int:
        """Return the CRC-32C of the bytes from *p* to *end*, in three streams at a time."""
        crc = 0xFFFFFFFF
        while end - p >= 3 * LONG:
            second = 0
            third = 0
            for line in range(0, LONG, 64):
                prefetch(p + line + AHEAD)
                prefetch(p + line + LONG + AHEAD)
                prefetch(p + line + 2 * LONG + AHEAD)
                for at in range(line, line + 64, 8):
                    crc = _crc8(crc, s8le(p + at))
                    second = _crc8(second, s8le(p + LONG + at))
                    third = _crc8(third, s8le(p + 2 * LONG + at))
            crc = _after_zeros(ZEROS_LONG, crc) ^ second
            crc = _after_zeros(ZEROS_LONG, crc) ^ third
            p += 3 * LONG
        while end - p >= 3 * SHORT:
            second = 0
            third = 0
            for at in range(0, SHORT, 8):
                crc = _crc8(crc, s8le(p + at))
                second = _crc8(second, s8le(p + SHORT + at))
                third = _crc8(third, s8le(p + 2 * SHORT + at))
            crc = _after_zeros(ZEROS_SHORT, crc) ^ second
            crc = _after_zeros(ZEROS_SHORT, crc) ^ third
            p += 3 * SHORT
        return _by_instruction(p, end, crc)

else:

    @called
    def crc32c(p: int, end: int) -> int:
        """Return the CRC-32C of the bytes from *p* to *end*."""
        return by_table(CASTAGNOLI, p, end, 0xFFFFFFFF)
