"""Offset index of a segment, ``.index`` (org.apache.kafka.storage.internals.log.OffsetIndex)."""

from typing import Any

from construct import Int32sb

from magicbyte_construct.fields import Fields
from magicbyte_construct.table import EntryFile


def is_end(entry: Any) -> bool:
    """Return whether kafka-dump-log stops at *entry*: only the first entry can have relative offset 0."""
    return bool(entry["relative_offset"] == 0)


OffsetIndexEntry = Fields("relative_offset" / Int32sb, "position" / Int32sb)
"""Offset less the segment's base offset, and a position in the ``.log`` to search from."""

OffsetIndex = EntryFile(OffsetIndexEntry, preallocated=True, ends=is_end)
"""Entries of 8 bytes, then zeros in the preallocated slots."""
