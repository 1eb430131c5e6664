"""Dispositions of all bytes and records, by partition and by topic."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from magicbyte.tables.schemas import DISPOSITIONS, LOST, PARTITIONS
from magicbyte_cli.report.figures.scan import GroupedAggregates, parquet_files, scan

Key = tuple[str | None, int | None]
"""Topic and partition."""

BYTE_DISPOSITIONS = (
    "delivered",
    "aborted",
    "withheld",
    "control",
    "below_log_start",
    "outside_range",
    "damaged",
    "unreadable",
    "over_limit",
    "superseded",
    "duplicate",
    "tail",
)
"""Dispositions of the bytes of live segments, in the order of the report."""

DAY_MS = 86_400_000
MIN_GROWTH_MS = DAY_MS // 24
"""Least time from the first record to the last, in milliseconds, from which growth is computed."""


@dataclass(slots=True)
class PartitionFigures:
    """Figures of a partition, or sums over several."""

    topic: str | None
    partition: int | None
    row: dict[str, Any]
    """Row of the table `partitions`."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of live segments by disposition."""
    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition."""
    size_bytes: int = 0
    """Size of the live segments: the sum of `bytes`, if the tables are right."""
    num_segments: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    """Findings by severity."""
    unended: Counter[str] = field(default_factory=Counter)
    """Records of open and undecided transactions, by outcome."""
    times: tuple[int | None, int | None] = (None, None)
    """Smallest and largest timestamp of a delivered record, in milliseconds since the epoch."""
    last_time: int | None = None
    """Largest timestamp of any batch, in milliseconds since the epoch."""
    is_read: bool = False
    """False for a partition of an internal topic that was left out: only its bytes are counted."""

    @property
    def name(self) -> str:
        return "(no name)" if self.topic is None else f"{self.topic}-{self.partition}"

    @property
    def missing_bytes(self) -> int:
        """Bytes without a disposition; anything but 0 is an error in the tables."""
        return self.size_bytes - self.bytes.total()

    @property
    def bytes_per_day(self) -> int | None:
        """Size over the time from the first delivered record to the last; None for less than MIN_GROWTH_MS."""
        first, last = self.times
        if first is None or last is None or last - first < MIN_GROWTH_MS:
            return None
        return self.size_bytes * DAY_MS // (last - first)

    @property
    def gravity(self) -> tuple[int, ...]:
        """Sort key: the largest values come first if not all partitions are shown."""
        return (
            self.problems["error"],
            sum(self.bytes[name] for name in LOST),
            self.problems["warning"],
            self.records["withheld"],
            self.size_bytes,
        )


def summed(partitions: Sequence[PartitionFigures], topic: str | None = None) -> PartitionFigures:
    """Return the sum of the figures of *partitions*."""
    total = PartitionFigures(topic, None, {}, is_read=True)
    first_times, last_times = [], []
    for partition in partitions:
        for name in ("bytes", "records", "problems", "unended"):
            getattr(total, name).update(getattr(partition, name))
        total.size_bytes += partition.size_bytes
        total.num_segments += partition.num_segments
        first, last = partition.times
        first_times += [first] if first is not None else []
        last_times += [last] if last is not None else []
    total.times = (min(first_times, default=None), max(last_times, default=None))
    return total


def read_partitions(folder: Path) -> dict[Key, PartitionFigures]:
    """Return the partitions in *folder*, an output of `pipeline`, with the counts of records."""
    time_ranges = json.loads((folder / "_magicbyte" / "times.json").read_text(encoding="utf-8"))
    times = {
        (entry["topic"], entry["partition"]): (entry["first"], entry["last"])
        for entry in time_ranges
    }
    figures_by_partition: dict[Key, PartitionFigures] = {}
    tables = scan(parquet_files(folder / "partitions"), PARTITIONS.names)
    for row in chain.from_iterable(table.to_pylist() for table in tables):
        key = row["topic"], row["partition"]
        records = Counter({name: row.pop(f"records_{name}") or 0 for name in DISPOSITIONS})
        if key in figures_by_partition:  # segments outside of a partition folder
            figures_by_partition[key].row = {}
            figures_by_partition[key].records.update(records)
            continue
        figures_by_partition[key] = PartitionFigures(
            *key, row, records=+records, times=times.get(key, (None, None)), is_read=key in times
        )
    return figures_by_partition


def read_segments(
    folder: Path, figures_by_partition: dict[Key, PartitionFigures]
) -> list[dict[str, Any]]:
    """Add the bytes of live segments to *figures_by_partition*; return all files' sizes by kind."""
    names = [f"bytes_{name}" for name in BYTE_DISPOSITIONS]
    by_partition = GroupedAggregates(
        ("topic", "partition"),
        ("size_bytes", "count"),
        *((name, "sum") for name in ("size_bytes", *names)),
    )
    by_kind = GroupedAggregates(
        ("file_kind", "live", "why_not"), ("size_bytes", "count"), ("size_bytes", "sum")
    )
    columns = ["topic", "partition", "file_kind", "live", "why_not", "size_bytes"]
    for table in scan(parquet_files(folder / "segments"), [*columns, *names]):
        by_kind.add(table)
        is_log = pc.equal(table.column("file_kind"), "log")
        by_partition.add(table.filter(pc.and_(is_log, table.column("live"))))
    for row in by_partition.rows():
        if (partition := figures_by_partition.get((row["topic"], row["partition"]))) is None:
            continue
        partition.size_bytes = row["size_bytes_sum"] or 0
        partition.num_segments = row["size_bytes_count"]
        partition.bytes = +Counter(
            {name: row[f"bytes_{name}_sum"] or 0 for name in BYTE_DISPOSITIONS}
        )
    return sorted(
        by_kind.rows(),
        key=lambda row: (not row["live"], -(row["size_bytes_sum"] or 0), row["file_kind"]),
    )
