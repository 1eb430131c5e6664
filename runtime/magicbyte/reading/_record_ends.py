"""The offsets after the records of batches, where the last offset in a batch's header is too low."""

import numpy as np

from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Chunk, Engine, Entries
from magicbyte.limits import Limits
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading._verified_records import decode_verified
from magicbyte.reading._walk import SoundEntries
from magicbyte.reading.survey import Opener
from magicbyte.tables.arrays import to_numpy


class RecordEnds:
    """Decodes the batches before gaps, to tell which offsets their records have beyond their headers.

    Entries are decoded only where a gap asks for it: all entries of a piece together, or the last one of
    the piece before.
    """

    def __init__(self, engine: Engine, limits: Limits, open_log: Opener) -> None:
        self._engine, self._limits, self._open_log = engine, limits, open_log
        self._piece: SoundEntries | None = None
        """The piece whose entries are decoded, until it is added."""
        self._next_offsets: Numbers | None = None
        self._last: tuple[LogFile, Entry, int | None] | None = None
        """The last entry that was added, its file, and the offset after its records if that is known."""

    def before(self, piece: SoundEntries | None, index: int, stated: int) -> int:
        """Return the offset after the records before entry *index* of *piece*, where headers say *stated*.

        The piece is the one after those that were added; None is the end of the log.
        """
        if piece is None or not index:
            last_offset, end = self._last_added()
        else:
            if self._piece is not piece or self._next_offsets is None:
                self._piece, self._next_offsets = piece, self._ends_of(piece.entries, piece.chunk)
            last_offset = int(piece.entries.column("last_offset")[index - 1])
            end = int(self._next_offsets[index - 1])
        return max(stated, end) if last_offset == stated - 1 else stated

    def add(self, file: LogFile, piece: SoundEntries) -> None:
        """Add *piece* of *file*, the next entries of the log."""
        end = (
            int(self._next_offsets[-1])
            if self._piece is piece and self._next_offsets is not None
            else None
        )
        self._last = file, piece.entries[len(piece.entries) - 1], end
        self._piece = self._next_offsets = None

    def _last_added(self) -> tuple[int | None, int]:
        """Return the last offset in the header of the last entry, and the offset after its records."""
        if self._last is None:
            return None, 0
        file, entry, end = self._last
        if end is None:
            with self._open_log(file) as opened:
                data = memoryview(opened.read_at(entry.position, entry.size_bytes))
            end = int(self._ends_of(Entries([entry]), Chunk(data, entry.position))[0])
            self._last = file, entry, end
        return entry.last_offset, end

    def _ends_of(self, entries: Entries, chunk: Chunk) -> Numbers:
        """Return the offset after the records of each of *entries*, which *chunk* begins with."""
        next_offsets: Numbers = entries.column("last_offset") + 1
        is_batch = entries.column("magic") == 2
        begin = 0
        for decoded in decode_verified(
            self._engine, chunk, len(entries), ("offset",), limits=self._limits
        ):
            count = len(decoded.entries)
            num_rows, part = decoded.num_rows, next_offsets[begin : begin + count]
            has_records = num_rows > 0
            if has_records.any():
                starts = (np.cumsum(num_rows) - num_rows)[has_records]
                highest = np.maximum.reduceat(to_numpy(decoded.rows.column("offset")), starts)
                part[has_records] = np.maximum(part[has_records], highest + 1)
            begin += count
        next_offsets[~is_batch] = entries.column("last_offset")[~is_batch] + 1
        return next_offsets
