"""The transactions of a partition, from the markers in verified entries."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter

import numpy as np

from magicbyte._transactions import Transaction, TransactionTracker
from magicbyte.engines.control_records import ControlContent, ControlReader
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Engine, Entries, Entry
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.reading._log_pass import EntryBlock
from magicbyte.reading._marker_check import MarkerCheck
from magicbyte.reading._producer_batches import ProducerBatches
from magicbyte.reading._snapshot_check import SnapshotCheck
from magicbyte.reading._transaction_index_check import TransactionIndexCheck
from magicbyte.reading.survey import Boundary
from magicbyte.tables.arrays import Mask

END_OF_OFFSETS = 1 << 63


class TransactionPass:
    """Follows transactions through a partition, and compares its companion files with them."""

    def __init__(
        self,
        companions: TransactionCompanions,
        is_cleaned: Callable[[], bool],
        *,
        engine: Engine,
        limits: Limits,
    ) -> None:
        """*is_cleaned* returns whether cleaning may have removed entries so far."""
        self._limits = limits
        self._is_cleaned = is_cleaned
        self._controls = ControlReader(large=engine)
        self._tracker = tracker = TransactionTracker()
        self._snapshots = SnapshotCheck(companions, tracker, is_cleaned)
        self._indexes = TransactionIndexCheck(companions, tracker, is_cleaned)
        self.markers = MarkerCheck()
        if companions.first_base:
            snapshot = companions.start_snapshot
            tracker.knows_beginning = snapshot is not None
            tracker.begin(snapshot or ())

    def open_transactions(self) -> tuple[Transaction, ...]:
        return tuple(self._tracker.open.values())

    def begin_segment(self, base: int | None) -> None:
        self._snapshots.begin_segment(base)

    def add_uncertainty(self) -> None:
        """Note that entries, perhaps a marker, may be missing after the one that was added last."""
        self._tracker.mark_uncertain()

    def add_missing(self, first: int, end: int | None) -> None:
        """Note that the log lacks the offsets from *first* to before *end*; None: all later ones."""
        self._indexes.missing.append((first, END_OF_OFFSETS if end is None else end))

    def add_block(self, block: EntryBlock) -> None:
        """Add the entries of *block*, and set the open transactions at its boundaries."""
        entries, gaps = block.piece.entries, block.gaps
        if len(gaps) > 1 and not _has_transactions(entries, block.is_control):
            gaps = gaps[:1]  # after the first gap nothing is open that another could concern
        cuts = {0, len(entries), *block.breaks, *gaps}
        if not self._is_cleaned():
            cuts.add(block.cleaned_from)
        firsts = entries.column("first_offset")
        boundaries = deque(block.boundaries)
        after_damage = block.piece.after_damage & set(gaps)
        for begin, end in self._runs(sorted(cuts), firsts):
            if begin in after_damage:
                self.add_uncertainty()  # a split after the damage begins after it, too
            if boundaries and boundaries[0][0] == begin:
                boundaries.popleft()[1].open_here = self.open_transactions()
            inside = []
            while boundaries and boundaries[0][0] < end:
                index, boundary = boundaries.popleft()
                inside.append((index - begin, boundary))
            if begin in gaps and begin not in after_damage:
                self.add_uncertainty()
            if begin == block.cleaned_from:
                block.segment.is_cleaned = True
            self._add_run(block, begin, end, inside)

    def _runs(self, cuts: Sequence[int], firsts: Numbers) -> Iterator[tuple[int, int]]:
        """Yield the index ranges between *cuts*, divided further where a snapshot is between two entries."""
        for begin, end in pairwise(cuts):
            low, high = int(firsts[begin]), int(firsts[end - 1])
            pending = self._snapshots.pending
            bases = pending[bisect_right(pending, low) : bisect_right(pending, high)]
            inside = {begin + int(np.searchsorted(firsts[begin:end], base)) for base in bases}
            yield from pairwise(sorted({begin, end, *inside}))

    def _add_run(
        self, block: EntryBlock, begin: int, end: int, boundaries: Sequence[tuple[int, Boundary]]
    ) -> None:
        """Add the entries of *block* from index *begin* to before *end*, in ascending order."""
        piece, segment = block.piece, block.segment.number
        run, is_control = piece.entries[begin:end], block.is_control[begin:end]
        producers = ProducerBatches(run, is_control)
        self._snapshots.add_entries(run, producers)
        controls = np.flatnonzero(is_control)
        if not producers and not len(controls):
            for _, boundary in boundaries:
                boundary.open_here = self.open_transactions()
            return
        for producer_id, last_offset, epoch in producers.last_data():
            self._tracker.add_last_data(producer_id, last_offset, epoch)
        # Data is added at its first batch: only the producer's next marker needs the rest.
        steps: list[tuple[int, Callable[[], None]]] = [
            (index, partial(self._set_open, boundary)) for index, boundary in boundaries
        ]
        awaited = self._snapshots.start.awaited
        if awaited:
            steps += (
                (index, partial(self._snapshots.add_entry_of_start, run[index]))
                for producer_id, index in producers.first_data()
                if producer_id in awaited
            )
        steps += (
            (index, partial(self._tracker.add_data, data))
            for index, data in producers.transaction_data(segment)
        )
        if len(controls):
            contents = self._controls.read(piece.chunk, run, controls, limits=self._limits)
            steps += (
                (index, partial(self._add_control, segment, entry, content))
                for index, entry, content in zip(
                    controls.tolist(), run.picked(controls), contents, strict=True
                )
            )
        for _, step in sorted(steps, key=itemgetter(0)):
            step()

    def _set_open(self, boundary: Boundary) -> None:
        boundary.open_here = self.open_transactions()

    def _add_control(self, segment: int, entry: Entry, content: ControlContent) -> None:
        self._snapshots.add_entry_of_start(entry)
        if not entry.record_count:
            return  # emptied by cleaning, long after its transaction
        if content.control is None or not content.is_sound:
            self._tracker.mark_uncertain(entry.producer_id)
            return
        ended = self._tracker.open.get(entry.producer_id)
        self.markers.add(
            segment,
            entry,
            content.control,
            ended,
            is_whole=self._tracker.knows_beginning
            and not self._tracker.num_missing_ranges
            and not self._is_cleaned(),
        )
        self._tracker.add_marker(entry, content.control)
        self._indexes.add_marker(segment, entry, content.control, ended)

    def finish(
        self, bases: Sequence[int], next_offset: int | None
    ) -> tuple[list[Transaction], list[Finding]]:
        """Return the transactions of the log, and findings about its companion files.

        *bases* are the base offsets of the segments, *next_offset* that after the last entry.
        """
        if next_offset is not None:
            self._snapshots.compare_up_to(next_offset)
        self._snapshots.judge_start()
        self._snapshots.doubt_open(bases, next_offset)
        trusted, findings = self._indexes.judge(bases)
        return self._tracker.finish(trusted), [*self._snapshots.findings, *findings]


def _has_transactions(entries: Entries, is_control: Mask) -> bool:
    return bool(is_control.any() or (entries.column("is_transactional") != 0).any())
