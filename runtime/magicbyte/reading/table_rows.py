"""Rows of the tables that are no records, from what a read found."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.disposition_tally import Tally
from magicbyte.reading.split import Piece, Split
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import DISPOSITIONS
from magicbyte_formats.wire import CODEC_NAMES, CONTROL_TYPE_NAMES, TIMESTAMP_TYPE_NAMES


def _null(number: int | None) -> int | None:
    """Return *number*, with null for the -1 that says there is none."""
    return None if number == -1 else number


def record_batch(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return *rows* as Arrow. A path may hold bytes that are no text: they become U+FFFD."""
    paths = [name for name in PATHS if name in schema.names]
    made = [row | {name: _text(row[name]) for name in paths} for row in rows]
    return batch_of(made, schema)


PATHS = ("file", "log_dir")


def _text(path: str | None) -> str | None:
    if path is None:
        return None
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def batch_rows(split: Split, piece: Piece, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a row of `batches` for each entry of *piece*."""
    for examined in piece.entries:
        entry, decoded = examined.entry, examined.decoded
        horizon = entry.base_timestamp if entry.has_delete_horizon else None
        control = decoded.control
        yield {
            "topic": split.topic,
            "partition": split.partition,
            "file": split.file.name,
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
            "base_timestamp": _null(entry.base_timestamp),
            "max_timestamp": _null(entry.max_timestamp),
            "delete_horizon": _null(horizon),
            "producer_id": _null(entry.producer_id),
            "producer_epoch": _null(entry.producer_epoch),
            "base_sequence": _null(entry.base_sequence),
            "leader_epoch": _null(entry.leader_epoch),
            "record_count": decoded.record_count,
            "is_transactional": entry.is_transactional,
            "is_control": entry.is_control,
            "crc_valid": None if quick else examined.crc_valid,
            "control_type": None
            if control is None
            else CONTROL_TYPE_NAMES.get(control.type, "UNKNOWN"),
            "disposition": None if quick else examined.disposition,
        }


def segment_row(
    log: PartitionLog, file: LogFile, found: Survey, tally: Tally | None
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
    is_read = tally is not None
    for name in DISPOSITIONS:
        row[f"bytes_{name}"] = tally.bytes[name] if tally is not None else None
        row[f"records_{name}"] = tally.records[name] if tally is not None else None
    if tally is not None and is_read:
        row["bytes_tail"] = tally.bytes["tail"]
        row["sound_bytes"] = tally.sound_bytes
        row["end"] = next(
            (segment.end for segment in found.segments if segment.file.path == file.path), None
        )
    return row


def transaction_rows(found: Survey) -> Iterator[dict[str, Any]]:
    """Yield a row of `transactions` for each one in a partition."""
    for one in found.transactions:
        yield {
            "topic": found.log.topic,
            "partition": found.log.partition,
            "producer_id": one.producer_id,
            "producer_epoch": one.producer_epoch,
            "outcome": one.outcome,
            "begun_before_log": one.begun_before_log,
            "first_offset": one.first_offset,
            "last_offset": one.last_offset,
            "marker_offset": one.marker_offset,
            "coordinator_epoch": one.coordinator_epoch,
            "first_timestamp": _null(one.first_timestamp),
            "marker_timestamp": _null(one.marker_timestamp),
            "record_count": one.record_count,
            "size_bytes": one.size_bytes,
            "evidence": one.evidence,
        }


def partition_row(
    found: Survey, records: Counter[str] | None, verdict: str = "unknown"
) -> dict[str, Any]:
    """Return the row of `partitions` for the partition that *found* is of."""
    log = found.log
    row: dict[str, Any] = {
        "topic": log.topic,
        "partition": log.partition,
        "topic_id": log.topic_id,
        "log_dir": log.folder.rpartition("/")[0] or None,
        "segment_count": len(log.logs),
        "size_bytes": sum(file.size_bytes for file in log.logs),
        "log_start_offset": found.log_start_offset,
        "log_end_offset": found.log_end_offset,
        "last_stable_offset": found.last_stable_offset,
        "high_watermark": found.high_watermark,
        "leader_epoch": found.leader_epoch,
        "verdict": verdict,
    }
    for name in DISPOSITIONS:
        row[f"records_{name}"] = None if records is None else records[name]
    return row


def problem_rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `problems`, by file and position."""
    for finding in sorted(findings, key=finding_order):
        yield {
            "topic": finding.topic,
            "partition": finding.partition,
            "file": finding.file,
            "position": finding.position,
            "payload_position": finding.payload_position,
            "length": finding.length,
            "code": finding.code,
            "severity": finding.severity,
            "base_offset": finding.base_offset,
            "field": finding.field,
            "found": finding.found,
            "expected": finding.expected,
            "message": finding.message,
        }


def finding_order(finding: Finding) -> tuple[str, int, str, int]:
    """Sort key of findings: topic, partition, file, position."""
    return (
        finding.topic or "",
        -1 if finding.partition is None else finding.partition,
        finding.file or "",
        -1 if finding.position is None else finding.position,
    )
