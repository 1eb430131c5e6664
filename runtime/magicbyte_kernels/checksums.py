"""CRC-32 and CRC-32C for kernels, by the best instructions of the processor.

Functions take addresses and, like `primitives`, are ordinary Python with NUMBA_DISABLE_JIT=1.
"""

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from magicbyte_kernels.primitives import (
    called,
    inlined,
    prefetch,
    s8le,
    u1,
    u4le,
)

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def _tables(polynomial: int) -> Any:
    """Return the eight tables for a checksum over eight bytes per step."""
    table = np.zeros((8, 256), np.int64)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
        table[0, byte] = crc
    for row in range(1, 8):
        table[row] = (table[row - 1] >> 8) ^ table[0, table[row - 1] & 255]
    return table


def _zeros(length: int, table: Any) -> Any:
    """Return the effect of *length* zero bytes on each byte of a checksum."""
    crc = np.left_shift(1, np.arange(32, dtype=np.int64))
    for _ in range(length):
        crc = (crc >> 8) ^ table[0, crc & 255]
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
def _after_8_bytes(table: Any, bits: int) -> int:
    """Return the checksum after eight bytes, whose bits were combined with it in *bits*."""
    return (
        table[7, bits & 255]
        ^ table[6, (bits >> 8) & 255]
        ^ table[5, (bits >> 16) & 255]
        ^ table[4, (bits >> 24) & 255]
        ^ table[3, (bits >> 32) & 255]
        ^ table[2, (bits >> 40) & 255]
        ^ table[1, (bits >> 48) & 255]
        ^ table[0, (bits >> 56) & 255]
    )


@inlined
def _after_4_bytes(table: Any, bits: int) -> int:
    """Return the checksum after four bytes, whose bits were combined with it in *bits*."""
    return (
        table[3, bits & 255]
        ^ table[2, (bits >> 8) & 255]
        ^ table[1, (bits >> 16) & 255]
        ^ table[0, (bits >> 24) & 255]
    )


@inlined
def _by_table(table: Any, p: int, end: int, crc: int) -> int:
    while end - p >= 8:
        crc = _after_8_bytes(table, s8le(p) ^ crc)
        p += 8
    if end - p >= 4:
        crc = _after_4_bytes(table, u4le(p) ^ crc)
        p += 4
    while p < end:
        crc = (crc >> 8) ^ table[0, (crc ^ u1(p)) & 255]
        p += 1
    return crc ^ 0xFFFFFFFF


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


LEN_BLOCK = 16
"""Bytes that a carry-less multiplication folds into the next ones."""

BLOCK = ir.VectorType(I64, 2)

LOWER, HIGHER = 0x00, 0x11
"""Operands of a multiplication: the lower or the higher halves of two blocks."""

NUM_VECTORS = 4
"""Vectors of blocks in a line, whose multiplications are independent of each other."""

