"""Paths that are not read, each with the reason: nothing in a log.dir is left out silently."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from magicbyte.findings import Finding

MOVED_FOLDERS = {
    "delete": "a broker has renamed the folder to delete it: its topic was deleted, or the replica moved",
    "stray": "a broker has renamed the folder: it did not know this partition as its own",
    "future": "the unfinished copy of a partition that was being moved to this log.dir",
}
"""Reasons why no broker serves a folder, by the suffix of its name."""

UNREAD_KINDS = {
    **{kind: f"A folder with the suffix -{kind}: {why}." for kind, why in MOVED_FOLDERS.items()},
    "foreign-folder": "A folder whose name is not that of a partition.",
    "foreign-file": "A file that is not one of Kafka's.",
    "archive": "An archive or a compressed file, which has to be unpacked first.",
    "deleted-file": "A file that a broker deletes, or has deleted.",
    "cache-folder": "A folder in which a broker caches files of remote storage.",
    "special-file": "A FIFO, a socket or a device.",
    "link-loop": "A symbolic link that leads to itself or to a folder around it.",
    "dangling-link": "A symbolic link to nothing.",
    "unreadable": "A file or folder that the operating system does not let us read.",
    "no-log": "A named path that holds no Kafka log.",
    "too-deep": "Folders too many levels below a named one.",
    "searched": "Bytes of a searched file that hold no sound batch.",
}
"""Sentences for the kinds of unread paths."""


@dataclass(frozen=True, slots=True)
class UnreadPath:
    """A file or folder below a named path that was not read.

    Attributes:
        path: The path of the file or folder.
        kind: `stray`, `delete`, `future`, `foreign-file`, `foreign-folder`, `archive`, `deleted-file`,
            `cache-folder`, `special-file`, `link-loop`, `dangling-link`, `unreadable`, `no-log`, `too-deep` or
            `searched`.
        reason: Nature of the file or folder, and how to read it if that is possible.
        size_bytes: Bytes of the file, or of the files in the folder; None if unknown.
        topic: Topic of the partition whose folder it is, or in whose folder it is; None without one.
        partition: Number of that partition.
    Example:
        >>> [unread.kind for unread in mb.open("log-0").unread]
        []
    """

    path: str
    kind: str
    reason: str
    size_bytes: int | None = None
    topic: str | None = None
    partition: int | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The fields as a row, in which the kind is called `why`.

        Example:
            >>> mb.UnreadPath("log-0/notes.txt", "foreign-file", "not a file of Kafka", 5).row["why"]
            'foreign-file'
        """
        return {
            "path": self.path,
            "why": self.kind,
            "reason": self.reason,
            "size_bytes": self.size_bytes,
        }


FAILURES = ("unreadable", "no-log")
"""Kinds of paths for which a command ends with status 2."""

MAY_HOLD_ANYTHING = (
    *FAILURES,
    "link-loop",
    "dangling-link",
    "special-file",
    "too-deep",
    "searched",
)
"""Kinds of paths that may hold records of any topic."""

MAY_HOLD_RECORDS = (*MOVED_FOLDERS, *FAILURES, "link-loop", "too-deep", "searched")
"""Kinds of paths that may hold records; messages name them one by one, and count the others."""


def of_selection(
    unread_paths: Iterable[UnreadPath],
    topic_names: Collection[str] | None,
    partition_numbers: Collection[int] | None,
) -> tuple[UnreadPath, ...]:
    """Return the paths that may hold records of topics and of partitions with these *partition_numbers*; None is all."""
    if topic_names is None and partition_numbers is None:
        return tuple(unread_paths)
    return tuple(
        unread
        for unread in unread_paths
        if (
            unread.kind in MAY_HOLD_ANYTHING
            if unread.topic is None
            else (topic_names is None or unread.topic in topic_names)
            and (partition_numbers is None or unread.partition in partition_numbers)
        )
    )


def unreadable_findings(unread_paths: Iterable[UnreadPath]) -> list[Finding]:
    """Return a finding for each of *unread_paths* that the system does not let us read."""
    findings = []
    for unread in unread_paths:
        if unread.kind == "unreadable":
            message = f"{unread.path} cannot be read: {unread.reason}"
            finding = Finding(code="unreadable", message=message, found=unread.reason)
            findings.append(
                finding.at(unread.topic, unread.partition, unread.path.rpartition("/")[2])
            )
    return findings
