"""What is written lies outside of what is read."""

import os
from collections.abc import Iterable
from pathlib import Path

from magicbyte.errors import InputError
from magicbyte.logdir.discover import PartitionLog
from magicbyte.storage import absolute_path, is_url


def check_outside(out: Path, logs: Iterable[PartitionLog], paths: Iterable[str]) -> None:
    """Raise InputError where *out* and the *logs* that are read from *paths* lie inside one another.

    What is read are the paths themselves, and the folders of partitions and their log.dirs. Where
    a segment lies in a folder of another name, somebody has put it there, and it alone is read.
    """
    real = Path(os.path.realpath(out))
    places = {absolute_path(path) for path in paths}
    for log in logs:
        if log.topic is not None:
            places.add(log.folder)
            places.update(file.path.rpartition("/")[0] for file in log.files if file.is_remote)
        if log.log_dir is not None:
            places.add(log.log_dir.path)
    inputs = {Path(place) for place in places if not is_url(place)}
    for one in sorted(inputs):
        if real == one:
            raise InputError("is what is read", "a place outside", path=str(out))
        if one in real.parents:
            raise InputError(f"inside what is read, {one}", "a place outside", path=str(out))
        if real in one.parents:
            raise InputError(f"what is read, {one}, lies inside", "a place outside", path=str(out))
