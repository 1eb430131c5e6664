"""KIP-931's record batch, magic 3: a proposal that was discarded, so no log holds one.

The KIP lists what changes, not a layout. The one here follows from its sentences:

    baseOffset            int64
    batchLength           int32      bytes behind it
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

* The KIP moves the fields that became variable "to the end of the batch header", so that all
  others keep fixed places. Their order is that of magic 2, from which they were taken.
* Its list of the header leaves recordsCount out, without which the records cannot be counted and
  a compressed batch not be judged; it stays, as int32, before the variable ones.
* The frame up to magic and crc stays: every reader finds size and magic there.
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
from magicbyte_construct.record import BEHIND_ATTRIBUTES
from magicbyte_construct.record_batch import (
    Attributes,
    Payload,
    base_timestamp,
    is_empty,
    last_offset_delta,
    max_timestamp,
    records_count,
)
from magicbyte_construct.varint import Varint, Varlong

MIN_BATCH_LENGTH = 32
"""Of a batch without records, each of whose three variable fields has a byte."""


def max_timestamp_delta(context: Any) -> int:
    """Return the largest timestamp of a record less the base timestamp."""
    return max_timestamp(context) - int(context["base_timestamp"])


def has_attributes(context: Any) -> bool:
    """Return whether the records of the batch that this one is in have attributes."""
    return not context["_"]["attributes"]["ignore_message_attributes"]


BatchAttributesKip931 = Attributes(
    Int16ub,
    default=0x80,
    reserved=8,
    ignore_message_attributes=bool,
    has_delete_horizon_ms=bool,
    is_control_batch=bool,
    is_transactional=bool,
    timestamp_type=1,
    compression_type=3,
)

RecordKip931 = Fields(
    Sized(
        "length",
        Varint,
        "attributes" / If(has_attributes, Default(Int8sb, 0)),
        *BEHIND_ATTRIBUTES,
    )
)
"""A record as in magic 2; its ``attributes`` are None where the batch says that there are none."""

RecordBatchKip931 = Fields(
    "base_offset" / Default(Int64sb, 0),
    Sized(
        "batch_length",
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
            "records_count" / Default(AtLeast(0, Int32sb), records_count),
            "last_offset_delta" / Default(Varint, last_offset_delta),
            "base_timestamp" / Default(Varlong, base_timestamp),
            "max_timestamp_delta" / Default(Varint, max_timestamp_delta),
            "records" / Payload(Counted("records_count", RecordKip931)),
            "trailing" / LeftOver(is_empty),
        ),
        minimum=MIN_BATCH_LENGTH,
    ),
)
"""A batch of the proposal. ``attributes`` has ``ignore_message_attributes``, set by default."""
