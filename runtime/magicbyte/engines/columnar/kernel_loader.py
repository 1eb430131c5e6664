"""Loads kernels: from a shared library, compiled in this process, or as plain Python to debug them."""

import logging
import os
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from magicbyte.engines.columnar._arrow_release import RELEASE_SYMBOL
from magicbyte.engines.columnar._kernel_abi import PREFIX
from magicbyte.engines.columnar._kernel_library import KernelLibrary, library_path, open_library
from magicbyte.engines.columnar._kernel_list import (
    column_modes,
    decoder_name,
    decoder_source,
    kernels,
)
from magicbyte.engines.columnar._machine_code import MachineCode
from magicbyte.errors import InputError

Decoder = Callable[[Any, int, int, Any], int]
Decompressor = Callable[..., tuple[int, int, int]]

_lock = threading.RLock()

logger = logging.getLogger("magicbyte")


@cache
def kernel(name: str, function: str) -> Any:
    """Return the kernel *function* of the format *name*: `scan`, `verify` or `sections`.

    Raises InputError if it can be neither loaded nor compiled.
    """
    return _kernel(f"{name}_{function}")


@cache
def decoder(name: str, columns: tuple[str, ...], views: bool) -> Decoder:
    """Return the kernel of the format *name* that decodes *columns* of records."""
    modes = column_modes(name, columns, views)
    if is_plain_python():
        return cast(Decoder, decoder_source(name, modes))
    return cast(Decoder, _kernel(decoder_name(name, modes)))


@cache
def decompressor() -> Decompressor:
    """Return the kernel that decompresses payloads."""
    return cast(Decompressor, _kernel("decompress"))


@cache
def batch_encoder() -> Callable[..., tuple[int, int, int, int]]:
    """Return the kernel that encodes v2 batches."""
    return cast(Callable[..., tuple[int, int, int, int]], _kernel("encode_batches"))


@cache
def avro_decoder() -> Callable[[int, int, int, int, int, int], int]:
    """Return the kernel that decodes Avro values."""
    return cast(Callable[[int, int, int, int, int, int], int], _kernel("decode_avro"))


@cache
def protobuf_decoder() -> Callable[[int, int, int, int, int, int], int]:
    """Return the kernel that decodes Protobuf messages."""
    return cast(Callable[[int, int, int, int, int, int], int], _kernel("decode_protobuf"))


@cache
def fused_kernel() -> MachineCode:
    """Return the fused kernel, which exists as machine code alone."""
    return cast(MachineCode, _kernel("fused"))


@cache
def header_reader() -> Callable[..., int]:
    """Return the kernel that reads headers of v2 batches."""
    return cast(Callable[..., int], _kernel("read_headers"))


@cache
def release_function() -> int:
    """Return the address of the release callback for Arrow's structs."""
    if is_plain_python():
        from magicbyte.engines.columnar._kernel_compiler import release_library

        return release_library().address(RELEASE_SYMBOL)
    return _library().address(RELEASE_SYMBOL)


@cache
def _kernel(name: str) -> Any:
    chosen = kernels()[name]
    if is_plain_python():
        return chosen.load_function()
    return MachineCode(_library().address(PREFIX + name), chosen.signature)


def _library() -> KernelLibrary:
    with _lock:
        return _only_library()


@cache
def _only_library() -> KernelLibrary:
    if sys.byteorder != "little" or sys.maxsize < 1 << 62:
        raise InputError("engine 'columnar'", "a little-endian processor of 64 bits")
    path = library_path()
    if path is not None:
        return open_library(path)
    try:
        from magicbyte.engines.columnar._kernel_compiler import compile_library

        logger.info("compiling the columnar engine: thirteen seconds, in each process")
        return compile_library(kernels())
    except (ImportError, OSError) as error:  # OSError: LLVM's library does not load
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"engine 'columnar': no library of kernels for this processor; {reason}",
            "the extra `jit`, or another engine",
        ) from error


@cache
def is_plain_python() -> bool:
    """Return whether kernels run as plain Python, to be debugged."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def is_library_built() -> bool:
    """Return whether kernels need not be compiled in this process."""
    return not is_plain_python() and library_path() is not None
