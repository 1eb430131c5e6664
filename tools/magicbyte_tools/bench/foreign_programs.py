"""Builds contenders in other languages (Java, Go, Rust) when they are first used, in the cache folder."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path


class ProgramUnavailable(Exception):
    """A contender cannot run on this machine; the message names the missing tool."""


def tool(name: str) -> str:
    """Return the path of the program *name* on the PATH. Raises ProgramUnavailable if there is none."""
    found = shutil.which(name)
    if found is None:
        raise ProgramUnavailable(f"there is no {name} on the PATH")
    return found


def compiled(
    name: str, sources: Iterable[bytes], cache: Path, build: Callable[[Path], None]
) -> Path:
    """Return the path in *cache* of the file that *build* writes, once per *name* and *sources*."""
    digest = hashlib.sha256(b"\0".join(sources)).hexdigest()[:16]
    place = cache / f"{name}-{digest}"
    if not place.exists():
        cache.mkdir(parents=True, exist_ok=True)
        building = place.with_suffix(f".{os.getpid()}")
        build(building)
        building.rename(place)
    return place


def sources(folder: Path) -> list[Path]:
    """Return all files in *folder* and its subfolders, sorted by path."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def attempt(command: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> None:
    """Run *command*, which fetches or compiles a program in *folder*.

    Raises ProgramUnavailable if it fails, as without a network or a C compiler, or with too old a toolchain.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        told = " ".join(done.stdout.split())[-500:]
        raise ProgramUnavailable(f"{' '.join(map(os.path.basename, command[:2]))} fails: {told}")
