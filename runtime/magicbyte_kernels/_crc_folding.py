"""CRC-32 and CRC-32C by carry-less multiplication, as LLVM code for kernels.

After "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Gopal and others,
2009). Call these functions only if the processor has the instructions.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from magicbyte_kernels._crc_tables import CASTAGNOLI_POLYNOMIAL

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)

LEN_BLOCK = 16
"""Bytes that a carry-less multiplication folds into the next ones."""

BLOCK = ir.VectorType(I64, 2)

LEN_ELEMENT = 8
"""Bytes of an element of a block."""

LOWER, HIGHER = 0x00, 0x11
"""Operands of a multiplication: the lower or the higher halves of two blocks."""

NUM_VECTORS = 4
"""Vectors of blocks in a line, whose multiplications are independent of each other."""


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
    """Return the two factors that fold the halves of a block over *num_bytes* bytes."""
    return (_power(polynomial, 8 * num_bytes + 32), _power(polynomial, 8 * num_bytes - 32))


def _load(builder: Any, vector_type: Any, address: Any) -> Any:
    loaded = builder.load(builder.inttoptr(address, vector_type.as_pointer()))
    loaded.align = 1
    return loaded


def _part(builder: Any, vector: Any, count: int, first: int) -> Any:
    """Return the *count* elements of *vector* that begin at index *first*."""
    indices = ir.Constant(ir.VectorType(I32, count), [first + number for number in range(count)])
    return builder.shuffle_vector(vector, vector, indices)


def _times(builder: Any, folded: Any, factors: Any, half: int) -> Any:
    """Return the product of one half of each block with that half of the vector or block *factors*."""
    kind = folded.type
    num_lanes = kind.count // BLOCK.count
    suffix = "" if num_lanes == 1 else f".{8 * LEN_BLOCK * num_lanes}"
    function = ir.FunctionType(kind, [kind, kind, I8])
    name = "llvm.x86.pclmulqdq" + suffix
    multiply = cgutils.get_or_insert_function(builder.module, function, name)
    factors = factors * (kind.count // len(factors))
    return builder.call(multiply, [folded, kind(factors), I8(half)])


def _folded(builder: Any, folded: Any, factors: Any) -> Any:
    """Return each block folded: its halves, multiplied by the halves of *factors*, XORed."""
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


def folding(polynomial: int, num_lanes: int) -> Any:
    """Return a function that folds lines of vectors of *num_lanes* blocks."""
    len_vector = LEN_BLOCK * num_lanes
    vector = ir.VectorType(I64, BLOCK.count * num_lanes)
    over_line = _over(polynomial, NUM_VECTORS * len_vector)
    over_vector, over_block = _over(polynomial, len_vector), _over(polynomial, LEN_BLOCK)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cursor = cgutils.alloca_once_value(builder, args[0])

        def load(vector_type: Any, distance: int = 0) -> Any:
            return _load(builder, vector_type, builder.add(builder.load(cursor), I64(distance)))

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
                builder.store(fold(builder.load(accumulator), over_line, next_blocks), accumulator)
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
    def folded(typing: Any, p: Any, num_lines: Any, vectors: Any, blocks: Any, crc: Any) -> Any:
        """Return the checksum of *num_lines* lines (1 or more), *vectors* and *blocks* at *p*."""
        number: Any = types.int64
        return number(number, number, number, number, number), codegen

    return folded


def crc8_of(builder: Any, crc: Any, number: Any) -> Any:
    """Return the CRC-32C *crc* after eight bytes, by the processor's instruction."""
    kind = ir.FunctionType(I64, [I64, I64])
    name = "llvm.x86.sse42.crc32.64.64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [crc, number])


def _load_after_zeros(builder: Any, vector: Any, address: Any, num_zeros: Any) -> Any:
    """Return the vector at *address*, with zeros instead of its first *num_zeros* bytes.

    These bytes are not read, since they may be on an unmapped page.
    """
    len_vector = vector.count * LEN_ELEMENT
    num_bytes = I64(len_vector)
    some = builder.shl(I64(-1), builder.and_(num_zeros, I64(len_vector - 1)))
    rest = builder.select(builder.icmp_signed("<", num_zeros, num_bytes), some, I64(0))
    mask = builder.select(builder.icmp_signed(">", num_zeros, I64(0)), rest, I64(-1))
    kind = ir.VectorType(I8, len_vector)
    bits = ir.VectorType(ir.IntType(1), len_vector)
    function = ir.FunctionType(kind, [kind.as_pointer(), I32, bits, kind])
    name = f"llvm.masked.load.v{len_vector}i8.p0"
    load = cgutils.get_or_insert_function(builder.module, function, name)
    pointer = builder.inttoptr(address, kind.as_pointer())
    loaded = builder.call(load, [pointer, I32(1), builder.bitcast(mask, bits), kind(None)])
    return builder.bitcast(loaded, vector)


def padded(polynomial: int, num_lanes: int) -> Any:
    """Return a function that folds whole lines of vectors, after zeros that fill the first line.

    Without the zeros, the rest of a line would take narrower steps that depend on each other:
    most of the time for a short message. The initial checksum is chosen such that it has the
    required value after the zeros.
    """
    len_vector = LEN_BLOCK * num_lanes
    len_line = NUM_VECTORS * len_vector
    vector = ir.VectorType(I64, BLOCK.count * num_lanes)
    over_line = _over(polynomial, len_line)

    def over_rest(number: int) -> list[int]:
        """Return the factors that fold each block of vector *number* over the rest of the line."""
        to_line_end = len_line - LEN_BLOCK - len_vector * number
        factors: list[int] = []
        for distance in range(to_line_end, to_line_end - len_vector, -LEN_BLOCK):
            factors += _over(polynomial, distance) if distance else (0, 0)
        return factors

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        p, end, crc = args
        up = builder.add(builder.sub(end, p), I64(len_line - 1))
        lines = builder.udiv(up, I64(len_line))
        start = builder.sub(end, builder.mul(lines, I64(len_line)))
        num_zeros = builder.sub(p, start)
        offsets = [len_vector * number for number in range(NUM_VECTORS)]
        line = []
        for offset in offsets:
            zeros = builder.sub(num_zeros, I64(offset))
            line.append(_load_after_zeros(builder, vector, builder.add(start, I64(offset)), zeros))
        crc = builder.insert_element(vector((0,) * vector.count), crc, I32(0))
        line[0] = builder.xor(line[0], crc)
        accumulators = [cgutils.alloca_once_value(builder, blocks) for blocks in line]
        cursor = cgutils.alloca_once_value(builder, start)
        with cgutils.for_range(builder, builder.sub(lines, I64(1))):
            next_line = builder.add(builder.load(cursor), I64(len_line))
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
            return crc8_of(builder, crc8_of(builder, I64(0), halves[0]), halves[1])
        return _divided(builder, polynomial, blocks)

    @intrinsic
    def padded(typing: Any, p: Any, stop: Any, crc: Any) -> Any:
        """Return the checksum of the bytes (at least one) from *p* to *stop*.

        *crc* is the initial checksum before the zeros.
        """
        return types.int64(types.int64, types.int64, types.int64), codegen

    return padded


def _last_lane(builder: Any, vector: Any) -> Any:
    """Return *vector* with its last block only: all other blocks are replaced by zeros."""
    count = vector.type.count
    lanes = [*[count] * (count - BLOCK.count), *range(count - BLOCK.count, count)]
    zeros = vector.type((0,) * count)
    return builder.shuffle_vector(vector, zeros, ir.Constant(ir.VectorType(I32, count), lanes))
