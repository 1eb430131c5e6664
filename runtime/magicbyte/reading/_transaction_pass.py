"""The transactions of a partition, from the markers in verified entries."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from magicbyte._transactions import outcome_of
from magicbyte.engines.control_records import ControlContent, ControlReader
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Chunk, Engine, Entries
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.reading._log_pass import EntryBlock
from magicbyte.reading._marker_check import MarkerCheck
from magicbyte.reading._producer_batches import ProducerBatches
from magicbyte.reading._run_transactions import ABORTED, UNDECIDED, MarkerContents
from magicbyte.reading._snapshot_check import SnapshotCheck
from magicbyte.reading._transaction_index_check import TransactionIndexCheck
from magicbyte.reading._transaction_table import TransactionTable
from magicbyte.reading._transaction_tracker import TransactionTracker
from magicbyte.reading.outcomes import NO_OUTCOME, OUTCOME_CODES
from magicbyte.reading.survey import Boundary
from magicbyte.tables.arrays import Indices, Mask

END_OF_OFFSETS = 1 << 63

MAX_RUN_ENTRIES = 1 << 14
"""Entries whose transactions are followed together, in about 5 MB."""


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

    def open_transactions(self) -> Indices:
        """Return the numbers of the open transactions."""
        return self._tracker.open_numbers()

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
        cuts = {*range(0, len(entries), MAX_RUN_ENTRIES), len(entries), *block.breaks, *gaps}
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
        batches = ProducerBatches(run, is_control)
        self._snapshots.add_entries(run, batches)
        if not batches and not is_control.any():
            for _, boundary in boundaries:
                boundary.open_here = self.open_transactions()
            return
        for producer_id, last_offset, epoch in batches.last_data():
            self._tracker.add_last_data(producer_id, last_offset, epoch)
        contents = self._contents(piece.chunk, run, np.flatnonzero(is_control))
        is_whole = not self._tracker.num_missing_ranges and not self._is_cleaned()
        first_doubt = int(np.argmax(np.append(contents.is_doubtful, True)))
        whole_until = first_doubt if is_whole else -1
        self._snapshots.add_start_entries(batches, whole_until)
        transactions = self._tracker.add_run(batches, contents, segment)
        opened = transactions.open_at(index for index, _ in boundaries)
        for (_, boundary), open_here in zip(boundaries, opened, strict=True):
            boundary.open_here = open_here
        markers = np.flatnonzero(contents.is_marker)
        if len(markers):
            rows, ended = self._tracker.transaction_table.rows, transactions.ended
            if not self._tracker.knows_beginning:
                whole_until = -1
            self.markers.add_run(segment, run, markers, rows, ended[markers], whole_until)
            aborts = np.flatnonzero(contents.outcome_codes == ABORTED)
            self._indexes.add_run(segment, run, aborts, transactions)

    def _contents(self, chunk: Chunk, run_entries: Entries, controls: Indices) -> MarkerContents:
        """Read the control batches *controls* of *run_entries*."""
        found = MarkerContents.none(len(run_entries))
        # The log cleaner empties a control batch long after its transaction.
        controls = controls[run_entries.column("record_count")[controls] != 0]
        contents = self._controls.read(chunk, run_entries, controls, limits=self._limits)
        outcomes = [_outcome_code(content) for content in contents.distinct]
        epochs = [
            None if content.control is None else content.control.coordinator_epoch
            for content in contents.distinct
        ]
        codes = contents.numbers
        found.outcome_codes[controls] = np.array(outcomes, np.int8)[codes]
        found.coordinator_epochs[controls] = np.array([one or 0 for one in epochs], np.int64)[codes]
        found.has_coordinator_epoch[controls] = np.array(
            [one is not None for one in epochs], np.bool_
        )[codes]
        return found

    def finish(
        self, bases: Sequence[int], next_offset: int | None
    ) -> tuple[TransactionTable, list[Finding]]:
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


def _outcome_code(control_content: ControlContent) -> int:
    """Return the outcome that a control batch states; `undecided` where it cannot be read."""
    if control_content.control is None or not control_content.is_sound:
        return UNDECIDED
    outcome = outcome_of(control_content.control)
    return NO_OUTCOME if outcome is None else OUTCOME_CODES[outcome]
