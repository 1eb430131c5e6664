"""The six tables: their columns, in order, with Arrow types and a sentence each.

What comes from the wire has type and sentence from the specification; the rest is declared here.

A sentinel of -1 in the bytes is null here. Times are milliseconds since the Unix epoch, UTC.
Every field is nullable, also where no null ever comes.
"""

import re
from dataclasses import dataclass

import pyarrow as pa

from magicbyte.errors import InputError
from magicbyte_formats import wire

DISPOSITIONS = (
    "superseded",
    "duplicate",
    "damaged",
    "over_limit",
    "below_log_start",
    "outside_range",
    "withheld",
    "aborted",
    "control",
    "delivered",
)
"""What happens to an entry's bytes, or to a record: the first of these that applies."""

OUTCOMES = ("committed", "aborted", "open", "undecided")

TIME = pa.timestamp("ms", tz="UTC")


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    name: str
    type: pa.DataType
    sentence: str


@dataclass(frozen=True, slots=True)
class TableDefinition:
    name: str
    row: str
    """What a row is, in a word or two."""
    columns: tuple[ColumnDefinition, ...]
    default: tuple[str, ...]
    """The columns that come when none are named."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def schema(self, columns: tuple[str, ...] | None = None) -> pa.Schema:
        """Return the Arrow schema of *columns*, by default those that come when none are named."""
        types = {column.name: column.type for column in self.columns}
        return pa.schema([(name, types[name]) for name in columns or self.default])

    def check(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return *columns* if all of them are this table's; InputError names the first that is not."""
        for name in columns:
            if name not in self.names:
                raise InputError(
                    f"the table {self.name} has no column {name!r}",
                    f"some of {', '.join(self.names)}",
                )
        return columns


def arrow_type(text: str) -> pa.DataType:
    """Return the Arrow type that the specification calls *text*."""
    if found := re.fullmatch(r"timestamp\[(\w+), tz=(\w+)\]", text):
        return pa.timestamp(found[1], tz=found[2])
    if found := re.fullmatch(r"list<struct<(.*)>>", text):
        fields = [field.split(": ") for field in found[1].split(", ")]
        return pa.list_(pa.struct([(name, arrow_type(kind)) for name, kind in fields]))
    return pa.type_for_alias(text)


def _from_wire(table: str, name: str) -> tuple[str, pa.DataType, str]:
    """Return the column *name* of *table* as the specification declares it."""
    (column,) = (column for column in wire.COLUMNS[table] if column.name == name)
    return name, arrow_type(column.type), column.doc


def _table(
    name: str, row: str, *columns: tuple[str, pa.DataType, str], default: int = 0
) -> TableDefinition:
    made = tuple(ColumnDefinition(*column) for column in columns)
    shown = made[:default] if default else made
    return TableDefinition(name, row, made, tuple(column.name for column in shown))


TOPIC = ("topic", pa.string(), "The topic; null outside a partition's folder.")
PARTITION = ("partition", pa.int32(), "The partition's number; null outside its folder.")
FILE = ("file", pa.string(), "The file's name in the partition's folder.")
POSITION = ("position", pa.int64(), "The byte of the file at which the entry begins.")
DISPOSITION = ("disposition", pa.string(), "What happens to it at the isolation level of the read.")
OUTCOME = (
    "outcome",
    pa.string(),
    "How its transaction ended: `committed`, `aborted`, `open`, `undecided`.",
)


def _counters(unit: str, sentence: str) -> list[tuple[str, pa.DataType, str]]:
    return [
        (f"{unit}_{name}", pa.int64(), f"{sentence} whose disposition is `{name}`.")
        for name in DISPOSITIONS
    ]


RECORD_FIELDS = tuple(
    dict.fromkeys(
        (
            "offset",
            "timestamp",
            "timestamp_type",
            "key",
            "value",
            "headers",
            "leader_epoch",
            "producer_id",
            "producer_epoch",
            "sequence",
            "is_transactional",
            "codec",
            "magic",
            *(column.name for column in wire.COLUMNS["records"]),
        )
    )
)
"""What the specification has of a record, in this order; behind it what has been added since."""

RECORDS = _table(
    "records",
    "record",
    TOPIC,
    PARTITION,
    *(_from_wire("records", name) for name in RECORD_FIELDS),
    FILE,
    POSITION,
    DISPOSITION,
    OUTCOME,
    default=8,
)

BATCHES = _table(
    "batches",
    "entry: a v0 or v1 message or wrapper, or a v2 batch",
    TOPIC,
    PARTITION,
    FILE,
    POSITION,
    *(
        _from_wire("batches", name)
        for name in (
            "size_bytes",
            "base_offset",
            "last_offset",
            "magic",
            "crc",
            "codec",
            "timestamp_type",
            "base_timestamp",
            "max_timestamp",
            "delete_horizon",
            "producer_id",
            "producer_epoch",
            "base_sequence",
            "leader_epoch",
            "record_count",
            "is_transactional",
            "is_control",
        )
    ),
    ("crc_valid", pa.bool_(), "Whether the checksum is that of the bytes."),
    ("control_type", pa.string(), "Kafka's name for the type of its first control record."),
    DISPOSITION,
)

