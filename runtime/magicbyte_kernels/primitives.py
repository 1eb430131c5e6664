"""Primitives of kernels: unaligned access, integers, varints, copies.

Functions take addresses, not arrays, and know no format. With NUMBA_DISABLE_JIT=1 they and all
kernels are ordinary Python: slow, but open to debuggers and coverage.
"""

import ctypes
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

I8, I16, I32, I64 = map(ir.IntType, (8, 16, 32, 64))
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
BITS_57 = (1 << 57) - 1
BITS_63 = (1 << 63) - 1
BITS_64 = (1 << 64) - 1

AHEAD_OF_HEADER, MOST_PASSED_OVER = 4096, 2048
"""Distance of prefetches, and the largest entry, in bytes, whose successors are prefetched.

For larger entries it is cheaper to wait for each header.
"""

_without_wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inlined = njit(forceinline=True, **_without_wrappers)
called = njit(**_without_wrappers)
"""Decorators for the functions of kernels: inlined or called. Kernels are not decorated."""


# Memory

if config.DISABLE_JIT:

    def _get(width: int, p: int) -> int:
        return int.from_bytes(ctypes.string_at(p, width), "little", signed=width == 8)

    u1, u4le, s8le = (partial(_get, width) for width in (1, 4, 8))

    def swap(number: int) -> int:
        return int.from_bytes((int(number) & BITS_64).to_bytes(8, "little"), "big", signed=True)

    def wrap(number: int) -> int:
        return (number + (1 << 63)) % (1 << 64) - (1 << 63)

    def _put(width: int, p: int, number: int) -> None:
        cut = int(number) & ((1 << 8 * width) - 1)
        ctypes.memmove(p, cut.to_bytes(width, "little"), width)

    put1, put2, put4, put8 = (partial(_put, width) for width in (1, 2, 4, 8))

    def copy(to: int, p: int, size: int) -> None:
        ctypes.memmove(to, p, size)

    copy16 = partial(copy, size=16)

    def prefetch(p: int) -> None:
        pass

    def ask_ahead(p: int, size: int) -> None:
        pass

    def call_kernel(num_words: int) -> Any:
        raise NotImplementedError("ordinary Python functions are called directly")

    def float_of_int(number: int) -> int:
        return struct.unpack("<I", np.float32(np.int64(number)).tobytes())[0]

    def double_of_int(number: int) -> int:
        return struct.unpack("<q", struct.pack("<d", number))[0]

    def double_of_float(bits: int) -> int:
        (number,) = struct.unpack("<f", struct.pack("<I", bits))
        return struct.unpack("<q", struct.pack("<d", number))[0]

    def call5(function: int, a: int, b: int, c: int, d: int, e: int) -> int:
        called = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(int(function))
        return int(called(*map(int, (a, b, c, d, e))))

