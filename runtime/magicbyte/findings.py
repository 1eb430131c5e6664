"""Findings: everything that can be wrong with a log has a code; a finding reports where it is."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from magicbyte._finding_codes import CODES, SEVERITIES, SUBJECTS, Code, Severity

__all__ = [
    "CODES",
    "SEVERITIES",
    "SUBJECTS",
    "TAILS",
    "Code",
    "Finding",
    "Severity",
    "excerpt",
    "offsets_are",
    "worst",
]

TAILS = ("incomplete-tail", "zero-tail")
"""Codes for the end of a log that still grows: an incomplete entry, or preallocated zeros."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that was detected: a row of the table `problems`.

    Attributes:
        code: One of `magicbyte.CODES`.
        message: One sentence without the position.
        topic: Topic, if known; so are *partition* and *file*, a file's name in its folder.
        partition: Number of the partition.
        file: Name of the file.
        position: Byte of the file at which the batch, message or damaged range begins.
        payload_position: Byte of the decompressed payload at which the record begins.
        length: Bytes of the file that are concerned.
        base_offset: Offset that the batch or message states, right or wrong.
        field: The specification's name of the field that is wrong.
        found: Value that was found.
        expected: Value that was expected.
        replica: Log.dir that holds the file, where several replicas of the partition were opened.
    Example:
        >>> str(mb.Finding(code="zeros", message="zeros", topic="t", partition=0, position=61))
        't-0 byte 61: zeros'
    """

    code: str
    message: str
    topic: str | None = None
    partition: int | None = None
    file: str | None = None
    position: int | None = None
    payload_position: int | None = None
    length: int | None = None
    base_offset: int | None = None
    field: str | None = None
    found: str | None = None
    expected: str | None = None
    replica: str | None = None

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise KeyError(self.code)

    def at(
        self,
        topic: str | None,
        partition: int | None,
        file: str | None,
        replica: str | None = None,
    ) -> "Finding":
        """Return the finding with the names of the file that it is in.

        Args:
            topic: Topic of the file.
            partition: Number of the partition.
            file: Name of the file in its folder.
            replica: Log.dir that holds the file, where there are several replicas.
        Returns:
            A copy.
        Example:
            >>> str(mb.Finding(code="zeros", message="zeros").at("t", 0, "7.log"))
            't-0/7.log: zeros'
        """
        # Damage may have a finding per message: `replace` takes eight times as long, since a frozen
        # dataclass sets each attribute by its name.
        copy = object.__new__(Finding)
        for get, set_ in _COPIED_FIELDS:
            set_(copy, get(self))
        set_topic, set_partition, set_file, set_replica = _NAME_SETTERS
        set_topic(copy, topic)
        set_partition(copy, partition)
        set_file(copy, file)
        set_replica(copy, replica)
        return copy

    @property
    def severity(self) -> Severity:
        """The severity of the code: `error`, `warning` or `note`."""
        return CODES[self.code].severity

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    @property
    def where(self) -> str:
        """Partition, file and position in words, as far as known."""
        name = self.topic or ""
        if self.topic is not None and self.partition is not None:
            name = f"{self.topic}-{self.partition}"
        where = "/".join(part for part in (self.replica, name, self.file) if part)
        if self.position is not None:
            where += f"{' ' if where else ''}byte {self.position}"
        if self.payload_position is not None:
            where += f", payload byte {self.payload_position}"
        return where


_NAMES = ("topic", "partition", "file", "replica")
_SLOTS: dict[str, Any] = {field.name: getattr(Finding, field.name) for field in fields(Finding)}
_NAME_SETTERS = tuple(_SLOTS[name].__set__ for name in _NAMES)
_COPIED_FIELDS = tuple(
    (slot.__get__, slot.__set__) for name, slot in _SLOTS.items() if name not in _NAMES
)


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the gravest severity among *findings*, None where there are none."""
    present = {finding.severity for finding in findings}
    return next((severity for severity in SEVERITIES if severity in present), None)


def offsets_are(first: int, last: int, state: str) -> str:
    """Return a sentence about a range of offsets: `offsets 3 to 7 are lost`, or `offset 3 is lost`."""
    return (
        f"offset {first} is {state}" if first == last else f"offsets {first} to {last} are {state}"
    )


MAX_EXCERPT = 60
"""Characters of a file that a finding quotes."""


def excerpt(text: str) -> str:
    """Return *text*; if it is longer than `MAX_EXCERPT`, its beginning and how many characters follow.

    A line of a damaged checkpoint can be as long as the file. A finding that quotes all of it fills the
    terminal, and each of its copies takes the memory again.
    """
    num_more = len(text) - MAX_EXCERPT
    return text if num_more <= 0 else f"{text[:MAX_EXCERPT]}... and {num_more} more characters"