if has_instruction("pclmul"):

    def _power(polynomial: int, exponent: int) -> int:
        """Return x to the power of *exponent*, modulo *polynomial*, as a factor for folding."""
        power = 1 << 31  # the highest bit is the lowest power
        for _ in range(exponent):
            power = (power >> 1) ^ (polynomial if power & 1 else 0)
        return power << 1

    def _quotient(polynomial: int) -> int:
        """Return x to the power of 64 divided by *polynomial*, the lowest power in the highest bit."""
        divisor = 1 << 32 | int(f"{polynomial:032b}"[::-1], 2)
        left, quotient = 1 << 64, 0
        for power in range(32, -1, -1):
            if left >> (power + 32) & 1:
                left ^= divisor << power
                quotient |= 1 << power
        return int(f"{quotient:033b}"[::-1], 2)

    def _over(polynomial: int, num_bytes: int) -> tuple[int, int]:
        """Return the factors for both halves of a block that fold it over *num_bytes*."""
        return (_power(polynomial, 8 * num_bytes + 32), _power(polynomial, 8 * num_bytes - 32))

    def _load(builder: Any, kind: Any, address: Any) -> Any:
        loaded = builder.load(builder.inttoptr(address, kind.as_pointer()))
        loaded.align = 1
        return loaded

    def _part(builder: Any, vector: Any, count: int, first: int) -> Any:
        """Return *count* elements of a vector from index *first* on."""
        indices = ir.Constant(
            ir.VectorType(I32, count), [first + number for number in range(count)]
        )
        return builder.shuffle_vector(vector, vector, indices)

    def _times(builder: Any, folded: Any, factors: Any, half: int) -> Any:
        """Return one half of each block multiplied with that half of *factors*, a vector or one block."""
        kind = folded.type
        num_lanes = kind.count // BLOCK.count
        suffix = "" if num_lanes == 1 else f".{8 * LEN_BLOCK * num_lanes}"
        function = ir.FunctionType(kind, [kind, kind, I8])
        name = "llvm.x86.pclmulqdq" + suffix
        multiply = cgutils.get_or_insert_function(builder.module, function, name)
        factors = factors * (kind.count // len(factors))
        return builder.call(multiply, [folded, kind(factors), I8(half)])

    def _folded(builder: Any, folded: Any, factors: Any) -> Any:
        """Return both halves of each block multiplied with both halves of *factors*."""
        return builder.xor(*(_times(builder, folded, factors, half) for half in (LOWER, HIGHER)))

    def _divided(builder: Any, polynomial: int, block: Any) -> Any:
        """Return the checksum of one block: its 128 bits are reduced to 96, 64, and 32."""

        def lower(folded: Any, bits: int) -> Any:
            return builder.and_(folded, BLOCK(((1 << bits) - 1, 0)))

        def higher(folded: Any, bits: int) -> Any:
            whole = ir.IntType(8 * LEN_BLOCK)
            shifted = builder.lshr(builder.bitcast(folded, whole), whole(bits))
            return builder.bitcast(shifted, BLOCK)

        def multiply(folded: Any, number: int) -> Any:
            return _times(builder, folded, (number, 0), LOWER)

        remainder = builder.xor(higher(block, 64), multiply(block, _over(polynomial, LEN_BLOCK)[1]))
        remainder = builder.xor(
            higher(remainder, 32), multiply(lower(remainder, 32), _power(polynomial, 64))
        )
        quotient = lower(multiply(lower(remainder, 32), _quotient(polynomial)), 32)
        remainder = builder.xor(remainder, multiply(quotient, polynomial << 1 | 1))
        return builder.lshr(builder.extract_element(remainder, I32(0)), I64(32))

    def _folding(polynomial: int, num_lanes: int) -> Any:
        """Return a function that folds lines of vectors of *num_lanes* blocks.

        After "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Gopal and
        others, 2009).
        """
        len_vector = LEN_BLOCK * num_lanes
        vector = ir.VectorType(I64, BLOCK.count * num_lanes)
        over_line = _over(polynomial, NUM_VECTORS * len_vector)
        over_vector, over_block = _over(polynomial, len_vector), _over(polynomial, LEN_BLOCK)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cursor = cgutils.alloca_once_value(builder, args[0])

            def load(kind: Any, distance: int = 0) -> Any:
                return _load(builder, kind, builder.add(builder.load(cursor), I64(distance)))

            def step(num_bytes: int) -> None:
                builder.store(builder.add(builder.load(cursor), I64(num_bytes)), cursor)

            def fold(blocks: Any, factors: tuple[int, int], next_blocks: Any) -> Any:
                return builder.xor(_folded(builder, blocks, factors), next_blocks)

            line = [load(vector, number * len_vector) for number in range(NUM_VECTORS)]
            crc = builder.insert_element(vector((0,) * vector.count), args[4], I32(0))
            line[0] = builder.xor(line[0], crc)
            accumulators = [cgutils.alloca_once_value(builder, blocks) for blocks in line]
            step(NUM_VECTORS * len_vector)
            with cgutils.for_range(builder, builder.sub(args[1], I64(1))):
                for number, accumulator in enumerate(accumulators):
                    next_blocks = load(vector, number * len_vector)
                    builder.store(
                        fold(builder.load(accumulator), over_line, next_blocks), accumulator
                    )
                step(NUM_VECTORS * len_vector)
            blocks = builder.load(accumulators[0])
            for accumulator in accumulators[1:]:
                blocks = fold(blocks, over_vector, builder.load(accumulator))
            builder.store(blocks, accumulators[0])
            with cgutils.for_range(builder, args[2]):
                builder.store(
                    fold(builder.load(accumulators[0]), over_vector, load(vector)), accumulators[0]
                )
                step(len_vector)
            blocks = builder.load(accumulators[0])

            def lane(number: int) -> Any:
                return _part(builder, blocks, BLOCK.count, BLOCK.count * number)

            block = lane(0)
            for number in range(1, num_lanes):
                block = fold(block, over_block, lane(number))
            last = cgutils.alloca_once_value(builder, block)
            with cgutils.for_range(builder, args[3]):
                builder.store(fold(builder.load(last), over_block, load(BLOCK)), last)
                step(LEN_BLOCK)
            return _divided(builder, polynomial, builder.load(last))

        @intrinsic
        def folded(typing: Any, p: Any, lines: Any, vectors: Any, blocks: Any, crc: Any) -> Any:
            """Return the checksum of so many lines (at least one), vectors and blocks at *p*."""
            number: Any = types.int64
            return number(number, number, number, number, number), codegen

        return folded

    LEN_LINE = NUM_VECTORS * LEN_BLOCK
    _fold_ieee = _folding(IEEE_POLYNOMIAL, 1)

    @inlined
    def _narrow_crc32(p: int, end: int) -> int:
        lines, rest = (end - p) // LEN_LINE, (end - p) % LEN_LINE
        crc = 0xFFFFFFFF
        if lines:
            crc = _fold_ieee(p, lines, rest // LEN_BLOCK, 0, crc)
            p = end - rest % LEN_BLOCK
        return _by_table(IEEE, p, end, crc)


def _num_lanes() -> int:
    """Return the number of blocks that the processor multiplies by one instruction."""
    if not has_instruction("vpclmulqdq"):
        return 1
    return 4 if has_instruction("avx512bw") else 2


NUM_LANES = _num_lanes()
LEN_WIDE_VECTOR = NUM_LANES * LEN_BLOCK
LEN_WIDE_LINE = NUM_VECTORS * LEN_WIDE_VECTOR


def _crc8_of(builder: Any, crc: Any, number: Any) -> Any:
    """Return the CRC-32C *crc* after eight bytes, by the processor's instruction."""
    kind = ir.FunctionType(I64, [I64, I64])
    name = "llvm.x86.sse42.crc32.64.64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [crc, number])


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

    def _load_after_zeros(builder: Any, vector: Any, address: Any, num_zeros: Any) -> Any:
        """Return the vector at *address*, with zeros instead of its first *num_zeros* bytes.

        These bytes are not read, since they may be on an unmapped page.
        """
        num_bytes = I64(LEN_WIDE_VECTOR)
        some = builder.shl(I64(-1), builder.and_(num_zeros, I64(LEN_WIDE_VECTOR - 1)))
        rest = builder.select(builder.icmp_signed("<", num_zeros, num_bytes), some, I64(0))
        mask = builder.select(builder.icmp_signed(">", num_zeros, I64(0)), rest, I64(-1))
        kind = ir.VectorType(I8, LEN_WIDE_VECTOR)
        bits = ir.VectorType(ir.IntType(1), LEN_WIDE_VECTOR)
        function = ir.FunctionType(kind, [kind.as_pointer(), I32, bits, kind])
        name = f"llvm.masked.load.v{LEN_WIDE_VECTOR}i8.p0"
        load = cgutils.get_or_insert_function(builder.module, function, name)
        pointer = builder.inttoptr(address, kind.as_pointer())
        loaded = builder.call(load, [pointer, I32(1), builder.bitcast(mask, bits), kind(None)])
        return builder.bitcast(loaded, vector)

    def _padded(polynomial: int) -> Any:
        """Return a function that folds whole lines, with zeros in front of the message as needed.

        Without the zeros, the rest of a line would take narrower steps that depend on each other:
        most of the time for a short message. The initial checksum is chosen such that it has the
        required value after the zeros.
        """
        vector = ir.VectorType(I64, BLOCK.count * NUM_LANES)
        over_line = _over(polynomial, LEN_WIDE_LINE)

        def over_rest(number: int) -> list[int]:
            """Return the factors that fold each block of a vector over the rest of the line."""
            to_line_end = LEN_WIDE_LINE - LEN_BLOCK - LEN_WIDE_VECTOR * number
            factors: list[int] = []
            for distance in range(to_line_end, to_line_end - LEN_WIDE_VECTOR, -LEN_BLOCK):
                factors += _over(polynomial, distance) if distance else (0, 0)
            return factors

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            p, end, crc = args
            up = builder.add(builder.sub(end, p), I64(LEN_WIDE_LINE - 1))
            lines = builder.udiv(up, I64(LEN_WIDE_LINE))
            start = builder.sub(end, builder.mul(lines, I64(LEN_WIDE_LINE)))
            num_zeros = builder.sub(p, start)
            offsets = [LEN_WIDE_VECTOR * number for number in range(NUM_VECTORS)]
            line = []
            for offset in offsets:
                zeros = builder.sub(num_zeros, I64(offset))
                line.append(
                    _load_after_zeros(builder, vector, builder.add(start, I64(offset)), zeros)
                )
            crc = builder.insert_element(vector((0,) * vector.count), crc, I32(0))
            line[0] = builder.xor(line[0], crc)
            accumulators = [cgutils.alloca_once_value(builder, blocks) for blocks in line]
            cursor = cgutils.alloca_once_value(builder, start)
            with cgutils.for_range(builder, builder.sub(lines, I64(1))):
                next_line = builder.add(builder.load(cursor), I64(LEN_WIDE_LINE))
                for offset, accumulator in zip(offsets, accumulators, strict=True):
                    next_blocks = _load(builder, vector, builder.add(next_line, I64(offset)))
                    folded = _folded(builder, builder.load(accumulator), over_line)
                    builder.store(builder.xor(folded, next_blocks), accumulator)
                builder.store(next_line, cursor)
            line = [builder.load(accumulator) for accumulator in accumulators]
            blocks = _last_lane(builder, line[-1])
            for number, vector_blocks in enumerate(line):
                blocks = builder.xor(blocks, _folded(builder, vector_blocks, over_rest(number)))
            for count in (vector.count // 2, BLOCK.count):
                blocks = builder.xor(
                    _part(builder, blocks, count, 0), _part(builder, blocks, count, count)
                )
            if polynomial == CASTAGNOLI_POLYNOMIAL:  # the CRC-32C instruction divides
                halves = [builder.extract_element(blocks, I32(number)) for number in range(2)]
                return _crc8_of(builder, _crc8_of(builder, I64(0), halves[0]), halves[1])
            return _divided(builder, polynomial, blocks)

        @intrinsic
        def padded(typing: Any, p: Any, end: Any, crc: Any) -> Any:
            """Return the checksum of the bytes (at least one) from *p* to *end*.

            *crc* is the initial checksum before the zeros.
            """
            return types.int64(types.int64, types.int64, types.int64), codegen

        return padded

    def _last_lane(builder: Any, vector: Any) -> Any:
        """Return the vector with zeros instead of all blocks but the last one of the line."""
        count = vector.type.count
        lanes = [*[count] * (count - BLOCK.count), *range(count - BLOCK.count, count)]
        zeros = vector.type((0,) * count)
        return builder.shuffle_vector(vector, zeros, ir.Constant(ir.VectorType(I32, count), lanes))

    _padded_ieee = _padded(IEEE_POLYNOMIAL)
    _padded_castagnoli = _padded(CASTAGNOLI_POLYNOMIAL)

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        if end <= p:
            return 0
        begin = BEFORE_IEEE_ZEROS[(p - end) % LEN_WIDE_LINE]
        return _padded_ieee(p, end, begin) ^ 0xFFFFFFFF

elif NUM_LANES == 2:
    _fold_ieee_wide = _folding(IEEE_POLYNOMIAL, NUM_LANES)
    _fold_castagnoli_wide = _folding(CASTAGNOLI_POLYNOMIAL, NUM_LANES)

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        lines, rest = (end - p) // LEN_WIDE_LINE, (end - p) % LEN_WIDE_LINE
        if not lines:
            return _narrow_crc32(p, end)
        vectors, rest = rest // LEN_WIDE_VECTOR, rest % LEN_WIDE_VECTOR
        crc = _fold_ieee_wide(p, lines, vectors, rest // LEN_BLOCK, 0xFFFFFFFF)
        return _by_table(IEEE, end - rest % LEN_BLOCK, end, crc)

elif has_instruction("pclmul"):

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        return _narrow_crc32(p, end)

else:

    @called
    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        return _by_table(IEEE, p, end, 0xFFFFFFFF)


if has_instruction("sse4.2"):

    @intrinsic
    def _crc8(typing: Any, crc: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _crc8_of(builder, *args)

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
    ZEROS_LONG, ZEROS_SHORT = _zeros(LONG, CASTAGNOLI), _zeros(SHORT, CASTAGNOLI)

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
        return _by_table(CASTAGNOLI, p, end, 0xFFFFFFFF)