else:

    def _load(int_type: ir.IntType) -> Any:
        """Return a function that loads the integer at an address."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            loaded = builder.load(builder.inttoptr(args[0], int_type.as_pointer()))
            loaded.align = 1
            return builder.zext(loaded, I64) if int_type.width < 64 else loaded

        @intrinsic
        def load(typing: Any, p: Any) -> Any:
            return types.int64(types.int64), codegen

        return load

    def _store(int_type: ir.IntType) -> Any:
        """Return a function that stores an integer at an address."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = builder.trunc(args[1], int_type) if int_type.width < 64 else args[1]
            stored = builder.store(number, builder.inttoptr(args[0], int_type.as_pointer()))
            stored.align = 1
            return context.get_dummy_value()

        @intrinsic
        def store(typing: Any, p: Any, number: Any) -> Any:
            return types.void(types.int64, types.int64), codegen

        return store

    u1, u4le, s8le = map(_load, (I8, I32, I64))
    put1, put2, put4, put8 = map(_store, (I8, I16, I32, I64))

    @intrinsic
    def swap(typing: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bswap(args[0])

        return types.int64(types.int64), codegen

    @inlined
    def wrap(number: int) -> int:
        return number

    def _convert(convert: Callable[[Any, Any], Any]) -> Any:
        """Return a function from int64 to int64 whose code *convert* emits."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return convert(builder, args[0])

        @intrinsic
        def converted(typing: Any, number: Any) -> Any:
            return types.int64(types.int64), codegen

        return converted

    float_of_int = _convert(
        lambda builder, number: builder.zext(
            builder.bitcast(builder.sitofp(number, FLOAT), I32), I64
        )
    )
    double_of_int = _convert(
        lambda builder, number: builder.bitcast(builder.sitofp(number, DOUBLE), I64)
    )
    double_of_float = _convert(
        lambda builder, bits: builder.bitcast(
            builder.fpext(builder.bitcast(builder.trunc(bits, I32), FLOAT), DOUBLE), I64
        )
    )

    def _move(size: int) -> Any:
        """Return a function that copies *size* bytes between two addresses."""
        kind = ir.VectorType(I8, size)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            loaded = builder.load(builder.inttoptr(args[1], kind.as_pointer()))
            loaded.align = 1
            stored = builder.store(loaded, builder.inttoptr(args[0], kind.as_pointer()))
            stored.align = 1
            return context.get_dummy_value()

        @intrinsic
        def move(typing: Any, to: Any, p: Any) -> Any:
            return types.void(types.int64, types.int64), codegen

        return move

    copy16, _copy32 = _move(16), _move(32)

    @intrinsic
    def prefetch(typing: Any, p: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
            name = "llvm.prefetch.p0"
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            flags = [ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)]
            builder.call(function, [builder.inttoptr(args[0], I8.as_pointer()), *flags])
            return context.get_dummy_value()

        return types.void(types.int64), codegen

    @inlined
    def ask_ahead(p: int, size: int) -> None:
        """Prefetch memory after the entry of *size* bytes at *p*; a scan reads its header only.

        Otherwise it would wait for memory at every header of small entries.
        """
        if size <= MOST_PASSED_OVER:
            for line in range(0, size, 64):
                prefetch(p + line + AHEAD_OF_HEADER)

    @inlined
    def copy(to: int, p: int, size: int) -> None:
        """Copy *size* bytes and up to 64 more, which must exist in source and target."""
        # No prefetch: the checksum or the codec has just read these bytes.
        at = 0
        while True:
            _copy32(to + at, p + at)
            _copy32(to + at + 32, p + at + 32)
            at += 64
            if at >= size:
                break

    @intrinsic
    def call5(typing: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        """Call the C function at an address. As an argument, it is not part of machine code."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(I64, [I64] * 5).as_pointer()
            return builder.call(builder.inttoptr(args[0], kind), list(args[1:]))

        return types.int64(*[types.int64] * 6), codegen

    def call_kernel(num_words: int) -> Any:
        """Return a function that calls a kernel with *num_words* arguments.

        The function takes the kernel's address, an address for its results and the address of its
        arguments, and returns the kernel's status; 0 is success.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words = builder.inttoptr(args[2], I64.as_pointer())
            arguments = [
                builder.load(builder.gep(words, [I64(number)])) for number in range(num_words)
            ]
            kind = ir.FunctionType(I32, [I64.as_pointer(), *[I64] * num_words]).as_pointer()
            results = builder.inttoptr(args[1], I64.as_pointer())
            status = builder.call(builder.inttoptr(args[0], kind), [results, *arguments])
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
    """Return the number at *p* and the address after it; address 0 if it has over 5 bytes."""
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
    """Return the number at *p* and the address after it; address 0 if it has over 10 bytes."""
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
def u2le(p: int) -> int:
    return u1(p) | u1(p + 1) << 8


@inlined
def s2le(p: int) -> int:
    return (u2le(p) ^ 0x8000) - 0x8000


@inlined
def s4le(p: int) -> int:
    return (u4le(p) ^ 0x80000000) - 0x80000000


@inlined
def put2be(p: int, number: int) -> None:
    put2(p, swap(number) >> 48)


@inlined
def put4be(p: int, number: int) -> None:
    put4(p, swap(number) >> 32)


@inlined
def put8be(p: int, number: int) -> None:
    put8(p, swap(number))


@inlined
def zigzag_size(number: int) -> int:
    """Return the bytes of *number*, of 32 or 64 bits, as a zigzag varint."""
    rest = wrap(number << 1 ^ number >> 63)
    size = 1
    while rest & -128:
        rest = rest >> 7 & BITS_57
        size += 1
    return size


@inlined
def put_zigzag(p: int, number: int) -> int:
    """Write *number*, of 32 or 64 bits, as a zigzag varint at *p*; return the address after it."""
    rest = wrap(number << 1 ^ number >> 63)
    while rest & -128:
        put1(p, rest & 127 | 128)
        rest = rest >> 7 & BITS_57
        p += 1
    put1(p, rest)
    return p + 1


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
def view(to: int, p: int, size: int, offset: int) -> None:
    """Write Arrow's view of the *size* bytes at *p*: up to 12 bytes inline, or the *offset*.

    Always reads 12 bytes.
    """
    put4(to, size)
    if size > 12:
        put4(to + 4, u4le(p))
        put4(to + 8, 0)  # the number of the buffer
        put4(to + 12, offset)
    else:
        first, last = s8le(p), 0
        if size < 8:
            first &= (1 << 8 * size) - 1
        else:
            last = u4le(p + 8) & ((1 << 8 * (size - 8)) - 1)
        put8(to + 4, first)
        put4(to + 12, last)
