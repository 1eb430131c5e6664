"""The order of offsets: each entry begins above the last offset of the one before.

`OffsetOrder` follows it within a segment, `LogOffsets` in a partition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding, offsets_are
from magicbyte.reading.offset_bounds import Bounds

MIN_WINDOW = 8
"""Entries that are compared together after one that is out of order; doubled while all are in order.
Comparing all remaining entries after each such entry would take quadratic time."""


@dataclass(frozen=True, slots=True)
class EntryOffsets:
    """The first and last offsets of consecutive entries."""

    firsts: Numbers
    lasts: Numbers
    are_consecutive: bool
    """True if each entry ends where the next one begins, and none before its own first offset."""

    @classmethod
    def of(cls, entries: Entries) -> "EntryOffsets":
        # Copies: the columns are strided, and each is read several times.
        firsts = np.ascontiguousarray(entries.column("first_offset"))
        if entries.are_messages:  # a message has one offset
            lasts, is_ascending = firsts, True
        else:
            lasts = np.ascontiguousarray(entries.column("last_offset"))
            is_ascending = bool((lasts >= firsts).all())
        # The sum may wrap around after the highest offset.
        is_next = is_ascending and bool((firsts[1:] == lasts[:-1] + 1).all())
        return cls(firsts, lasts, is_next and bool(lasts[-1] >= firsts[0]))


class OffsetOrder:
    """Follows the offsets of the entries of a file, and reports those that leave the order.

    Entries out of order are delivered as they stand. Two entries in a row that agree with each
    other define the order again.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.floor = bounds.floor
        """The last offset in order."""
        self.confirmed_floor = bounds.floor
        """The highest offset that a following entry has confirmed: a damaged offset may be high, too."""
        self.ceiling = bounds.ceiling
        self._strayed: int | None = None
        """The last offset of the previous entry, where that was out of order."""

    def follow(self, entries: Entries, entry_offsets: EntryOffsets) -> tuple[Finding, ...]:
        """Follow *entries* with *entry_offsets*; return a finding for each that leaves the order."""
        first, last = entry_offsets.firsts, entry_offsets.lasts
        if entry_offsets.are_consecutive and self._may_follow(int(first[0]), int(last[-1])):
            self._pass(first, last)
            return ()
        findings: list[Finding] = []
        position, window = 0, len(first)
        while position < len(first):
            end = position + window
            count = self._follow_ordered(first[position:end], last[position:end])
            position += count
            if count == window or position == len(first):
                window *= 2
                continue
            findings += self._judge(entries[position])
            position, window = position + 1, MIN_WINDOW
        return tuple(findings)

    def _follow_ordered(self, first_offsets: Numbers, last_offsets: Numbers) -> int:
        """Follow offsets up to the first entry that is out of order; return how many come before it."""
        is_wrong = last_offsets < first_offsets
        is_wrong[1:] |= first_offsets[1:] <= last_offsets[:-1]
        if self.floor is not None and int(first_offsets[0]) <= self.floor:
            is_wrong[0] = True
        if self.ceiling is not None:
            is_wrong |= last_offsets >= self.ceiling
        count = int(np.argmax(is_wrong)) if is_wrong.any() else len(last_offsets)
        if count:
            self._pass(first_offsets[:count], last_offsets[:count])
        return count

    def _may_follow(self, first: int, last: int) -> bool:
        """Return whether ascending offsets from *first* to *last* are in order here."""
        return (self.floor is None or first > self.floor) and (
            self.ceiling is None or last < self.ceiling
        )

    def _pass(self, first_offsets: Numbers, last_offsets: Numbers) -> None:
        """Follow the offsets of entries that are in order."""
        floor = self.floor if len(last_offsets) == 1 else int(last_offsets[-2])
        self.floor, self._strayed = int(last_offsets[-1]), None
        is_next = floor is None or int(first_offsets[-1]) == floor + 1
        self.confirmed_floor = self.floor if is_next else floor

    def _judge(self, entry: Entry) -> list[Finding]:
        """Follow one *entry*; return its findings, none if its offsets are in order."""
        first, last = entry.first_offset, entry.last_offset
        findings = []
        if last < first:
            findings.append(
                entry.finding(
                    "offset-out-of-order",
                    f"last offset {last} below the base offset {first}",
                    field="last_offset_delta",
                    found=last,
                    expected=f"{first} or more",
                )
            )
        is_low = self.floor is not None and first <= self.floor
        is_high = self.ceiling is not None and last >= self.ceiling
        if not is_low and not is_high:
            is_next = self.floor is None or first == self.floor + 1
            self.confirmed_floor = max(first, last) if is_next else self.floor
            self.floor, self._strayed = max(first, last), None
            return findings
        if self._strayed is not None and first > self._strayed and not is_high:
            self.confirmed_floor = self._strayed
            self.floor, self._strayed = max(first, last), None
            return findings
        self._strayed = last
        if is_high:
            code, found, expected = "offset-outside-segment", last, f"below {self.ceiling}"
            message = f"offset {last} in a segment that ends below {self.ceiling}"
        else:
            code, found, expected = "offset-out-of-order", first, f"above {self.floor}"
            message = f"offset {first} follows offset {self.floor}"
        findings.append(
            entry.finding(code, message, field="base_offset", found=found, expected=expected)
        )
        return findings


@dataclass(slots=True)
class LogOffsets:
    """Follows the offsets of a partition, and reports gaps, steps back, and the log end offset."""

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

    def add(self, entry_offsets: EntryOffsets) -> tuple[Sequence[tuple[int, int]], Sequence[int]]:
        """Add entries by *entry_offsets*; return gaps and breaks of the order.

        A gap is the index of an entry and the lower offset that was expected there. A break is the
        index of an entry that begins or ends below the one before it.
        """
        if self.add_consecutive(entry_offsets):
            return (), ()
        return self._add_unordered(entry_offsets.firsts, entry_offsets.lasts)

    def add_consecutive(self, entry_offsets: EntryOffsets) -> bool:
        """Add entries by *entry_offsets* if these continue the log; return whether they do."""
        first = int(entry_offsets.firsts[0])
        is_next = self.next_offset is None or first == self.next_offset >= self.highest
        if is_next and entry_offsets.are_consecutive:
            end = int(entry_offsets.lasts[-1]) + 1
            self.next_offset = self.log_end_offset = end
            self.highest = max(self.highest, end)
        return is_next and entry_offsets.are_consecutive

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


def gap_finding(position: int, expected: int, first: int, *, is_cleaned: bool) -> Finding:
    """Return the finding that offsets *expected* to *first* - 1 are missing before byte *position*.

    *is_cleaned*: the log cleaner has probably removed them.
    """
    return Finding(
        code="offset-gap-cleaned" if is_cleaned else "offset-gap",
        message=offsets_are(expected, first - 1, "missing")
        + (", probably removed by the log cleaner" if is_cleaned else ""),
        position=position,
        base_offset=first,
        field="base_offset",
        found=str(first),
        expected=str(expected),
    )
