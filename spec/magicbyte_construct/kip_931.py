"""Record batch of KIP-931, magic 3: a discarded proposal, so no log contains one.

The KIP lists changes, not a layout. This layout follows from its sentences:

    baseOffset            int64
    batchLength           int32      bytes after it
    partitionLeaderEpoch  int32
    magic                 int8       3
    crc                   uint32     CRC-32C over all that follows
    attributes            int16      as in magic 2, and bit 7: ignoreMessageAttributes
    producerId            int64
    producerEpoch         int16
    baseSequence          int32
    recordsCount          int32
    lastOffsetDelta       varint     was int32
    baseTimestamp         varlong    was int64
    maxTimestampDelta     varint     was maxTimestamp, int64; now less baseTimestamp
    records                          without their attributes byte if bit 7 is set

* The KIP moves the fields of variable width "to the end of the batch header", so that all others
  have fixed positions. Their order is the same as in magic 2.
* Its list of header fields omits recordsCount, which is needed to read the records and to check a
  compressed batch; it stays, as int32, before the fields of variable width.
* The fields up to magic and crc stay, since every reader expects size and magic there.
"""

from typing import Any

from construct import Default, If, Int8sb, Int16sb, Int16ub, Int32sb, Int32ub, Int64sb
from crc32c import crc32c

from magicbyte_construct.fields import (
    AtLeast,
    Counted,
    Expected,
    Fields,
    LeftOver,
    Sealed,
    Sized,
)
from magicbyte_construct.record import FIELDS_AFTER_ATTRIBUTES, OFFSET_AND_TIME
from magicbyte_construct.record_batch import (
    Attributes,
    Payload,
    base_timestamp,
    is_empty,
    last_offset_delta,
    max_timestamp,
    num_records,
)
from magicbyte_construct.varint import Varint, Varlong

MIN_BATCH_LENGTH = 32
"""Length of a batch without records, with one byte for each of the three variable fields."""


def max_timestamp_delta(context: Any) -> int:
    """Return the largest timestamp of a record less the base timestamp."""
    return max_timestamp(context) - int(context["base_timestamp"])


def has_attributes(context: Any) -> bool:
    """Return whether the records of this record's batch have attributes."""
    return not context["_"]["attributes"]["ignore_message_attributes"]


BatchAttributesKip931 = Attributes(
    Int16ub,
    default=0x80,
    reserved=8,
    ignore_message_attributes=bool,
    has_delete_horizon=bool,
    is_control=bool,
    is_transactional=bool,
    timestamp_type=1,
    codec=3,
)

RecordKip931 = Fields(
    Sized(
        "len_body",
        Varint,
        "attributes" / If(has_attributes, Default(Int8sb, 0)),
        *FIELDS_AFTER_ATTRIBUTES,
    ),
    alternatives=OFFSET_AND_TIME,
)
"""Record as in magic 2; ``attributes`` is None if the batch omits the attributes of its records."""

RecordBatchKip931 = Fields(
    "base_offset" / Default(Int64sb, 0),
    Sized(
        "len_batch",
        Int32sb,
        "partition_leader_epoch" / Default(Int32sb, -1),
        "magic" / Expected(Int8sb, 3),
        Sealed(
            "crc",
            Int32ub,
            "CRC-32C",
            crc32c,
            "attributes" / BatchAttributesKip931,
            "producer_id" / Default(Int64sb, -1),
            "producer_epoch" / Default(Int16sb, -1),
            "base_sequence" / Default(Int32sb, -1),
            "num_records" / Default(AtLeast(0, Int32sb), num_records),
            "last_offset_delta" / Default(Varint, last_offset_delta),
            "base_timestamp" / Default(Varlong, base_timestamp),
            "max_timestamp_delta" / Default(Varint, max_timestamp_delta),
            "records" / Payload(Counted("num_records", RecordKip931)),
            "trailing" / LeftOver(is_empty),
        ),
        minimum=MIN_BATCH_LENGTH,
    ),
)
"""Batch of the proposal. ``ignore_message_attributes`` of its ``attributes`` is set by default."""
