"""The order of offsets in a partition: gaps, steps back, and the log end offset."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry_columns import Numbers


@dataclass(slots=True)
class LogOffsets:
    """Follows the offsets of a partition from entry to entry."""

    next_offset: int | None = None
    """Offset after the last entry; None before the first entry."""
    highest: int = 0
    """Offset after the highest entry: above `next_offset` where an entry had a lower offset."""
    log_end_offset: int | None = None
    """Offset after the last entry that was above the one before it."""

    def expected(self, first: int) -> int | None:
        """Return the expected offset of the next entry, whose first offset is *first*.

        After an entry with a lower offset, the log may continue from its highest offset.
        """
        if self.next_offset is not None and self.next_offset < self.highest <= first:
            return self.highest
        return self.next_offset

    def add(
        self, firsts: Numbers, lasts: Numbers
    ) -> tuple[Sequence[tuple[int, int]], Sequence[int]]:
        """Add entries by their first and last offsets; return gaps and breaks of the order.

        A gap is the index of an entry and the lower offset that was expected there. A break is the
        index of an entry that begins or ends below the one before it.
        """
        first, end = int(firsts[0]), int(lasts[-1]) + 1
        is_next = self.next_offset is None or first == self.next_offset >= self.highest
        if (
            is_next
            and first < end
            and bool((lasts >= firsts).all())
            and bool((firsts[1:] == lasts[:-1] + 1).all())
        ):
            self.next_offset = self.log_end_offset = end
            self.highest = max(self.highest, end)
            return (), ()
        return self._add_unordered(firsts, lasts)

    def _add_unordered(
        self, firsts: Numbers, lasts: Numbers
    ) -> tuple[Sequence[tuple[int, int]], Sequence[int]]:
        is_first = self.next_offset is None
        # Last offsets and not the ones after them, which 64 bits may not hold.
        before = int(firsts[0]) if self.next_offset is None else self.next_offset - 1
        previous = np.concatenate([[before], lasts[:-1]])
        highest = np.maximum.accumulate(np.concatenate([[self.highest - 1], lasts[:-1]]))
        is_above = firsts > previous
        is_above[0] |= is_first
        expected = np.where(firsts > highest, highest, previous)
        is_gap = (firsts > expected) & (firsts != expected + 1)
        is_gap[0] &= not is_first
        is_reversed = lasts < firsts
        is_break = ~is_above | is_reversed
        is_break[1:] |= is_reversed[:-1]
        if is_above.any():
            self.log_end_offset = int(lasts[np.flatnonzero(is_above)[-1]]) + 1
        self.next_offset = int(lasts[-1]) + 1
        self.highest = max(int(highest[-1]), int(lasts[-1])) + 1
        gaps = np.flatnonzero(is_gap)
        expected_at_gaps = (expected[gaps] + 1).tolist()
        return list(zip(gaps.tolist(), expected_at_gaps, strict=True)), np.flatnonzero(
            is_break
        ).tolist()
