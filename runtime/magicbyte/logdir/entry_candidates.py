"""Positions of a file at which a log entry may begin, and the checksum that decides whether one does."""

from collections.abc import Iterator

import numpy as np

from magicbyte import checksum
from magicbyte.engines.entry import LEAST_SIZES, OVERHEAD, Entry
from magicbyte.limits import MIB
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader, MessageHeader, RecordBatchHeader

MAX_STEP = 1 << 20
"""Bytes that are searched at a time, at most."""

FIRST_STEP = 1 << 12
"""Bytes that are searched first: the next sound entry is usually near."""

FREE_CHECKS = MIB
CHECKS_PER_BYTE = 16
"""Bytes of false candidates whose checksums are computed: CHECKS_PER_BYTE for each byte passed, and
FREE_CHECKS per file. Candidates beyond that are passed over, so that the search stays linear."""


def candidate_positions(
    file: File,
    begin: int,
    stop: int,
    *,
    end: int,
    max_entry_bytes: int,
    floor: int | None = None,
    ceiling: int | None = None,
) -> Iterator[int]:
    """Yield the positions in [begin, stop) whose bytes could be the header of a whole entry.

    Such a header has a known magic, a size that ends before *end* and is at most *max_entry_bytes*
    with its overhead, and an offset above *floor* and below *ceiling*. Work is linear in the bytes.
    """
    magic_at = EntryHeader.POSITIONS["magic"]
    size_at = EntryHeader.POSITIONS["size"]
    position, step = begin, FIRST_STEP
    while position < stop and end - position >= EntryHeader.SIZE:
        length = min(step, stop - position) + EntryHeader.SIZE - 1
        step = min(step * 4, MAX_STEP)
        data = np.frombuffer(file.read_at(position, min(length, end - position)), np.uint8)
        num_positions = len(data) - EntryHeader.SIZE + 1
        magic = data[magic_at : magic_at + num_positions]
        at = np.flatnonzero(magic <= max(LEAST_SIZES))
        if at.size:
            size = _integers(data, at + size_at, 4).astype(np.int64)
            least = np.array([LEAST_SIZES[m] for m in sorted(LEAST_SIZES)])[magic[at]]
            fits = (size >= least) & (
                size + OVERHEAD <= np.minimum(end - position - at, max_entry_bytes)
            )
            at = at[fits]
            offset = _integers(data, at, 8)
            if floor is not None:
                at, offset = at[offset > floor], offset[offset > floor]
            if ceiling is not None:
                at = at[offset < ceiling]
            yield from (position + at).tolist()
        position += num_positions


class RunningChecksum:
    """The checksum of an entry for increasing end positions; each byte is read once."""

    def __init__(self, file: File, entry: Entry) -> None:
        is_batch = entry.magic == 2
        self._file = file
        self._function = checksum.crc32c if is_batch else checksum.crc32
        start = (RecordBatchHeader if is_batch else MessageHeader).CHECKSUM.start
        self._position = entry.position + start
        self._stored = entry.crc
        self.value = 0

    def is_right(self, end: int) -> bool:
        """Return whether the stored checksum is right if the entry ends at *end*."""
        while self._position < end:
            step = min(MAX_STEP, end - self._position)
            self.value = self._function(self._file.read_at(self._position, step), self.value)
            self._position += step
        return self.value == self._stored


def _integers(byte_array: np.ndarray, byte_positions: np.ndarray, width: int) -> np.ndarray:
    """Return the big-endian integers of *width* bytes at the positions *byte_positions*."""
    # An array with an integer at each byte: they overlap.
    count = max(len(byte_array) - width + 1, 0)
    at_each: np.ndarray = np.ndarray((count,), f">i{width}", byte_array, strides=(1,))
    integers: np.ndarray = at_each[byte_positions].astype(np.int64)
    return integers
