"""What the tasks of a pipeline say of their splits, beside the rows."""

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
from magicbyte.reading.disposition_tally import Tally
from magicbyte.reading.dispositions import CODES, Judged
from magicbyte.reading.lost_times import lost_times
from magicbyte.reading.split import Piece, Split
from magicbyte_formats.wire import CODEC_NAMES

COLUMNS = ("timestamp", "position", "key", "value")
"""The columns of records that it takes to say it."""

UNREAD = tuple(CODES[name] for name in ("damaged", "over_limit"))
"""Dispositions of entries whose records cannot be had."""


@dataclass(slots=True)
class Contents:
    """What the data in sound entries of one format and codec comes to."""

    magic: int
    codec: str | None
    entries: int
    records: int
    stored_bytes: int
    """Bytes of the entries, as they lie in the log."""
    content_bytes: int
    """Bytes of their records' keys and values, decoded."""


@dataclass(slots=True)
class Facts:
    """What a task says of a split beside its rows. Small, and goes through JSON."""

    path: str
    bytes: dict[str, int]
    records: dict[str, int]
    sound_bytes: int
    findings: list[Finding]
    contents: list[Contents]
    first_time: int | None = None
    """Milliseconds since the Unix epoch: the least time of a record that was delivered."""
    last_time: int | None = None
    """The largest."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Facts":
        value: dict[str, Any] = json.loads(text)
        value["findings"] = [Finding(**finding) for finding in value["findings"]]
        value["contents"] = [Contents(**contents) for contents in value["contents"]]
        return cls(**value)


@dataclass(slots=True)
class Told:
    """The facts of a split while it is read."""

    split: Split
    tally: Tally = field(default_factory=Tally)
    times: list[int] = field(default_factory=list)
    contents: list[Contents] = field(default_factory=list)

    def count(self, piece: Piece) -> None:
        """Add *piece*, which has rows of `COLUMNS` where it has entries that could be read."""
        self.tally.count(piece)
        if isinstance(piece.entries, Judged) and piece.rows is not None:
            self.contents = summed([*self.contents, *_contents(piece.entries, piece.rows)])
        delivered = piece.delivered("timestamp", "position")
        if delivered is None or not delivered.num_rows:
            return
        times = delivered.column("timestamp")
        found = pc.min_max(times.view(pa.int64()))
        self.times += [bound for bound in found.as_py().values() if bound is not None]
        self.times = [min(self.times), max(self.times)] if self.times else []
        self.tally.findings.extend(lost_times(self.split, times, delivered.column("position")))

    def facts(self) -> Facts:
        return Facts(
            self.split.file.path,
            dict(self.tally.bytes),
            dict(self.tally.records),
            self.tally.sound_bytes,
            self.tally.findings,
            self.contents,
            *(self.times or (None, None)),
        )


def summed(contents: Iterable[Contents]) -> list[Contents]:
    """Return *contents* with those of one format and codec as one, in order of these."""
    sums: dict[tuple[int, str | None], Contents] = {}
    for one in contents:
        known = sums.setdefault((one.magic, one.codec), Contents(one.magic, one.codec, 0, 0, 0, 0))
        known.entries += one.entries
        known.records += one.records
        known.stored_bytes += one.stored_bytes
        known.content_bytes += one.content_bytes
    return [sums[key] for key in sorted(sums, key=lambda key: (key[0], key[1] or ""))]


def _contents(judged: Judged, rows: pa.RecordBatch) -> Iterable[Contents]:
    """Yield what each format and codec has in the entries of *judged*, whose records are *rows*."""
    num_rows = judged.decoded.num_rows
    content = _sums([rows.column(name) for name in ("key", "value")], num_rows)
    stored, magics, codecs, is_control = (
        judged.entries.column(name) for name in ("size_bytes", "magic", "codec", "is_control")
    )
    is_data = (is_control == 0) & ~np.isin(judged.of_entries, UNREAD)
    pairs = Counter(zip(magics[is_data].tolist(), codecs[is_data].tolist(), strict=True))
    for (magic, codec), count in pairs.items():
        of = is_data & (magics == magic) & (codecs == codec)
        sizes = (int(sums[of].sum()) for sums in (num_rows, stored, content))
        yield Contents(magic, CODEC_NAMES.get(codec), count, *sizes)


def _sums(columns: list[pa.Array], num_rows: Numbers) -> Numbers:
    """Return the bytes of all *columns* in the rows of each entry; null is none."""
    before: Numbers = np.zeros(int(num_rows.sum()) + 1, np.int64)
    for column in columns:
        lengths = pc.fill_null(pc.binary_length(column), 0)
        before[1:] += np.cumsum(lengths.to_numpy(zero_copy_only=False))
    ends = np.cumsum(num_rows)
    sums: Numbers = before[ends] - before[ends - num_rows]
    return sums
