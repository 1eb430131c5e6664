"""Runs a check in a fork of this process that imports a mutant's modules instead of the installed ones.

Modules that are slow to import and never mutated are imported before the fork. Modules that may be
mutated are imported after it, so that one fork cannot affect another.
"""

import importlib
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from magicbyte_tools.generate.kaitai import CHECKOUT

ROOTS = ("generated", "runtime")
"""Folders of a mutant's tree that precede the installed packages on sys.path."""

MUTABLE = {"magicbyte", "magicbyte_formats"}
"""Packages in ROOTS that may be mutated, and may not be imported before the fork."""

LIBRARIES = (
    *("cramjam", "crc32c", "isal.isal_zlib", "kaitaistruct", "lz4.block", "lz4.frame", "numpy"),
    *("pyarrow", "pyarrow.compute", "pytest", "zstandard"),
)

MEMORY_BYTES = 12 << 30
"""Limit of a fork's address space in bytes: a mutant may have lost the limits of its buffers."""


def preload() -> None:
    """Import the libraries that every fork needs and no mutant changes."""
    for name in LIBRARIES:
        with suppress(ImportError):  # not every machine has a wheel of isal
            importlib.import_module(name)


def holds(claim: Callable[[], bool], tree: Path, *, timeout_s: float) -> bool:
    """Return whether *claim*, called in a fork that imports from *tree*, returns True within *timeout_s*."""
    process = multiprocessing.get_context("fork").Process(target=_exit_with, args=(claim, tree))
    process.start()
    process.join(timeout_s)
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.is_alive():
        process.kill()
    process.join()
    return process.exitcode == 0


def _exit_with(claim: Callable[[], bool], tree: Path) -> None:
    """End this process, with status 0 if *claim* returns True, given the modules of *tree*."""
    os.setsid()
    loaded = {name.partition(".")[0] for name in sys.modules} & MUTABLE
    assert not loaded, f"{loaded} before the fork"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.chdir(CHECKOUT)
    roots = [str(tree / root) for root in ROOTS]
    sys.path[:0] = roots
    # For the processes that this one starts. A .pyc file would outlive the mutant.
    os.environ["PYTHONPATH"] = os.pathsep.join([*roots, os.environ.get("PYTHONPATH", "")])
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    status = 1
    with suppress(BaseException):
        status = 0 if claim() else 1
    os._exit(status)
