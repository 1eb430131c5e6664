"""Releases of Apache Kafka whose rules are known, by their version numbers."""

import re
from typing import NamedTuple

from magicbyte.errors import InputError


class KafkaRelease(NamedTuple):
    """A minor release of Kafka, such as 3.9; releases compare by their numbers."""

    major: int
    minor: int

    def since(self, major: int, minor: int) -> bool:
        """Return whether this is the release *major*.*minor* or a later one."""
        return self >= (major, minor)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


_LAST_MINORS = {0: 11, 1: 1, 2: 8, 3: 9, 4: 4}
"""Last minor release of each major release."""

OLDEST = KafkaRelease(0, 8)
"""First release with the formats of this project: v0, replicas and checkpoint files."""

KNOWN_RELEASES = tuple(
    release
    for major, last_minor in _LAST_MINORS.items()
    for release in (KafkaRelease(major, minor) for minor in range(last_minor + 1))
    if release >= OLDEST
)
"""Releases whose rules are known, in their order."""

NEWEST = KNOWN_RELEASES[-1]

NEWEST_WITH_ZOOKEEPER = KafkaRelease(3, 9)
"""The last release that runs with ZooKeeper (KIP-833)."""

_FORM = re.compile(r"([0-9]+\.[0-9]+)(?:\.[0-9]+){0,2}")


def parse_release(text: str, *, oldest: KafkaRelease = OLDEST) -> KafkaRelease:
    """Return the release that *text* names, such as `3.9`, `3.9.2` or `0.10.2.1`.

    Args:
        text: Version number of Kafka; patch releases follow the rules of their minor release.
        oldest: First release that the caller has rules for.
    Raises:
        InputError: *text* is not a known release since *oldest*.
    """
    by_text = {str(release): release for release in KNOWN_RELEASES if release >= oldest}
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in by_text:
        raise InputError(f"Kafka release {text!r}", f"one of {', '.join(by_text)}")
    return by_text[match[1]]
