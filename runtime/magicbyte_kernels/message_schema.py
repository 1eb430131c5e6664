"""Classes for schemas of the messages in Kafka's internal topics; generated modules use them."""

from typing import NamedTuple

Release = tuple[int, int]
"""Kafka release, such as (3, 9)."""


class VersionRange(NamedTuple):
    """Versions of a message, both ends included."""

    first: int
    last: int | None
    """Last version, included; None: all later versions are included."""

    def __contains__(self, version: object) -> bool:
        return (
            isinstance(version, int)
            and version >= self.first
            and (self.last is None or version <= self.last)
        )


class ReleaseRange(NamedTuple):
    """Kafka releases, both ends included."""

    first: Release
    last: Release | None
    """Last release, included; None: all later releases are included."""

    def __contains__(self, release: object) -> bool:
        return (
            isinstance(release, tuple)
            and release >= self.first
            and (self.last is None or release <= self.last)
        )


class MessageField(NamedTuple):
    """Field of a message, or of a struct in a message."""

    name: str
    """Name in Kafka's JSON form of the message."""
    kind: str
    """`bool`, `int8` to `int64`, `uint16`, `float64`, `uuid`, `string`, `bytes` or `struct`."""
    is_array: bool = False
    is_nullable: bool = False
    versions: VersionRange = VersionRange(0, None)
    """Versions of the message that have the field."""
    releases: ReleaseRange = ReleaseRange((0, 0), None)
    """Kafka releases that know the field."""
    tag: int | None = None
    """Number of a tagged field."""
    default: int | bool | None = None
    """Value of a tagged field that is not written; None: zero or empty."""
    is_null_by_default: bool = False
    """True if a tagged field that is not written is null."""
    struct: str | None = None
    """Kafka's name of the struct; None for a struct that several fields share."""
    values: tuple[tuple[int, str], ...] = ()
    """Numbers that have a name in Kafka, with their names."""
    fields: tuple["MessageField", ...] = ()
    """Fields of the struct."""

    def name_of(self, number: int) -> str | None:
        """Return Kafka's name of *number*; None if it has none."""
        return dict(self.values).get(number)


class MessageSchema(NamedTuple):
    """Schema of a message: the key or the value of a record of an internal topic."""

    name: str
    """Kafka's name of the message."""
    type: int | None
    """Number before the message that identifies it; None if there is no such number."""
    former_types: tuple[tuple[int, ReleaseRange], ...]
    """Numbers that identified the message in other releases."""
    versions: tuple[tuple[Release, VersionRange | None], ...]
    """Known versions since each release; None: the release does not know the message."""
    flexible: tuple[tuple[Release, VersionRange | None], ...]
    """Versions with tagged fields and compact lengths, since each release."""
    fields: tuple[MessageField, ...]

    def field(self, name: str) -> MessageField:
        """Return the top-level field *name*. Raises KeyError if there is none."""
        return {field.name: field for field in self.fields}[name]

    def versions_in(self, release: Release) -> VersionRange | None:
        """Return the versions that *release* knows; None if it does not know the message."""
        return _latest(self.versions, release)

    def is_flexible(self, version: int, release: Release) -> bool:
        """Return whether *version* has tagged fields and compact lengths in *release*."""
        flexible = _latest(self.flexible, release)
        return flexible is not None and version in flexible

    def is_type(self, number: int, release: Release) -> bool:
        """Return whether *number* identifies this message in *release*."""
        return number == self.type or any(
            number == former and release in releases for former, releases in self.former_types
        )


def _latest(
    version_steps: tuple[tuple[Release, VersionRange | None], ...], release: Release
) -> VersionRange | None:
    """Return the versions of the last step in *version_steps* that is not later than *release*."""
    latest = None
    for since, versions in version_steps:
        if release >= since:
            latest = versions
    return latest
