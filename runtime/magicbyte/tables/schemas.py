"""The tables of a dataset: their columns, in order, each with its Arrow type and meaning.

Columns of the wire format take both from the specification; the others are declared here. A sentinel
of -1 in the bytes is null here. Times are milliseconds since the Unix epoch, UTC. Every field is
nullable, even where nulls cannot occur.
"""

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte.tables import (
    _application_tables,
    _capture_tables,
    _group_tables,
    _metadata_tables,
)
from magicbyte.tables.table_definition import (
    INT32,
    INT64,
    PARTITION,
    STRING,
    TIME,
    TOPIC,
    TableDefinition,
    arrow_type,
    define_table,
)
from magicbyte_formats import wire

DISPOSITIONS = (
    *("superseded", "duplicate", "damaged", "unreadable", "over_limit", "below_log_start"),
    *("outside_range", "withheld", "aborted", "control", "delivered"),
)
"""Dispositions of an entry's bytes or of a record, by precedence: the first that applies counts."""

LOST = ("damaged", "unreadable", "over_limit")
"""Dispositions of bytes whose records are not known."""

OUTCOMES = ("committed", "aborted", "open", "undecided")


def _from_wire(table: str, name: str) -> tuple[str, pa.DataType, str]:
    """Return the column *name* of *table* as the specification declares it."""
    (column,) = (column for column in wire.COLUMNS[table] if column.name == name)
    return name, arrow_type(column.type), column.doc


FILE = ("file", STRING, "Name of the file in the partition folder.")
POSITION = ("position", INT64, "Position of the entry: the byte of the file at which it begins.")
DISPOSITION = ("disposition", STRING, "Disposition at the isolation level of the read.")
OUTCOME = (
    "outcome",
    STRING,
    "Outcome of the transaction: `committed`, `aborted`, `open` if it has not ended, `undecided` if the bytes that "
    "would tell are missing or damaged.",
)


def _counters(unit: str, sentence: str) -> list[tuple[str, pa.DataType, str]]:
    return [
        (f"{unit}_{name}", INT64, f"{sentence} with disposition `{name}`.") for name in DISPOSITIONS
    ]


RECORD_FIELDS = tuple(
    dict.fromkeys(
        (
            *("offset", "timestamp", "timestamp_type", "key", "value", "headers", "leader_epoch"),
            *("producer_id", "producer_epoch", "sequence", "is_transactional", "codec", "magic"),
            *(column.name for column in wire.COLUMNS["records"]),
        )
    )
)
"""Record columns of the specification in the order of the table; newer ones follow at the end."""

RECORDS = define_table(
    "records",
    "record",
    TOPIC,
    PARTITION,
    *(_from_wire("records", name) for name in RECORD_FIELDS),
    FILE,
    POSITION,
    DISPOSITION,
    OUTCOME,
    num_default=8,
    never_null="offset is_transactional codec magic disposition",
)

BATCHES = define_table(
    "batches",
    "log entry: a v0 or v1 message, compressed or not, or a v2 batch",
    TOPIC,
    PARTITION,
    FILE,
    POSITION,
    *(
        _from_wire("batches", name)
        for name in (
            *("size_bytes", "base_offset", "last_offset", "magic", "crc", "codec"),
            *("timestamp_type", "base_timestamp", "max_timestamp", "delete_horizon", "producer_id"),
            *("producer_epoch", "base_sequence", "leader_epoch", "record_count"),
            *("is_transactional", "is_control"),
        )
    ),
    (
        "crc_valid",
        pa.bool_(),
        "Whether the stored checksum matches the bytes; null if they were not all read.",
    ),
    ("control_type", STRING, "Type of the first control record, in Kafka's words."),
    DISPOSITION,
    never_null="position size_bytes last_offset magic crc is_transactional is_control",
)

SEGMENTS = define_table(
    "segments",
    "file of a partition",
    TOPIC,
    PARTITION,
    FILE,
    (
        "file_kind",
        STRING,
        "Kind: `log index timeindex txnindex snapshot checkpoint metadata other`.",
    ),
    ("live", pa.bool_(), "Whether a broker would use the file."),
    (
        "why_not",
        STRING,
        "Reason if not: `superseded swap cleaned deleted delete-folder future-folder stray-folder`.",
    ),
    ("base_offset", INT64, "Offset in the file's name."),
    ("size_bytes", INT64, "Bytes of the file."),
    ("sound_bytes", INT64, "Bytes of the sound entries."),
    ("end", STRING, "End of the file: `clean incomplete zeros garbage unreadable`."),
    *_counters("bytes", "Bytes of entries"),
    ("bytes_tail", INT64, "Bytes of an incomplete entry, or of zeros, at the end of the log."),
    *_counters("records", "Records"),
    never_null="file file_kind live size_bytes",
)

TRANSACTIONS = define_table(
    "transactions",
    "transaction in a partition",
    TOPIC,
    PARTITION,
    ("producer_id", INT64, "Producer id in its batches."),
    (
        "producer_epoch",
        pa.int16(),
        "Producer epoch in its last batch with data; its marker may have a later one.",
    ),
    OUTCOME,
    ("begun_before_log", pa.bool_(), "Whether it began before the first segment that is left."),
    ("first_offset", INT64, "First offset of its data in the partition."),
    ("last_offset", INT64, "Last offset of its data."),
    ("marker_offset", INT64, "Offset of the transaction marker that ended it."),
    ("coordinator_epoch", INT32, "Epoch of the coordinator that wrote the marker."),
    ("first_timestamp", TIME, "Base timestamp of its first batch."),
    ("marker_timestamp", TIME, "Time of the marker, by the broker's clock."),
    ("record_count", INT64, "Records in its batches, as their headers state."),
    ("size_bytes", INT64, "Bytes of its batches."),
    (
        "evidence",
        STRING,
        "Evidence for the outcome: `marker`, its own; `txnindex`, a transaction index; `later-marker`, one of the same "
        "producer; `snapshot`, a producer snapshot. Null if there is none.",
    ),
    never_null="producer_id outcome begun_before_log first_offset record_count size_bytes",
)

