"""What differs between the releases of kafka-dump-log."""

import re
from dataclasses import dataclass

from magicbyte import InputError

OLDEST, NEWEST = (2, 8), (4, 3)

_FORM = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Release:
    """The forms of lines since some release. Later ones than we know are taken for the newest."""

    version: tuple[int, int]

    @classmethod
    def of(cls, text: str) -> "Release":
        """Return the release *text*, as `3.9` or `3.9.2`; InputError where it is none, or too old."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise InputError(f"release {text!r}", "a release of Kafka, as 3.9 or 3.9.2")
        version = int(found[1]), int(found[2])
        if version < OLDEST:
            raise InputError(f"release {text}", f"{_text(OLDEST)} or later")
        return cls(version)

    def since(self, major: int, minor: int) -> bool:
        return self.version >= (major, minor)

    @property
    def has_long_records(self) -> bool:
        """Whether a record's line repeats what its batch says, and codecs have capitals."""
        return not self.since(3, 0)

    @property
    def begins(self) -> str:
        """What stands before the offset that a segment's name says."""
        return "Log starting offset:" if self.since(3, 3) else "Starting offset:"

    @property
    def has_snapshots(self) -> bool:
        """Whether the tool knows the snapshots of KRaft."""
        return self.since(3, 3)

    @property
    def sorts_gaps(self) -> bool:
        """Whether gaps are told in the order of offsets, not the last one first."""
        return self.since(4, 3)

    @property
    def first_gap(self) -> bool:
        """Whether a segment that does not begin with offset 0 is taken for one behind a gap."""
        return self.since(4, 3)

    @property
    def names_time_indexes(self) -> bool:
        """Whether it is said in which time index there are offsets that the log does not have."""
        return self.since(4, 3)

    @property
    def closes_records(self) -> bool:
        """Whether a brace follows the checksum of a v0 or v1 record."""
        return self.since(3, 0) and not self.since(4, 3)

    def optional(self, number: int | None) -> str:
        """Return an offset that may be missing, as this release writes it."""
        if self.since(3, 5):
            return "OptionalLong.empty" if number is None else f"OptionalLong[{number}]"
        return "None" if number is None else f"Some({number})"


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


DEFAULT = Release(NEWEST)
