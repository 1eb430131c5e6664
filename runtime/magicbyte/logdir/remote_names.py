"""Names of folders and files in remote storage (KIP-405), by the plugins that write them.

Kafka's LocalTieredStorage: `<topic>-<partition>-<topic id>/<20 digits>-<segment id>.<kind>`. Aiven's
plugin: `<prefix><topic>-<topic id>/<partition>/<20 digits>-<segment id>.<kind>`. Ids are 22 characters of
base64url, which may be dashes, so they are counted from the end.
"""

import re
from dataclasses import dataclass

from magicbyte.logdir.file_names import MAX_OFFSET, MAX_PARTITION, TOPIC

MANIFEST = ".rsm-manifest"
LEADER_EPOCHS = ".leader-epoch-checkpoint"

KINDS = {
    ".log": "log",
    ".index": "index",
    ".timeindex": "timeindex",
    ".txnindex": "txnindex",
    ".snapshot": "snapshot",
    ".leader_epoch_checkpoint": "epochs",
    LEADER_EPOCHS: "epochs",
    ".indexes": "indexes",
    MANIFEST: "manifest",
}
"""Kinds of files by suffix. Aiven's plugin wrote an object for each index until October 2023."""

_ID = "[A-Za-z0-9_-]{22}"
_LOCAL = re.compile(rf"({TOPIC})-(\d{{1,10}})-({_ID})")
_TOPIC = re.compile(rf"({TOPIC})-({_ID})")
_NUMBER = re.compile(r"\d{1,10}")
_FILE = re.compile(rf"(\d{{20}})-{_ID}(\.[a-z_-]+)")


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """The parts of the path of a partition folder in remote storage."""

    topic: str
    """Topic name; with Aiven's plugin it may include a prefix."""
    partition: int
    topic_id: str
    has_manifests: bool
    """True if a segment is complete only with a manifest (Aiven's plugin)."""


@dataclass(frozen=True, slots=True)
class RemoteFileName:
    """The parts of the name of a file in remote storage."""

    prefix: str
    """The prefix that all files of the segment share."""
    base_offset: int
    kind: str
    """`log index timeindex txnindex snapshot epochs indexes manifest`."""


def parse_remote_folder(path: str) -> RemoteFolder | None:
    """Parse the *path* of a folder; None if it is not the path of a partition folder."""
    parent, _, name = path.rpartition("/")
    match = _LOCAL.fullmatch(name)
    if match and int(match[2]) <= MAX_PARTITION:
        return RemoteFolder(match[1], int(match[2]), match[3], has_manifests=False)
    match = _TOPIC.fullmatch(parent.rpartition("/")[2])
    if match and _NUMBER.fullmatch(name) and int(name) <= MAX_PARTITION:
        return RemoteFolder(match[1], int(name), match[2], has_manifests=True)
    return None


def parse_remote_file(name: str) -> RemoteFileName | None:
    """Parse the file name *name*; None if it is not the name of a remote segment's file."""
    match = _FILE.fullmatch(name)
    if match is None or match[2] not in KINDS or int(match[1]) > MAX_OFFSET:
        return None
    return RemoteFileName(name.removesuffix(match[2]), int(match[1]), KINDS[match[2]])
