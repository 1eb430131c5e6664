"""Files that are whole or not there."""

import os
import secrets
from pathlib import Path

from magicbyte.errors import InputError


def check_writable(path: Path, *, force: bool) -> None:
    """Raise InputError where *path* is there and may not be replaced."""
    if path.is_file() and force:
        return
    if path.is_file():
        raise InputError(
            "the file is there already", "--force to overwrite it", path=os.fspath(path)
        )
    if path.exists() or path.is_symlink():
        raise InputError("it is there, and is no file", "a name for a file", path=os.fspath(path))
    if not path.parent.is_dir():
        raise InputError("there is no such folder", "one that exists", path=os.fspath(path.parent))


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* to *path* by way of a file beside it, so that no half of it is ever seen."""
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
