# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""Primitives of the kernels: unaligned access, integers, varints, copies, checksums.

No format is known here. Functions take addresses, never arrays.

With NUMBA_DISABLE_JIT=1 kernels are ordinary Python: slow, but they can be debugged and covered.
"""

import ctypes
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
BITS_63 = (1 << 63) - 1
BITS_64 = (1 << 64) - 1

AHEAD_OF_HEADER, MOST_PASSED_OVER = 4096, 2048
"""Bytes: of larger entries it costs less to wait for each header."""

inlined = njit(forceinline=True)
called = njit
"""Functions of kernels: part of what calls them, or by themselves. Kernels are plain functions."""


# Memory

if config.DISABLE_JIT:

    def u1(p: int) -> int:
        return int.from_bytes(ctypes.string_at(p, 1), "little")

    def u2le(p: int) -> int:
        return int.from_bytes(ctypes.string_at(p, 2), "little")

    def u4le(p: int) -> int:
        return int.from_bytes(ctypes.string_at(p, 4), "little")

    def s8le(p: int) -> int:
        return int.from_bytes(ctypes.string_at(p, 8), "little", signed=True)

    def swap(number: int) -> int:
        return int.from_bytes((number & BITS_64).to_bytes(8, "little"), "big", signed=True)

    def wrap(number: int) -> int:
        return (number + (1 << 63)) % (1 << 64) - (1 << 63)

    def _put(width: int, p: int, number: int) -> None:
        cut = int(number) & ((1 << 8 * width) - 1)
        ctypes.memmove(p, cut.to_bytes(width, "little"), width)

    def put1(p: int, number: int) -> None:
        _put(1, p, number)

    def put2(p: int, number: int) -> None:
        _put(2, p, number)

    def put4(p: int, number: int) -> None:
        _put(4, p, number)

    def put8(p: int, number: int) -> None:
        _put(8, p, number)

    def copy(to: int, p: int, size: int) -> None:
        ctypes.memmove(to, p, size)

    def copy16(to: int, p: int) -> None:
        ctypes.memmove(to, p, 16)

    def ask_ahead(p: int, size: int) -> None:
        pass

    def call_kernel(num_words: int) -> Any:
        raise NotImplementedError("plain Python is called as it is")

    def call5(function: int, a: int, b: int, c: int, d: int, e: int) -> int:
        called = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(int(function))
        return int(called(*map(int, (a, b, c, d, e))))

else:

    def _load(kind: ir.IntType) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            loaded = builder.load(builder.inttoptr(args[0], kind.as_pointer()))
            loaded.align = 1
            return builder.zext(loaded, I64) if kind.width < 64 else loaded

        return codegen

    def _store(kind: ir.IntType) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = builder.trunc(args[1], kind) if kind.width < 64 else args[1]
            stored = builder.store(number, builder.inttoptr(args[0], kind.as_pointer()))
            stored.align = 1
            return context.get_dummy_value()

        return codegen

    @intrinsic
    def u1(typing: Any, p: Any) -> Any:
        return types.int64(types.int64), _load(I8)

    @intrinsic
    def u2le(typing: Any, p: Any) -> Any:
        return types.int64(types.int64), _load(ir.IntType(16))

    @intrinsic
    def u4le(typing: Any, p: Any) -> Any:
        return types.int64(types.int64), _load(I32)

    @intrinsic
    def s8le(typing: Any, p: Any) -> Any:
        return types.int64(types.int64), _load(I64)

    @intrinsic
    def put1(typing: Any, p: Any, number: Any) -> Any:
        return types.void(types.int64, types.int64), _store(I8)

    @intrinsic
    def put2(typing: Any, p: Any, number: Any) -> Any:
        return types.void(types.int64, types.int64), _store(ir.IntType(16))

    @intrinsic
    def put4(typing: Any, p: Any, number: Any) -> Any:
        return types.void(types.int64, types.int64), _store(I32)

    @intrinsic
    def put8(typing: Any, p: Any, number: Any) -> Any:
        return types.void(types.int64, types.int64), _store(I64)

    @intrinsic
    def swap(typing: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bswap(args[0])

        return types.int64(types.int64), codegen

    @inlined
    def wrap(number: int) -> int:
        return number

    def _move(size: int) -> Any:
        kind = ir.VectorType(I8, size)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            loaded = builder.load(builder.inttoptr(args[1], kind.as_pointer()))
            loaded.align = 1
            stored = builder.store(loaded, builder.inttoptr(args[0], kind.as_pointer()))
            stored.align = 1
            return context.get_dummy_value()

        return codegen

    @intrinsic
    def copy16(typing: Any, to: Any, p: Any) -> Any:
        return types.void(types.int64, types.int64), _move(16)

    @intrinsic
    def _copy32(typing: Any, to: Any, p: Any) -> Any:
        return types.void(types.int64, types.int64), _move(32)

    @intrinsic
    def _prefetch(typing: Any, p: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
            name = "llvm.prefetch.p0"
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            how = [ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)]
            builder.call(function, [builder.inttoptr(args[0], I8.as_pointer()), *how])
            return context.get_dummy_value()

        return types.void(types.int64), codegen

    @inlined
    def ask_ahead(p: int, size: int) -> None:
        """Ask for what lies some way behind the *size* bytes at *p*, of which only the first are read.

        Where few bytes are passed over each time, memory is waited for again and again.
        """
        if size <= MOST_PASSED_OVER:
            for line in range(0, size, 64):
                _prefetch(p + line + AHEAD_OF_HEADER)

    @inlined
    def copy(to: int, p: int, size: int) -> None:
        """Copy *size* bytes, and up to 64 more: both places have those behind them."""
        # Nothing is asked for ahead: the checksum or the codec has just been over what is copied.
        at = 0
        while True:
            _copy32(to + at, p + at)
            _copy32(to + at + 32, p + at + 32)
            at += 64
            if at >= size:
                break

    @intrinsic
    def call5(typing: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        """Call the C function at an address: it is an argument, so the machine code can be kept."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(I64, [I64] * 5).as_pointer()
            return builder.call(builder.inttoptr(args[0], kind), list(args[1:]))

        return types.int64(*[types.int64] * 6), codegen

    def call_kernel(num_words: int) -> Any:
        """Return what calls a kernel, with a place for results and one with *num_words* arguments.

        It returns the status that the kernel ended with: 0, unless that failed.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words = builder.inttoptr(args[2], I64.as_pointer())
            given = [builder.load(builder.gep(words, [I64(number)])) for number in range(num_words)]
            error = cgutils.alloca_once(builder, I8.as_pointer())
            pointers = [I64.as_pointer(), error.type]
            kind = ir.FunctionType(I32, [*pointers, *[I64] * num_words]).as_pointer()
            results = builder.inttoptr(args[1], pointers[0])
            status = builder.call(builder.inttoptr(args[0], kind), [results, error, *given])
            return builder.zext(status, I64)

        @intrinsic
        def call(typing: Any, function: Any, results: Any, arguments: Any) -> Any:
            return types.int64(types.int64, types.int64, types.int64), codegen

        return call


# Integers


@inlined
def s1(p: int) -> int:
    return (u1(p) ^ 0x80) - 0x80


@inlined
def s2le(p: int) -> int:
    return (u2le(p) ^ 0x8000) - 0x8000


@inlined
def s4le(p: int) -> int:
    return (u4le(p) ^ 0x80000000) - 0x80000000


@inlined
def u2be(p: int) -> int:
    return u1(p) << 8 | u1(p + 1)


@inlined
def s2be(p: int) -> int:
    return (u2be(p) ^ 0x8000) - 0x8000


@inlined
def s4be(p: int) -> int:
    return swap(u4le(p)) >> 32


@inlined
def u4be(p: int) -> int:
    return (swap(u4le(p)) >> 32) & 0xFFFFFFFF


@inlined
def s8be(p: int) -> int:
    return swap(s8le(p))


@inlined
def zigzag32(p: int) -> tuple[int, int]:
    """Return the number at *p* and the place behind it; 0 for the place if it has over 5 bytes."""
    number = u1(p)
    p += 1
    if number >= 128:
        number &= 127
        shift = 7
        while True:
            byte = u1(p)
            p += 1
            number |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift >= 35:
                return 0, 0
        number &= 0xFFFFFFFF
    return (number >> 1) ^ -(number & 1), p


@inlined
def zigzag64(p: int) -> tuple[int, int]:
    """Return the number at *p* and the place behind it; 0 for the place if it has over 10 bytes."""
    number = u1(p)
    p += 1
    if number >= 128:
        number &= 127
        shift = 7
        while True:
            byte = u1(p)
            p += 1
            number |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift >= 70:
                return 0, 0
    return ((number >> 1) & BITS_63) ^ -(number & 1), p


@inlined
def is_ascii(p: int, size: int) -> bool:
    bits = 0
    end = p + size
    while end - p >= 8:
        bits |= s8le(p)
        p += 8
    while p < end:
        bits |= u1(p)
        p += 1
    return (bits & -9187201950435737472) == 0


@inlined
def view(to: int, p: int, size: int, at: int) -> None:
    """Write Arrow's view of *size* bytes at *p*: the few that fit in it, or that they are *at*.

    Up to 12 bytes are read, whatever the size.
    """
    put4(to, size)
    if size > 12:
        put4(to + 4, u4le(p))
        put4(to + 8, 0)  # the number of the buffer
        put4(to + 12, at)
    else:
        first, last = s8le(p), 0
        if size < 8:
            first &= (1 << 8 * size) - 1
        else:
            last = u4le(p + 8) & ((1 << 8 * (size - 8)) - 1)
        put8(to + 4, first)
        put4(to + 12, last)


# Checksums


def _tables(polynomial: int) -> Any:
    """Return the eight tables of a checksum that is taken eight bytes at a time."""
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
    """Return what *length* zero bytes make of each byte of a checksum."""
    crc = np.left_shift(1, np.arange(32, dtype=np.int64))
    for _ in range(length):
        crc = (crc >> 8) ^ table[0, crc & 255]
    made = np.zeros((4, 256), np.int64)
    for bit in range(32):
        has_bit = (np.arange(256) >> bit % 8 & 1).astype(bool)
        made[bit // 8, has_bit] ^= crc[bit]
    return made


CASTAGNOLI_POLYNOMIAL, IEEE_POLYNOMIAL = 0x82F63B78, 0xEDB88320
"""Those of CRC-32C and CRC-32, the lowest power in the highest bit."""

CASTAGNOLI = _tables(CASTAGNOLI_POLYNOMIAL)
IEEE = _tables(IEEE_POLYNOMIAL)


@inlined
def _behind_8(table: Any, bits: int) -> int:
    """Return what eight bytes make of the checksum that *bits* have been combined with."""
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
def _behind_4(table: Any, bits: int) -> int:
    """Return what four bytes make of the checksum that *bits* have been combined with."""
    return (
        table[3, bits & 255]
        ^ table[2, (bits >> 8) & 255]
        ^ table[1, (bits >> 16) & 255]
        ^ table[0, (bits >> 24) & 255]
    )


@inlined
def _by_table(table: Any, p: int, end: int, crc: int) -> int:
    while end - p >= 8:
        crc = _behind_8(table, s8le(p) ^ crc)
        p += 8
    if end - p >= 4:
        crc = _behind_4(table, u4le(p) ^ crc)
        p += 4
    while p < end:
        crc = (crc >> 8) ^ table[0, (crc ^ u1(p)) & 255]
        p += 1
    return crc ^ 0xFFFFFFFF


def has_instruction(feature: str) -> bool:
    """Whether the processor that is compiled for has the instructions that LLVM calls *feature*.

    LLVM ends the process where it is asked for an instruction that the target lacks.
    """
    if config.DISABLE_JIT:
        return False
    if config.CPU_FEATURES is not None:
        return f"+{feature}" in config.CPU_FEATURES.split(",")
    if config.CPU_NAME is not None and config.CPU_NAME != "host":
        return False
    return bool(llvmlite.binding.get_host_cpu_features().get(feature))


LEN_BLOCK = 16
"""Bytes that one multiplication without carry folds into those behind them."""

LOWER, HIGHER = 0x00, 0x11
"""Which halves of two blocks a multiplication takes."""

NUM_VECTORS = 4
"""Vectors of blocks in a line: so many multiplications do not wait for each other."""

if has_instruction("pclmul"):

    def _power(polynomial: int, exponent: int) -> int:
        """Return x to the power of *exponent*, modulo *polynomial*, as folding takes it."""
        power = 1 << 31  # the highest bit is the lowest power
        for _ in range(exponent):
            power = (power >> 1) ^ (polynomial if power & 1 else 0)
        return power << 1

    def _quotient(polynomial: int) -> int:
        """Return what x to the power of 64 holds of *polynomial*, the lowest power in the highest bit."""
        divisor = 1 << 32 | int(f"{polynomial:032b}"[::-1], 2)
        left, quotient = 1 << 64, 0
        for power in range(32, -1, -1):
            if left >> (power + 32) & 1:
                left ^= divisor << power
                quotient |= 1 << power
        return int(f"{quotient:033b}"[::-1], 2)

    def _folding(polynomial: int, num_lanes: int) -> Any:
        """Return what folds lines of vectors of *num_lanes* blocks.

        After "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Gopal and
        others, 2009).
        """
        len_vector = LEN_BLOCK * num_lanes
        block = ir.VectorType(I64, 2)
        vector = ir.VectorType(I64, 2 * num_lanes)
        suffix = "" if num_lanes == 1 else f".{8 * len_vector}"

        def over(num_bytes: int) -> tuple[int, int]:
            """Return what the halves of a block are multiplied with to count so much further behind."""
            return (
                _power(polynomial, 8 * num_bytes + 32),
                _power(polynomial, 8 * num_bytes - 32),
            )

        over_line, over_vector = over(NUM_VECTORS * len_vector), over(len_vector)
        over_block = over(LEN_BLOCK)
        over_half, quotient = _power(polynomial, 64), _quotient(polynomial)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at = cgutils.alloca_once_value(builder, args[0])

            def load(kind: Any, distance: int = 0) -> Any:
                here = builder.add(builder.load(at), I64(distance))
                loaded = builder.load(builder.inttoptr(here, kind.as_pointer()))
                loaded.align = 1
                return loaded

            def step(num_bytes: int) -> None:
                builder.store(builder.add(builder.load(at), I64(num_bytes)), at)

            def times(folded: Any, by: tuple[int, int], half: int) -> Any:
                """Return a half of each block multiplied with that of *by*."""
                kind = folded.type
                name = "llvm.x86.pclmulqdq" + (suffix if kind == vector else "")
                function = ir.FunctionType(kind, [kind, kind, I8])
                multiply = cgutils.get_or_insert_function(builder.module, function, name)
                return builder.call(multiply, [folded, kind(by * (kind.count // 2)), I8(half)])

            def fold(folded: Any, by: tuple[int, int], behind: Any) -> Any:
                halves = [times(folded, by, half) for half in (LOWER, HIGHER)]
                return builder.xor(builder.xor(*halves), behind)

            line = [load(vector, number * len_vector) for number in range(NUM_VECTORS)]
            crc = builder.insert_element(vector((0,) * vector.count), args[4], I32(0))
            line[0] = builder.xor(line[0], crc)
            kept = [cgutils.alloca_once_value(builder, one) for one in line]
            step(NUM_VECTORS * len_vector)
            with cgutils.for_range(builder, builder.sub(args[1], I64(1))):
                for number, place in enumerate(kept):
                    behind = load(vector, number * len_vector)
                    builder.store(fold(builder.load(place), over_line, behind), place)
                step(NUM_VECTORS * len_vector)
            one = builder.load(kept[0])
            for place in kept[1:]:
                one = fold(one, over_vector, builder.load(place))
            builder.store(one, kept[0])
            with cgutils.for_range(builder, args[2]):
                builder.store(fold(builder.load(kept[0]), over_vector, load(vector)), kept[0])
                step(len_vector)
            made = builder.load(kept[0])

            def lane(number: int) -> Any:
                pair = ir.Constant(ir.VectorType(I32, 2), [2 * number, 2 * number + 1])
                return builder.shuffle_vector(made, made, pair)

            one = lane(0)
            for number in range(1, num_lanes):
                one = fold(one, over_block, lane(number))
            last = cgutils.alloca_once_value(builder, one)
            with cgutils.for_range(builder, args[3]):
                builder.store(fold(builder.load(last), over_block, load(block)), last)
                step(LEN_BLOCK)

            def lower(folded: Any, bits: int) -> Any:
                return builder.and_(folded, block(((1 << bits) - 1, 0)))

            def higher(folded: Any, bits: int) -> Any:
                whole = ir.IntType(128)
                shifted = builder.lshr(builder.bitcast(folded, whole), whole(bits))
                return builder.bitcast(shifted, block)

            # What is left is divided by the polynomial: from 128 bits to 96, to 64, and to 32.
            one = builder.load(last)
            one = builder.xor(higher(one, 64), times(one, (over_block[1], 0), LOWER))
            one = builder.xor(higher(one, 32), times(lower(one, 32), (over_half, 0), LOWER))
            fits = lower(times(lower(one, 32), (quotient, 0), LOWER), 32)
            one = builder.xor(one, times(fits, (polynomial << 1 | 1, 0), LOWER))
            return builder.lshr(builder.extract_element(one, I32(0)), I64(32))

        @intrinsic
        def folded(typing: Any, p: Any, lines: Any, vectors: Any, blocks: Any, crc: Any) -> Any:
            """Return the checksum of so many lines, vectors and blocks at *p*.

            There is a line at least.
            """
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
    """Return how many blocks the processor multiplies at once."""
    if not has_instruction("vpclmulqdq"):
        return 1
    return 4 if has_instruction("avx512f") else 2


NUM_LANES = _num_lanes()

if NUM_LANES > 1:
    LEN_WIDE_VECTOR = NUM_LANES * LEN_BLOCK
    LEN_WIDE_LINE = NUM_VECTORS * LEN_WIDE_VECTOR
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
            kind = ir.FunctionType(I64, [I64, I64])
            name = "llvm.x86.sse42.crc32.64.64"
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

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


if has_instruction("sse4.2") and NUM_LANES > 1:

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
    """Bytes of each of three streams, and how far ahead memory is asked for."""
    ZEROS_LONG, ZEROS_SHORT = _zeros(LONG, CASTAGNOLI), _zeros(SHORT, CASTAGNOLI)

    @inlined
    def _behind(zeros: Any, crc: int) -> int:
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
                _prefetch(p + line + AHEAD)
                _prefetch(p + line + LONG + AHEAD)
                _prefetch(p + line + 2 * LONG + AHEAD)
                for at in range(line, line + 64, 8):
                    crc = _crc8(crc, s8le(p + at))
                    second = _crc8(second, s8le(p + LONG + at))
                    third = _crc8(third, s8le(p + 2 * LONG + at))
            crc = _behind(ZEROS_LONG, crc) ^ second
            crc = _behind(ZEROS_LONG, crc) ^ third
            p += 3 * LONG
        while end - p >= 3 * SHORT:
            second = 0
            third = 0
            for at in range(0, SHORT, 8):
                crc = _crc8(crc, s8le(p + at))
                second = _crc8(second, s8le(p + SHORT + at))
                third = _crc8(third, s8le(p + 2 * SHORT + at))
            crc = _behind(ZEROS_SHORT, crc) ^ second
            crc = _behind(ZEROS_SHORT, crc) ^ third
            p += 3 * SHORT
        return _by_instruction(p, end, crc)

else:

    @called
    def crc32c(p: int, end: int) -> int:
        """Return the CRC-32C of the bytes from *p* to *end*."""
        return _by_table(CASTAGNOLI, p, end, 0xFFFFFFFF)
