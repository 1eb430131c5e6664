"""The kernels, as machine code that is kept, or made at their first use; or as plain Python.

What is made once is kept in a folder of ours, or for this process alone.
"""

import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from magicbyte.engines.columnar import machine_code
from magicbyte.engines.columnar.machine_code import MachineCode
from magicbyte.engines.columnar.signatures import INFLATE, PASS_OVER, PUMP
from magicbyte.errors import InputError
from magicbyte_formats.wire import Codec
from magicbyte_kernels.kernel_interface import (
    COPIED,
    SIGNATURES,
    VIEWED,
    Description,
    Kernels,
    Signature,
)

FORMATS = {0: "kafka_message", 1: "kafka_message", 2: "kafka_record_batch"}
"""The format of entries, by magic."""
OWN_KERNELS = (
    ("engines", "columnar", "decompress_kernels.py"),
    ("engines", "columnar", "header_pass_kernel.py"),
    ("engines", "columnar", "fused_kernel.py"),
    ("engines", "columnar", "signatures.py"),
    ("engines", "columnar", "snappy_kernel.py"),
    ("engines", "columnar", "stops.py"),
    ("engines", "columnar", "control_block.py"),
    ("engines", "entry.py"),
    ("codecs", "gzip.py"),
    ("codecs", "snappy.py"),
    ("codecs", "uvarint.py"),
)
"""What is in the machine code of kernels that are not generated."""

SHARED_KERNELS = (
    *("checksums", "crc_folding", "crc_tables", "entry_kernels"),
    *("kernel_interface", "primitives"),
)
"""Modules of `magicbyte_kernels` whose code is in the machine code of kernels."""

INFLATED = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
"""Codecs of which many entries are decompressed at once."""
ALONG = ("scan", "describe", "verify", "sections")
"""Kernels that go with any that decodes."""
ALWAYS = {"kafka_message": ("offset", "timestamp"), "kafka_record_batch": ()}
"""Columns that are made whether they are asked for or not, by format: `finish` needs them."""

_PASS_OVER = "pass-over"

LEN_DIGEST = 32

Decoding = Callable[[Any, int, int, Any], int]
Decompressing = Callable[..., tuple[int, int, int]]

_lock = threading.RLock()

logger = logging.getLogger("magicbyte")


def described(name: str) -> Description:
    """Return what there is to know of the kernels of the format *name*."""
    return cast(Description, importlib.import_module(f"magicbyte_formats.columnar.{name}"))


@cache
def kernel(name: str, of: str) -> Any:
    """Return the kernel *of* the format *name*: `scan`, `describe`, `verify` or `sections`.

    Raises InputError where there can be none.
    """
    return _kernel(f"{name}-{of}", SIGNATURES[of], lambda: getattr(_module(name), of))


@cache
def decoder(name: str, columns: tuple[str, ...], views: bool) -> Decoding:
    """Return the kernel of the format *name* that fills those of *columns* that hang on records."""
    chosen = wanted(name, columns, views)
    for of in ALONG:  # what is kept is kept together, so that nobody waits twice
        kernel(name, of)
    if name == FORMATS[2] and not is_pass_over_compiled():
        pass_over()
    made: Decoding = _kernel(
        _decoder_name(name, chosen), SIGNATURES["decode"], lambda: _module(name).decoder(*chosen)
    )
    return made


def wanted(name: str, columns: Sequence[str], views: bool) -> tuple[int, ...]:
    """Return how each column of the format *name* is wanted, as the decoder of its kernels takes it."""
    names = {*columns, *ALWAYS[name]}
    return tuple(
        (VIEWED if views and column.type == "binary" else COPIED) if column.name in names else 0
        for column in described(name).TABLE.columns
    )


@cache
def inflate() -> Decompressing:
    """Return the kernel that decompresses entries of `INFLATED` codecs."""

    def function() -> Any:
        from magicbyte.engines.columnar.decompress_kernels import inflate  # takes Numba

        return inflate

    made: Decompressing = _kernel("inflate", INFLATE, function)
    return made


@cache
def pump() -> MachineCode | None:
    """Return the kernel that has others take entries by turns; None where kernels are plain Python."""

    def function() -> Any:
        from magicbyte.engines.columnar.fused_kernel import pump  # takes Numba

        return pump

    return None if is_plain_python() else cast(MachineCode, _kernel("pump", PUMP, function))


@cache
def pass_over() -> Callable[..., int]:
    """Return the kernel that reads headers of v2 batches."""

    def function() -> Any:
        from magicbyte.engines.columnar.header_pass_kernel import pass_over  # takes Numba

        return pass_over

    made: Callable[..., int] = _kernel(_PASS_OVER, PASS_OVER, function)
    return made


def _module(name: str) -> Kernels:
    return cast(Kernels, importlib.import_module(f"magicbyte_formats.columnar.{name}_kernels"))


