"""Where an entry might begin, among bytes that are none."""

from collections.abc import Iterator

import numpy as np

from magicbyte.engines.entry import LEAST_SIZES, OVERHEAD
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader

STEP = 1 << 20
"""Bytes that are looked through at a time, at most."""

FIRST_STEP = 1 << 12
"""Bytes that are looked through first: the next sound entry is mostly near."""


def candidates(
    file: File,
    begin: int,
    stop: int,
    *,
    end: int,
    floor: int | None,
    ceiling: int | None,
    max_size: int,
) -> Iterator[int]:
    """Yield the positions in [begin, stop) whose bytes could be the header of a whole entry.

    That is: known magic, a size that fits before *end* and is at most *max_size* with its
    overhead, and an offset above *floor* and below *ceiling*. Work is linear in the bytes.
    """
    magic_at = EntryHeader.POSITIONS["magic"]
    size_at = EntryHeader.POSITIONS["size"]
    position, step = begin, FIRST_STEP
    while position < stop and end - position >= EntryHeader.SIZE:
        length = min(step, stop - position) + EntryHeader.SIZE - 1
        step = min(step * 4, STEP)
        data = np.frombuffer(file.read_at(position, min(length, end - position)), np.uint8)
        places = len(data) - EntryHeader.SIZE + 1
        magic = data[magic_at : magic_at + places]
        at = np.flatnonzero(magic <= max(LEAST_SIZES))
        if at.size:
            size = _integers(data, at + size_at, 4).astype(np.int64)
            least = np.array([LEAST_SIZES[m] for m in sorted(LEAST_SIZES)])[magic[at]]
            fits = (size >= least) & (size + OVERHEAD <= np.minimum(end - position - at, max_size))
            at = at[fits]
            offset = _integers(data, at, 8)
            if floor is not None:
                at, offset = at[offset > floor], offset[offset > floor]
            if ceiling is not None:
                at = at[offset < ceiling]
            yield from (position + at).tolist()
        position += places


def _integers(data: np.ndarray, at: np.ndarray, width: int) -> np.ndarray:
    """Return the big-endian integers of *width* bytes at the positions *at*."""
    columns = data[at[:, None] + np.arange(width)]
    return np.ascontiguousarray(columns).view(f">i{width}").ravel().astype(np.int64)
