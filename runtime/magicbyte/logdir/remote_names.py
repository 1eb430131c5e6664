"""Names of folders and files in remote storage (KIP-405), by the plugins that write them.

Kafka's LocalTieredStorage: `<topic>-<partition>-<topic id>/<20 digits>-<segment id>.<kind>`. Aiven's
plugin: `<prefix><topic>-<topic id>/<partition>/<20 digits>-<segment id>.<kind>`. Ids are 22 characters of
base64url, which may be dashes, so they are counted from the end.
"""

import re
from dataclasses import dataclass

from magicbyte.logdir.file_names import TOPIC

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
"""By suffix; Aiven's plugin had an object for each index until October 2023."""

_ID = "[A-Za-z0-9_-]{22}"
_LOCAL = re.compile(rf"({TOPIC})-(\d{{1,10}})-({_ID})")
_TOPIC = re.compile(rf"({TOPIC})-({_ID})")
_NUMBER = re.compile(r"\d{1,10}")
_FILE = re.compile(rf"(\d{{20}})-{_ID}(\.[a-z_-]+)")


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """The path of a partition's folder in remote storage taken apart."""

    topic: str
    """With Aiven's plugin there may be a prefix in front of it."""
    partition: int
    topic_id: str
    has_manifests: bool
    """Whether a segment counts by its manifest."""


@dataclass(frozen=True, slots=True)
class RemoteFileName:
    """A file's name taken apart."""

    segment: str
    """The part that all files of its segment have in front."""
    base_offset: int
    kind: str
    """`log index timeindex txnindex snapshot epochs indexes manifest`."""


def parse_remote_folder(path: str) -> RemoteFolder | None:
    """Return what the *path* of a folder says, None where it is none of a partition's."""
    parent, _, name = path.rpartition("/")
    if found := _LOCAL.fullmatch(name):
        return RemoteFolder(found[1], int(found[2]), found[3], has_manifests=False)
    found = _TOPIC.fullmatch(parent.rpartition("/")[2])
    if found and _NUMBER.fullmatch(name):
        return RemoteFolder(found[1], int(name), found[2], has_manifests=True)
    return None


def parse_remote_file(name: str) -> RemoteFileName | None:
    """Return what the file name *name* says, None where it is none of a remote segment's."""
    found = _FILE.fullmatch(name)
    if found is None or found[2] not in KINDS:
        return None
    return RemoteFileName(name.removesuffix(found[2]), int(found[1]), KINDS[found[2]])
