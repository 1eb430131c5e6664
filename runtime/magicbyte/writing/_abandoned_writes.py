"""Hidden folders that writes of records leave in their output if they are killed: the next write deletes them.

A write of one process locks a file in its folder, so its end is certain. The processes of a Spark query come and go:
its folder counts as abandoned when nothing in it has changed for a day.
"""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from magicbyte.storage.output_folder import LocalFolder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "lock"
"""Name of the file that the process of a write has locked while it runs."""

WASTE_SUFFIX = ".deleted"
"""Suffix of a hidden folder that is being deleted."""

QUIET_SECONDS = 24 * 3600
"""Seconds without a change after which a write without a lock counts as abandoned."""

logger = logging.getLogger("magicbyte")


@contextmanager
def locked(staging: Path) -> Iterator[None]:
    """Hold the lock of the hidden folder *staging*, so that other writes see that its process runs."""
    if fcntl is None:
        yield
        return
    # Locked before it has its name: no other write can find it unlocked.
    draft = staging / f"{LOCK_NAME}.draft"
    descriptor = os.open(draft, os.O_CREAT | os.O_RDWR)
    try:
        with suppress(OSError):  # a network file system without locks: then the age decides
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.rename(staging / LOCK_NAME)
        yield
    finally:
        os.close(descriptor)


def delete_abandoned(out: Path, prefix: str) -> None:
    """Delete the hidden folders in *out* whose names begin with *prefix* and whose writes have ended, and log it.

    The folder of a write that may be running is left, with a warning.
    """
    for folder in sorted(out.glob(f"{prefix}*")):
        if folder.name.endswith(WASTE_SUFFIX):
            delete_staging(folder)
        elif _is_abandoned(folder):
            num_bytes = sum(LocalFolder(folder).files().values())
            delete_staging(folder)
            logger.warning("%s of a write that was killed is deleted: %d bytes", folder, num_bytes)
        else:
            logger.warning(
                "%s is of a write that is running, or was killed within a day: delete it if none is running",
                folder,
            )


def delete_staging(staging: Path) -> None:
    """Delete the hidden folder *staging* of a write."""
    # Tasks may still run. They cannot create files in a folder that has another name now.
    waste = staging
    if not staging.name.endswith(WASTE_SUFFIX):
        waste = staging.with_name(f"{staging.name}{WASTE_SUFFIX}")
        with suppress(FileNotFoundError):
            staging.replace(waste)
    LocalFolder(waste).delete_folder()


def _is_abandoned(staging: Path) -> bool:
    """Return whether the process of the write of *staging* has ended, or nothing has changed there for long."""
    if fcntl is not None:
        with suppress(OSError):
            descriptor = os.open(staging / LOCK_NAME, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            finally:
                os.close(descriptor)
            return True
    last_change = 0.0
    for path in (staging, *staging.rglob("*")):
        with suppress(FileNotFoundError):
            last_change = max(last_change, path.stat().st_mtime)
    return time.time() - last_change > QUIET_SECONDS
