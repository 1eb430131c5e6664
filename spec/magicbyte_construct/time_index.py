"""Time index of a segment, ``.timeindex`` (org.apache.kafka.storage.internals.log.TimeIndex)."""

from construct import Int32sb, Int64sb

from magicbyte_construct.fields import Fields
from magicbyte_construct.table import EntryFile

TimeIndexEntry = Fields("timestamp" / Int64sb, "relative_offset" / Int32sb)
"""Largest timestamp so far, and the offset of its record, less the segment's base offset."""

TimeIndex = EntryFile(TimeIndexEntry, preallocated=True)
"""Entries of 12 bytes, then zeros in the preallocated slots."""
