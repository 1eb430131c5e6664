"""Kafka's formats once more, in Construct, where they can be built as well as parsed.

An independent description: it shares nothing with the .ksy files but Kafka's facts, so that where
both read the same from the same bytes, neither has made a mistake of its own. It is for vectors
and for a second opinion; it reads some thousand records a second.

    >>> from magicbyte_construct import RecordBatch, record_batch
    >>> data = record_batch([{"key": b"k", "value": b"v", "timestamp": 1714000000000}])
    >>> batch = RecordBatch.parse(data)
    >>> batch.records_count, batch.records[0].value, f"{batch.crc:08x}"
    (1, b'v', 'ec149ae3')

**Building** works out lengths, counts and checksums, and has a default for the rest. What is
given is written, even where it is wrong: that is how broken bytes are built. So what was parsed
builds into the bytes it came from, and whoever changes a field of it asks ``fresh`` first to
forget what is to be worked out anew.

**Parsing** raises a ``ConstructError`` and nothing else, whatever the bytes. ``strict=False``
reads what a grammar alone can read: no checksum is compared, and bytes that are left over in a
record or behind the records, an error else, are in ``trailing``.

**Kept**, so that sound bytes build again as they were: an integer of variable length that is not
in its shortest form is a ``Stored``; lengths have fields of their own, as any below 0 means null;
so do high bits of attributes (``reserved``), and bytes that Kafka ignores (``trailing``). Not kept
are the forms of counts and lengths in KRaft's messages.
"""

from magicbyte_construct.building import fresh, marker, message, record_batch, reseal, wrapper
from magicbyte_construct.checkpoints import LeaderEpochCheckpoint, OffsetCheckpoint
from magicbyte_construct.control import (
    ControlRecordKey,
    EarlyLeaderChangeMessage,
    EndTransactionMarker,
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from magicbyte_construct.kip_931 import RecordBatchKip931
from magicbyte_construct.log import Entry, Log
from magicbyte_construct.message import Message, MessageSet
from magicbyte_construct.metadata_record import MetadataRecord
from magicbyte_construct.offset_index import OffsetIndex
from magicbyte_construct.partition_metadata import PartitionMetadata
from magicbyte_construct.producer_snapshot import ProducerSnapshot
from magicbyte_construct.record import Record, Records
from magicbyte_construct.record_batch import RecordBatch
from magicbyte_construct.time_index import TimeIndex
from magicbyte_construct.transaction_index import TransactionIndex
from magicbyte_construct.varint import Stored, Uvarint, Varint, Varlong

__all__ = [
    "ControlRecordKey",
    "EarlyLeaderChangeMessage",
    "EndTransactionMarker",
    "Entry",
    "KRaftVersionRecord",
    "LeaderChangeMessage",
    "LeaderEpochCheckpoint",
    "Log",
    "Message",
    "MessageSet",
    "MetadataRecord",
    "OffsetCheckpoint",
    "OffsetIndex",
    "PartitionMetadata",
    "ProducerSnapshot",
    "Record",
    "RecordBatch",
    "RecordBatchKip931",
    "Records",
    "SnapshotFooterRecord",
    "SnapshotHeaderRecord",
    "Stored",
    "TimeIndex",
    "TransactionIndex",
    "Uvarint",
    "Varint",
    "Varlong",
    "VotersRecord",
    "fresh",
    "marker",
    "message",
    "record_batch",
    "reseal",
    "wrapper",
]
