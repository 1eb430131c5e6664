"""The figures of the report, from the tables that a pipeline wrote."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pyarrow.parquet as pq

from magicbyte.tables.schemas import DISPOSITIONS

Key = tuple[str | None, int | None]
"""Topic and partition."""

MAX_PROBLEMS = 300
"""Problems that are shown one by one, the gravest; the table has all."""

MAX_TRANSACTIONS = 100
"""Transactions without an end that are shown one by one."""

SEVERITIES = ("error", "warning", "note")


@dataclass(slots=True)
class PartitionFigures:
    """What is shown of a partition."""

    topic: str | None
    partition: int | None
    row: dict[str, Any]
    """Its row of `partitions`."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of its live segments by disposition, and those of `tail`."""
    problems: Counter[str] = field(default_factory=Counter)
    """Problems by severity."""
    times: tuple[int | None, int | None] = (None, None)
    """The least and the largest time of a delivered record, in milliseconds since the epoch."""
    is_read: bool = False
    """False for an internal topic that nobody named: its bytes are accounted for, no more."""

    @property
    def records(self) -> Counter[str]:
        return Counter({name: self.row[f"records_{name}"] or 0 for name in DISPOSITIONS})

    @property
    def name(self) -> str:
        return "(no name)" if self.topic is None else f"{self.topic}-{self.partition}"


@dataclass(slots=True)
class Share:
    """What of the entries has one codec, or one format."""

    name: str
    bytes: int = 0
    entries: int = 0
    records: int = 0


@dataclass(slots=True)
class Figures:
    """All that the report shows."""

    about: dict[str, Any]
    partitions: list[PartitionFigures]
    num_segments: int
    codecs: list[Share]
    formats: list[Share]
    outcomes: dict[str, Counter[str]]
    """Transactions, their records and bytes, by outcome."""
    endless: list[dict[str, Any]]
    """The first transactions that are open or undecided."""
    severities: Counter[str]
    codes: Counter[tuple[str, str]]
    """Problems by severity and code."""
    problems: list[dict[str, Any]]
    """The first rows of `problems`, the gravest first."""

    @property
    def read(self) -> list[PartitionFigures]:
        return [one for one in self.partitions if one.is_read]

    @property
    def bytes(self) -> Counter[str]:
        return total(one.bytes for one in self.read)

    @property
    def records(self) -> Counter[str]:
        return total(one.records for one in self.read)


def total(counters: Iterable[Counter[str]]) -> Counter[str]:
    out: Counter[str] = Counter()
    for counter in counters:
        out.update(counter)
    return out


def read_figures(folder: Path) -> Figures:
    """Return the figures of the tables in *folder*, an output of pipeline."""
    own = folder / "_magicbyte"
    with (own / "plan.jsonl").open(encoding="utf-8") as file:
        about = json.loads(file.readline())
    times = {
        (one["topic"], one["partition"]): (one["first"], one["last"])
        for one in json.loads((own / "times.json").read_text(encoding="utf-8"))
    }
    problems = _rows(folder / "problems")
    transactions = _rows(folder / "transactions")
    partitions = [
        PartitionFigures(
            row["topic"],
            row["partition"],
            row,
            times=times.get((row["topic"], row["partition"]), (None, None)),
            is_read=(row["topic"], row["partition"]) in times,
        )
        for row in _rows(folder / "partitions")
    ]
    by_key: dict[Key, PartitionFigures] = {(one.topic, one.partition): one for one in partitions}
    num_segments = _count_bytes(folder / "segments", by_key)
    for problem in problems:
        one = by_key.get((problem["topic"], problem["partition"]))
        if one is not None:
            one.problems[problem["severity"]] += 1
    codecs, formats = _shares(folder / "batches")
    outcomes: dict[str, Counter[str]] = {}
    for row in transactions:
        counts = outcomes.setdefault(row["outcome"], Counter())
        counts.update(
            transactions=1, records=row["record_count"] or 0, bytes=row["size_bytes"] or 0
        )
    problems.sort(key=lambda row: SEVERITIES.index(row["severity"]))
    endless = [row for row in transactions if row["outcome"] in ("open", "undecided")]
    return Figures(
        about,
        partitions,
        num_segments,
        codecs,
        formats,
        outcomes,
        endless[:MAX_TRANSACTIONS],
        Counter(row["severity"] for row in problems),
        Counter((row["severity"], row["code"]) for row in problems),
        problems[:MAX_PROBLEMS],
    )


def _rows(folder: Path) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.parquet")):
        out += _without_times(pq.read_table(file)).to_pylist()
    return out


def _without_times(table: Any) -> Any:
    """Return *table* with times as numbers: a date of Python's ends in the year 9999."""
    for number, column in enumerate(table.schema):
        if pyarrow.types.is_timestamp(column.type):
            whole = table.column(number).cast(pyarrow.int64())
            table = table.set_column(number, column.name, whole)
    return table


def _count_bytes(folder: Path, by_key: dict[Key, PartitionFigures]) -> int:
    """Add the bytes of live segments to their partitions; return how many are of those read."""
    num_segments = 0
    for row in _rows(folder):
        one = by_key.get((row["topic"], row["partition"]))
        if one is None or row["file_kind"] != "log" or not row["live"]:
            continue
        num_segments += one.is_read
        for name in (*DISPOSITIONS, "tail"):
            one.bytes[name] += row[f"bytes_{name}"] or 0
    return num_segments


def _shares(folder: Path) -> tuple[list[Share], list[Share]]:
    """Return the shares of codecs and of formats in the entries, the largest first."""
    codecs: dict[str, Share] = {}
    formats: dict[str, Share] = {}
    columns = ["codec", "magic", "size_bytes", "record_count"]
    for batch in pyarrow.dataset.dataset(folder, format="parquet").to_batches(columns=columns):
        table = pyarrow.Table.from_batches([batch])
        counted = table.group_by(["codec", "magic"]).aggregate(
            [("size_bytes", "sum"), ("size_bytes", "count"), ("record_count", "sum")]
        )
        for row in counted.to_pylist():
            codec, magic = row["codec"] or "unknown", f"v{row['magic']}"
            for share in (
                codecs.setdefault(codec, Share(codec)),
                formats.setdefault(magic, Share(magic)),
            ):
                share.bytes += row["size_bytes_sum"] or 0
                share.entries += row["size_bytes_count"]
                share.records += row["record_count_sum"] or 0
    return _sorted(codecs), _sorted(formats)


def _sorted(shares: dict[str, Share]) -> list[Share]:
    return sorted(shares.values(), key=lambda share: (-share.bytes, share.name))
