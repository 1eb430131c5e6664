"""The log.dirs of the broker that is to take partition folders."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from magicbyte.errors import InputError
from magicbyte.logdir.checkpoints import is_log_dir, read_log_dir, read_topic_id
from magicbyte.logdir.file_names import parse_folder
from magicbyte.logdir.metadata_snapshots import METADATA_TOPIC
from magicbyte.storage import Storage


@dataclass(frozen=True, slots=True)
class TargetLogDir:
    """A log.dir of the broker."""

    path: str
    cluster_id: str | None
    folder_names: tuple[str, ...]
    """Names of the partition folders, also of replicas that move to this log.dir."""
    topic_ids: dict[str, str]
    """Topic ids by topic, of the partitions that have one."""
    device: int
    """Number of its file system."""

    def num_partitions(self, ignored: Iterable[str] = ()) -> int:
        """Return the number of partitions that the broker counts, without the folders *ignored*."""
        return len(set(self.folder_names) - set(ignored))


def read_target(path: str, storage: Storage) -> TargetLogDir:
    """Return the log.dir *path* of this machine. Raises InputError if it is none."""
    path = os.path.abspath(path)
    if not os.path.isdir(path) or not is_log_dir(path, storage):
        raise InputError(
            "not a log.dir" if os.path.isdir(path) else "not a folder",
            "a log.dir of the broker that is to take the folders, on this machine",
            path=path,
        )
    folder_names, topic_ids = [], {}
    for item in storage.list_folder(path):
        folder = parse_folder(item.name)
        if not item.is_folder or folder is None or folder.topic == METADATA_TOPIC:
            continue  # a broker does not count the metadata log
        if folder.state in (None, "future-folder"):
            folder_names.append(item.name)
        if folder.state is None and folder.topic not in topic_ids:
            topic_id = read_topic_id(f"{path}/{item.name}", storage)
            if topic_id is not None:
                topic_ids[folder.topic] = topic_id
    cluster_id = read_log_dir(path, storage).cluster_id
    return TargetLogDir(path, cluster_id, tuple(folder_names), topic_ids, os.stat(path).st_dev)


def emptiest(targets: Sequence[TargetLogDir], ignored: Iterable[str]) -> list[TargetLogDir]:
    """Return the log.dirs with the fewest partitions: the broker puts a new partition into one of them."""
    counts = [target.num_partitions(ignored) for target in targets]
    return [target for target, count in zip(targets, counts, strict=True) if count == min(counts)]
