"""Folders for code that is executed later: no other user than root may change their contents."""

import os
import stat
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def private_folder(path: Path) -> Path | None:
    """Create the folder *path* if needed; return it without links, or None if others may change it.

    Folders that are created, the missing parents included, are readable by the user alone. A system
    without user ids protects a user's folders by other means: there every folder is accepted.
    """
    try:
        _create(path)
        folder = Path(os.path.realpath(path))
        is_private = not hasattr(os, "getuid") or is_closed_to_others(folder)
        is_writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return None
    return folder if is_private and is_writable else None


def _create(path: Path) -> None:
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)


def is_closed_to_others(folder: Path) -> bool:
    """Return whether only the user and root can change the contents of *folder*, a path without links.

    Another user who may write to a folder above it can replace all that is below, except in a folder
    with the sticky bit, such as /tmp, which protects the entries of their owners.
    """
    user = os.getuid()
    for each in (*reversed(folder.parents), folder):
        status = each.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (user, 0):
            return False
        is_sticky = bool(status.st_mode & stat.S_ISVTX) and each != folder
        if status.st_mode & OTHERS_WRITE and not is_sticky:
            return False
    return status.st_uid == user
