"""CRC-32 and CRC-32C for kernels.

Functions take addresses. Kernels call them by symbol, and the emitter adds the function that is the fastest
on the processor for which it emits, of those in `checksum_functions`. Like `primitives`, they are ordinary
Python with NUMBA_DISABLE_JIT=1.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from magicbyte_kernels._crc_tables import CASTAGNOLI, IEEE, by_table

CRC32, CRC32C = "checksum_crc32", "checksum_crc32c"
"""Symbols of the functions. Each takes the addresses of the first byte and after the last byte."""

if config.DISABLE_JIT:

    def crc32(p: int, end: int) -> int:
        """Return the CRC-32 (IEEE 802.3) of the bytes from *p* to *end*."""
        return by_table(IEEE, p, end, 0xFFFFFFFF)

    def crc32c(p: int, end: int) -> int:
        """Return the CRC-32C of the bytes from *p* to *end*."""
        return by_table(CASTAGNOLI, p, end, 0xFFFFFFFF)

else:

    def _function(symbol: str) -> Any:
        """Return a function that calls the checksum function *symbol*."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = ir.IntType(64)
            kind = ir.FunctionType(number, [number, number])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, symbol), args)

        @intrinsic
        def checksum(typing: Any, p: Any, stop: Any) -> Any:
            return types.int64(types.int64, types.int64), codegen

        return checksum

    crc32, crc32c = map(_function, (CRC32, CRC32C))
