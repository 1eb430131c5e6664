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

_LOG_DIR_FILE = re.compile(
    rf"({'|'.join(map(re.escape, LOG_DIR_MARKS))}|bootstrap\.checkpoint)(\.tmp)?"
    r"|magicbyte-manifest\.json|\.lock|\.kafka_cleanshutdown(\.tmp)?|_rlmm_committed_offsets"
)
_PARTITION_FILE = re.compile(
    r"leader-epoch-checkpoint|partition\.metadata|quorum-state|\.?kafka_cleanshutdown|.*\.tmp|.*\.checkpoint\.part"
)

OUTPUT_MANIFEST = "magicbyte-manifest.json"
"""The file in a folder that magicbyte wrote: the command, and the partitions that it has finished."""

INDEX_CACHE = "remote-log-index-cache"
"""The folder in a log.dir with indexes of remote segments; no partition's (RemoteIndexCache)."""

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
_TOPIC = re.compile(TOPIC)
_PARTITION = re.compile(rf"({TOPIC})-(\d{{1,10}})")
_ID_AT_END = re.compile(r"-[A-Za-z0-9_-]{22}$")
_NUMBER = re.compile(r"\d{1,10}")
_MOVED = re.compile(rf"({TOPIC})-(\d{{1,10}})\.[0-9a-f]{{32}}-(delete|future|stray)")


MAX_OFFSET = (1 << 63) - 1
MAX_PARTITION = (1 << 31) - 1
"""The largest numbers that a broker reads in a name: Long.parseLong and Integer.parseInt refuse others."""


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
    if match and match[3] in KINDS and int(match[1]) <= MAX_OFFSET:
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
    match, state = _MOVED.fullmatch(name), None
    if match:
        state = f"{match[3]}-folder"
    else:
        match = _PARTITION.fullmatch(name)
    if match is None or int(match[2]) > MAX_PARTITION:
        return None
    return ParsedFolderName(match[1], int(match[2]), state)


def parse_numbered_folder(path: str) -> ParsedFolderName | None:
    """Parse the end of *path* as `<topic>/<number>`, as tools that copy topics name folders; else None.

    Names of digits alone are rather years or days, and those that end in an id are folders of remote
    storage.
    """
    parent, _, name = path.rpartition("/")
    topic = parent.rpartition("/")[2]
    if not _NUMBER.fullmatch(name) or int(name) > MAX_PARTITION:
        return None
    if not _TOPIC.fullmatch(topic) or topic.isdigit() or _ID_AT_END.search(topic):
        return None
    return ParsedFolderName(topic, int(name), None)


def is_log_dir_file(name: str) -> bool:
    """Return whether a broker has a file *name* in a log.dir."""
    return _LOG_DIR_FILE.fullmatch(name) is not None


def is_partition_file(name: str) -> bool:
    """Return whether *name* is a file of Kafka in a partition folder that belongs to no segment."""
    return _PARTITION_FILE.fullmatch(name) is not None


def segment_name(base_offset: int) -> str:
    """Return the name of the segment file that begins at *base_offset*."""
    return f"{base_offset:020d}.log"
