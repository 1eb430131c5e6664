"""The six tables as Parquet, made on Spark from one plan.

Spark's tasks write `records` and `batches`, the tables that grow with the data. What they say of
their splits beside that comes back as small facts, and the driver makes the other tables of it
and of the plan, by the same functions that the Python API uses.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from magicbyte import errors
from magicbyte.errors import InputError, MagicbyteError
from magicbyte.findings import Finding
from magicbyte.limits import MIB
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.builders import (
    partition_row,
    problem_rows,
    record_batch,
    segment_row,
    transaction_rows,
)
from magicbyte.reading.survey import Survey
from magicbyte.reading.tally import Tally, bytes_of_no_split
from magicbyte.spark.facts import Facts
from magicbyte.spark.output import OWN, plan_path
from magicbyte.spark.plan import Plan, write_plan
from magicbyte.spark.planned import PlannedDataSource
from magicbyte.spark.session import session
from magicbyte.spark.stores import STORAGE
from magicbyte.storage import NONE, StorageOptions
from magicbyte.tables import schemas
from magicbyte.tables.stored import in_stored_types

COMPRESSION = "zstd"

SMALL_BYTES = 256 * MIB
"""Below it, starting Spark takes longer than the work."""

Say = Callable[[str], None]
"""Is told in a line what was done."""


class DamagedError(MagicbyteError):
    """Damage, where it is not to be skipped. The message says which and where."""


@dataclass(slots=True)
class Summary:
    """What a pipeline found, as the tables have it."""

    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition, of the partitions that are read."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of their live segments by disposition, and those of `tail`."""
    findings: list[Finding] = field(default_factory=list)


def write_tables(
    plan: Plan,
    folder: Path,
    *,
    master: str,
    conf: Mapping[str, str],
    about: dict[str, Any],
    say: Say,
    storage_options: StorageOptions = NONE,
) -> Summary:
    """Write the six tables of *plan*, and the plan, into the empty *folder*.

    *about* says where the plan comes from, and is kept with it; *storage_options* are handed to
    the tasks, and not kept. Times are microseconds
    (`magicbyte.tables.stored.stored_schema`), compression is zstd. Raises DamagedError where a
    record cannot be read and damage is not to be skipped, ChangedError where the files are no
    longer what they were, InputError where Spark fails.
    """
    (folder / OWN).mkdir()
    write_plan(plan, plan_path(folder), about=about)
    begun = time.monotonic()
    with plain_errors(), session(master, conf, is_short=plan.size_bytes < SMALL_BYTES) as spark:
        say(f"Spark {spark.version} started ({_since(begun)})")
        spark.dataSource.register(PlannedDataSource)
        spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        begun = time.monotonic()
        _write(_planned(spark, folder, "records", storage_options), folder / "records")
        num_rows = count_rows(folder / "records")
        say(f"records: {num_rows:,} rows ({_since(begun)})")
        begun = time.monotonic()
        facts = _write_batches(spark, folder, storage_options)
        say(f"batches: {count_rows(folder / 'batches'):,} rows ({_since(begun)})")
    summary = _write_small(plan, folder, facts)
    if summary.records["delivered"] != num_rows:
        raise InputError(
            f"{num_rows} rows of records are in {folder}",
            f"{summary.records['delivered']}: a folder that driver and executors share",
        )
    return summary


def _planned(
    spark: SparkSession, folder: Path, table: str, storage_options: StorageOptions
) -> DataFrame:
    reader = spark.read.format(PlannedDataSource.name())
    reader.options(plan=str(plan_path(folder)), table=table)
    return reader.options(**storage_options.as_text(STORAGE)).load()


def _write(frame: DataFrame, folder: Path) -> None:
    frame.write.parquet(f"file://{folder}", compression=COMPRESSION)


def _write_batches(
    spark: SparkSession, folder: Path, storage_options: StorageOptions
) -> list[Facts]:
    """Write `batches` and return the facts that came with them; the files are read once."""
    both = _planned(spark, folder, "batches", storage_options).persist()
    try:
        _write(both.where("facts is null").drop("facts"), folder / "batches")
        told = both.where("facts is not null").select("facts").toLocalIterator()
        return [Facts.from_json(row.facts) for row in told]
    finally:
        both.unpersist()


def count_rows(folder: Path) -> int:
    """Return the rows of the Parquet files in *folder*, by their footers."""
    return sum(pq.read_metadata(file).num_rows for file in folder.glob("*.parquet"))


def _since(begun: float) -> str:
    return f"{time.monotonic() - begun:.1f} s"


# The tables that the driver makes


def _write_small(plan: Plan, folder: Path, facts: list[Facts]) -> Summary:
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
    for name, of_table in rows.items():
        _write_rows(schemas.TABLES[name], of_table, folder / name)
    (folder / OWN / "times.json").write_text(json.dumps(times))
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


def _write_rows(table: schemas.Table, rows: list[dict[str, Any]], folder: Path) -> None:
    made = record_batch(rows, table.schema(table.names))
    folder.mkdir()
    pq.write_table(
        pa.Table.from_batches([in_stored_types(made)]),
        folder / "part-00000.zstd.parquet",
        compression=COMPRESSION,
    )


# Errors

_THEIRS = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): .+$", re.MULTILINE)
_OURS = re.compile(r"^magicbyte\.(?:[a-z_]+\.)*([A-Z]\w*): (.+)$", re.MULTILINE)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what Spark makes of an error of ours, or of its own, back into one sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _OURS.findall(str(error))
        if not ours:
            raise InputError(f"Spark failed: {_gist(str(error))}") from error
        name, sentence = ours[-1]
        kind = getattr(errors, name, MagicbyteError)
        if issubclass(kind, InputError):
            raise InputError(sentence) from error
        raise DamagedError(sentence) from error


def _gist(text: str) -> str:
    """Return the line of a Python worker's trace that says what failed, else the first line."""
    theirs: list[str] = _THEIRS.findall(text)
    lines = [line.removeprefix(": ") for line in text.strip().split("\n")]
    from_java = text.startswith("An error occurred while calling") and len(lines) > 1
    return theirs[-1] if theirs else lines[from_java]
