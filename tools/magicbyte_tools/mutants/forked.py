"""A fork of this process in which a mutant's modules hide those that are installed.

Modules that are slow to import and never mutated are imported before the fork. Modules that may be
mutated are not, so that one fork cannot affect another.
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
"""The folders whose modules may be a mutant's."""

MUTABLE = {"magicbyte", "magicbyte_formats"}
"""The packages in them that are tried."""

LIBRARIES = (
    *("cramjam", "crc32c", "isal.isal_zlib", "kaitaistruct", "lz4.block", "lz4.frame", "numpy"),
    *("pyarrow", "pyarrow.compute", "pytest", "zstandard"),
)

MEMORY_BYTES = 12 << 30
"""Bytes of address space, for a mutant that has lost its limits."""


def preload() -> None:
    """Import what every fork needs and no mutant touches."""
    for name in LIBRARIES:
        with suppress(ImportError):  # not every machine has a wheel of isal
            importlib.import_module(name)


def holds(claim: Callable[[], bool], tree: Path, *, timeout_s: float) -> bool:
    """Return whether *claim*, in a fork that takes its modules from *tree*, returns true in time."""
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
    """End this process, with status 0 where *claim* returns true."""
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
