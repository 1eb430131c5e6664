"""Addresses of library functions that kernels call: C's, and codecs' if installed packages export them."""

import ctypes
import importlib.util
import os
import threading
from functools import cache
from typing import Any

import numpy as np

from magicbyte.engines.columnar._buffers import address

Functions = np.ndarray[tuple[int], np.dtype[np.int64]]

INFLATE_STATE_BYTES = 1 << 18
"""Allocated for ISA-L's `struct inflate_state`, which has about 90 KB."""

ZSTD = ("ZSTD_decompressBegin", "ZSTD_nextSrcSizeToDecompress", "ZSTD_decompressContinue")

_of_thread = threading.local()


def functions() -> Functions:
    """Return the addresses of LZ4_decompress_safe, the functions ZSTD, a context for them,
    isal_inflate_stateless and a state for it; 0 where the installed package does not export it.

    Contexts must not be shared: each thread has its own.
    """
    if not hasattr(_of_thread, "functions"):
        _of_thread.functions = np.array([_lz4(), *_zstd(), *_isal()], np.int64)
    addresses: Functions = _of_thread.functions
    return addresses


@cache
def pread() -> int:
    """Return the address of C's pread; 0 if the system has none."""
    return _address(ctypes.CDLL(None).pread) if hasattr(os, "pread") else 0


class _Context:
    """A decompression context of zstd, freed with its thread."""

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
            _of_thread.context = _Context(library)
            if _of_thread.context.address:
                return [
                    *(_address(getattr(library, name)) for name in ZSTD),
                    _of_thread.context.address,
                ]
    return [0] * (len(ZSTD) + 1)


def _isal() -> tuple[int, int]:
    library = _library("isal.isal_zlib", "isal_inflate_init", "isal_inflate_stateless")
    if library is None:
        return 0, 0
    _of_thread.inflate_state = np.zeros(INFLATE_STATE_BYTES, np.uint8)
    state = address(_of_thread.inflate_state)
    library.isal_inflate_init(ctypes.c_void_p(state))
    return _address(library.isal_inflate_stateless), state


@cache
def _library(module: str, *names: str) -> ctypes.CDLL | None:
    """Return the extension *module* as a library, if it exports all *names*."""
    try:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            return None
        library = ctypes.CDLL(spec.origin)
    except (ImportError, OSError):
        return None
    return library if all(hasattr(library, name) for name in names) else None


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
