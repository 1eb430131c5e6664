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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from magicbyte.errors import InputError
from magicbyte_formats.columnar import Kernels

MODULES = ("kafka_record_batch", "kafka_message")

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


def decoder(module: Kernels, wanted: tuple[bool, ...]) -> Callable[[Any, int, int, Any], int]:
    """Return the kernel of *module* that fills the *wanted* columns."""
    _say_once()
    with _lock, _cache_folder_set():
        return module.decoder(*wanted)


def inflate() -> Callable[..., tuple[int, int, int]]:
    """Return the kernel that decompresses many entries."""
    with _lock, _cache_folder_set():
        module = importlib.import_module("magicbyte.engines.columnar.inflate")
    return cast(Callable[..., tuple[int, int, int]], module.inflate)


@cache
def _say_once() -> None:
    if not is_compiled():
        logger.warning("compiling the columnar engine: some seconds, once on this machine")


def is_compiled() -> bool:
    """Whether machine code of these kernels is kept, as far as names of files can tell."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob("*decode*.nbi"))


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
    """Return what tells these kernels from those of any other release."""
    folder = files("magicbyte_formats.columnar")
    sources = [folder.joinpath(f"{name}.py") for name in (*MODULES, "primitives")]
    sources.append(files(__package__).joinpath("inflate.py"))
    # The codecs' numbers are constants of its machine code, and Numba looks at its own file alone.
    sources.append(files("magicbyte_formats").joinpath("wire.py"))
    texts = [source.read_bytes() for source in sources]
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
