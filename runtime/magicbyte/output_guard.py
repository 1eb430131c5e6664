"""Refuse to write into the logs that are read."""

import os
from collections.abc import Iterable
from pathlib import Path

from magicbyte.errors import InputError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import absolute_path, is_url


def check_outside(out: Path, logs: Iterable[PartitionLog], paths: Iterable[str]) -> None:
    """Raise InputError where *out* is inside of the *logs* read from *paths*, or contains them.

    Inputs are the paths, and the folders and log.dirs of partitions. If a segment is in a folder
    whose name is no partition's, only the segment itself is an input.
    """
    real = Path(os.path.realpath(out))
    inputs = {absolute_path(path) for path in paths}
    for log in logs:
        if log.topic is not None:
            inputs.add(log.folder)
            inputs.update(file.path.rpartition("/")[0] for file in log.files if file.is_remote)
        if log.log_dir is not None:
            inputs.add(log.log_dir.path)
    for path in sorted(Path(name) for name in inputs if not is_url(name)):
        if real == path:
            raise InputError("the output is an input", "a path outside", path=str(out))
        if path in real.parents:
            raise InputError(f"inside of the input {path}", "a path outside", path=str(out))
        if real in path.parents:
            raise InputError(f"contains the input {path}", "a path outside", path=str(out))
