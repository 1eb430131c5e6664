"""The transactions of a run of entries: what its markers say, and which transactions are open in it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.reading.outcomes import NO_OUTCOME, OUTCOME_CODES
from magicbyte.tables.arrays import Codes, Indices, Mask

COMMITTED, ABORTED, UNDECIDED = (
    OUTCOME_CODES[name] for name in ("committed", "aborted", "undecided")
)

NO_ROW = -1


class MarkerContents(NamedTuple):
    """Contents of the control batches of a run, by index in the run."""

    outcome_codes: Codes
    """`committed` or `aborted`; `undecided` where a control batch cannot be read; else NO_OUTCOME."""
    coordinator_epochs: Numbers
    has_coordinator_epoch: Mask

    @classmethod
    def none(cls, length: int) -> "MarkerContents":
        """Return the contents of a run of *length* entries in which no control batch says anything."""
        return cls(
            np.full(length, NO_OUTCOME, np.int8),
            np.zeros(length, np.int64),
            np.zeros(length, np.bool_),
        )

    @property
    def is_end(self) -> Mask:
        """Mask of the control batches that end their producer's transaction, or put it in doubt."""
        is_end: Mask = self.outcome_codes != NO_OUTCOME
        return is_end

    @property
    def is_marker(self) -> Mask:
        """Mask of the transaction markers."""
        is_marker: Mask = (self.outcome_codes == COMMITTED) | (self.outcome_codes == ABORTED)
        return is_marker

    @property
    def is_doubtful(self) -> Mask:
        """Mask of the control batches that cannot be read."""
        is_doubtful: Mask = self.outcome_codes == UNDECIDED
        return is_doubtful


@dataclass(frozen=True, slots=True)
class RunTransactions:
    """The transactions of a run of entries: numbers in the table, and indices of entries in the run."""

    ended: Indices
    """The number of the transaction that each entry has ended; NO_ROW if there is none."""
    open_before: Indices
    """The transactions that were open before the run, in the order of `TransactionTracker.open`."""
    before_ends: Indices
    """The entry that has ended each of them; the number of entries if none has."""
    begun: Indices
    """The transactions that begin in the run, in order."""
    begun_at: Indices
    """The first entry of each of them."""
    begun_ends: Indices

    def open_at(self, indices: Iterable[int]) -> list[Indices]:
        """Return the transactions that are open before each of the entries *indices*, which increase."""
        numbers, ends, num_begun = self.open_before, self.before_ends, 0
        found = []
        for index in indices:
            until = int(np.searchsorted(self.begun_at, index))
            numbers = np.concatenate([numbers, self.begun[num_begun:until]])
            ends = np.concatenate([ends, self.begun_ends[num_begun:until]])
            is_open, num_begun = ends >= index, until
            numbers, ends = numbers[is_open], ends[is_open]
            found.append(numbers)
        return found

    def first_open(self, firsts: Numbers, indices: Indices) -> tuple[Numbers, Mask]:
        """Return the lowest first offset of the transactions that are open after each entry of *indices*.

        *firsts* are the first offsets in the table. The mask is false where none is open.
        """
        before_firsts = firsts[self.open_before]
        order = np.argsort(before_firsts, kind="stable")
        found, is_open = _lowest(before_firsts[order], self.before_ends[order], indices)
        begun_firsts = firsts[self.begun]
        begun_found, is_begun = _lowest(begun_firsts, self.begun_ends, indices, self.begun_at)
        is_lower = is_begun & (~is_open | (begun_found < found))
        return np.where(is_lower, begun_found, found), is_open | is_begun


def _lowest(
    firsts: Numbers, end_indices: Indices, indices: Indices, begins: Indices | None = None
) -> tuple[Numbers, Mask]:
    """Return the first of *firsts*, which increase, whose end is after each of *indices*, and if there is one.

    *begins* increase as well: a transaction that begins after an index does not count.
    """
    if not len(firsts):
        return np.zeros(len(indices), np.int64), np.zeros(len(indices), np.bool_)
    at = np.searchsorted(np.maximum.accumulate(end_indices), indices, "right")
    is_found = at < len(firsts)
    at = np.minimum(at, len(firsts) - 1)
    if begins is not None:
        is_found &= begins[at] < indices
    return firsts[at], is_found
