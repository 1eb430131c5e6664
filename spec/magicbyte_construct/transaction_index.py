"""Aborted transactions, ``.txnindex`` (org.apache.kafka.storage.internals.log.AbortedTxn)."""

from construct import Int16sb, Int64sb

from magicbyte_construct.fields import Expected, Fields
from magicbyte_construct.table import EntryFile

AbortedTransaction = Fields(
    "version" / Expected(Int16sb, 0),
    "producer_id" / Int64sb,
    "first_offset" / Int64sb,
    "last_offset" / Int64sb,
    "last_stable_offset" / Int64sb,
)
"""Aborted transaction, from its first offset to the offset of its ABORT marker."""

TransactionIndex = EntryFile(AbortedTransaction)
"""Entries of 34 bytes, never preallocated."""
