"""Refuse to write into the logs that are read, and into any log.dir or partition folder."""

import os
from collections.abc import Iterable
from pathlib import Path

from magicbyte.errors import InputError
from magicbyte.logdir.file_names import LOG_DIR_MARKS, OUTPUT_MANIFEST, parse_file, parse_folder
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import absolute_path, is_url


def check_outside(out: Path, logs: Iterable[PartitionLog], paths: Iterable[str]) -> None:
    """Raise InputError where *out* is inside of the *logs* read from *paths*, or contains them.

    Inputs are the paths, and the folders and log.dirs of partitions. If a segment is in a folder
    whose name is no partition's, only the segment itself is an input.
    """
    real = Path(os.path.realpath(out))
    inputs = {absolute_path(path) for path in paths}
    files = []
    for log in logs:
        if log.topic is not None:
            inputs.add(log.folder)
            inputs.update(file.path.rpartition("/")[0] for file in log.files if file.is_remote)
        if log.log_dir is not None:
            inputs.add(log.log_dir.path)
        files += [file.path for file in log.files if file.store is None]
    # A partition's folder may be a symbolic link.
    for path in sorted({Path(os.path.realpath(name)) for name in inputs if not is_url(name)}):
        if real == path:
            raise InputError("the output is an input", "a path outside", path=str(out))
        if path in real.parents:
            raise InputError(f"inside of the input {path}", "a path outside", path=str(out))
        if real in path.parents:
            raise InputError(f"contains the input {path}", "a path outside", path=str(out))
    check_no_input(out, files)
    check_no_log_folder(out)


def check_url_outside(out: str, paths: Iterable[str]) -> None:
    """Raise InputError where the URL *out* is one of *paths*, is inside of one, or contains one."""
    url = absolute_path(out)
    for path in sorted({absolute_path(path) for path in paths}):
        if url == path:
            raise InputError("the output is an input", "a path outside", path=out)
        if url.startswith(f"{path}/"):
            raise InputError(f"inside of the input {path}", "a path outside", path=out)
        if path.startswith(f"{url}/"):
            raise InputError(f"contains the input {path}", "a path outside", path=out)


def check_no_input(out: Path, files: Iterable[str]) -> None:
    """Raise InputError where *out* is one of the local *files*, perhaps under another name."""
    identity = _identity(out)
    if identity is None:
        return
    for path in files:
        if _identity(path) == identity:
            raise InputError(f"the output is the input {path}", "another file", path=str(out))


def _identity(path: str | Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def check_no_log_folder(out: Path) -> None:
    """Raise InputError where *out* is in a log.dir or a partition folder, or is one.

    A broker reads the files there, whether this process does or not.
    """
    real = Path(os.path.realpath(out))
    for folder in (real, *real.parents):
        marks = [name for name in LOG_DIR_MARKS if os.path.lexists(folder / name)]
        if folder == real and "meta.properties" not in marks and (real / OUTPUT_MANIFEST).is_file():
            continue  # an earlier run has written it, and no broker has used it
        if marks:
            raise InputError(f"inside of the log.dir {folder}", "a path outside", path=str(out))
        if parse_folder(folder.name) is not None and _holds_segment(folder):
            raise InputError(
                f"inside of the partition folder {folder}", "a path outside", path=str(out)
            )


def _holds_segment(folder: Path) -> bool:
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(parse_file(name).kind == "log" for name in names)


def check_beside(out: Path, segment_path: str) -> None:
    """Raise InputError where *out* would be a file of the local segment *segment_path*, or is in its log.dir.

    Companion files are found by their names beside the segment, in a folder of any name.
    """
    check_no_input(out, [segment_path])
    check_no_log_folder(out)
    real = Path(os.path.realpath(out))
    is_beside = real.parent == Path(os.path.realpath(segment_path)).parent
    if is_beside and parse_file(real.name).kind != "other":
        raise InputError(
            f"the output would be a file of the input {segment_path}", "another name", path=str(out)
        )
