"""Classes of the constants in `magicbyte_formats.wire`."""

from typing import NamedTuple


class ChecksumField(NamedTuple):
    """Checksum in a structure. It covers the bytes from `start` to the end of the structure."""

    algorithm: str
    """`crc32c` or `crc32`."""
    field_position: int
    """Bytes from the start of the structure to the checksum."""
    start: int
    """Bytes from the start of the structure to the first byte that is covered."""


class LengthField(NamedTuple):
    """Length in a structure. It counts the bytes of the structure after the length field itself."""

    field_position: int
    """Bytes from the start of the structure to the length."""
    start: int
    """Bytes before the first counted byte; the whole structure is this much longer than the length."""
    least: int
    """Smallest valid length."""


class WireColumn(NamedTuple):
    """Column of a table, as declared in the specification."""

    name: str
    type: str
    """Arrow type, as text."""
    nullable: bool
    """True if the specification has a null for it: an absent field or a sentinel."""
    sentinel: int | None
    """Stored number that stands for null."""
    unit: str | None
    """Unit of a number, where it has one."""
    doc: str
    """Meaning of the column, in a sentence."""
    source: str
    """Fields that feed the column, as paths in the specification."""
