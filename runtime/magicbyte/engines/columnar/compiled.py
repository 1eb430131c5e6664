"""The generated kernels, compiled at their first use; the only module that makes Numba load.

Numba keeps machine code beside the module or in a folder of the user, and where neither can be
written it raises at import. So it is given a folder of ours, or none.
"""

import importlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from magicbyte.errors import InputError
from magicbyte_formats.columnar import COPIED, VIEWED, Kernels

MODULES = {0: "kafka_message", 1: "kafka_message", 2: "kafka_record_batch"}
"""The format of entries, by magic."""
OWN_KERNELS = ("inflate", "snappy_blocks")
OF_CONSTANTS = (
    ("engines", "columnar", "stops.py"),
    ("codecs", "snappy.py"),
    ("codecs", "uvarint.py"),
)
"""What is in their machine code too, where Numba looks at a kernel's own file alone."""

DECODING = "int64(int64[:, ::1], int64, int64, int64[::1])"
"""What kernels that decode take, and return: descriptors, the first and the last, the state."""

Decoding = Callable[[Any, int, int, Any], int]
Decompressing = Callable[..., tuple[int, int, int]]

_lock = threading.RLock()

logger = logging.getLogger("magicbyte")


def kernels(name: str) -> Kernels:
    """Return the kernels of the format *name*. Raises InputError where they cannot be loaded."""
    if sys.byteorder != "little":
        raise InputError("engine 'columnar'", "a processor that stores the lowest byte first")
    try:
        with _lock, _cache_folder_set():
            module = importlib.import_module(f"magicbyte_formats.columnar.{name}")
    except ImportError as error:
        raise InputError(f"engine 'columnar': {error}", "Numba, or another engine") from error
    return cast(Kernels, module)


@cache
def decoder(name: str, columns: tuple[str, ...], besides: tuple[str, ...], views: bool) -> Decoding:
    """Return the kernel of the module *name* that fills *columns* and *besides*, if it has them.

    Without machine code for it, it is made now, and that is said once in a process.
    """
    module = kernels(name)
    with _lock, _cache_folder_set():
        made = module.decoder(*wanted(module, columns, besides, views))
        if hasattr(made, "compile") and not _has_mark(name, columns, views):
            _say_once()
            made.compile(DECODING)
            _mark(name, columns, views)
    return made


def wanted(
    module: Kernels, columns: Sequence[str], besides: Sequence[str], views: bool
) -> tuple[int, ...]:
    """Return how each column of the kernels' table is wanted, as `decoder` there takes it."""
    names = {*columns, *besides}
    return tuple(
        (VIEWED if views and column.type == "binary" else COPIED) if column.name in names else 0
        for column in module.TABLE.columns
    )


@cache
def inflate() -> Decompressing:
    """Return the kernel that decompresses lz4 and zstd."""
    return cast(Decompressing, _own("inflate").inflate)


@cache
def snappy_blocks() -> Decompressing:
    """Return the kernel that finds the blocks of snappy."""
    return cast(Decompressing, _own("snappy_blocks").find)


def _own(name: str) -> Any:
    with _lock, _cache_folder_set():
        return importlib.import_module(f"{__package__}.{name}")


@cache
def _say_once() -> None:
    logger.warning(
        "compiling the columnar engine: some seconds, once on this machine for these columns"
    )


def is_compiled(magic: int, columns: tuple[str, ...], views: bool = False) -> bool:
    """Whether machine code for *columns* is kept, as far as can be told without loading Numba."""
    return _has_mark(MODULES[magic], columns, views)


def _has_mark(name: str, columns: tuple[str, ...], views: bool) -> bool:
    folder = cache_folder()
    return folder is not None and (folder / _mark_name(name, columns, views)).exists()


def _mark(name: str, columns: tuple[str, ...], views: bool) -> None:
    folder = cache_folder()
    if folder is not None:
        with suppress(OSError):
            (folder / _mark_name(name, columns, views)).touch()


def _mark_name(name: str, columns: tuple[str, ...], views: bool) -> str:
    """Return the name of the file that says that a kernel of *name* has been compiled."""
    names = "+".join([*sorted(columns), "views" * views]).encode()
    return f"{name}-{sha256(names).hexdigest()[:16]}.compiled"


@cache
def cache_folder() -> Path | None:
    """Return the folder where machine code of these very kernels is kept; None if there is none.

    NUMBA_CACHE_DIR says where, else it is below XDG_CACHE_HOME or ~/.cache, else in a folder for
    this user alone among the temporary files. Code is run from it, so it must be the user's own.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    name = Path("magicbyte", _digest())
    if given:
        return _made(Path(given) / name)
    home = os.environ.get("XDG_CACHE_HOME")
    places = [Path(home)] if home else []
    with suppress(RuntimeError):  # no home
        places.append(Path.home() / ".cache")
    for place in places:
        if folder := _made(place / name):
            return folder
    user = os.getuid() if hasattr(os, "getuid") else "user"
    own = _made(Path(tempfile.gettempdir()) / f"magicbyte-{user}", mode=0o700)
    return own and _made(own / _digest())


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
def _digest() -> str:
    """Return what tells this machine code from that of any other release, ours or Numba's."""
    folder = files("magicbyte_formats.columnar")
    names = [*sorted(set(MODULES.values())), "primitives", "__init__"]
    sources = [folder.joinpath(f"{name}.py") for name in names]
    own = files("magicbyte")
    sources += [own.joinpath("engines", "columnar", f"{name}.py") for name in OWN_KERNELS]
    sources += [own.joinpath(*path) for path in OF_CONSTANTS]
    sources.append(files("magicbyte_formats").joinpath("wire.py"))
    texts = [source.read_bytes() for source in sources]
    with suppress(PackageNotFoundError):
        texts.append(version("numba").encode())
    return sha256(b"".join(texts)).hexdigest()[:16]


@contextmanager
def _cache_folder_set() -> Iterator[None]:
    """Have Numba keep what is made in here in our folder; its setting is for the whole process."""
    from numba import config

    before, folder = config.CACHE_DIR, cache_folder()
    if folder is not None:
        config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before
