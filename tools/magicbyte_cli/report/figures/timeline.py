"""Counts over time, of any times: in memory that has a bound, however far they lie apart."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.entry_columns import Numbers

MAX_CELLS = 1 << 16
"""Stretches of time that have a count, at most; before there are more, they become longer."""

MAX_BARS = 80
"""Bars of a panel, at most."""

MAX_PANELS = 4
"""Stretches of time that are shown side by side, where much time without anything is between."""

WIDE_GAP = 4
"""A gap is much that is so many times as long as all time beside such gaps."""

CELLS_OF_PANEL = 8
"""Where there are fewer for each gap, gaps are all there is."""

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WIDTHS = (
    *(step * scale for scale in (1, 10, 100) for step in (1, 2, 5)),
    *(step * SECOND for step in (1, 2, 5, 10, 15, 30)),
    *(step * MINUTE for step in (1, 2, 5, 10, 15, 30)),
    *(step * HOUR for step in (1, 2, 3, 6, 12)),
    *(step * DAY for step in (1, 2, 7, 14, 28, 91, 365)),
    *(step * 3652 * DAY for step in (1, 10, 100, 1000, 10_000)),
)
"""Milliseconds that a bar may stand for."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A stretch of time, in bars."""

    start: int
    """Milliseconds since the epoch at which the first bar begins."""
    width: int
    """Milliseconds of a bar."""
    counts: dict[str, list[int]]
    """Of each kind that there is, a number for each bar."""

    @property
    def num_bars(self) -> int:
        return max(map(len, self.counts.values()), default=0)

    @property
    def end(self) -> int:
        return self.start + self.width * self.num_bars


class Timeline:
    """Adds counts of some kinds at times; gives them as panels of bars."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = tuple(kinds)
        self.shift = 0
        """A cell is 2**shift milliseconds long."""
        self.cells: Numbers = np.zeros(0, np.int64)
        self.counts = np.zeros((0, len(self.kinds)), np.int64)
        self.untimed: Counter[str] = Counter()
        """What has no time."""

    def add(self, microseconds: pa.ChunkedArray, kinds: pa.ChunkedArray, counts: Numbers) -> None:
        """Add *counts* of *kinds*, which are some of its own, at *microseconds* since the epoch."""
        codes: Numbers = pc.index_in(kinds, pa.array(self.kinds)).to_numpy()
        is_timed = microseconds.is_valid().to_numpy()
        missing = np.bincount(codes[~is_timed], counts[~is_timed], len(self.kinds))
        self.untimed.update(
            {kind: int(n) for kind, n in zip(self.kinds, missing, strict=True) if n}
        )
        times = microseconds.fill_null(0).to_numpy()[is_timed] // 1000
        own = np.zeros((len(times), len(self.kinds)), np.int64)
        own[np.arange(len(times)), codes[is_timed]] = counts[is_timed]
        self._put_together(
            np.concatenate((self.cells, times >> self.shift)), np.concatenate((self.counts, own))
        )
        while len(self.cells) > MAX_CELLS:
            self.shift += 1
            self._put_together(self.cells >> 1, self.counts)

    def _put_together(self, cells: Numbers, counts: np.ndarray) -> None:
        order = np.argsort(cells, kind="stable")
        cells, counts = cells[order], counts[order]
        firsts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1])[: len(cells)])
        self.cells = cells[firsts]
        self.counts = np.add.reduceat(counts, firsts) if len(firsts) else counts

    @property
    def totals(self) -> Counter[str]:
        """All that has a time, by kind."""
        sums = self.counts.sum(axis=0).tolist()
        return Counter({kind: count for kind, count in zip(self.kinds, sums, strict=True) if count})

    def panels(self) -> list[Panel]:
        """Return the stretches of time in which there is anything, in order."""
        if not len(self.cells):
            return []
        return [self._panel(part) for part in self._parts()]

    def _parts(self) -> Iterator[slice]:
        """Yield where the cells of each panel are."""
        cells = self.cells.tolist()  # differences may take more than 64 bits
        gaps = [(right - left, at) for at, (left, right) in enumerate(pairwise(cells), 1)]
        widest = nlargest(min(MAX_PANELS - 1, len(cells) // CELLS_OF_PANEL), gaps)
        whole = cells[-1] - cells[0] + 1
        while widest and widest[-1][0] < WIDE_GAP * (whole - sum(gap for gap, _ in widest)):
            widest.pop()
        bounds = [0, *sorted(at for _, at in widest), len(cells)]
        for start, stop in pairwise(bounds):
            yield slice(start, stop)

    def _panel(self, part: slice) -> Panel:
        times = self.cells[part] << self.shift
        first, last = int(times[0]), int(times[-1])
        width = next(
            (width for width in WIDTHS if last // width - first // width < MAX_BARS), None
        ) or -(-(last - first + 1) // (MAX_BARS - 1))
        start = first // width * width
        bars = times // width - first // width
        counts = {}
        for number, kind in enumerate(self.kinds):
            of_kind = self.counts[part, number]
            if of_kind.any():
                of_bars = np.zeros(int(bars[-1]) + 1, np.int64)
                np.add.at(of_bars, bars, of_kind)
                counts[kind] = of_bars.tolist()
        return Panel(start, width, counts)
