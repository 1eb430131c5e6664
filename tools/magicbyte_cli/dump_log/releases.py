"""Differences between the releases of kafka-dump-log."""

import re
from dataclasses import dataclass

from magicbyte import InputError

OLDEST, NEWEST = (2, 8), (4, 3)

_FORM = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Release:
    """A Kafka release, which selects the forms of lines. Unknown later ones count as the newest."""

    version: tuple[int, int]

    @classmethod
    def of(cls, text: str) -> "Release":
        """Return the release *text*, such as `3.9` or `3.9.2`; InputError if invalid or too old."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise InputError(f"release {text!r}", "a release of Kafka, such as 3.9 or 3.9.2")
        version = int(match[1]), int(match[2])
        if version < OLDEST:
            raise InputError(f"release {text}", "{}.{} or later".format(*OLDEST))
        return cls(version)

    def since(self, major: int, minor: int) -> bool:
        return self.version >= (major, minor)

    @property
    def has_long_records(self) -> bool:
        """Return whether record lines repeat fields of the batch, and codec names are in capitals."""
        return not self.since(3, 0)

    def optional(self, number: int | None) -> str:
        """Return the text that this release prints for an optional offset, such as `Some(5)`."""
        if self.since(3, 5):
            return "OptionalLong.empty" if number is None else f"OptionalLong[{number}]"
        return "None" if number is None else f"Some({number})"


DEFAULT = Release(NEWEST)
