# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""What the schema of a message is made of."""

from typing import NamedTuple

Release = tuple[int, int]
"""A release of Kafka, as (3, 9)."""


class Range(NamedTuple):
    """Versions, the ends included."""

    first: int
    last: int | None
    """None: all that follow."""

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and version >= self.first and (
            self.last is None or version <= self.last
        )


class Releases(NamedTuple):
    """Releases of Kafka, the ends included."""

    first: Release
    last: Release | None
    """None: all that follow."""

    def __contains__(self, release: object) -> bool:
        return isinstance(release, tuple) and release >= self.first and (
            self.last is None or release <= self.last
        )


class Field(NamedTuple):
    """A field of a message, or of a struct in one."""

    name: str
    """Kafka's own, as its JSON has it."""
    kind: str
    """`bool`, `int8` to `int64`, `uint16`, `float64`, `uuid`, `string`, `bytes` or `struct`."""
    is_array: bool = False
    is_nullable: bool = False
    versions: Range = Range(0, None)
    """Of the message, which have it."""
    releases: Releases = Releases((0, 0), None)
    """Which know it."""
    tag: int | None = None
    """The number of a tagged field."""
    default: int | bool | None = None
    """What a tagged field is where it is not written; None: zero or empty."""
    is_null_by_default: bool = False
    """Whether a tagged field is null where it is not written."""
    struct: str | None = None
    """What Kafka calls a struct; None of one that several fields share."""
    values: tuple[tuple[int, str], ...] = ()
    """What numbers stand for, by Kafka's names of them."""
    fields: tuple["Field", ...] = ()
    """Of a struct."""

    def name_of(self, number: int) -> str | None:
        """Return what *number* stands for; None where that is nothing."""
        return dict(self.values).get(number)


class Message(NamedTuple):
    """A message: what a key or a value of an internal topic holds."""

    name: str
    """Kafka's own."""
    type: int | None
    """The number before it that says which message it is; None where nothing does."""
    former_types: tuple[tuple[int, Releases], ...]
    """Numbers that also stood for it, and in which releases."""
    versions: tuple[tuple[Release, Range | None], ...]
    """Which versions are known since which release; None: the message is not."""
    flexible: tuple[tuple[Release, Range | None], ...]
    """Which of them have tagged fields and compact lengths, since which release."""
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field:
        """Return the field of the message itself that is called *name*; KeyError if there is none."""
        return {field.name: field for field in self.fields}[name]

    def versions_in(self, release: Release) -> Range | None:
        """Return the versions that *release* knows; None where it does not know the message."""
        return _latest(self.versions, release)

    def is_flexible(self, version: int, release: Release) -> bool:
        flexible = _latest(self.flexible, release)
        return flexible is not None and version in flexible

    def is_type(self, number: int, release: Release) -> bool:
        """Whether *number* says that it is this message, to *release*."""
        return number == self.type or any(
            number == former and release in releases for former, releases in self.former_types
        )


def _latest(steps: tuple[tuple[Release, Range | None], ...], release: Release) -> Range | None:
    found = None
    for since, versions in steps:
        if release >= since:
            found = versions
    return found
