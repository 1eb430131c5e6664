"""Functions of libraries that kernels call: of C, and of codecs where the installed packages export them."""

import ctypes
import importlib.util
import os
import threading
from functools import cache
from typing import Any

import numpy as np

from magicbyte.engines.columnar.buffers import address

Functions = np.ndarray[tuple[int], np.dtype[np.int64]]

INFLATE_STATE_BYTES = 1 << 18
"""Room for ISA-L's `struct inflate_state`, which takes some 90 KB of it."""

ZSTD = ("ZSTD_decompressBegin", "ZSTD_nextSrcSizeToDecompress", "ZSTD_decompressContinue")

_kept = threading.local()


def functions() -> Functions:
    """Return addresses: LZ4_decompress_safe, the three functions of ZSTD, and a context for them,
    isal_inflate_stateless and a state for it.

    0 stands for what is not there. Two threads in one context give wrong bytes, so each has one.
    """
    if not hasattr(_kept, "functions"):
        _kept.functions = np.array([_lz4(), *_zstd(), *_isal()], np.int64)
    found: Functions = _kept.functions
    return found


@cache
def pread() -> int:
    """Return the address of C's pread; 0 where there is none."""
    return _address(ctypes.CDLL(None).pread) if hasattr(os, "pread") else 0


class _Context:
    """A context of zstd, freed with the thread that it belongs to."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.ZSTD_createDCtx.restype = ctypes.c_void_p
        library.ZSTD_freeDCtx.argtypes = [ctypes.c_void_p]
        self._free = library.ZSTD_freeDCtx
        self.address: int = library.ZSTD_createDCtx() or 0

    def __del__(self) -> None:
        self._free(self.address)


def _lz4() -> int:
    library = _library("lz4.block._block", "LZ4_decompress_safe")
    return 0 if library is None else _address(library.LZ4_decompress_safe)


def _zstd() -> list[int]:
    for module in ("zstandard.backend_c", "zstandard._cffi"):
        library = _library(module, *ZSTD, "ZSTD_createDCtx", "ZSTD_freeDCtx")
        if library is not None:
            _kept.context = _Context(library)
            if _kept.context.address:
                return [*(_address(getattr(library, name)) for name in ZSTD), _kept.context.address]
    return [0] * (len(ZSTD) + 1)


def _isal() -> tuple[int, int]:
    library = _library("isal.isal_zlib", "isal_inflate_init", "isal_inflate_stateless")
    if library is None:
        return 0, 0
    _kept.inflate_state = np.zeros(INFLATE_STATE_BYTES, np.uint8)
    state = address(_kept.inflate_state)
    library.isal_inflate_init(ctypes.c_void_p(state))
    return _address(library.isal_inflate_stateless), state


@cache
def _library(module: str, *names: str) -> ctypes.CDLL | None:
    """Return the library that *module* is, if it exports all *names*."""
    try:
        found = importlib.util.find_spec(module)
        if found is None or found.origin is None:
            return None
        library = ctypes.CDLL(found.origin)
    except (ImportError, OSError):
        return None
    return library if all(hasattr(library, name) for name in names) else None


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
