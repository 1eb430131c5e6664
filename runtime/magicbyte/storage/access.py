"""Permissions and locks of local files and folders, as far as this process can tell. Nothing is opened for writing."""

import os
import struct
import sys

_FLOCK = "hhqqi4x"
"""struct flock of 64-bit Linux: type, whence, start, length, process."""


def is_readable(path: str) -> bool:
    """Return whether this process may read the file or list the folder *path*, as far as can be told."""
    if not os.access(path, os.R_OK):
        return False
    return not os.path.isdir(path) or os.access(path, os.X_OK)


def is_write_protected(folder: str) -> bool:
    """Return whether the owner of *folder* may not write into it, by its mode."""
    try:
        return not os.stat(folder).st_mode & 0o200
    except OSError:
        return False


def is_on_read_only_mount(path: str) -> bool:
    """Return whether the file system of *path* is mounted read-only."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):  # a system without statvfs, or a path that is gone
        return False


def lock_holder(path: str) -> int | None:
    """Return the process that holds a lock on the file *path*; None if no other process does.

    Only Linux can tell without a lock of our own.
    """
    if not sys.platform.startswith("linux"):
        return None
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, asked)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    kind, _, _, _, process = struct.unpack(_FLOCK, answer)
    return None if kind == fcntl.F_UNLCK else process