def _kernel(name: str, signature: Signature, function: Callable[[], Any]) -> Any:
    """Return what *function* returns as machine code, by *name* where it is kept."""
    if sys.byteorder != "little" or sys.maxsize < 1 << 62:
        raise InputError("engine 'columnar'", "a processor of 64 bits, the lowest byte first")
    try:
        with _lock:
            if is_plain_python():
                return function()
            code = _kept(name)
            if code is None:
                _say_once()
                code = machine_code.compiled(function(), signature)
                _keep(name, code)
            return MachineCode(code, signature)
    except ImportError as error:
        raise InputError(f"engine 'columnar': {error}", "Numba, or another engine") from error


def is_plain_python() -> bool:
    """Whether kernels are to be ordinary Python, to be debugged."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def _say_once() -> None:
    logger.warning(
        "compiling the columnar engine: some seconds, once on this machine for these columns"
    )


# What is kept


def is_compiled(
    magics: Collection[int], codecs: Collection[int], columns: tuple[str, ...], views: bool
) -> bool:
    """Whether all machine code that *columns* of such entries take is kept.

    It takes no Numba to tell.
    """
    names = {"inflate", "pump"} if not set(INFLATED).isdisjoint(codecs) else set()
    for name in {FORMATS[magic] for magic in magics}:
        names.add(_decoder_name(name, wanted(name, columns, views)))
        names.update(f"{name}-{of}" for of in ALONG)
    return _are_kept(names)


def is_scan_compiled(magic: int) -> bool:
    """Whether the machine code that takes headers of such entries is kept; without Numba, too."""
    return _are_kept([f"{FORMATS[magic]}-scan"])


def is_pass_over_compiled() -> bool:
    """Whether the machine code that reads headers of batches is loaded or kept; without Numba, too."""
    return bool(pass_over.cache_info().currsize) or _are_kept([_PASS_OVER])


def _are_kept(names: Collection[str]) -> bool:
    try:
        paths = [_path(name) for name in names]
    except ImportError:
        return False
    return all(path is not None and path.exists() for path in paths)


def _decoder_name(name: str, chosen: Sequence[int]) -> str:
    return f"{name}-decode-" + "".join(map(str, chosen))


def _path(name: str) -> Path | None:
    folder = cache_folder()
    return folder and folder / f"{name}-{_machine()}.o"


def _kept(name: str) -> bytes | None:
    """Return the machine code *name* if it is kept, as it was made."""
    path = _path(name)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    code = data[LEN_DIGEST:]
    return code if data[:LEN_DIGEST] == _digest(code) else None


def _keep(name: str, code: bytes) -> None:
    path = _path(name)
    if path is None:
        return
    made = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        try:
            made.write_bytes(_digest(code) + code)
            os.replace(made, path)
        finally:
            made.unlink(missing_ok=True)


@cache
def _machine() -> str:
    """Return what tells machine code for this processor from that for others."""
    return _digest(" ".join(machine_code.processor()).encode()).hex()[:16]


def _digest(data: bytes) -> bytes:
    from hashlib import sha256  # not quickly imported, and of no use to who only looks up a name

    return sha256(data).digest()


@cache
def cache_folder() -> Path | None:
    """Return the folder where machine code of these very kernels is kept; None if there is none.

    NUMBA_CACHE_DIR says where, else it is below XDG_CACHE_HOME or ~/.cache, else in a folder for
    this user alone among the temporary files. Code is run from it, so it must be the user's own.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    name = Path("magicbyte", _release())
    if given:
        return _made(Path(given) / name)
    home = os.environ.get("XDG_CACHE_HOME")
    places = [Path(home)] if home else []
    with suppress(RuntimeError):  # no home
        places.append(Path.home() / ".cache")
    for place in places:
        if folder := _made(place / name):
            return folder
    import tempfile  # not quickly imported

    user = os.getuid() if hasattr(os, "getuid") else "user"
    own = _made(Path(tempfile.gettempdir()) / f"magicbyte-{user}", mode=0o700)
    return own and _made(own / _release())


def _made(folder: Path, mode: int = 0o777) -> Path | None:
    """Return *folder* if it is there or can be made, is the user's, and can be written."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o002):
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


@cache
def _release() -> str:
    """Return what tells this machine code from that of any other release, ours or Numba's."""
    from importlib.metadata import PackageNotFoundError, version  # not quickly imported
    from importlib.resources import files

    generated, own = files("magicbyte_formats"), files("magicbyte")
    kernels = files("magicbyte_kernels")
    names = [f"{name}_kernels" for name in sorted(set(FORMATS.values()))]
    sources = [generated.joinpath("columnar", f"{name}.py") for name in names]
    sources += [kernels.joinpath(f"{name}.py") for name in SHARED_KERNELS]
    sources.append(generated.joinpath("wire.py"))
    sources.append(own.joinpath("engines", "columnar", "machine_code.py"))
    sources += [own.joinpath(*path) for path in OWN_KERNELS]
    texts = [source.read_bytes() for source in sources]
    for package in ("numba", "llvmlite"):
        with suppress(PackageNotFoundError):
            texts.append(version(package).encode())
    return _digest(b"".join(texts)).hex()[:16]
