"""The time at which the file of a segment was last modified."""

import os

from magicbyte.logdir.log_file import LogFile


def modified_ms(file: LogFile, unknown_ms: int) -> int:
    """Return when *file* was last modified, in milliseconds; *unknown_ms* where that cannot be told.

    A broker gives a cleaned segment the time of its newest source, and removes old tombstones of v0 and
    v1 messages by it.
    """
    if file.store is not None:
        version = file.listed_version
        known = None if version is None else version.modified
        return unknown_ms if known is None else known * 1000
    try:
        return os.stat(file.path).st_mtime_ns // 1_000_000
    except OSError:
        return unknown_ms
