"""The table that `stats` returns: sizes and counts, one row per topic, partition or segment.

It is not a table of a dataset, because each row takes a whole read, and because it has a total row.
Sizes are bytes, times milliseconds since the Unix epoch. An entry is a v0 or v1 message (compressed:
a wrapper message) or a v2 batch. A data entry is any entry except a control batch.
"""

import pyarrow as pa

from magicbyte.tables.schemas import FILE
from magicbyte.tables.table_definition import INT64, PARTITION, STRING, TIME, TOPIC, define_table

CONTENTS = pa.list_(
    pa.struct(
        [
            ("magic", pa.int8()),
            ("codec", STRING),
            ("entry_count", INT64),
            ("record_count", INT64),
            ("stored_bytes", INT64),
            ("plain_bytes", INT64),
        ]
    )
)

CLASSES = pa.list_(pa.struct([("at_least", INT64), ("entry_count", INT64), ("sum", INT64)]))

_COLUMNS: tuple[tuple[str, pa.DataType, str], ...] = (
    TOPIC,
    PARTITION,
    FILE,
    ("log_dir", STRING, "Folder that contains the partition folder."),
    ("partition_count", INT64, "Partitions; each replica counts."),
    ("segment_count", INT64, "Live segments."),
    ("log_bytes", INT64, "Bytes of the live segments."),
    ("index_bytes", INT64, "Bytes of the live offset, time and transaction indexes."),
    ("other_bytes", INT64, "Bytes of other live files: snapshots, checkpoints, metadata."),
    ("unused_bytes", INT64, "Bytes of files that a broker would delete or not use."),
    (
        "damaged_bytes",
        INT64,
        "Damaged and unreadable bytes of the segments, and bytes of entries over a limit.",
    ),
    ("tail_bytes", INT64, "Bytes of an incomplete entry, or of zeros, at the end of a log."),
    ("entry_count", INT64, "Sound data entries."),
    ("stored_bytes", INT64, "Bytes of the data entries in the log, compressed if they are."),
    ("control_count", INT64, "Control batches."),
    ("control_bytes", INT64, "Bytes of the control batches."),
    ("record_count", INT64, "Data records; null if that takes the payloads and they are not read."),
    ("contents", CONTENTS, "Counts and bytes of the data entries by format and codec."),
    (
        "plain_bytes",
        INT64,
        "Bytes that the data entries would have in the log without compression.",
    ),
    ("key_bytes", INT64, "Bytes of the keys of the data records."),
    ("value_bytes", INT64, "Bytes of the values of the data records."),
    ("header_bytes", INT64, "Bytes of the keys and values of their record headers."),
    ("overhead_bytes", INT64, "`plain_bytes` minus keys, values and record headers."),
    ("null_key_count", INT64, "Data records without a key."),
    ("tombstone_count", INT64, "Data records without a value."),
    ("least_entry_bytes", INT64, "Bytes of the smallest data entry."),
    ("largest_entry_bytes", INT64, "Bytes of the largest data entry."),
    (
        "entry_bytes",
        CLASSES,
        "Histogram of the data entries' bytes: each class is twice as wide as the one before.",
    ),
    ("least_entry_records", INT64, "Smallest number of records in a data entry."),
    ("largest_entry_records", INT64, "Largest number of records in a data entry."),
    (
        "entry_records",
        CLASSES,
        "Histogram of the data entries' record counts, in classes like those of `entry_bytes`.",
    ),
    ("idempotent_count", INT64, "Data entries with a producer id."),
    ("transactional_count", INT64, "Data entries that belong to a transaction."),
    (
        "producer_count",
        INT64,
        "Distinct producer ids of the data entries; 1000 means 1000 or more.",
    ),
    (
        "append_time_count",
        INT64,
        "Data entries with timestamp type LogAppendTime: the time is the broker's.",
    ),
    ("first_timestamp", TIME, "Earliest time of a data record."),
    ("last_timestamp", TIME, "Latest time of a data record."),
    (
        "largest_timestamp",
        TIME,
        "Latest time in the header of any entry, control batches included.",
    ),
    ("largest_timestamp_file", STRING, "File name of the segment that contains the latest time."),
    ("largest_timestamp_position", INT64, "Position of the first entry with that time."),
    (
        "largest_timestamp_offset",
        INT64,
        "Offset of the first record with that time; the entry's last offset if no record has it, or if payloads are not read.",
    ),
    (
        "held_ms",
        INT64,
        "Longest time by which retention keeps a segment beyond the segment's own latest time.",
    ),
    (
        "held_bytes",
        INT64,
        "Bytes of all segments that the same record makes retention keep longer.",
    ),
    ("held_by_file", STRING, "File name of the segment that contains this record."),
    ("held_by_position", INT64, "Position of the entry that contains this record."),
    (
        "held_by_offset",
        INT64,
        "Offset of this record, determined as for `largest_timestamp_offset`.",
    ),
    ("held_by_timestamp", TIME, "Time of this record."),
    (
        "first_dirty_offset",
        INT64,
        "Offset from which the log cleaner has not cleaned; null if not compacted, and in sums.",
    ),
    (
        "dirty_bytes",
        INT64,
        "Bytes that the log cleaner could clean: of the segments from that offset up to the active one, or to one with an open transaction.",
    ),
    (
        "dirty_ratio",
        pa.float64(),
        "`dirty_bytes` as a part of these and the cleaned bytes; cleaning begins at `min.cleanable.dirty.ratio`.",
    ),
)

STATS = define_table("stats", "topic, partition or segment", *_COLUMNS)
