"""Kafka's formats in Construct, which can build as well as parse them.

This description is independent of the .ksy files: if both read the same from the same bytes, a
mistake in one of them is unlikely. It serves to build test vectors and as a second opinion; it
reads some thousand records per second.

    >>> from magicbyte_construct import RecordBatch, record_batch
    >>> data = record_batch([{"key": b"k", "value": b"v", "timestamp": 1714000000000}])
    >>> batch = RecordBatch.parse(data)
    >>> batch.num_records, batch.records[0].value, f"{batch.crc:08x}"
    (1, b'v', 'ec149ae3')

**Building** computes lengths, counts and checksums, and has defaults for other fields. A field
that is given is written even if it is wrong, which is how damaged bytes are built. A parsed value
therefore builds the bytes that it was parsed from. Before you change one of its fields, call
``fresh``, which removes the computed fields.

**Parsing** raises a ``ConstructError`` and no other exception for any bytes. ``strict=False``
checks only what a grammar can check: no checksum is compared, and bytes that are left over in a
record or after the records, otherwise an error, are returned in ``trailing``.

**Preserved**, so that sound bytes can be built again: an integer of variable length that is not in
its shortest form is a ``Stored``; lengths are fields, since any negative length means null; the
unused bits of attributes are ``reserved``, and bytes that Kafka ignores are ``trailing``. The forms
of counts and lengths in KRaft's messages are not preserved.
"""

try:
    import construct as _construct  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the package construct is not installed; expected the extra construct: "
        "pip install 'magicbyte[construct]'",
        name=error.name,
    ) from error

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
