"""Loads kernels: machine code from the cache folder, compiled at the first use, or plain Python to debug."""

import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from magicbyte._private_folder import private_folder, read_private, write_private
from magicbyte.engines.columnar import _machine_code
from magicbyte.engines.columnar._machine_code import MachineCode
from magicbyte.engines.columnar._signatures import DECOMPRESS, FUSED, READ_HEADERS
from magicbyte.errors import InputError
from magicbyte_kernels.kernel_interface import (
    COPIED,
    SIGNATURES,
    VIEWED,
    Description,
    Kernels,
    Signature,
)

FORMATS = {0: "kafka_message", 1: "kafka_message", 2: "kafka_record_batch"}
"""Format of log entries by magic."""
OWN_KERNELS = (
    ("engines", "columnar", "_control_block.py"),
    ("engines", "columnar", "_decompress_kernels.py"),
    ("engines", "columnar", "_fused_kernel.py"),
    ("engines", "columnar", "_header_pass_kernel.py"),
    ("engines", "columnar", "_signatures.py"),
    ("engines", "columnar", "_snappy_kernel.py"),
    ("engines", "entry.py"),
    ("codecs", "gzip.py"),
    ("codecs", "snappy.py"),
)
"""Source files of this package that determine the machine code of hand-written kernels."""

PRIMITIVES = (
    *("checksums", "_crc_folding", "_crc_tables", "entry_kernels"),
    *("kernel_interface", "primitives"),
)
"""Modules of `magicbyte_kernels` that determine the machine code of all kernels."""

FORMAT_KERNELS = ("scan", "sections")
"""Kernels of a format that every decoder needs."""
SHARED_KERNELS = ("decompress", "fused")
"""Hand-written kernels that every decoder needs."""
ALWAYS = {"kafka_message": ("offset", "timestamp"), "kafka_record_batch": ()}
"""Columns, by format, that are always decoded, because `finish_wrappers` needs them."""

_READ_HEADERS = "read-headers"

LEN_DIGEST = 32

Decoder = Callable[[Any, int, int, Any], int]
Decompressor = Callable[..., tuple[int, int, int]]

_lock = threading.RLock()

logger = logging.getLogger("magicbyte")


def description(name: str) -> Description:
    """Return the description of the kernels of the format *name*: it imports no Numba."""
    return cast(Description, importlib.import_module(f"magicbyte_formats.columnar.{name}"))


@cache
def kernel(name: str, function: str) -> Any:
    """Return the kernel *function* of the format *name*: `scan`, `verify` or `sections`.

    Raises InputError if it can be neither loaded nor compiled.
    """
    return _kernel(
        f"{name}-{function}", SIGNATURES[function], lambda: getattr(_module(name), function)
    )


@cache
def decoder(name: str, columns: tuple[str, ...], views: bool) -> Decoder:
    """Return the kernel of the format *name* that decodes *columns* of records."""
    modes = column_modes(name, columns, views)
    # All kernels that a read may need are compiled together, so that a user waits only once.
    for function in FORMAT_KERNELS:
        kernel(name, function)
    decompressor()
    if not is_plain_python():
        fused_kernel()
    if name == FORMATS[2] and not is_header_reader_cached():
        header_reader()
    kernel_function: Decoder = _kernel(
        _decoder_name(name, modes), SIGNATURES["decode"], lambda: _module(name).decoder(*modes)
    )
    return kernel_function


def column_modes(name: str, columns: Sequence[str], views: bool) -> tuple[int, ...]:
    """Return the mode of each column of the format *name*: COPIED, VIEWED, or 0 if it is not decoded."""
    names = {*columns, *ALWAYS[name]}
    return tuple(
        (VIEWED if views and column.type == "binary" else COPIED) if column.name in names else 0
        for column in description(name).TABLE.columns
    )


@cache
def decompressor() -> Decompressor:
    """Return the kernel that decompresses payloads."""
    return cast(
        Decompressor, _own_kernel("decompress", DECOMPRESS, "_decompress_kernels.decompress")
    )


@cache
def fused_kernel() -> MachineCode:
    """Return the fused kernel, which exists as machine code alone."""
    return cast(MachineCode, _own_kernel("fused", FUSED, "_fused_kernel.decode_fused"))


@cache
def header_reader() -> Callable[..., int]:
    """Return the kernel that reads headers of v2 batches."""
    kernel_function = _own_kernel(_READ_HEADERS, READ_HEADERS, "_header_pass_kernel.read_headers")
    return cast(Callable[..., int], kernel_function)


def _own_kernel(name: str, signature: Signature, path: str) -> Any:
    """Return a hand-written kernel; *path* is its module, which imports Numba, and its function."""
    module, _, function = path.partition(".")

    def imported() -> Any:
        return getattr(importlib.import_module(f"magicbyte.engines.columnar.{module}"), function)

    return _kernel(name, signature, imported)


def _module(name: str) -> Kernels:
    return cast(Kernels, importlib.import_module(f"magicbyte_formats.columnar.{name}_kernels"))


