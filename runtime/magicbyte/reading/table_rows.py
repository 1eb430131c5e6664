"""Rows of the tables other than `records`, from surveys, pieces and findings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from magicbyte.engines.entry import wrap64
from magicbyte.findings import Finding
from magicbyte.logdir.clusters import replica_name
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.logdir.replica import Replica
from magicbyte.reading.dispositions import ExaminedEntry
from magicbyte.reading.results import Report, Rows, Tally
from magicbyte.reading.split import ChunkResult, Split
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import DISPOSITIONS, PROBLEMS, TRANSACTIONS
from magicbyte.tables.table_definition import TableDefinition
from magicbyte_formats.wire import CODEC_NAMES, CONTROL_TYPE_NAMES, TIMESTAMP_TYPE_NAMES

PATH_COLUMNS = ("file", "log_dir", "replica")

ROWS_AT_A_TIME = 4096


def rows_of_table(
    table: TableDefinition,
    columns: Sequence[str] | None,
    read_rows: Callable[[Report], Iterator[dict[str, Any]]],
) -> Rows:
    """Return the dicts that *read_rows* yields as *columns* of *table*; None: all columns."""
    names = table.check(tuple(table.names if columns is None else columns))
    schema = table.schema(names)

    def batches(report: Report) -> Iterator[pa.RecordBatch]:
        rows: list[dict[str, Any]] = []
        for row in read_rows(report):
            rows.append({name: row[name] for name in names})
            if len(rows) == ROWS_AT_A_TIME:
                yield record_batch(rows, schema)
                rows = []
        if rows:
            yield record_batch(rows, schema)

    return Rows(schema, batches)


def record_batch(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return *rows* as an Arrow batch. Bytes of a path that are not UTF-8 become U+FFFD."""
    paths = [name for name in PATH_COLUMNS if name in schema.names]
    return batch_of([row | {name: _text(row[name]) for name in paths} for row in rows], schema)


def _text(file_name: str | None) -> str | None:
    if file_name is None:
        return None
    return file_name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def null_if_absent(number: int | None) -> int | None:
    """Return *number*, or None for the sentinel -1."""
    return None if number == -1 else number


def int64_or_null(number: int | None) -> int | None:
    """Return *number*, or None if an int64 column cannot hold it.

    The offset after 2^63-1 is 2^63: Kafka, which counts with Java's long, has no such offset either.
    """
    return number if number is not None and number == wrap64(number) else None


