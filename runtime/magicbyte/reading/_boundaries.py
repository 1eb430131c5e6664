"""Boundaries between the entries of a segment, at which splits may begin."""

from collections.abc import Iterator, Sequence

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.reading._offset_order import EntryOffsets
from magicbyte.reading.survey import Boundary, SegmentSurvey


def boundaries_at(
    segment: SegmentSurvey,
    cuts: Sequence[int],
    floor: int | None,
    entries: Entries,
    entry_offsets: EntryOffsets,
) -> Iterator[tuple[int, Boundary]]:
    """Add a boundary before the first of *entries* from each of *cuts* on; yield the index of that entry.

    The other arguments mean what they mean in `boundaries_every`.
    """
    begins = entries.column("position")
    for cut in cuts:
        if cut <= segment.boundaries[-1].position:
            continue
        index = int(np.searchsorted(begins, cut))
        if index == len(begins):
            return
        yield index, _add_boundary(segment, index, floor, begins, entry_offsets)


def boundaries_every(
    segment: SegmentSurvey,
    split_bytes: int,
    floor: int | None,
    entries: Entries,
    entry_offsets: EntryOffsets,
) -> Iterator[tuple[int, Boundary]]:
    """Add boundaries between *entries* with these *entry_offsets*; yield the index of the entry after each.

    *floor* is the last offset before them. A split ends where the next entry would make it larger than
    *split_bytes*.
    """
    begins, sizes = entries.column("position"), entries.column("size_bytes")
    if int(begins[-1] + sizes[-1]) - segment.boundaries[-1].position <= split_bytes:
        return
    ends = begins + sizes
    while True:
        before = segment.boundaries[-1]
        index = int(np.searchsorted(ends, before.position + split_bytes, "right"))
        if index < len(begins) and int(begins[index]) <= before.position:
            index += 1  # an entry that is too large by itself
        if index >= len(ends):
            return
        yield index, _add_boundary(segment, index, floor, begins, entry_offsets)


def _add_boundary(
    segment: SegmentSurvey,
    index: int,
    floor: int | None,
    begins: Numbers,
    entry_offsets: EntryOffsets,
) -> Boundary:
    """Add the boundary before entry *index*, of those that begin at *begins*, to *segment*."""
    last = segment.boundaries[-1].floor if floor is None else floor
    if index:
        last = int(entry_offsets.lasts[index - 1])
    boundary = Boundary(int(begins[index]), last, int(entry_offsets.firsts[index]))
    segment.boundaries.append(boundary)
    return boundary
