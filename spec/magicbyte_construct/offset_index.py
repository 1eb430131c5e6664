"""The offset index of a segment, ``.index`` (org.apache.kafka.storage.internals.log.OffsetIndex)."""

from typing import Any

from construct import Int32sb

from magicbyte_construct.fields import Fields
from magicbyte_construct.table import Table


def is_end(entry: Any) -> bool:
    """Return whether kafka-dump-log stops here: only the first entry's offset can be the base."""
    return bool(entry["relative_offset"] == 0)


OffsetIndexEntry = Fields("relative_offset" / Int32sb, "position" / Int32sb)
"""An offset less the segment's base offset, and where in the ``.log`` to look for it."""

OffsetIndex = Table(OffsetIndexEntry, preallocated=True, ends=is_end)
"""Entries of 8 bytes, and the zeros of the slots that a broker preallocates for more."""
