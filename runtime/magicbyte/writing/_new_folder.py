"""Create output folders, or say why that is not possible before anything is read."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def create_output_folder(path: Path) -> None:
    """Create the folder *path*, with those above it, unless it exists, and check that files can be created in it.

    Raises OSError with the path of the folder if not; no folder is left then that was not there before.
    """
    new_folders = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor, probe = tempfile.mkstemp(prefix=".probe-", dir=path)
        os.close(descriptor)
        os.unlink(probe)
    except OSError as error:
        for folder in new_folders:
            with suppress(OSError):
                folder.rmdir()
        reason = f"{error.strerror}; expected a folder in which this process may create files"
        raise OSError(error.errno, reason, str(path)) from error