SEGMENTS = _table(
    "segments",
    "file of a partition",
    TOPIC,
    PARTITION,
    FILE,
    (
        "file_kind",
        pa.string(),
        "`log index timeindex txnindex snapshot checkpoint metadata other`.",
    ),
    ("live", pa.bool_(), "Whether a broker would use it."),
    (
        "why_not",
        pa.string(),
        "`superseded swap cleaned deleted delete-folder future-folder stray-folder`.",
    ),
    ("base_offset", pa.int64(), "The number in the file's name."),
    ("size_bytes", pa.int64(), "Bytes of the file."),
    ("sound_bytes", pa.int64(), "Bytes of its sound entries."),
    ("end", pa.string(), "How the file ends: `clean incomplete zeros garbage`."),
    *_counters("bytes", "Bytes of entries"),
    ("bytes_tail", pa.int64(), "Bytes of an incomplete entry or of zeros at the log's end."),
    *_counters("records", "Records"),
)

TRANSACTIONS = _table(
    "transactions",
    "transaction in a partition",
    TOPIC,
    PARTITION,
    _from_wire("batches", "producer_id"),
    _from_wire("batches", "producer_epoch"),
    OUTCOME,
    ("begun_before_log", pa.bool_(), "Whether it began below the first segment."),
    ("first_offset", pa.int64(), "Its first offset in the partition."),
    ("last_offset", pa.int64(), "The last offset of its data."),
    ("marker_offset", pa.int64(), "The offset of the marker that ended it."),
    ("coordinator_epoch", pa.int32(), "The epoch of the coordinator that wrote the marker."),
    ("first_timestamp", TIME, "The base timestamp of its first batch."),
    ("marker_timestamp", TIME, "The time of the marker: the broker's clock."),
    ("record_count", pa.int64(), "Records of its batches, as the headers state them."),
    ("size_bytes", pa.int64(), "Bytes of its batches."),
    (
        "evidence",
        pa.string(),
        "What decided it: `marker txnindex later-marker snapshot`; null if undecided or open.",
    ),
)

PARTITIONS = _table(
    "partitions",
    "partition",
    TOPIC,
    PARTITION,
    ("topic_id", pa.string(), "The topic's id, from partition.metadata."),
    ("log_dir", pa.string(), "The folder that holds the partition's folder."),
    ("segment_count", pa.int64(), "Live segments."),
    ("size_bytes", pa.int64(), "Bytes of the live segments."),
    ("log_start_offset", pa.int64(), "The first offset that counts."),
    ("log_end_offset", pa.int64(), "The offset that the next record would get."),
    ("last_stable_offset", pa.int64(), "Where read_committed ends."),
    ("high_watermark", pa.int64(), "Null where the files cannot tell."),
    ("leader_epoch", pa.int32(), "The highest leader epoch of a live entry."),
    *_counters("records", "Records"),
    ("verdict", pa.string(), "What a broker's start would do; `unknown` if not worked out."),
)

PROBLEMS = _table(
    "problems",
    "finding of the read",
    TOPIC,
    PARTITION,
    FILE,
    ("position", pa.int64(), "The byte of the file at which the entry or the stretch begins."),
    ("payload_position", pa.int64(), "The byte of the decompressed payload."),
    ("length", pa.int64(), "Bytes of the file that are concerned."),
    ("code", pa.string(), "What it is: a code of the registry of findings."),
    ("severity", pa.string(), "`error`, `warning` or `note`."),
    ("base_offset", pa.int64(), "The offset that the entry states, right or not."),
    ("field", pa.string(), "The field that is wrong."),
    ("found", pa.string(), "What it holds."),
    ("expected", pa.string(), "What it should hold."),
    ("message", pa.string(), "All of it in a sentence."),
)

TABLES = {
    table.name: table for table in (RECORDS, BATCHES, SEGMENTS, TRANSACTIONS, PARTITIONS, PROBLEMS)
}

HEADERS = RECORDS.schema(("headers",)).field("headers").type

WIRE_COLUMNS = tuple(
    name
    for name in RECORDS.names
    if name not in ("topic", "partition", "file", "disposition", "outcome")
)
"""The columns of records that an engine fills; the others are context."""

WIRE_TYPES = {column.name: column.type for column in RECORDS.columns if column.name in WIRE_COLUMNS}


def table_named(name: str) -> TableDefinition:
    """Return the table *name*; InputError names those there are."""
    if name not in TABLES:
        raise InputError(f"no table {name!r}", f"one of {', '.join(TABLES)}")
    return TABLES[name]
