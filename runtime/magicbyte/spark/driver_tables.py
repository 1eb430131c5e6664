"""The tables of a pipeline that the driver makes: of the plan, and of what tasks say of their splits."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.disposition_tally import Tally, bytes_of_no_split
from magicbyte.reading.survey import Survey
from magicbyte.reading.table_rows import (
    partition_row,
    problem_rows,
    record_batch,
    segment_row,
    transaction_rows,
)
from magicbyte.spark.plan import Plan
from magicbyte.spark.split_stats import Facts, summed
from magicbyte.spark.stage import OWN
from magicbyte.tables import schemas
from magicbyte.tables.stored_types import to_stored_batch

COMPRESSION = "zstd"


@dataclass(slots=True)
class Summary:
    """What a pipeline found, as the tables have it."""

    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition, of the partitions that are read."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of their live segments by disposition, and those of `tail`."""
    findings: list[Finding] = field(default_factory=list)


def write_small(plan: Plan, tables: Collection[str], folder: Path, facts: list[Facts]) -> Summary:
    """Write those of *tables* that no task writes into *folder*, and what a report needs beside."""
    by_path: dict[str, list[Facts]] = {}
    for one in facts:
        by_path.setdefault(one.path, []).append(one)
    surveys = {found.log.folder: found for found in plan.surveys}
    read = {log.folder for log in plan.dataset.logs}
    summary = Summary()
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("segments", "transactions", "partitions", "problems")
    }
    times: list[dict[str, Any]] = []
    contents: list[dict[str, Any]] = []
    of_dirs = [finding for log_dir in plan.dataset.log_dirs for finding in log_dir.findings]
    summary.findings += of_dirs
    rows["problems"] += problem_rows(of_dirs)
    for log in plan.dataset.all_logs:
        found = surveys.get(log.folder)
        if found is None:  # half-deleted, or on its way: no partition that a broker serves
            found = Survey(log, is_verified=False)
            rows["segments"] += (segment_row(log, file, found, None) for file in log.files)
            continue
        tallies = _tallies(found, by_path)
        rows["segments"] += (
            segment_row(log, file, found, tallies.get(file.path)) for file in log.files
        )
        records = sum((tally.records for tally in tallies.values()), Counter[str]())
        rows["partitions"].append(partition_row(found, records))
        if log.folder not in read:
            continue
        rows["transactions"] += transaction_rows(found)
        findings = [*found.findings, *(f for tally in tallies.values() for f in tally.findings)]
        rows["problems"] += problem_rows(findings)
        summary.findings += findings
        summary.records.update(records)
        for tally in tallies.values():
            summary.bytes.update(tally.bytes)
        times.append(_times(log, by_path))
        contents += _contents(log, by_path)
    for name, of_table in rows.items():
        if name in tables:
            _write_rows(schemas.TABLES[name], of_table, folder / name)
    (folder / OWN / "times.json").write_text(json.dumps(times))
    (folder / OWN / "contents.json").write_text(json.dumps(contents))
    return summary


def _tallies(found: Survey, by_path: Mapping[str, list[Facts]]) -> dict[str, Tally]:
    """Return what became of the bytes of each live segment, by path, as Dataset.tallied does."""
    tallies = {path: Tally(bytes=rest) for path, rest in bytes_of_no_split(found).items()}
    for path, tally in tallies.items():
        for one in by_path.get(path, ()):
            tally.bytes.update(one.bytes)
            tally.records.update(one.records)
            tally.findings.extend(one.findings)
            tally.sound_bytes += one.sound_bytes
    return tallies


def _times(log: PartitionLog, by_path: Mapping[str, list[Facts]]) -> dict[str, Any]:
    """Return the least and the largest time of the delivered records, in milliseconds."""
    facts = [one for file in log.logs for one in by_path.get(file.path, ())]
    firsts = [one.first_time for one in facts if one.first_time is not None]
    lasts = [one.last_time for one in facts if one.last_time is not None]
    return {
        "topic": log.topic,
        "partition": log.partition,
        "first": min(firsts, default=None),
        "last": max(lasts, default=None),
    }


def _contents(log: PartitionLog, by_path: Mapping[str, list[Facts]]) -> list[dict[str, Any]]:
    """Return what the partition holds by format and codec."""
    facts = [one for file in log.logs for one in by_path.get(file.path, ())]
    return [
        {"topic": log.topic, "partition": log.partition, **asdict(contents)}
        for contents in summed(contents for one in facts for contents in one.contents)
    ]


def _write_rows(table: schemas.TableDefinition, rows: list[dict[str, Any]], folder: Path) -> None:
    made = record_batch(rows, table.schema(table.names))
    write_table(pa.Table.from_batches([to_stored_batch(made)]), folder)


def write_table(made: pa.Table, folder: Path) -> None:
    """Write all of a table as one file into *folder*, which is made."""
    folder.mkdir(exist_ok=True)
    pq.write_table(made, folder / "part-00000.zstd.parquet", compression=COMPRESSION)