def _kernel(name: str, signature: Signature, function: Callable[[], Any]) -> Any:
    """Return the kernel *name*: from the cache, or compiled from what *function* returns."""
    if sys.byteorder != "little" or sys.maxsize < 1 << 62:
        raise InputError("engine 'columnar'", "a little-endian processor of 64 bits")
    try:
        with _lock:
            if is_plain_python():
                return function()
            code = _cached_code(name)
            if code is None:
                _warn_once()
                code = _machine_code.compile_kernel(function(), signature)
                _store(name, code)
            return MachineCode(code, signature)
    except (ImportError, OSError) as error:  # OSError: LLVM's library does not load
        reason = str(error).partition("\n")[0]
        raise InputError(f"engine 'columnar': {reason}", "Numba, or another engine") from error


@cache
def is_plain_python() -> bool:
    """Return whether kernels run as plain Python, to be debugged."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def _warn_once() -> None:
    logger.warning(
        "compiling the columnar engine: some seconds, once on this machine for these columns"
    )


# The cache of machine code


def is_decoder_cached(magic: int, columns: tuple[str, ...], views: bool) -> bool:
    """Return whether all kernels that decode *columns* are cached, without importing Numba."""
    name = FORMATS[magic]
    decode = _decoder_name(name, column_modes(name, columns, views))
    return _are_cached(
        [decode, *(f"{name}-{function}" for function in FORMAT_KERNELS), *SHARED_KERNELS]
    )


def is_scan_cached(magic: int) -> bool:
    """Return whether the kernel that scans entries is cached, without importing Numba."""
    return _are_cached([f"{FORMATS[magic]}-scan"])


def is_header_reader_cached() -> bool:
    """Return whether the kernel that reads headers is loaded or cached, without importing Numba."""
    return bool(header_reader.cache_info().currsize) or _are_cached([_READ_HEADERS])


def _are_cached(names: Iterable[str]) -> bool:
    try:
        paths = [_path(name) for name in names]
        return all(path is not None and path.exists() for path in paths)
    except (ImportError, OSError):
        return False


def _decoder_name(name: str, modes: Sequence[int]) -> str:
    return f"{name}-decode-" + "".join(map(str, modes))


def _path(name: str) -> Path | None:
    folder = cache_folder()
    return folder and folder / f"{name}-{_processor_digest()}.o"


def _cached_code(name: str) -> bytes | None:
    """Return the cached machine code of *name*; None if there is none, or it is damaged or not ours."""
    path = _path(name)
    data = None if path is None else read_private(path)
    if data is None:
        return None
    code = data[LEN_DIGEST:]
    return code if data[:LEN_DIGEST] == _digest(code) else None


def _store(name: str, code: bytes) -> None:
    path = _path(name)
    if path is None:
        return
    temporary = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        try:
            write_private(temporary, _digest(code) + code)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@cache
def _processor_digest() -> str:
    """Return a digest of the processor that machine code is for."""
    return _digest(" ".join(_machine_code.processor()).encode()).hex()[:16]


def _digest(data: bytes) -> bytes:
    from hashlib import sha256  # slow to import

    return sha256(data).digest()


@cache
def cache_folder() -> Path | None:
    """Return the folder of machine code for these sources; None if none can be written.

    It is in NUMBA_CACHE_DIR if that is set, else in XDG_CACHE_HOME or ~/.cache, else in a folder of this
    user for temporary files. Code in it is executed, so no other user may be able to write there.
    """
    numba_folder = os.environ.get("NUMBA_CACHE_DIR")
    name = Path("magicbyte", _sources_digest())
    if numba_folder:
        return _own_folder(Path(numba_folder) / name)
    home = os.environ.get("XDG_CACHE_HOME")
    parents = [Path(home)] if home else []
    with suppress(RuntimeError):  # no home
        parents.append(Path.home() / ".cache")
    for parent in parents:
        if folder := _own_folder(parent / name):
            return folder
    import tempfile  # slow to import

    user = os.getuid() if hasattr(os, "getuid") else "user"
    return _own_folder(Path(tempfile.gettempdir()) / f"magicbyte-{user}" / _sources_digest())


def _own_folder(path: Path) -> Path | None:
    """Return `private_folder`; warn where others could write to *path*."""
    folder = private_folder(path)
    if folder is None and path.is_dir() and os.access(path, os.W_OK):
        logger.warning(
            "others can write to %s, or to a folder above it: no machine code is loaded from there",
            path,
        )
    return folder


@cache
def _sources_digest() -> str:
    """Return a digest of all that determines machine code: our sources, and the releases of Numba."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import
    from importlib.resources import files

    generated, own = files("magicbyte_formats"), files("magicbyte")
    kernels = files("magicbyte_kernels")
    names = [f"{name}_kernels" for name in sorted(set(FORMATS.values()))]
    sources = [generated.joinpath("columnar", f"{name}.py") for name in names]
    sources += [kernels.joinpath(f"{name}.py") for name in PRIMITIVES]
    sources.append(generated.joinpath("wire.py"))
    sources.append(own.joinpath("engines", "columnar", "_machine_code.py"))
    sources += [own.joinpath(*path) for path in OWN_KERNELS]
    texts = [source.read_bytes() for source in sources]
    for package in ("numba", "llvmlite"):
        with suppress(PackageNotFoundError):
            texts.append(version(package).encode())
    return _digest(b"".join(texts)).hex()[:16]
