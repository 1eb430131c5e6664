"""Snapshots of the metadata log: files with the state of the cluster up to an offset (Snapshots, KIP-630)."""

import re
from typing import NamedTuple

from magicbyte.logdir.log_file import LogFile, PartitionLog

METADATA_TOPIC = "__cluster_metadata"
"""Topic of KRaft, which the log cleaner never cleans: it has snapshots instead."""

METADATA_FOLDER = f"{METADATA_TOPIC}-0"

_SNAPSHOT_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class MetadataSnapshot(NamedTuple):
    """A snapshot: the state after all records before an offset, and the epoch of the last of them."""

    offset: int
    epoch: int
    file: LogFile


def is_snapshot_file(name: str) -> bool:
    """Return whether a broker takes the file *name* for a snapshot, or for a broken name of one."""
    return name.endswith(".checkpoint")


def metadata_snapshot(file: LogFile) -> MetadataSnapshot | None:
    """Return the snapshot in *file*; None if its name has no offset and epoch."""
    match = _SNAPSHOT_NAME.fullmatch(file.name)
    return None if match is None else MetadataSnapshot(int(match[1]), int(match[2]), file)


def metadata_snapshots(log: PartitionLog) -> list[MetadataSnapshot]:
    """Return the snapshots in the folder of *log*, the newest first."""
    snapshots = [metadata_snapshot(file) for file in log.listed_files]
    return sorted((one for one in snapshots if one is not None), reverse=True, key=_order)


def _order(snapshot: MetadataSnapshot) -> tuple[int, int]:
    return snapshot.offset, snapshot.epoch
