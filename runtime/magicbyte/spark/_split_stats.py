"""Statistics that a pipeline's task reports about each split, in addition to its rows."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers
from magicbyte.findings import Finding
from magicbyte.reading.dispositions import DISPOSITION_CODES, ClassifiedEntries
from magicbyte.reading.lost_times import lost_times
from magicbyte.reading.results import Tally
from magicbyte.reading.split import ChunkResult, Split
from magicbyte.statistics.plain_sizes import plain_sizes
from magicbyte.tables.schemas import LOST
from magicbyte_formats.wire import CODEC_NAMES

STATS_COLUMNS = ("timestamp", "position", "key", "value")
"""Columns of records from which the statistics are computed."""

UNDECODED = tuple(DISPOSITION_CODES[name] for name in LOST)
"""Codes of the dispositions of entries without decoded records."""


@dataclass(slots=True)
class FormatTotals:
    """Totals of the sound data entries of one format and codec."""

    magic: int
    codec: str | None
    entries: int
    records: int
    stored_bytes: int
    """Bytes of the entries in the log."""
    content_bytes: int
    """Bytes of the records' keys and values, decoded."""
    plain_bytes: int
    """Bytes of the same entries without compression."""


@dataclass(slots=True)
class SplitStats:
    """Statistics of one split. Small, and stored as JSON."""

    path: str
    bytes: dict[str, int]
    records: dict[str, int]
    sound_bytes: int
    findings: list[Finding]
    contents: list[FormatTotals]
    first_time: int | None = None
    """Earliest time of a delivered record, in milliseconds since the Unix epoch."""
    last_time: int | None = None
    """Latest time of a delivered record."""
    aborted_delivered: int = 0
    """Delivered records of aborted transactions."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "SplitStats":
        value: dict[str, Any] = json.loads(text)
        value["findings"] = [Finding(**finding) for finding in value["findings"]]
        value["contents"] = [FormatTotals(**totals) for totals in value["contents"]]
        return cls(**value)


@dataclass(slots=True)
class SplitCounter:
    """Collects the statistics of a split while it is read."""

    split: Split
    tally: Tally = field(default_factory=Tally)
    time_range: tuple[int, int] | None = None
    contents: list[FormatTotals] = field(default_factory=list)

    def count(self, piece: ChunkResult) -> None:
        """Add the entries and records of one decoded chunk, whose rows have `STATS_COLUMNS`."""
        self.tally.count(piece)
        if isinstance(piece.entries, ClassifiedEntries) and piece.rows is not None:
            # All rows of these entries: further pieces may follow with some of them.
            rows = piece.entries.decoded.rows
            self.contents = add_up([*self.contents, *_format_totals(piece.entries, rows)])
        delivered = piece.delivered("timestamp", "position")
        if delivered is None or not delivered.num_rows:
            return
        times = delivered.column("timestamp")
        bounds = pc.min_max(times.view(pa.int64())).as_py()
        if bounds["min"] is not None:
            first, last = self.time_range or (bounds["min"], bounds["max"])
            self.time_range = min(first, bounds["min"]), max(last, bounds["max"])
        self.tally.findings.extend(lost_times(self.split, times, delivered.column("position")))

    def stats(self) -> SplitStats:
        first_time, last_time = self.time_range or (None, None)
        return SplitStats(
            self.split.file.path,
            dict(self.tally.bytes),
            dict(self.tally.records),
            self.tally.sound_bytes,
            self.tally.findings,
            self.contents,
            first_time,
            last_time,
            aborted_delivered=self.tally.aborted_delivered,
        )


def add_up(totals: Iterable[FormatTotals]) -> list[FormatTotals]:
    """Add up *totals* of the same format and codec; return the sums by format, then codec."""
    sums: dict[tuple[int, str | None], FormatTotals] = {}
    for each in totals:
        key = each.magic, each.codec
        combined = sums.setdefault(key, FormatTotals(*key, 0, 0, 0, 0, 0))
        combined.entries += each.entries
        combined.records += each.records
        combined.stored_bytes += each.stored_bytes
        combined.content_bytes += each.content_bytes
        combined.plain_bytes += each.plain_bytes
    return [sums[key] for key in sorted(sums, key=lambda key: (key[0], key[1] or ""))]


def _format_totals(judged: ClassifiedEntries, rows: pa.RecordBatch) -> Iterable[FormatTotals]:
    """Yield the totals of a chunk's data entries by format and codec; *rows* are its records."""
    num_rows = judged.decoded.num_rows
    content = _bytes_of_entries([rows.column(name) for name in ("key", "value")], num_rows)
    stored, magics, codecs, is_control = (
        judged.entries.column(name) for name in ("size_bytes", "magic", "codec", "is_control")
    )
    plain = plain_sizes(magics, codecs, stored, judged.decoded.decompressed)
    is_data = (is_control == 0) & ~np.isin(judged.entry_codes, UNDECODED)
    pairs = Counter(zip(magics[is_data].tolist(), codecs[is_data].tolist(), strict=True))
    for (magic, codec), count in pairs.items():
        mask = is_data & (magics == magic) & (codecs == codec)
        sizes = (int(numbers[mask].sum()) for numbers in (num_rows, stored, content, plain))
        yield FormatTotals(magic, CODEC_NAMES.get(codec), count, *sizes)


def _bytes_of_entries(columns: list[pa.Array], num_rows: Numbers) -> Numbers:
    """Return the bytes of all values of *columns* for each log entry; null counts as 0 bytes."""
    before: Numbers = np.zeros(int(num_rows.sum()) + 1, np.int64)
    for column in columns:
        lengths = pc.fill_null(pc.binary_length(column), 0)
        before[1:] += np.cumsum(lengths.to_numpy(zero_copy_only=False))
    ends = np.cumsum(num_rows)
    totals: Numbers = before[ends] - before[ends - num_rows]
    return totals
