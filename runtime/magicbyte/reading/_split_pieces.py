"""Pieces of a segment between boundaries. A split is a piece, or several that follow each other."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter

from magicbyte.reading.read_options import NO_RANGE, OffsetRange
from magicbyte.reading.survey import Boundary, SegmentSurvey

SplitPiece = tuple[Boundary, Boundary | None, int]
"""Boundaries between which a split may be, and the position at which it ends."""

_START = attrgetter("start")


def split_pieces(
    segment: SegmentSurvey, following: SegmentSurvey | None, offsets: OffsetRange, by_segment: bool
) -> Iterator[SplitPiece]:
    """Yield the pieces of *segment*, which *following* follows, that may hold *offsets*; *by_segment*: one piece."""
    after = following.boundaries[0] if following else None
    inside = segment.boundaries[:1] if by_segment else segment.boundaries
    end, ranges = _end_of_data(segment), segment.unsound_ranges
    for here, there in pairwise([*inside, after]):
        assert here is not None
        stop = end if there is after or there is None else there.position
        low = bisect_left(ranges, here.position, key=_START)
        is_damaged = low < bisect_left(ranges, stop, key=_START)
        if here.position < stop and (
            offsets == NO_RANGE or not _is_outside(here, there, offsets, is_damaged=is_damaged)
        ):
            yield here, there, stop


def joined_pieces(adjacent_pieces: Iterable[SplitPiece], num_bytes: int) -> Iterator[SplitPiece]:
    """Yield *adjacent_pieces* of a segment with adjacent ones joined, up to *num_bytes*."""
    joined: SplitPiece | None = None
    for piece in adjacent_pieces:
        if joined is None:
            joined = piece
        elif joined[2] == piece[0].position and piece[2] - joined[0].position <= num_bytes:
            joined = joined[0], piece[1], piece[2]
        else:
            yield joined
            joined = piece
    if joined is not None:
        yield joined


def _is_outside(
    here: Boundary, there: Boundary | None, offsets: OffsetRange, *, is_damaged: bool
) -> bool:
    """Return whether no offset between the boundaries *here* and *there* is in *offsets*.

    Offsets in the log must increase. Between the last sound entry and *there*, damage may have any.
    """
    first, end = offsets
    last = None if there is None else there.last_before
    if is_damaged and there is not None and there.first is not None:
        last = there.first - 1
    if last is not None and first is not None and last < first:
        return True
    return here.floor is not None and end is not None and here.floor + 1 >= end


def _end_of_data(segment: SegmentSurvey) -> int:
    """Return the position after the last split of *segment*: its end, its tail or the read's stop."""
    if segment.stop_at is not None:
        return segment.stop_at
    end = segment.file.size_bytes
    for unsound in segment.unsound_ranges:
        if unsound.kind == "tail":
            end = min(end, unsound.start)
    return end
