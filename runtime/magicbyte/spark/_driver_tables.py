"""The tables that the driver of a pipeline writes, from the plan and the statistics of all splits."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.partition_tables import findings_outside_partitions
from magicbyte.reading.results import Tally, bytes_outside_splits
from magicbyte.reading.survey import Survey
from magicbyte.reading.table_rows import (
    partition_row,
    problem_rows,
    record_batch,
    replica_rows,
    segment_row,
    transaction_rows,
)
from magicbyte.spark._pipeline_plan import PipelinePlan
from magicbyte.spark._split_stats import SplitStats, add_up
from magicbyte.spark._work_folder import METADATA_FOLDER
from magicbyte.tables import schemas
from magicbyte.tables.stored_types import file_metadata, to_stored_batch
from magicbyte.tables.table_definition import TableDefinition
from magicbyte.verification.verdicts import VERDICTS
from magicbyte.verification.verify import Verification

COMPRESSION = "zstd"


@dataclass(slots=True)
class PipelineSummary:
    """Totals of a pipeline's output: records and bytes by disposition, and findings."""

    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition, of the partitions that are read."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes by disposition, including `tail`, of the live segments of these partitions."""
    findings: list[Finding] = field(default_factory=list)
    aborted_delivered: int = 0
    """Delivered records of aborted transactions."""


def write_driver_tables(
    plan: PipelinePlan,
    tables: Collection[str],
    folder: Path,
    stats: list[SplitStats],
    verification: Verification | None = None,
    more_findings: Sequence[Finding] = (),
) -> PipelineSummary:
    """Write the *tables* that no task writes to *folder*, with times.json and contents.json.

    With *verification*, they have its verdicts and findings too, and verification.json its rows; *more_findings*
    are added to the table `problems`.
    """
    by_path: dict[str, list[SplitStats]] = {}
    for each in stats:
        by_path.setdefault(each.path, []).append(each)
    surveys = {survey.log.folder: survey for survey in plan.surveys}
    read = {log.folder for log in plan.dataset.logs}
    summary = PipelineSummary()
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("segments", "transactions", "partitions", "problems", "replicas")
    }
    verdicts = {} if verification is None else _verdicts(verification)
    time_rows: list[dict[str, Any]] = []
    contents: list[dict[str, Any]] = []
    summary.findings += findings_outside_partitions(plan.dataset)
    rows["problems"] += problem_rows(summary.findings)
    for log in plan.dataset.all_logs:
        survey = surveys.get(log.folder)
        if survey is None:  # half-deleted or incomplete: a broker does not serve this partition
            survey = Survey(log, is_verified=False)
            rows["segments"] += (segment_row(log, file, survey, None) for file in log.listed_files)
            continue
        tallies = _tallies(survey, by_path)
        rows["segments"] += (
            segment_row(log, file, survey, tallies.get(file.path)) for file in log.listed_files
        )
        records = sum((tally.records for tally in tallies.values()), Counter[str]())
        verdict = verdicts.get((log.topic, log.partition), "unknown")
        rows["partitions"].append(partition_row(survey, records, verdict))
        rows["replicas"] += replica_rows(log, None if log.measured_replicas else survey)
        if log.folder not in read:
            continue
        rows["transactions"] += transaction_rows(survey)
        findings = [*survey.findings, *(f for tally in tallies.values() for f in tally.findings)]
        rows["problems"] += problem_rows(findings)
        summary.findings += findings
        summary.records.update(records)
        for tally in tallies.values():
            summary.bytes.update(tally.bytes)
        paths = dict.fromkeys(file.path for file in log.logs)  # a filled log has parts of files
        of_log = [each for path in paths for each in by_path.get(path, ())]
        summary.aborted_delivered += sum(each.aborted_delivered for each in of_log)
        time_rows.append(_time_range(log, of_log))
        contents += _contents(log, of_log)
    rows["problems"] += problem_rows(more_findings)
    summary.findings += more_findings
    if verification is not None:
        known = set(summary.findings)
        more = [finding for finding in verification.findings if finding not in known]
        rows["problems"] += problem_rows(more)
        summary.findings += more
        _write_verdicts(verification, folder)
    for name, table_rows in rows.items():
        if name in tables:
            _write_rows(schemas.TABLES[name], table_rows, folder / name)
    (folder / METADATA_FOLDER / "times.json").write_text(json.dumps(time_rows))
    (folder / METADATA_FOLDER / "contents.json").write_text(json.dumps(contents))
    return summary


def _write_verdicts(verification: Verification, folder: Path) -> None:
    """Write the rows of brokers and partitions to verification.json."""
    brokers = [broker.row for broker in verification.brokers]
    content = {"brokers": brokers, "partitions": verification.partitions}
    (folder / METADATA_FOLDER / "verification.json").write_text(json.dumps(content))


def _verdicts(verification: Verification) -> dict[tuple[str | None, int | None], str]:
    """Return the verdict on each partition; of several replicas, the worst one."""
    order = list(VERDICTS)
    rows = sorted(
        verification.partitions, key=lambda row: order.index(row["verdict"]), reverse=True
    )
    return {(row["topic"], row["partition"]): row["verdict"] for row in rows}


def _tallies(survey: Survey, by_path: Mapping[str, list[SplitStats]]) -> dict[str, Tally]:
    """Return bytes and records by disposition, and findings, of each live segment, by its path."""
    tallies = {path: Tally(bytes=rest) for path, rest in bytes_outside_splits(survey).items()}
    for path, tally in tallies.items():
        for stats in by_path.get(path, ()):
            tally.bytes.update(stats.bytes)
            tally.records.update(stats.records)
            tally.findings.extend(stats.findings)
            tally.sound_bytes += stats.sound_bytes
    return tallies


def _time_range(log: PartitionLog, stats: list[SplitStats]) -> dict[str, Any]:
    """Return the earliest and the latest time of the delivered records, in milliseconds."""
    firsts = [each.first_time for each in stats if each.first_time is not None]
    lasts = [each.last_time for each in stats if each.last_time is not None]
    return {
        "topic": log.topic,
        "partition": log.partition,
        "first": min(firsts, default=None),
        "last": max(lasts, default=None),
    }


def _contents(log: PartitionLog, stats: list[SplitStats]) -> list[dict[str, Any]]:
    """Return a row of totals for each format and codec in the partition *log*."""
    return [
        {"topic": log.topic, "partition": log.partition, **asdict(totals)}
        for totals in add_up(totals for each in stats for totals in each.contents)
    ]


def _write_rows(table: TableDefinition, rows: list[dict[str, Any]], folder: Path) -> None:
    batch = record_batch(rows, table.schema(table.names))
    write_table(pa.Table.from_batches([to_stored_batch(batch)]), folder)


def write_table(table: pa.Table, folder: Path) -> None:
    """Write *table* as one file into *folder*, which is created and has the name of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    table = table.replace_schema_metadata(file_metadata(folder.name))
    pq.write_table(table, folder / "part-00000.zstd.parquet", compression=COMPRESSION)
