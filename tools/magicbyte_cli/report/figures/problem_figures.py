"""What was found wrong: how often, where, and the first places of each code."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte_cli.report.figures.partition_figures import Key, PartitionFigures
from magicbyte_cli.report.figures.scan import Sums, scan

SEVERITIES = ("error", "warning", "note")
"""The gravest first."""

MAX_PLACES = 12
"""Places of a code that are shown one by one."""

COLUMNS = (
    "topic",
    "partition",
    "file",
    "position",
    "payload_position",
    "length",
    "base_offset",
    "code",
    "severity",
    "message",
)


@dataclass(slots=True)
class CodeFigures:
    """What was found of a code."""

    code: str
    severity: str
    count: int = 0
    num_partitions: int = 0
    places: list[dict[str, Any]] = field(default_factory=list)
    """Its first rows."""


@dataclass(slots=True)
class ProblemFigures:
    codes: list[CodeFigures]
    """The gravest first, then the most frequent."""

    @property
    def severities(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for one in self.codes:
            counts[one.severity] += one.count
        return counts


def read_problems(folder: Path, partitions: dict[Key, PartitionFigures]) -> ProblemFigures:
    """Return the figures of `problems` in *folder*; *partitions* learn how many are theirs."""
    sums = Sums(("severity", "code", "topic", "partition"), ("severity", "count"))
    places: dict[str, list[dict[str, Any]]] = {}
    for table in scan(folder / "problems", COLUMNS):
        sums.add(table)
        for code in pc.unique(table.column("code")).to_pylist():
            known = places.setdefault(code, [])
            if room := MAX_PLACES - len(known):
                of_code = pc.equal(table.column("code"), pa.scalar(code))
                known += table.filter(of_code).slice(0, room).to_pylist()
    codes: dict[str, CodeFigures] = {}
    for row in sums.rows():
        found = codes.setdefault(row["code"], CodeFigures(row["code"], row["severity"]))
        found.count += row["severity_count"]
        found.num_partitions += 1
        one = partitions.get((row["topic"], row["partition"]))
        if one is not None:
            one.problems[row["severity"]] += row["severity_count"]
    ordered = sorted(
        codes.values(), key=lambda one: (SEVERITIES.index(one.severity), -one.count, one.code)
    )
    for code_figures in ordered:
        code_figures.places = places[code_figures.code]
    return ProblemFigures(ordered)
