"""Counts over time, in memory that does not depend on the range of the timestamps."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Int64Array = np.ndarray[Any, np.dtype[np.int64]]

MAX_CELLS = 1 << 16
"""Largest number of cells; beyond it, cells become twice as long."""

MAX_BARS = 80
"""Largest number of bars in a panel."""

MAX_PANELS = 4
"""Largest number of panels. Panels are separated by long times without counts."""

WIDE_GAP = 4
"""A gap separates panels if it is this many times as long as all time outside of such gaps."""

MIN_CELLS_PER_GAP = 8
"""Fewer cells per gap mean that timestamps are merely sparse, and gaps do not separate panels."""

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
"""Possible lengths of a bar, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A range of time, divided into bars."""

    start: int
    """Start of the first bar, in milliseconds since the epoch."""
    width: int
    """Length of a bar, in milliseconds."""
    bars: dict[str, list[int]]
    """Counts by kind, one per bar."""

    @property
    def num_bars(self) -> int:
        return max(map(len, self.bars.values()), default=0)

    @property
    def end(self) -> int:
        return self.start + self.width * self.num_bars


class Timeline:
    """Sums counts of several kinds over time, and returns them as panels of bars."""

    def __init__(self, names: Sequence[str]) -> None:
        self.kinds = tuple(names)
        self.shift = 0
        """Cells are 2**shift milliseconds long."""
        self.cells: Int64Array = np.zeros(0, np.int64)
        self.counts = np.zeros((0, len(self.kinds)), np.int64)
        self.untimed: Counter[str] = Counter()
        """Counts without a timestamp, by kind."""

    def add(
        self, microseconds: pa.ChunkedArray, kind_column: pa.ChunkedArray, amounts: Int64Array
    ) -> None:
        """Add *amounts* of the kinds in *kind_column*, one per row, at *microseconds* since the epoch."""
        codes: Int64Array = pc.index_in(kind_column, pa.array(self.kinds)).to_numpy()
        is_timed = microseconds.is_valid().to_numpy()
        missing = np.bincount(codes[~is_timed], amounts[~is_timed], len(self.kinds))
        self.untimed.update(
            {kind: int(n) for kind, n in zip(self.kinds, missing, strict=True) if n}
        )
        times = microseconds.fill_null(0).to_numpy()[is_timed] // 1000
        added = np.zeros((len(times), len(self.kinds)), np.int64)
        added[np.arange(len(times)), codes[is_timed]] = amounts[is_timed]
        self._merge(
            np.concatenate((self.cells, times >> self.shift)), np.concatenate((self.counts, added))
        )
        while len(self.cells) > MAX_CELLS:
            self.shift += 1
            self._merge(self.cells >> 1, self.counts)

    def _merge(self, cells: Int64Array, amounts: Int64Array) -> None:
        order = np.argsort(cells, kind="stable")
        cells, amounts = cells[order], amounts[order]
        firsts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1])[: len(cells)])
        self.cells = cells[firsts]
        self.counts = np.add.reduceat(amounts, firsts) if len(firsts) else amounts

    def panels(self) -> list[Panel]:
        """Return a panel for each range of time that has counts, the earliest first; all have bars of one length."""
        if not len(self.cells):
            return []
        ranges = list(self._panel_cells())
        bar_width = max(map(self._bar_width, ranges))
        return [self._panel(cells, bar_width) for cells in ranges]

    def _bar_width(self, cell_range: slice) -> int:
        """Return the length of bars, in milliseconds, with which a panel of *cell_range* has enough of them, and not too many."""
        first, last = (int(cell) << self.shift for cell in self.cells[cell_range][[0, -1]])
        return next(
            (width for width in WIDTHS if last // width - first // width < MAX_BARS), None
        ) or -(-(last - first + 1) // (MAX_BARS - 1))

    def _panel_cells(self) -> Iterator[slice]:
        """Yield the range of cells of each panel."""
        cells = self.cells.tolist()  # differences may take more than 64 bits
        gaps = [(right - left, at) for at, (left, right) in enumerate(pairwise(cells), 1)]
        widest = nlargest(min(MAX_PANELS - 1, len(cells) // MIN_CELLS_PER_GAP), gaps)
        whole = cells[-1] - cells[0] + 1
        while widest and widest[-1][0] < WIDE_GAP * (whole - sum(gap for gap, _ in widest)):
            widest.pop()
        bounds = [0, *sorted(at for _, at in widest), len(cells)]
        for start, stop in pairwise(bounds):
            yield slice(start, stop)

    def _panel(self, cell_range: slice, width: int) -> Panel:
        times = self.cells[cell_range] << self.shift
        first = int(times[0])
        start = first // width * width
        bars = times // width - first // width
        counts = {}
        for number, kind in enumerate(self.kinds):
            of_kind = self.counts[cell_range, number]
            if of_kind.any():
                per_bar = np.zeros(int(bars[-1]) + 1, np.int64)
                np.add.at(per_bar, bars, of_kind)
                counts[kind] = per_bar.tolist()
        return Panel(start, width, counts)
