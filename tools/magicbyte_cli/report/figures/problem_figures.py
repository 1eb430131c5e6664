"""Findings by code: their number, and the first examples of each."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.findings import SEVERITIES
from magicbyte_cli.report.figures.partition_figures import Key, PartitionFigures
from magicbyte_cli.report.figures.scan import GroupedAggregates, parquet_files, scan

MAX_EXAMPLES = 12
"""Findings of a code that are shown one by one."""

COLUMNS = "topic partition file position payload_position length base_offset code severity message"


@dataclass(slots=True)
class CodeFigures:
    """Findings with one code."""

    code: str
    severity: str
    count: int = 0
    num_partitions: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)
    """First rows of the table `problems` with this code."""


@dataclass(slots=True)
class ProblemFigures:
    codes: list[CodeFigures]
    """The most severe first, then the most frequent."""

    @property
    def severities(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for figures in self.codes:
            counts[figures.severity] += figures.count
        return counts


def read_problems(
    folder: Path, figures_by_partition: dict[Key, PartitionFigures]
) -> ProblemFigures:
    """Return the figures of `problems` in *folder*; count the findings of each of *figures_by_partition*."""
    sums = GroupedAggregates(("severity", "code", "topic", "partition"), ("severity", "count"))
    examples: dict[str, list[dict[str, Any]]] = {}
    for table in scan(parquet_files(folder / "problems"), COLUMNS.split()):
        sums.add(table)
        for code in pc.unique(table.column("code")).to_pylist():
            rows = examples.setdefault(code, [])
            if num_missing := MAX_EXAMPLES - len(rows):
                of_code = pc.equal(table.column("code"), pa.scalar(code))
                rows += table.filter(of_code).slice(0, num_missing).to_pylist()
    by_code: dict[str, CodeFigures] = {}
    for row in sums.rows():
        figures = by_code.setdefault(row["code"], CodeFigures(row["code"], row["severity"]))
        figures.count += row["severity_count"]
        figures.num_partitions += 1
        partition = figures_by_partition.get((row["topic"], row["partition"]))
        if partition is not None:
            partition.problems[row["severity"]] += row["severity_count"]
    ordered = sorted(
        by_code.values(),
        key=lambda figures: (SEVERITIES.index(figures.severity), -figures.count, figures.code),
    )
    for figures in ordered:
        figures.examples = examples[figures.code]
    return ProblemFigures(ordered)
