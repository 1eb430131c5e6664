"""State of producers, ``.snapshot`` (ProducerSnapshot.json; ProducerStateManager)."""

from construct import Default, Int16sb, Int32sb, Int32ub, Int64sb
from crc32c import crc32c

from magicbyte_construct.fields import Counted, Expected, Fields, LeftOver, Sealed, count_of

NO_SEQUENCE = NO_OFFSET = NO_EPOCH = -1

ProducerEntry = Fields(
    "producer_id" / Int64sb,
    "epoch" / Int16sb,
    "last_sequence" / Default(Int32sb, NO_SEQUENCE),
    "last_offset" / Default(Int64sb, NO_OFFSET),
    "offset_delta" / Default(Int32sb, 0),
    "timestamp" / Default(Int64sb, -1),
    "coordinator_epoch" / Default(Int32sb, NO_EPOCH),
    "current_transaction_first_offset" / Default(Int64sb, NO_OFFSET),
)
"""Last batch of a producer, and the first offset of its open transaction; -1 for none."""

ProducerSnapshot = Fields(
    "version" / Expected(Int16sb, 1),
    Sealed(
        "crc",
        Int32ub,
        "CRC-32C",
        crc32c,
        "num_producers" / count_of("producers", Int32sb),
        "producers" / Counted("num_producers", ProducerEntry, min_bytes=ProducerEntry.sizeof()),
        "trailing" / LeftOver(),
    ),
)
"""Version, 1; CRC-32C of the bytes after it; number of entries; entries of 46 bytes."""
