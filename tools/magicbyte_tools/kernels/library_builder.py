"""Builds libraries that are missing or out of date: compiles kernels, then links them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte.engines.columnar._kernel_abi import kernel_abi
from magicbyte.engines.columnar._processor_levels import ProcessorLevel
from magicbyte_tools.kernels.link import link

CHECKOUT = Path(__file__).parents[3]
BUILT = CHECKOUT / ".cache" / "kernels"
TOOLS = ("numba", "llvmlite", "ziglang")


def build(levels: Sequence[ProcessorLevel], folder: Path = BUILT) -> list[Path]:
    """Build the libraries of *levels* in *folder*, those that are up to date excepted; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = _stamp()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(lambda level: _build(level, folder, stamp), levels))


def is_current(level: ProcessorLevel, folder: Path = BUILT) -> bool:
    """Return whether the library of *level* in *folder* was built from these sources by these tools."""
    return _is_current(folder / level.file_name, _stamp())


def _is_current(library: Path, stamp: str) -> bool:
    with suppress(OSError):
        return library.exists() and _stamp_path(library).read_text() == stamp
    return False


def _stamp_path(library: Path) -> Path:
    return library.with_name(f"{library.name}.built-from")


def _stamp() -> str:
    """Return what determines the bytes of a library."""
    lines = [kernel_abi()]
    for name in TOOLS:
        with suppress(PackageNotFoundError):
            lines.append(f"{name} {version(name)}")
    sources = sorted(Path(__file__).parent.glob("*.py"))
    lines.append(sha256(b"".join(path.read_bytes() for path in sources)).hexdigest())
    return "\n".join(lines) + "\n"


def _build(level: ProcessorLevel, folder: Path, stamp: str) -> Path:
    library = folder / level.file_name
    if _is_current(library, stamp):
        return library
    with TemporaryDirectory(dir=folder) as temporary:
        obj, linked = Path(temporary, "kernels.o"), Path(temporary, level.file_name)
        emit = ("-m", "magicbyte_tools.kernels.emit", level.file_name, str(obj))
        subprocess.run([sys.executable, *emit], env=_environment(), check=True)
        link(obj, linked, level, CHECKOUT / ".cache" / "zig")
        _stamp_path(library).unlink(missing_ok=True)
        os.replace(linked, library)
        _stamp_path(library).write_text(stamp)
    return library


def _environment() -> dict[str, str]:
    """Return the environment of the process that compiles: nothing of this machine changes the code."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
    return {
        **variables,
        "PYTHONHASHSEED": "0",
        # The folder of this package: an installed magicbyte has none of it.
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
