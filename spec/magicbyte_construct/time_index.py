"""The time index of a segment, ``.timeindex`` (org.apache.kafka.storage.internals.log.TimeIndex)."""

from construct import Int32sb, Int64sb

from magicbyte_construct.fields import Fields
from magicbyte_construct.table import Table

TimeIndexEntry = Fields("timestamp" / Int64sb, "relative_offset" / Int32sb)
"""The largest timestamp so far, and an offset that has it, less the segment's base offset."""

TimeIndex = Table(TimeIndexEntry, preallocated=True)
"""Entries of 12 bytes, and the zeros of the slots that a broker preallocates for more."""
