"""Pipeline outputs written without Spark: the tables of real logs, and invented tables."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import magicbyte as mb
from magicbyte.reading.results import examine
from magicbyte.spark._split_stats import STATS_COLUMNS, SplitCounter, SplitStats, add_up
from magicbyte.tables.schemas import DISPOSITIONS, INTERNAL_TABLES, TABLES
from magicbyte.tables.stored_types import stored_schema

Rows = Sequence[Mapping[str, Any]]

HOUR = 3_600_000_000
"""Microseconds of an hour; all times in this module are in microseconds."""

BEGUN = 1_700_000_000_000_000


def split_statistics(dataset: mb.Dataset, max_bytes: int) -> list[SplitStats]:
    """Return the statistics of each split of *dataset*, as a Spark task reports them in JSON."""
    facts = []
    for split in dataset.plan(max_bytes):
        one = SplitCounter(split)
        for piece in examine(split, STATS_COLUMNS):
            one.count(piece)
        facts.append(SplitStats.from_json(one.stats().to_json()))
    return facts


def output_of_logs(folder: Path, *paths: Path) -> Path:
    """Write into *folder* the pipeline output for the logs in *paths*; return *folder*."""
    dataset = mb.open(*paths, on_damage="skip")
    for name in TABLES:
        if name != "records":
            _write(folder / name, dataset.stored(name).to_table())
    spans, contents = [], []
    for log in dataset.logs:
        place = {"topic": log.topic, "partition": log.partition}
        one = mb.open(log.folder, on_damage="skip", include_internal=True)
        bounds = pc.min_max(one.records(["timestamp"]).to_table().column(0).cast("int64")).as_py()
        spans.append({**place, "first": bounds["min"], "last": bounds["max"]})
        found = add_up(part for facts in split_statistics(one, 1 << 30) for part in facts.contents)
        contents += [{**place, **asdict(part)} for part in found]
    _write_own(folder, [str(path) for path in paths], spans, contents)
    return folder


def output(
    folder: Path,
    tables: Mapping[str, Iterable[Rows]],
    *,
    paths: Sequence[str] = ("logs",),
    contents: list[dict[str, Any]] | None = None,
) -> Path:
    """Write into *folder* a pipeline output of *tables*, as rows by row group; return *folder*.

    A column that a row does not have is null. Every partition of `partitions` counts as read.
    """
    for name in TABLES:
        groups = [
            pa.Table.from_pylist(list(rows), stored_schema(TABLES[name]))
            for rows in tables.get(name, ())
        ]
        _write(folder / name, *groups or [stored_schema(TABLES[name]).empty_table()])
    for name in tables.keys() & INTERNAL_TABLES.keys():
        schema = stored_schema(INTERNAL_TABLES[name])
        _write(folder / name, *(pa.Table.from_pylist(list(rows), schema) for rows in tables[name]))
    spans = [
        {"topic": row["topic"], "partition": row["partition"], "first": None, "last": None}
        for rows in tables.get("partitions", ())
        for row in rows
    ]
    _write_own(folder, paths, spans, contents)
    return folder


def partition_rows(
    topic: str, partition: int, **sizes: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a row of `partitions` and one of `segments`; *sizes* are bytes by disposition.

    Records are counted as one per hundred bytes.
    """
    place: dict[str, Any] = {"topic": topic, "partition": partition}
    counters = {f"records_{name}": sizes.get(name, 0) // 100 for name in DISPOSITIONS}
    whole = sum(sizes.values())
    in_partition = {**place, "segment_count": 1, "size_bytes": whole, **counters}
    in_segment = {**place, "file": "0.log", "file_kind": "log", "live": True, "size_bytes": whole}
    in_segment |= {f"bytes_{name}": sizes.get(name, 0) for name in (*DISPOSITIONS, "tail")}
    return in_partition, in_segment


def batch_row(topic: str, partition: int, number: int, **columns: Any) -> dict[str, Any]:
    """Return a row of `batches`: batch *number* of a partition that gets a batch every hour."""
    time = BEGUN + number * HOUR
    row = {"topic": topic, "partition": partition, "size_bytes": 100, "record_count": 1}
    row |= {"magic": 2, "codec": "none", "disposition": "delivered", "is_control": False}
    row |= {"base_timestamp": time, "max_timestamp": time, "position": 100 * number}
    return row | columns


def large(folder: Path, num_partitions: int, *, per_topic: int = 100) -> Path:
    """Write into *folder* a pipeline output of *num_partitions* with rows in all tables."""
    problem = {"file": "0.log", "code": "checksum-mismatch", "severity": "error"}
    problem["message"] = "stored CRC-32C 0x00000001, computed 0x00000002"
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number in range(num_partitions):
        topic, partition = f"topic-{number // per_topic}", number % per_topic
        place = {"topic": topic, "partition": partition}
        sizes = {"delivered": 1000 + number, "aborted": number % 7 * 100, "damaged": number % 3}
        in_partition, in_segment = partition_rows(topic, partition, **sizes)
        rows["partitions"].append(in_partition)
        rows["segments"].append(in_segment)
        rows["batches"] += (
            batch_row(topic, partition, hour, producer_id=1000 * number + hour)
            for hour in range(10)
        )
        rows["transactions"].append(
            {
                **place,
                "producer_id": 1000 * number,
                "outcome": ("committed", "aborted", "open", "undecided")[number % 4],
                "first_timestamp": BEGUN + number * HOUR // 100,
                "marker_timestamp": None if number % 4 > 1 else BEGUN + number * HOUR,
                "record_count": 1,
                "size_bytes": 100,
            }
        )
        rows["problems"] += (
            {**place, **problem, "position": 100 * times} for times in range(number % 3)
        )
    groups = {
        name: [table[begin : begin + 1000] for begin in range(0, len(table), 1000)]
        for name, table in rows.items()
    }
    return output(folder, groups)


def _write(folder: Path, *groups: pa.Table) -> None:
    folder.mkdir(parents=True)
    with pq.ParquetWriter(folder / "part-00000.zstd.parquet", groups[0].schema) as writer:
        for group in groups:
            writer.write_table(group)


def _write_own(
    folder: Path,
    paths: Sequence[str],
    spans: list[dict[str, Any]],
    contents: list[dict[str, Any]] | None,
) -> None:
    own = folder / "_magicbyte"
    own.mkdir()
    about = {"paths": list(paths), "isolation_level": "read_committed"}
    (own / "plan.jsonl").write_text(json.dumps(about) + "\n")
    (own / "times.json").write_text(json.dumps(spans))
    if contents is not None:
        (own / "contents.json").write_text(json.dumps(contents))