PARTITIONS = define_table(
    "partitions",
    "partition",
    TOPIC,
    PARTITION,
    ("topic_id", STRING, "Topic id, from partition.metadata."),
    ("log_dir", STRING, "Folder that contains the partition folder."),
    ("segment_count", INT64, "Live segments."),
    ("size_bytes", INT64, "Bytes of the live segments."),
    ("log_start_offset", INT64, "Log start offset: consumers get no earlier one."),
    (
        "log_end_offset",
        INT64,
        "Offset that the next record would get; null after offset 2^63-1, the highest.",
    ),
    ("last_stable_offset", INT64, "Last stable offset: a read_committed consumer stops here."),
    ("high_watermark", INT64, "High watermark; null if the files do not tell."),
    ("leader_epoch", INT32, "Highest leader epoch in a live segment."),
    *_counters("records", "Records"),
    (
        "verdict",
        STRING,
        "What a broker would do on startup: `intact truncated ...`; `unknown` outside of `verify`.",
    ),
    never_null="segment_count size_bytes verdict",
)

PROBLEMS = define_table(
    "problems",
    "finding of the read",
    TOPIC,
    PARTITION,
    FILE,
    ("position", INT64, "Byte of the file at which the entry or the damaged range begins."),
    ("payload_position", INT64, "Byte of the decompressed payload."),
    ("length", INT64, "Affected bytes of the file."),
    ("code", STRING, "Code of the finding."),
    ("severity", STRING, "Severity: `error`, `warning` or `note`."),
    ("base_offset", INT64, "Base offset that the entry states, right or wrong."),
    ("field", STRING, "Field that is wrong."),
    ("found", STRING, "Value in the field."),
    ("expected", STRING, "Value that was expected."),
    ("message", STRING, "Description in one sentence."),
    (
        "replica",
        STRING,
        "Log.dir that holds the file, if several replicas of the partition were opened.",
    ),
    never_null="code severity message",
)

REPLICAS = define_table(
    "replicas",
    "replica of a partition",
    TOPIC,
    PARTITION,
    ("log_dir", STRING, "Log.dir that contains the replica; its folder if that is in no log.dir."),
    (
        "rank",
        INT32,
        "1 for the replica that is read, 2 for the first one from which ranges are filled, and so on.",
    ),
    ("leader_epoch", INT32, "Highest leader epoch that its last batch or its checkpoint has."),
    ("first_offset", INT64, "First offset in its segments."),
    (
        "log_end_offset",
        INT64,
        "Offset after its last sound batch, by headers; null after offset 2^63-1, the highest.",
    ),
    (
        "missing_offsets",
        INT64,
        "Offsets between the two that are damaged or missing, by headers; null if it is the only replica.",
    ),
    ("error_count", INT64, "Findings of severity `error` about it, by headers."),
    ("size_bytes", INT64, "Bytes of its live segments."),
    ("filled_ranges", INT64, "Ranges that are read from it instead of the replica with rank 1."),
    ("filled_offsets", INT64, "Offsets in these ranges."),
    ("filled_bytes", INT64, "Bytes of the batches in these ranges."),
    never_null="rank error_count size_bytes filled_ranges filled_offsets filled_bytes",
)

GAPS = define_table(
    "gaps",
    "range of offsets that no record has",
    TOPIC,
    PARTITION,
    ("first_offset", INT64, "First offset of the gap."),
    ("end_offset", INT64, "Offset after the gap; null after offset 2^63-1, the highest."),
    ("offset_count", INT64, "Offsets in the gap; null if there are 2^63 or more."),
    (
        "reason",
        STRING,
        "Reason: `compacted damaged unreadable over_limit missing`; the last if nothing explains it.",
    ),
    ("file", STRING, "File name of the segment that contains the record after the gap."),
    ("position", INT64, "Position of the entry that contains this record."),
    never_null="first_offset reason",
)

TABLES = {
    table.name: table
    for table in (RECORDS, BATCHES, SEGMENTS, TRANSACTIONS, PARTITIONS, PROBLEMS, REPLICAS)
}
"""Tables that a pipeline writes."""

INTERNAL_TABLES: dict[str, TableDefinition] = {
    table.name: table
    for table in (*_group_tables.TABLES, *_metadata_tables.TABLES, *_application_tables.TABLES)
}
"""Tables of internal topics, such as groups and the metadata of a cluster."""

ALL_TABLES = TABLES | {GAPS.name: GAPS} | INTERNAL_TABLES

CAPTURED_RECORDS, CAPTURED_BATCHES = map(_capture_tables.with_connection, (RECORDS, BATCHES))
"""Tables of captured traffic."""

HEADERS = RECORDS.schema(("headers",)).field("headers").type

WIRE_COLUMNS = tuple(
    name
    for name in RECORDS.names
    if name not in ("topic", "partition", "file", "disposition", "outcome")
)
"""Columns of `records` that engines decode; the reader adds the others."""

WIRE_TYPES = {column.name: column.type for column in RECORDS.columns if column.name in WIRE_COLUMNS}


def table_named(name: str) -> TableDefinition:
    """Return the table *name*; InputError lists the names that exist."""
    if name not in ALL_TABLES:
        raise InputError(f"no table {name!r}", f"one of {', '.join(ALL_TABLES)}")
    return ALL_TABLES[name]
