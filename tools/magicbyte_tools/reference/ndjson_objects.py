"""Objects that commands print with `--format ndjson`: their fields, each with a sentence.

A field of a table has the sentence of the table's column; `tests/reference/test_ndjson_page.py` compares the
fields with those that the commands print.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from magicbyte.tables.schemas import (
    ALL_TABLES,
    PARTITIONS,
    PROBLEMS,
    REPLICAS,
    SEGMENTS,
    TRANSACTIONS,
)
from magicbyte.tables.stats_table import STATS
from magicbyte.tables.table_definition import TableDefinition
from magicbyte.writing.compaction import CompactionEstimate
from magicbyte_tools.reference.docstring_sections import split_docstring


@dataclass(frozen=True, slots=True)
class NdjsonObject:
    """An object that a command prints: the value of its `kind`, if it has one, and its fields."""

    kind: str | None
    meaning: str
    fields: Mapping[str, str]
    """Sentences by name of the field, in the order of the object."""


def _columns(table: TableDefinition, *names: str) -> dict[str, str]:
    """Return the sentences of the columns *names* of *table*; default: of all columns."""
    sentences = {column.name: column.sentence for column in table.columns}
    return {name: sentences[name] for name in names} if names else sentences


_FOUND = {
    "errors": "Findings of severity `error`.",
    "warnings": "Findings of severity `warning`.",
    "notes": "Findings of severity `note`.",
}

_VERIFY = (
    NdjsonObject(
        "broker",
        "A broker whose log.dirs were named, and whether it would start.",
        {
            "node_id": "Node id (`node.id`); null if no file states it.",
            "cluster_id": "Cluster id; null if no file states it.",
            "log_dirs": "Paths of its log.dirs.",
            "kafka_version": "Release whose startup is predicted.",
            "verdict": "`starts`, `starts-with-loss`, `refuses-to-start` or `unknown`.",
            "reasons": "Codes of the findings that decide the verdict.",
            "findings": "These findings and the others about the broker, as sentences.",
        },
    ),
    NdjsonObject(
        "segment",
        "A file of a partition: a row of the table [`segments`](tables.md#segments), and a field more.",
        _columns(SEGMENTS)
        | {
            "bytes_after_recovery": "Bytes of a `.log` file after a broker's startup; null for other files, and if nothing is predicted."
        },
    ),
    NdjsonObject(
        "partition",
        "A replica of a partition: a row of the table [`partitions`](tables.md#partitions), and what a startup would do.",
        _columns(PARTITIONS)
        | {
            "log_end_offset_after_recovery": "Log end offset after a broker's startup; null if nothing is predicted.",
            "offsets_lost": "Number of offsets that the broker would not serve after its startup.",
            "lost_ranges": "These offsets, as pairs of the first one and the one after the last.",
            "recovery": "Sentences about what the broker would do.",
            "damaged_ranges": "Objects with the bytes of each damaged range, the offsets from `first_offset` up to `end_offset` that may be in it, `next_offset`, at which a consumer can go on, and `remains`, whether a startup leaves it.",
        },
    ),
    NdjsonObject(
        "replica",
        "A replica of a partition that has several: a row of the table [`replicas`](tables.md#replicas).",
        _columns(REPLICAS),
    ),
    NdjsonObject(
        "restore",
        "With `--for-restore`: a partition, and whether a cluster would take it.",
        {
            "topic": "Topic.",
            "partition": "Partition number.",
            "folder": "Path of the partition folder.",
            "is_taken": "Whether a cluster would take the folder unchanged: it has no error, and is not of an internal topic.",
            "leader_epoch": "Highest leader epoch; null without one.",
            "producer_ids": "Number of producer ids that a cluster would give out again.",
            "open_transactions": "Number of transactions that have not ended.",
            "largest_batch": "Bytes of the largest batch if that is too large for the topic; else null.",
            "codes": "Codes of the findings about the folder.",
        },
    ),
    NdjsonObject(
        "problem",
        "A finding: a row of the table [`problems`](tables.md#problems).",
        _columns(PROBLEMS),
    ),
    NdjsonObject(
        "unread",
        "A file or folder that was not read.",
        {
            "path": "Path of the file or folder.",
            "why": "Kind of the reason: one of [these](../reading.md#from-paths-to-partitions).",
            "reason": "Reason as a sentence, and how to read the file or folder if that is possible.",
            "size_bytes": "Bytes of the file, or of the files in the folder; null if unknown.",
        },
    ),
    NdjsonObject(
        "summary",
        "Totals; the last line.",
        {
            "partitions": "Partitions; each replica counts.",
            "segments": "Live segments.",
            "size_bytes": "Bytes of the live segments.",
            "records": "Data records, whatever their disposition; null with `--quick`.",
            "control_records": "Records of control batches, whatever their disposition; null with `--quick`.",
            "damaged_bytes": "Damaged bytes; null with `--quick`.",
            "unreadable_bytes": "Bytes that the operating system could not deliver; null with `--quick`.",
            **_FOUND,
            "crc_checked": "Whether checksums were verified; false with `--quick`.",
        },
    ),
)

_PRODUCED = (
    NdjsonObject(
        "problem",
        "A finding: a row of the table [`problems`](tables.md#problems); `file` is the path as it was given.",
        _columns(PROBLEMS),
    ),
    NdjsonObject(
        "file",
        "The verdict on a file.",
        {
            "file": "Path as it was given.",
            "verdict": "`accepted` or `refused` by a broker; `depends` on its settings or on earlier batches; `unknown`.",
            "kafka_error": "Kafka's name of the error, such as `INVALID_RECORD`; null if it depends or is not known.",
            "sentence": "The verdict as a sentence.",
        },
    ),
    NdjsonObject(
        "summary",
        "Totals; the last line.",
        {"files": "Files that were checked.", "size_bytes": "Bytes of the files.", **_FOUND},
    ),
)

_TRANSACTIONS = (
    NdjsonObject(
        "outcome",
        "Transactions of a partition with the same outcome.",
        {
            **_columns(TRANSACTIONS, "topic", "partition", "outcome"),
            "transactions": "Number of these transactions.",
            "records": "Records in their batches, as the headers state.",
            "size_bytes": "Bytes of their batches.",
            "median_ms": "Median of their durations in milliseconds; null if no duration is known.",
            "longest_ms": "Longest of their durations in milliseconds; null if no duration is known.",
        },
    ),
    NdjsonObject(
        "open",
        "A transaction that has not ended.",
        {
            **_columns(
                TRANSACTIONS,
                *("topic", "partition", "producer_id", "producer_epoch", "first_offset"),
                *("last_offset", "first_timestamp"),
            ),
            "records": "Records in its batches, as the headers state.",
            "transactional_id": "Transactional id of its producer; null if `__transaction_state` does not know it, or is not below the paths.",
            "state": "State of that transactional id, in the coordinator's words; null if it is not known.",
            "hangs": "Whether no coordinator will end it (KAFKA-12671); null if `__transaction_state` is not below the paths.",
            "start_timestamp": "Its start by the coordinator's clock; null if it hangs, or if that is not known.",
            "timeout_ms": "Milliseconds from its start after which the coordinator aborts it; null if it hangs, or if that is not known.",
            "abort": "Command that aborts it; null if the coordinator has it, so that `hangs` is false, if the topic is unknown, or if only remote segments were read.",
        },
    ),
)

_STATS = (
    NdjsonObject(
        "partition",
        "A row of the table [`stats`](tables.md#stats). With `--by topic` and `--by segment`, `kind` is `topic` and `segment`.",
        _columns(STATS),
    ),
    NdjsonObject("total", "The sums over all rows; the last line.", _columns(STATS)),
)

_SIZES = {
    "log_bytes": "Bytes of the segments now.",
    "sampled_bytes": "Bytes that were converted for the estimate.",
    "estimated_bytes": "Bytes with the other settings; null if they cannot be applied.",
    "error_bytes": "Error of the estimate: the true size is within it in 95 of 100 cases.",
    "cpu_seconds": "CPU seconds that the conversion would take, without reading and writing files.",
    "refusal": "Reason why the settings cannot be applied; null if they can.",
}

_WHAT_IF = (
    NdjsonObject(
        "what-if",
        "The estimate for a partition.",
        {**_columns(PARTITIONS, "topic", "partition"), **_SIZES},
    ),
    NdjsonObject(
        "total", "The sums over the partitions that can be converted; the last line.", _SIZES
    ),
)

_GROUP_OFFSETS = _columns(ALL_TABLES["group_offsets"])
_GROUPS = _columns(ALL_TABLES["groups"])
_MEMBERS = _columns(ALL_TABLES["group_members"])

_POSITIONS = (
    NdjsonObject(
        None,
        "A partition that a group has committed an offset in, or that a member reads. Times are in ISO 8601.",
        {
            "group": _GROUPS["group"],
            "type": _GROUPS["type"],
            **{name: _GROUP_OFFSETS[name] for name in ("topic", "partition", "offset")},
            **{name: _GROUP_OFFSETS[name] for name in ("log_end_offset", "lag")},
            "member_id": "Id of the member that has the partition; null if none has.",
            "client_host": _MEMBERS["client_host"],
            "client_id": _MEMBERS["client_id"],
            "pending_offset": _GROUP_OFFSETS["pending_offset"],
            "pending_producer_id": _GROUP_OFFSETS["pending_producer_id"],
            "pending_transactional_id": "Transactional id of that transaction; null if none knows the producer id.",
            **{name: _GROUP_OFFSETS[name] for name in ("leader_epoch", "commit_timestamp")},
            "metadata": _GROUP_OFFSETS["metadata"],
        },
    ),
)

_TOPIC_PARTITIONS = _columns(ALL_TABLES["topic_partitions"])

_TOPICS = (
    NdjsonObject(
        None,
        "A topic. Without the metadata log, what only that tells is null.",
        {
            **_columns(ALL_TABLES["topics"]),
            "configs": "Configurations that the topic overrides, by name (in `kafka-configs`: `DYNAMIC_TOPIC_CONFIG`).",
            "default_configs": "Other configurations that hold for the topic because they were set for all brokers of the cluster, by "
            "the topic's name for them (`DYNAMIC_DEFAULT_BROKER_CONFIG`).",
            "partitions": "Objects, one per partition, with the columns of [`topic_partitions`](tables.md#topic_partitions).",
        },
    ),
)

_WRITTEN = (
    NdjsonObject(
        "partition",
        "A partition that was written, or would be.",
        {
            "topic": "Topic.",
            "partition": "Partition number.",
            "source": "Path of the folder that was read.",
            "outcome": "`written`, `written by an earlier run`, `counted` (a dry run) or `failed`.",
            "source_bytes": "Bytes of the segments that were read.",
            "output_bytes": "Bytes of the segments that were written.",
            "segments": "Segments that were written.",
            "output_entries": "Batches and messages that were written.",
            "changed_entries": "Numbers of changed batches and messages, by the change.",
            "changed_records": "Numbers of changed or missing records, by the change.",
        },
    ),
    NdjsonObject(
        "summary",
        "Totals; for `restore`, commands follow.",
        {
            "command": "The command and its options.",
            "output": "Folder that was written; null for a dry run.",
            "partitions": "Partitions.",
            "failed": "Partitions that could not be written.",
            "source_bytes": "Bytes of the segments that were read.",
            "output_bytes": "Bytes of the segments that were written.",
            "changed_entries": "Numbers of changed batches and messages, by the change.",
            "changed_records": "Numbers of changed or missing records, by the change.",
        },
    ),
)

_RESTORE_COMMAND = (
    NdjsonObject(
        "command",
        "A step that an operator has to do, after the objects of a written partition.",
        {"command": "A command for a shell, or a comment that begins with `#`."},
    ),
)

_ESTIMATES = (
    NdjsonObject(
        None,
        "With `--dry-run`: the estimate of a round of the log cleaner over a partition.",
        split_docstring(CompactionEstimate.__doc__ or "").entries("Attributes"),
    ),
)

_ABSENCE = (
    NdjsonObject(
        "present",
        "With `--prove-absent`: a log that still has such records.",
        {
            "topic": "Topic; null outside of a partition folder.",
            "partition": "Partition number.",
            "path": "Path of the log.",
            "records": "Number of such records.",
            "offset_ranges": "Their offsets, as pairs of the first and the last one; the first ranges alone if there are many.",
            "further_ranges": "Number of further ranges.",
        },
    ),
    NdjsonObject(
        "unsearched",
        "With `--prove-absent`: a path that could not be searched, with the fields of `unread`.",
        {
            "path": "Path of the file or folder.",
            "why": "Kind of the reason.",
            "reason": "Reason as a sentence.",
            "size_bytes": "Bytes that could not be searched; null if unknown.",
        },
    ),
)

NDJSON_OBJECTS: dict[str, tuple[NdjsonObject, ...]] = {
    "verify": _VERIFY,
    "verify --produced": _PRODUCED,
    "transactions": _TRANSACTIONS,
    "stats": _STATS,
    "stats --what-if": _WHAT_IF,
    "groups": _POSITIONS,
    "topics": _TOPICS,
    "rewrite, convert, salvage, erase, compact, restore": _WRITTEN,
    "restore": _RESTORE_COMMAND,
    "compact --dry-run": _ESTIMATES,
    "erase --prove-absent": _ABSENCE,
}
"""Objects by command; `dump`, `export`, `sql` and `pcap` print rows of tables."""
