"""Checks transaction markers against the earlier entries of their producers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from magicbyte._transactions import Transaction, outcome_of
from magicbyte.engines.protocol import Control, Entry
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile


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

    def add(
        self,
        segment: int,
        marker: Entry,
        control: Control,
        ended: Transaction | None,
        *,
        is_whole: bool,
    ) -> None:
        """Check *marker*, with the content *control*, that has *ended* a transaction, or none.

        *is_whole*: no entry of its producer before it can be missing.
        """
        if outcome_of(control) is None:
            return
        producer, epoch = marker.producer_id, marker.producer_epoch
        if ended is None and is_whole:
            self.num_empty += 1
            if self.first_empty is None:
                self.first_empty = marker.last_offset
        highest = self._epochs.get(producer, epoch)
        if ended is not None:
            highest = max(highest, ended.producer_epoch)
        if epoch < highest:
            self._strays.append(_StrayMarker(segment, marker, highest))
        self._epochs[producer] = max(highest, epoch)

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
