"""Programs of other languages: compiled when they are first asked for, and kept in the cache folder."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path


class Unavailable(Exception):
    """A contender cannot be had on this machine; the message says what is missing."""


def tool(name: str) -> str:
    """Return the path of the program *name*; Unavailable where there is none."""
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"there is no {name} on the PATH")
    return found


def compiled(
    name: str, sources: Iterable[bytes], cache: Path, build: Callable[[Path], None]
) -> Path:
    """Return what *build* makes of *sources* at the path it is given; kept in *cache* by *name* and digest."""
    digest = hashlib.sha256(b"\0".join(sources)).hexdigest()[:16]
    place = cache / f"{name}-{digest}"
    if not place.exists():
        cache.mkdir(parents=True, exist_ok=True)
        building = place.with_suffix(f".{os.getpid()}")
        build(building)
        building.rename(place)
    return place
