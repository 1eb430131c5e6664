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
    """The parts of a file name."""

    kind: str
    """`log index timeindex txnindex snapshot checkpoint metadata other`."""
    base_offset: int | None
    suffix: str | None
    """`deleted`, `cleaned`, `swap` or `tmp`; None if there is no suffix."""


def parse_file(name: str) -> ParsedFileName:
    """Parse the file name *name*."""
    match = _FILE.fullmatch(name)
    if match and match[3] in KINDS:
        return ParsedFileName(KINDS[match[3]], int(match[1]), match[4])
    kind = "metadata" if name in METADATA_NAMES else "other"
    return ParsedFileName(kind, None, None)


@dataclass(frozen=True, slots=True)
class ParsedFolderName:
    """The parts of the name of a partition folder."""

    topic: str
    partition: int
    state: str | None
    """`delete-folder`, `future-folder` or `stray-folder`; None if there is no such suffix."""


def parse_folder(name: str) -> ParsedFolderName | None:
    """Parse the folder name *name*; None if it is not the name of a partition folder."""
    if match := _MOVED.fullmatch(name):
        return ParsedFolderName(match[1], int(match[2]), f"{match[3]}-folder")
    if match := _PARTITION.fullmatch(name):
        return ParsedFolderName(match[1], int(match[2]), None)
    return None
