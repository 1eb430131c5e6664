"""The figures of the report, from the tables that a pipeline wrote.

The tables that grow with the data are read a few columns and some thousand rows at a time; what is
kept grows with partitions and producers alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte_cli.report.figures.entry_figures import EntryFigures, read_entries
from magicbyte_cli.report.figures.partition_figures import (
    FileKind,
    PartitionFigures,
    read_partitions,
    read_segments,
    together,
)
from magicbyte_cli.report.figures.problem_figures import ProblemFigures, read_problems
from magicbyte_cli.report.figures.transaction_figures import TransactionFigures, read_transactions


@dataclass(slots=True)
class Figures:
    """All that the report shows."""

    about: dict[str, Any]
    """The first line of the plan: what was read, and how."""
    partitions: list[PartitionFigures]
    """Those that were read."""
    internal: list[PartitionFigures]
    """Those of internal topics that nobody named."""
    whole: PartitionFigures
    """What was read, as one."""
    files: list[FileKind]
    entries: EntryFigures
    transactions: TransactionFigures
    problems: ProblemFigures


def read_figures(folder: Path) -> Figures:
    """Return the figures of the tables in *folder*, an output of pipeline."""
    with (folder / "_magicbyte" / "plan.jsonl").open(encoding="utf-8") as file:
        about = json.loads(file.readline())
    partitions = read_partitions(folder)
    files = read_segments(folder, partitions)
    entries = read_entries(folder, partitions)
    transactions = read_transactions(folder, partitions, entries.producers)
    problems = read_problems(folder, partitions)
    ordered = sorted(
        partitions.values(),
        key=lambda one: (one.topic is None, one.topic or "", one.partition or 0),
    )
    read = [one for one in ordered if one.is_read]
    return Figures(
        about,
        read,
        [one for one in ordered if not one.is_read],
        together(read),
        files,
        entries,
        transactions,
        problems,
    )
