"""Machine code of all kernels: a shared library that was built before, or code compiled in this process.

The dynamic linker maps a shared library like any other: nothing is compiled, no file is written, and no
memory is both writable and executable.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path

from magicbyte.engines.columnar._arrow_release import PYTHON_FUNCTIONS, PYTHON_SYMBOL
from magicbyte.engines.columnar._kernel_abi import ABI_SYMBOL, kernel_abi
from magicbyte.engines.columnar._processor_levels import levels_here
from magicbyte.errors import InputError

SHIPPED = Path(__file__).with_name("libraries")
"""Folder of the shared libraries in the wheel."""

_ROOT = Path(__file__).parents[3]
BUILT = _ROOT.parent / ".cache" / "kernels" if _ROOT.name == "runtime" else None
"""Folder of those that `make kernels` builds in a checkout; None in an installed package."""


class KernelLibrary:
    """The symbols of machine code in memory."""

    def __init__(self, address: Callable[[str], int], owner: object) -> None:
        """Fill the table of Python's functions that the code calls.

        Args:
            address: Function that returns the address of a symbol.
            owner: Object that keeps the code in memory.
        """
        self.address, self._owner = address, owner
        table = (ctypes.c_void_p * len(PYTHON_FUNCTIONS)).from_address(address(PYTHON_SYMBOL))
        for number, name in enumerate(PYTHON_FUNCTIONS):
            table[number] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        ctypes.pythonapi.Py_IncRef(
            ctypes.py_object(owner)
        )  # never freed: it outlives the interpreter


def library_path() -> Path | None:
    """Return the best shared library for this processor; None if there is none.

    Raises InputError if MAGICBYTE_CPU names a level that this processor does not have.
    """
    for level in levels_here():
        for folder in (SHIPPED, BUILT):
            if folder is not None and (folder / level.file_name).exists():
                return folder / level.file_name
    return None


def open_library(path: Path) -> KernelLibrary:
    """Open the shared library *path*.

    Raises InputError if it cannot be opened, or was not built from the sources that are here.
    """
    repair = (
        "`make kernels`" if path.parent == BUILT else "`pip install --force-reinstall magicbyte`"
    )
    try:
        library = ctypes.CDLL(str(path))
        abi = kernel_abi().encode()
        found = (ctypes.c_char * len(abi)).in_dll(library, ABI_SYMBOL).raw
    except (OSError, ValueError) as error:
        raise InputError(
            f"engine 'columnar': {error}", f"a library of kernels: run {repair}"
        ) from error
    if found != abi:
        raise InputError(
            f"engine 'columnar': {path} was built from other sources ({found[:12].decode()})",
            f"a library of these ({abi[:12].decode()}): run {repair}",
        )

    def address(symbol: str) -> int:
        return ctypes.addressof(ctypes.c_char.in_dll(library, symbol))

    return KernelLibrary(address, library)
