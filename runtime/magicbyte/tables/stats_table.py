"""The table of `stats`: what logs consist of, a row for each topic, partition or segment.

It is no table of a dataset: a row needs a whole read, and there is one of everything together.
Sizes are bytes, times milliseconds since the Unix epoch. Entries are messages and wrappers of v0
and v1 and batches of v2; those of data are all but control batches.
"""

import pyarrow as pa

from magicbyte.tables.schemas import FILE, PARTITION, TIME, TOPIC, ColumnDefinition, TableDefinition

CONTENTS = pa.list_(
    pa.struct(
        [
            ("magic", pa.int8()),
            ("codec", pa.string()),
            ("entry_count", pa.int64()),
            ("record_count", pa.int64()),
            ("stored_bytes", pa.int64()),
            ("plain_bytes", pa.int64()),
        ]
    )
)

CLASSES = pa.list_(
    pa.struct([("at_least", pa.int64()), ("entry_count", pa.int64()), ("sum", pa.int64())])
)

_COLUMNS: tuple[tuple[str, pa.DataType, str], ...] = (
    TOPIC,
    PARTITION,
    FILE,
    ("log_dir", pa.string(), "The folder that holds the partition's folder."),
    ("partition_count", pa.int64(), "Partitions, each replica one."),
    ("segment_count", pa.int64(), "Live segments."),
    ("log_bytes", pa.int64(), "Bytes of the live segments."),
    ("index_bytes", pa.int64(), "Bytes of live offset, time and transaction indexes."),
    ("other_bytes", pa.int64(), "Bytes of other live files: snapshots, checkpoints, metadata."),
    ("unused_bytes", pa.int64(), "Bytes of files that a broker would not use, or would delete."),
    ("damaged_bytes", pa.int64(), "Bytes of the segments that are damaged, or over a limit."),
    ("tail_bytes", pa.int64(), "Bytes of an incomplete entry or of zeros at a log's end."),
    ("entry_count", pa.int64(), "Sound entries with data."),
    ("stored_bytes", pa.int64(), "Bytes of these, as they lie in the log."),
    ("control_count", pa.int64(), "Control batches."),
    ("control_bytes", pa.int64(), "Bytes of these."),
    ("record_count", pa.int64(), "Records of data; null where only a payload tells."),
    (
        "contents",
        CONTENTS,
        "The same for each format and codec of entries with data.",
    ),
    ("plain_bytes", pa.int64(), "What these entries would take in the log without a codec."),
    ("key_bytes", pa.int64(), "Bytes of the keys of these records."),
    ("value_bytes", pa.int64(), "Bytes of their values."),
    ("header_bytes", pa.int64(), "Bytes of their headers' keys and values."),
    ("overhead_bytes", pa.int64(), "`plain_bytes` without keys, values and headers."),
    ("null_key_count", pa.int64(), "Records without a key."),
    ("tombstone_count", pa.int64(), "Records without a value."),
    ("least_entry_bytes", pa.int64(), "Bytes of the smallest entry with data."),
    ("largest_entry_bytes", pa.int64(), "Bytes of the largest."),
    (
        "entry_bytes",
        CLASSES,
        "Entries with data by their bytes, in classes that double, and the sum of these bytes.",
    ),
    ("least_entry_records", pa.int64(), "Records of the entry with data that has the fewest."),
    ("largest_entry_records", pa.int64(), "Records of the one that has most."),
    (
        "entry_records",
        CLASSES,
        "Entries with data by their records, in classes that double, and the sum of these.",
    ),
    ("idempotent_count", pa.int64(), "Entries with data that have a producer id."),
    ("transactional_count", pa.int64(), "Entries with data that belong to transactions."),
    ("producer_count", pa.int64(), "Different producer ids of these; 1000 stands for more, too."),
    ("append_time_count", pa.int64(), "Entries with data that have the broker's time."),
    ("first_timestamp", TIME, "The least time of a record of data."),
    ("last_timestamp", TIME, "The largest time of a record of data."),
    ("largest_timestamp", TIME, "The largest time that the header of any entry states."),
    ("largest_timestamp_file", pa.string(), "The segment that has it, in its partition's folder."),
    ("largest_timestamp_position", pa.int64(), "The byte at which the first entry begins with it."),
    (
        "largest_timestamp_offset",
        pa.int64(),
        "The first record in it of that time; its last offset where none is, or payloads are not read.",
    ),
    (
        "held_ms",
        pa.int64(),
        "How much longer retention by time keeps a segment than its own times do.",
    ),
    ("held_bytes", pa.int64(), "Bytes of the segments that the same record keeps for longer."),
    ("held_by_file", pa.string(), "The segment that has this record, in its partition's folder."),
    ("held_by_position", pa.int64(), "The byte at which the record's entry begins."),
    ("held_by_offset", pa.int64(), "The record, as with `largest_timestamp_offset`."),
    ("held_by_timestamp", TIME, "Its time."),
)

STATS = TableDefinition(
    "stats",
    "topic, partition or segment",
    tuple(ColumnDefinition(*column) for column in _COLUMNS),
    tuple(name for name, *_ in _COLUMNS),
)
