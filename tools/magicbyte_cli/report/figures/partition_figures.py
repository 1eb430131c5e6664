"""What became of every byte and record: by partition, and by topic."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from magicbyte.tables.schemas import DISPOSITIONS, PARTITIONS
from magicbyte_cli.report.figures.scan import Sums, scan

Key = tuple[str | None, int | None]
"""Topic and partition."""

FATES = (
    "delivered",
    "aborted",
    "withheld",
    "control",
    "below_log_start",
    "outside_range",
    "damaged",
    "over_limit",
    "superseded",
    "duplicate",
    "tail",
)
"""What a byte of a live segment can be, in the order in which it is shown."""

UNREAD = ("damaged", "over_limit")
"""What cannot be read: how many records it holds is not known, and its headers are not believed."""


@dataclass(slots=True)
class PartitionFigures:
    """What is shown of a partition, or of some together."""

    topic: str | None
    partition: int | None
    row: dict[str, Any]
    """Its row of `partitions`."""
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes of its live segments by what became of them."""
    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition."""
    size_bytes: int = 0
    """Bytes of its live segments, which those by what became of them add up to."""
    num_segments: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    """Problems by severity."""
    unended: Counter[str] = field(default_factory=Counter)
    """Records of transactions without an end, by outcome."""
    times: tuple[int | None, int | None] = (None, None)
    """The least and the largest time of a delivered record, in milliseconds since the epoch."""
    last_time: int | None = None
    """The largest time of any batch, in milliseconds since the epoch."""
    is_read: bool = False
    """False for an internal topic that nobody named: its bytes are accounted for, no more."""

    @property
    def name(self) -> str:
        return "(no name)" if self.topic is None else f"{self.topic}-{self.partition}"

    @property
    def missing_bytes(self) -> int:
        """Bytes that nothing accounts for: 0, or something is wrong with the tables."""
        return self.size_bytes - self.bytes.total()

    @property
    def gravity(self) -> tuple[int, ...]:
        """How much there is to look at: the larger comes first where not all are shown."""
        lost = self.bytes["damaged"] + self.bytes["over_limit"]
        return (
            self.problems["error"],
            lost,
            self.problems["warning"],
            self.records["withheld"],
            self.size_bytes,
        )


def together(parts: Iterable[PartitionFigures], topic: str | None = None) -> PartitionFigures:
    """Return *parts* as one: what is a number is added up."""
    whole = PartitionFigures(topic, None, {}, is_read=True)
    firsts, lasts = [], []
    for one in parts:
        for name in ("bytes", "records", "problems", "unended"):
            getattr(whole, name).update(getattr(one, name))
        whole.size_bytes += one.size_bytes
        whole.num_segments += one.num_segments
        firsts += [time for time in one.times[:1] if time is not None]
        lasts += [time for time in one.times[1:] if time is not None]
    whole.times = (min(firsts, default=None), max(lasts, default=None))
    return whole


@dataclass(slots=True)
class FileKind:
    """Files of a kind."""

    kind: str
    live: bool
    why_not: str | None
    num_files: int
    size_bytes: int


def read_partitions(folder: Path) -> dict[Key, PartitionFigures]:
    """Return the partitions of *folder*, an output of pipeline, with their bytes and records."""
    spans = json.loads((folder / "_magicbyte" / "times.json").read_text(encoding="utf-8"))
    times = {(one["topic"], one["partition"]): (one["first"], one["last"]) for one in spans}
    found: dict[Key, PartitionFigures] = {}
    for row in _rows(folder / "partitions"):
        key = row["topic"], row["partition"]
        records = Counter({name: row.pop(f"records_{name}") or 0 for name in DISPOSITIONS})
        if key in found:  # files that lie in no partition's folder
            found[key].row = {}
            found[key].records.update(records)
            continue
        found[key] = PartitionFigures(
            *key, row, records=+records, times=times.get(key, (None, None)), is_read=key in times
        )
    return found


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    for table in scan(folder, PARTITIONS.names):
        yield from table.to_pylist()


def read_segments(folder: Path, partitions: dict[Key, PartitionFigures]) -> list[FileKind]:
    """Add the bytes of the live segments to *partitions*; return all files by what they are."""
    names = [f"bytes_{name}" for name in FATES]
    sums = Sums(
        ("topic", "partition"),
        ("size_bytes", "count"),
        *((name, "sum") for name in ("size_bytes", *names)),
    )
    kinds = Sums(("file_kind", "live", "why_not"), ("size_bytes", "count"), ("size_bytes", "sum"))
    keys = ["topic", "partition", "file_kind", "live", "why_not", "size_bytes"]
    for table in scan(folder / "segments", [*keys, *names]):
        kinds.add(table)
        is_log = pc.equal(table.column("file_kind"), "log")
        sums.add(table.filter(pc.and_(is_log, table.column("live"))))
    for row in sums.rows():
        if (one := partitions.get((row["topic"], row["partition"]))) is None:
            continue
        one.size_bytes = row["size_bytes_sum"] or 0
        one.num_segments = row["size_bytes_count"]
        one.bytes = +Counter({name: row[f"bytes_{name}_sum"] or 0 for name in FATES})
    found = [
        FileKind(
            row["file_kind"],
            bool(row["live"]),
            row["why_not"],
            row["size_bytes_count"],
            row["size_bytes_sum"] or 0,
        )
        for row in kinds.rows()
    ]
    return sorted(found, key=lambda one: (not one.live, -one.size_bytes, one.kind))
