"""Figures of the report, computed from the tables that `pipeline` wrote.

Large tables are read a few columns and some thousand rows at a time; memory grows only with the
numbers of partitions and producers.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte_cli.report.figures.coordinator_figures import CoordinatorFigures, read_coordinators
from magicbyte_cli.report.figures.entry_figures import EntryFigures, read_entries
from magicbyte_cli.report.figures.partition_figures import (
    PartitionFigures,
    read_partitions,
    read_segments,
    summed,
)
from magicbyte_cli.report.figures.problem_figures import ProblemFigures, read_problems
from magicbyte_cli.report.figures.scan import ParquetFiles, parquet_files
from magicbyte_cli.report.figures.transaction_figures import TransactionFigures, read_transactions


@dataclass(slots=True)
class ReportFigures:
    """All figures that report.html shows."""

    plan_settings: dict[str, Any]
    """First line of the plan: paths and options of the run."""
    partitions: Sequence[PartitionFigures]
    """Partitions that were read."""
    internal: list[PartitionFigures]
    """Partitions of internal topics that were not read."""
    total: PartitionFigures
    """Sum of all partitions that were read."""
    files: list[dict[str, Any]]
    """Number and size of the files of each kind: rows with `size_bytes_count` and `size_bytes_sum`."""
    entries: EntryFigures
    transaction_figures: TransactionFigures
    problems: ProblemFigures
    coordinators: CoordinatorFigures
    verdicts: dict[str, list[dict[str, Any]]] | None
    """`brokers` and `partitions` with their verdicts, as `verify` has them; None if it did not run."""


def read_figures(folder: Path, batch_files: ParquetFiles | None = None) -> ReportFigures:
    """Return the figures of the tables in *folder*, an output of `pipeline`.

    *batch_files* are the files of that table, if they are elsewhere.
    """
    with (folder / "_magicbyte" / "plan.jsonl").open(encoding="utf-8") as file:
        plan_settings = json.loads(file.readline())
    partitions = read_partitions(folder)
    files = read_segments(folder, partitions)
    entries = read_entries(
        folder,
        parquet_files(folder / "batches") if batch_files is None else batch_files,
        partitions,
    )
    transactions = read_transactions(folder, partitions, entries.producers)
    problems = read_problems(folder, partitions)
    ordered = sorted(
        partitions.values(),
        key=lambda figures: (figures.topic is None, figures.topic or "", figures.partition or 0),
    )
    was_read = [figures for figures in ordered if figures.is_read]
    return ReportFigures(
        plan_settings,
        was_read,
        [figures for figures in ordered if not figures.is_read],
        summed(was_read),
        files,
        entries,
        transactions,
        problems,
        read_coordinators(folder),
        _verdicts(folder),
    )


def _verdicts(folder: Path) -> dict[str, list[dict[str, Any]]] | None:
    path = folder / "_magicbyte" / "verification.json"
    if not path.is_file():
        return None
    verdicts: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return verdicts