def batch_rows(split: Split, piece: ChunkResult, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a row of `batches` for each batch or message of *piece*."""
    names = {"topic": split.topic, "partition": split.partition, "file": split.file.name}
    unknown = {"crc_valid": None, "disposition": None} if quick else {}
    for examined in piece.entries:
        yield names | entry_row(examined) | unknown


def entry_row(examined: ExaminedEntry) -> dict[str, Any]:
    """Return the row of `batches` for a batch or message, without the names of its file."""
    entry, decoded = examined.entry, examined.decoded
    horizon = entry.base_timestamp if entry.has_delete_horizon else None
    control = decoded.control
    return {
        "position": entry.position,
        "size_bytes": entry.size_bytes,
        "base_offset": decoded.base_offset,
        "last_offset": entry.last_offset,
        "magic": entry.magic,
        "crc": entry.crc,
        "codec": CODEC_NAMES.get(entry.codec),
        "timestamp_type": None
        if entry.timestamp_type is None
        else TIMESTAMP_TYPE_NAMES[entry.timestamp_type],
        "base_timestamp": null_if_absent(entry.base_timestamp),
        "max_timestamp": null_if_absent(entry.max_timestamp),
        "delete_horizon": null_if_absent(horizon),
        "producer_id": null_if_absent(entry.producer_id),
        "producer_epoch": null_if_absent(entry.producer_epoch),
        "base_sequence": null_if_absent(entry.base_sequence),
        "leader_epoch": null_if_absent(entry.leader_epoch),
        "record_count": decoded.record_count,
        "is_transactional": entry.is_transactional,
        "is_control": entry.is_control,
        "crc_valid": examined.crc_valid,
        "control_type": None
        if control is None
        else CONTROL_TYPE_NAMES.get(control.type, "UNKNOWN"),
        "disposition": examined.disposition,
    }


def segment_row(
    log: PartitionLog, file: LogFile, survey: Survey, tally: Tally | None
) -> dict[str, Any]:
    """Return the row of `segments` for *file*."""
    row: dict[str, Any] = {
        "topic": log.topic,
        "partition": log.partition,
        "file": file.name,
        "file_kind": file.kind,
        "live": file.live,
        "why_not": file.why_not,
        "base_offset": file.base_offset,
        "size_bytes": file.size_bytes,
        "sound_bytes": None,
        "end": None,
        "bytes_tail": None,
    }
    for name in DISPOSITIONS:
        row[f"bytes_{name}"] = tally.bytes[name] if tally is not None else None
        row[f"records_{name}"] = tally.records[name] if tally is not None else None
    if tally is not None:
        row["bytes_tail"] = tally.bytes["tail"]
        row["sound_bytes"] = tally.sound_bytes
        for segment in survey.segments:
            if segment.file.path == file.path:
                row["end"] = segment.end
    return row


def transaction_rows(survey: Survey) -> Iterator[dict[str, Any]]:
    """Yield a row of `transactions` for each transaction in a partition."""
    names = survey.log.topic, survey.log.partition
    for transaction in survey.transactions:
        fields = [getattr(transaction, name) for name in TRANSACTIONS.names[len(names) :]]
        row = dict(zip(TRANSACTIONS.names, (*names, *fields), strict=True))
        for name in ("first_timestamp", "marker_timestamp"):
            row[name] = null_if_absent(row[name])
        yield row


def partition_row(
    survey: Survey, records: Counter[str] | None, verdict: str = "unknown"
) -> dict[str, Any]:
    """Return the row of `partitions` for the partition of *survey*."""
    log = survey.log
    segments = [file for file in log.listed_files if file.live and file.kind == "log"]
    row: dict[str, Any] = {
        "topic": log.topic,
        "partition": log.partition,
        "topic_id": log.topic_id,
        "log_dir": log.folder.rpartition("/")[0] or None,
        "segment_count": len(segments),
        "size_bytes": sum(file.size_bytes for file in segments),
        "log_start_offset": int64_or_null(survey.log_start_offset),
        "log_end_offset": int64_or_null(survey.log_end_offset),
        "last_stable_offset": int64_or_null(survey.last_stable_offset),
        "high_watermark": int64_or_null(survey.high_watermark),
        "leader_epoch": survey.leader_epoch,
        "verdict": verdict,
    }
    for name in DISPOSITIONS:
        row[f"records_{name}"] = None if records is None else records[name]
    return row


def replica_rows(log: PartitionLog, survey: Survey | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of `replicas` for *log*, whose *survey* is needed if it is the only replica."""
    names = {"topic": log.topic, "partition": log.partition}
    replicas = log.measured_replicas if survey is None else (_only_replica(survey),)
    for replica in replicas:
        columns = asdict(replica)
        for name in ("log_end_offset", "missing_offsets", "filled_offsets"):
            columns[name] = int64_or_null(columns[name])
        yield names | columns


def _only_replica(survey: Survey) -> Replica:
    log = survey.log
    return Replica(
        log_dir=replica_name(log),
        rank=1,
        leader_epoch=survey.leader_epoch,
        first_offset=log.logs[0].base_offset if log.logs else None,
        log_end_offset=survey.log_end_offset,
        missing_offsets=None,
        error_count=sum(finding.severity == "error" for finding in survey.findings),
        size_bytes=log.log_bytes,
    )


def problem_rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `problems`, by file and position."""
    for finding in sorted(findings, key=finding_order):
        yield {name: getattr(finding, name) for name in PROBLEMS.names}


def finding_order(finding: Finding) -> tuple[str, int, str, int]:
    """Sort key of findings: topic, partition, file, position."""
    return (
        finding.topic or "",
        -1 if finding.partition is None else finding.partition,
        finding.file or "",
        -1 if finding.position is None else finding.position,
    )
