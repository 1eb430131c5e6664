"""Names of files and folders in a log.dir (kafka.log.LocalLog, LogFileUtils)."""

import re
from dataclasses import dataclass

KINDS = {
    ".log": "log",
    ".index": "index",
    ".timeindex": "timeindex",
    ".txnindex": "txnindex",
    ".snapshot": "snapshot",
    ".checkpoint": "checkpoint",
}

METADATA_NAMES = ("leader-epoch-checkpoint", "partition.metadata", "quorum-state")

LOG_DIR_MARKS = (
    "meta.properties",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
"""A folder that holds one of these is a log.dir."""

INTERNAL_TOPICS = (
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
    "__cluster_metadata",
    "__remote_log_metadata",
)

# Remote segments carry a uuid between the offset and the extension, KRaft snapshots an epoch.
_FILE = re.compile(r"(\d{20})(-[A-Za-z0-9_-]+)?(\.[a-z]+)(?:\.(deleted|cleaned|swap|tmp))?")
TOPIC = r"[A-Za-z0-9._-]{1,249}"
_PARTITION = re.compile(rf"({TOPIC})-(\d{{1,10}})")
_MOVED = re.compile(rf"({TOPIC})-(\d{{1,10}})\.[0-9a-f]{{32}}-(delete|future|stray)")


@dataclass(frozen=True, slots=True)
class ParsedFileName:
    """A file's name taken apart."""

    kind: str
    """`log index timeindex txnindex snapshot checkpoint metadata other`."""
    base_offset: int | None
    suffix: str | None
    """`deleted`, `cleaned`, `swap` or `tmp`, where it bears one."""


def parse_file(name: str) -> ParsedFileName:
    """Return what the file name *name* says."""
    found = _FILE.fullmatch(name)
    if found and found[3] in KINDS:
        return ParsedFileName(KINDS[found[3]], int(found[1]), found[4])
    kind = "metadata" if name in METADATA_NAMES else "other"
    return ParsedFileName(kind, None, None)


@dataclass(frozen=True, slots=True)
class ParsedFolderName:
    """The name of a partition's folder taken apart."""

    topic: str
    partition: int
    state: str | None
    """`delete-folder`, `future-folder` or `stray-folder`, where it bears such a suffix."""


def parse_folder(name: str) -> ParsedFolderName | None:
    """Return what the folder name *name* says, None where it is no partition's."""
    if found := _MOVED.fullmatch(name):
        return ParsedFolderName(found[1], int(found[2]), f"{found[3]}-folder")
    if found := _PARTITION.fullmatch(name):
        return ParsedFolderName(found[1], int(found[2]), None)
    return None
