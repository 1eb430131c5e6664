"""Leave out entries whose offsets a broker would refuse: those that go back, or belong to another segment.

A broker splits or empties a segment with such an entry, or does not start (UnifiedLog.append, LogSegment.recover).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.logdir.file_names import MAX_OFFSET
from magicbyte.reading.entry_runs import LostBytes, Part, SegmentStart, SourceRun
from magicbyte.tables.arrays import Mask


@dataclass(frozen=True, slots=True)
class DisorderedEntries:
    """Sound entries that are left out, because their offsets are not in order."""

    source_run: SourceRun


OrderedPart = SegmentStart | SourceRun | LostBytes | DisorderedEntries


def ordered_parts(source_parts: Iterable[Part]) -> Iterator[OrderedPart]:
    """Yield *source_parts*, with the entries in the order of their offsets alone.

    Of an entry and the next one that contradict each other, the one that fits to the entries before both is kept.
    """
    last_offset = -1
    last_run: SourceRun | None = None
    """The last run of entries, which is yielded once the entry after it is known."""
    held_parts: list[Part] = []
    """Parts after *last_run* that have no entries."""
    for part in source_parts:
        if not isinstance(part, SourceRun):
            if last_run is None:
                yield part
            else:
                held_parts.append(part)
            continue
        if last_run is not None:
            next_offset = int(part.entries.column("first_offset")[0])
            yield from _split(last_run, order_mask(last_run, last_offset, next_offset))
            last_offset = max(last_offset, _last_in_order(last_run, last_offset, next_offset))
            yield from held_parts
            held_parts = []
        last_run = part
    if last_run is not None:
        yield from _split(last_run, order_mask(last_run, last_offset, None))
    yield from held_parts


def order_mask(source_run: SourceRun, last_offset: int, next_offset: int | None) -> Mask:
    """Return a mask of the entries of *source_run* that are in order after *last_offset*.

    *next_offset* is the first offset of the entry after the run; None if there is none.
    """
    firsts, lasts = (
        source_run.entries.column("first_offset"),
        source_run.entries.column("last_offset"),
    )
    following = np.append(firsts[1:], MAX_OFFSET if next_offset is None else next_offset)
    if firsts[0] > last_offset and (lasts >= firsts).all() and (following > lasts).all():
        return np.ones(len(firsts), np.bool_)
    is_kept = np.zeros(len(firsts), np.bool_)
    rows = zip(firsts.tolist(), lasts.tolist(), following.tolist(), strict=True)
    for number, (first, last, after) in enumerate(rows):
        # No offset follows the highest: a broker would delete a log that ends there.
        is_in_order = last_offset < first <= last < MAX_OFFSET
        # The next entry contradicts this one, and fits to those before: then this one is out of place.
        is_out_of_place = last_offset < after <= last
        if is_in_order and not is_out_of_place:
            is_kept[number] = True
            last_offset = last
    return is_kept


def _last_in_order(source_run: SourceRun, last_offset: int, next_offset: int) -> int:
    is_kept = order_mask(source_run, last_offset, next_offset)
    lasts: Numbers = source_run.entries.column("last_offset")[is_kept]
    return int(lasts[-1]) if len(lasts) else last_offset


def _split(source_run: SourceRun, is_kept: Mask) -> Iterator[SourceRun | DisorderedEntries]:
    """Yield the entries of *source_run* in order; *is_kept* is false for those to leave out."""
    if is_kept.all():
        yield source_run
        return
    changes = np.flatnonzero(is_kept[1:] != is_kept[:-1]) + 1
    bounds = [0, *changes.tolist(), len(is_kept)]
    for first, end in pairwise(bounds):
        part = source_run.part(first, end)
        yield part if is_kept[first] else DisorderedEntries(part)
