"""Values that the decoders of records exchange with what calls them."""

from typing import Any, NamedTuple

from magicbyte.engines._record_headers import RecordHeaders


class Row(NamedTuple):
    """The fields that a record has besides its entry's; nulls are None."""

    offset: int
    timestamp: int | None
    timestamp_type: int | None
    key: bytes | None
    value: bytes | None
    headers: RecordHeaders | None
    sequence: int | None
    body: Any
    """The object of the Kaitai class, for columns that are not fields of Row."""


class RecordStop(NamedTuple):
    """Position at which a kernel has stopped in a batch; the records before are valid."""

    record_index: int
    position: int
    """Byte of the payload at which the record begins, or at which the payload ends."""
    header_index: int
    header_position: int
    """Byte of the payload at which the header *header_index* begins; 0 if the kernel has read none."""
    num_negative: int = 0
    """Lengths of keys and values below -1 in the records before."""
    negative_index: int = 0
    """The first record with such a length."""
    negative_position: int = 0
    num_attributes: int = 0
    """Records before with reserved attributes."""
    attributes_index: int = 0
    """The first record with reserved attributes."""
    attributes_position: int = 0
