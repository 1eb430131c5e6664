"""Differences between the releases of kafka-dump-log."""

from dataclasses import dataclass

from magicbyte.kafka_release import NEWEST, KafkaRelease, parse_release

OLDEST = KafkaRelease(2, 8)
"""First release of kafka-dump-log whose output is known."""


@dataclass(frozen=True, slots=True)
class Release:
    """A Kafka release, which selects the forms of lines."""

    version: KafkaRelease

    @classmethod
    def of(cls, text: str) -> "Release":
        """Return the release *text*, such as `3.9` or `3.9.2`; InputError if its output is not known."""
        return cls(parse_release(text, oldest=OLDEST))

    def since(self, major: int, minor: int) -> bool:
        return self.version.since(major, minor)

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
