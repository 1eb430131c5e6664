"""Checks transaction markers against the earlier entries of their producers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries, Entry
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile
from magicbyte.tables.arrays import Indices, StructuredRows

EPOCHS = 1 << 16
"""Number of different producer epochs, which have 16 bits."""

LOWEST_EPOCH = -(1 << 15)


class _StrayMarker(NamedTuple):
    segment: int
    """Number of the segment, from 0."""
    marker: Entry
    epoch: int
    """The higher epoch of an earlier entry of the producer."""


class MarkerCheck:
    """Counts the markers of empty transactions, and finds markers whose epoch is too low."""

    def __init__(self) -> None:
        self.num_empty = 0
        """Markers of producers that have written nothing since their last marker."""
        self.first_empty: int | None = None
        """Offset of the first of them."""
        self._epochs: dict[int, int] = {}
        """The highest epoch of each producer's markers, and of the transactions that they ended."""
        self._strays: list[_StrayMarker] = []

    def add_run(
        self,
        segment: int,
        run_entries: Entries,
        markers: Indices,
        transaction_rows: StructuredRows,
        ended: Indices,
        whole_until: int,
    ) -> None:
        """Check the *markers* of *run_entries*, given by their indices.

        *ended* are the numbers in *transaction_rows* that they have ended, below 0 where there was none.
        No entry before those up to the index *whole_until* can be missing.
        """
        is_empty = ended < 0
        empty = markers[is_empty & (markers <= whole_until)]
        self.num_empty += len(empty)
        if self.first_empty is None and len(empty):
            self.first_empty = int(run_entries.column("last_offset")[empty[0]])
        producers, epochs = (
            run_entries.column(name)[markers] for name in ("producer_id", "producer_epoch")
        )
        of_data = epochs.copy()
        of_data[~is_empty] = transaction_rows["producer_epoch"][ended[~is_empty]]
        highest = np.maximum(self._highest_before(producers, np.maximum(epochs, of_data)), of_data)
        for index in np.flatnonzero(epochs < highest).tolist():
            stray = _StrayMarker(segment, run_entries[int(markers[index])], int(highest[index]))
            self._strays.append(stray)

    def _highest_before(self, producers: Numbers, epochs: Numbers) -> Numbers:
        """Return the highest of *epochs* of the same producer before each of them, in this run or earlier ones.

        It is the lowest number where there is none.
        """
        order = np.argsort(producers, kind="stable")
        is_first = np.ones(len(order), np.bool_)
        np.not_equal(producers[order][1:], producers[order][:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        ids = producers[order[starts]].tolist()
        known = np.array([self._epochs.get(one, LOWEST_EPOCH) for one in ids], np.int64)
        # The ranks of producers make one running maximum of all: none is as high as the next producer's.
        rank = np.cumsum(is_first) - 1
        rising = (
            np.maximum.accumulate(np.maximum(epochs[order], known[rank]) + EPOCHS * rank)
            - EPOCHS * rank
        )
        before = np.concatenate([known[:1], rising[:-1]])
        before[starts] = known
        last = np.append(starts[1:], len(order)) - 1
        self._epochs.update(zip(ids, rising[last].tolist(), strict=True))
        found = np.empty_like(before)
        found[order] = before
        return found

    def stray_findings(self, files: Sequence[LogFile]) -> Iterator[tuple[LogFile, Finding]]:
        """Yield a finding for each marker whose epoch is too low, with its file; *files* are the segments."""
        for stray in self._strays:
            epoch = stray.marker.producer_epoch
            yield (
                files[stray.segment],
                stray.marker.finding(
                    "marker-stray",
                    f"a marker of producer {stray.marker.producer_id} with epoch {epoch}, after "
                    f"epoch {stray.epoch}",
                    field="producer_epoch",
                    found=epoch,
                    expected=f"{stray.epoch} or more",
                ),
            )
