"""Addresses of library functions that kernels call: C's, and codecs' if installed packages export them."""

import ctypes
import importlib.util
import os
import threading
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from magicbyte.codecs import lz4, zstd
from magicbyte.engines.columnar._buffers import address
from magicbyte_formats.wire import Codec

Functions = np.ndarray[tuple[int], np.dtype[np.int64]]

INFLATE_STATE_BYTES = 1 << 18
"""Allocated for ISA-L's `struct inflate_state`, which has about 90 KB."""

ZSTD_MODULES = ("zstandard.backend_c", "zstandard._cffi")
ZSTD_COMPRESSION = (
    *("ZSTD_compress2", "ZSTD_CCtx_setParameter", "ZSTD_createCCtx", "ZSTD_freeCCtx"),
)
COMPRESSION_LEVEL = 100
"""Zstandard's parameter ZSTD_c_compressionLevel."""
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


class Compressor(NamedTuple):
    """Library function that kernels call to compress at one level."""

    function: int
    """Address of LZ4_compress_fast, LZ4_compress_HC or ZSTD_compress2."""
    level: int
    """Last argument of the functions of lz4."""
    context: int
    """Address of zstd's context, which has the level; 0 for lz4."""


def compressor(codec: int, level: int | None) -> Compressor | None:
    """Return the compressor of *codec* at *level* for this thread.

    None: the codec is neither lz4 nor zstd, or the installed package does not export its function.
    """
    match codec:
        case Codec.LZ4:
            is_fast = level in (None, lz4.FAST_LEVEL)
            name = "LZ4_compress_fast" if is_fast else "LZ4_compress_HC"
            library = _library("lz4.block._block", name)
            if library is not None:
                return Compressor(_address(getattr(library, name)), 1 if is_fast else level or 1, 0)
        case Codec.ZSTD:
            return _zstd_compressor(zstd.DEFAULT_LEVEL if level is None else level)
    return None


def _zstd_compressor(level: int) -> Compressor | None:
    for module in ZSTD_MODULES:
        library = _library(module, *ZSTD_COMPRESSION)
        if library is not None:
            context = _compression_context(library)
            arguments = (ctypes.c_void_p(context), COMPRESSION_LEVEL, level)
            library.ZSTD_CCtx_setParameter.restype = ctypes.c_ssize_t
            if context and library.ZSTD_CCtx_setParameter(*arguments) >= 0:
                return Compressor(_address(library.ZSTD_compress2), level, context)
    return None


def _compression_context(library: ctypes.CDLL) -> int:
    """Return the address of this thread's compression context of zstd."""
    if not hasattr(_of_thread, "compression"):
        _of_thread.compression = _Context(library.ZSTD_createCCtx, library.ZSTD_freeCCtx)
    context: _Context = _of_thread.compression
    return context.address


class _Context:
    """A context of zstd, freed with its thread."""

    def __init__(self, create: Any, free: Any) -> None:
        create.restype = ctypes.c_void_p
        free.argtypes = [ctypes.c_void_p]
        self._free = free
        self.address: int = create() or 0

    def __del__(self) -> None:
        self._free(self.address)


def _lz4() -> int:
    library = _library("lz4.block._block", "LZ4_decompress_safe")
    return 0 if library is None else _address(library.LZ4_decompress_safe)


def _zstd() -> list[int]:
    for module in ZSTD_MODULES:
        library = _library(module, *ZSTD, "ZSTD_createDCtx", "ZSTD_freeDCtx")
        if library is not None:
            _of_thread.context = _Context(library.ZSTD_createDCtx, library.ZSTD_freeDCtx)
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
