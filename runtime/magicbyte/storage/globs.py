"""Expand patterns of local paths, as a shell does."""

import glob
import os

from magicbyte.errors import InputError
from magicbyte.storage._urls import is_url

_MAGIC = ("*", "?", "[")


def expand(path: str) -> list[str]:
    """Return the local paths that match *path*, sorted; *path* itself if it exists or is no pattern.

    Raises InputError for a pattern that nothing matches, and for one in a store.
    """
    if not any(character in path for character in _MAGIC) or os.path.lexists(path):
        return [path]
    if is_url(path):
        raise InputError(
            "patterns are not expanded in a store",
            "a folder, and subscribe or subscribePattern for topics",
            path=path,
        )
    matches = sorted(glob.glob(path))
    if not matches:
        raise InputError("no path matches the pattern", "a pattern that some match", path=path)
    return matches
