"""What batches, and messages of v0 and v1, come to: formats, codecs, sizes, times, producers."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte_cli.report.figures.partition_figures import FATES, UNREAD, Key, PartitionFigures
from magicbyte_cli.report.figures.producer_figures import Producers
from magicbyte_cli.report.figures.scan import Sums, scan
from magicbyte_cli.report.figures.timeline import Timeline

COLUMNS = (
    "topic",
    "partition",
    "size_bytes",
    "magic",
    "codec",
    "record_count",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "is_transactional",
    "is_control",
    "disposition",
)


@dataclass(slots=True)
class Share:
    """What of the entries with data has one codec, or one format."""

    name: str
    entries: int = 0
    records: int = 0
    bytes: int = 0
    measured_bytes: int = 0
    """Bytes of the entries that were decoded, as they are stored."""
    content_bytes: int = 0
    """Bytes of the keys and values in these, decoded."""


@dataclass(slots=True)
class Sizes:
    """How large entries with data are, in classes that double."""

    entries: Counter[int] = field(default_factory=Counter)
    """By class, the exponent of two; -1 is nothing."""
    weights: Counter[int] = field(default_factory=Counter)
    """The sum of the sizes in each class."""
    largest: int = 0

    def add(self, sizes: pa.ChunkedArray) -> None:
        values = sizes.drop_null().to_numpy().astype(np.int64)
        values = values[values >= 0]
        if not len(values):
            return
        classes = np.where(values > 0, np.log2(np.maximum(values, 1)), -1).astype(np.int64) + 1
        for number, (count, weight) in enumerate(
            zip(
                np.bincount(classes).tolist(),
                np.bincount(classes, values).tolist(),
                strict=True,
            ),
            -1,
        ):
            if count:
                self.entries[number] += count
                self.weights[number] += int(weight)
        self.largest = max(self.largest, int(values.max()))

    @property
    def mean(self) -> float | None:
        return self.weights.total() / self.entries.total() if self.entries else None


@dataclass(slots=True)
class EntryFigures:
    """What is shown of entries."""

    num_entries: int
    num_control: int
    codecs: list[Share]
    formats: list[Share]
    bytes: Sizes
    """Bytes of each."""
    records: Sizes
    """Records in each."""
    times: Timeline
    """Records by the disposition of their entry, at its largest time."""
    producers: Producers
    is_measured: bool
    """Whether the output tells what the entries hold decoded."""


def read_entries(folder: Path, partitions: dict[Key, PartitionFigures]) -> EntryFigures:
    """Return the figures of `batches` in *folder*; *partitions* learn their largest times."""
    kinds = Sums(
        ("magic", "codec"), ("size_bytes", "count"), ("size_bytes", "sum"), ("record_count", "sum")
    )
    lasts = Sums(("topic", "partition"), ("max_timestamp", "max"))
    counts: Counter[str] = Counter()
    bytes_, records = Sizes(), Sizes()
    times = Timeline([name for name in FATES if name not in (*UNREAD, "tail")])
    producers = Producers()
    for table in scan(folder / "batches", COLUMNS):
        counts["entries"] += table.num_rows
        is_control = pc.fill_null(table.column("is_control"), False)
        counts["control"] += pc.sum(is_control).as_py() or 0
        is_read = pc.invert(pc.is_in(table.column("disposition"), pa.array(UNREAD)))
        lasts.add(table.filter(is_read))
        data = table.filter(pc.and_(is_read, pc.invert(is_control)))
        kinds.add(data)
        bytes_.add(data.column("size_bytes"))
        records.add(data.column("record_count"))
        times.add(
            data.column("max_timestamp"),
            data.column("disposition"),
            data.column("record_count").fill_null(0).to_numpy().astype(np.int64),
        )
        producers.add(data)
    for row in lasts.rows():
        one = partitions.get((row["topic"], row["partition"]))
        if one is not None and row["max_timestamp_max"] is not None:
            one.last_time = row["max_timestamp_max"] // 1000
    contents = _contents(folder)
    codecs, formats = _shares(kinds.rows(), contents or [])
    return EntryFigures(
        counts["entries"],
        counts["control"],
        codecs,
        formats,
        bytes_,
        records,
        times,
        producers,
        is_measured=contents is not None,
    )


def _contents(folder: Path) -> list[dict[str, Any]] | None:
    path = folder / "_magicbyte" / "contents.json"
    if not path.is_file():  # an output of an earlier release
        return None
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _shares(
    rows: list[dict[str, Any]], contents: list[dict[str, Any]]
) -> tuple[list[Share], list[Share]]:
    """Return the shares of codecs and of formats, the largest first."""
    codecs: dict[str, Share] = {}
    formats: dict[str, Share] = {}
    for row in rows:
        for share in _both(row, codecs, formats):
            share.entries += row["size_bytes_count"]
            share.records += row["record_count_sum"] or 0
            share.bytes += row["size_bytes_sum"] or 0
    for one in contents:
        for share in _both(one, codecs, formats):
            share.measured_bytes += one["stored_bytes"]
            share.content_bytes += one["content_bytes"]
    return _sorted(codecs), _sorted(formats)


def _both(
    row: dict[str, Any], codecs: dict[str, Share], formats: dict[str, Share]
) -> Iterator[Share]:
    codec, magic = row["codec"] or "unknown", f"v{row['magic']}"
    yield codecs.setdefault(codec, Share(codec))
    yield formats.setdefault(magic, Share(magic))


def _sorted(shares: dict[str, Share]) -> list[Share]:
    return sorted(shares.values(), key=lambda share: (-share.bytes, share.name))
