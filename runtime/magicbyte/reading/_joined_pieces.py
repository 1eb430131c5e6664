"""Joins the short pieces of a survey between which damage is frequent.

To follow the offsets and transactions of each short piece by itself takes much longer than to scan its entries.
"""

from collections.abc import Iterator

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._interrupted_run import (
    MAX_RANGES,
    MAX_SOUND_ENTRIES,
    MIN_PLANNED_RANGES,
    InterruptedRun,
    is_all_readable,
)
from magicbyte.reading._walk import CHUNK, Piece, SoundEntries, Walk


def joined_pieces(walk: Walk) -> Iterator[Piece]:
    """Yield the pieces of *walk*; an InterruptedRun replaces short ones with damaged ranges between them."""
    waiting = _WaitingPieces()
    for piece in walk:
        is_joined = is_all_readable(walk.file) and waiting.add(piece)
        if not is_joined:
            yield from waiting.take()
            if not (is_all_readable(walk.file) and waiting.add(piece)):
                yield piece
        del piece  # frees the bytes before more are read
    yield from waiting.take()


class _WaitingPieces:
    """Consecutive pieces that begin with a damaged range, and may be joined.

    All offsets increase, and only damage is where one does not follow the one before.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._pieces: list[UnsoundRange | SoundEntries] = []
        self._ranges: list[UnsoundRange] = []
        self._sound: list[SoundEntries] = []
        self._last_offset: int | None = None
        """The last offset of the sound entries."""

    def add(self, following: Piece) -> bool:
        """Add *following* if it may be joined with those before; return whether it was added."""
        if isinstance(following, UnsoundRange):
            if following.kind != "damaged" or len(self._ranges) >= MAX_RANGES:
                return False
            self._ranges.append(following)
        elif isinstance(following, SoundEntries) and self._is_next(following):
            self._sound.append(following)
            self._last_offset = int(following.entries.column("last_offset")[-1])
        else:
            return False
        self._pieces.append(following)
        return True

    def _is_next(self, piece: SoundEntries) -> bool:
        if not self._ranges or piece.findings or len(piece.entries) > MAX_SOUND_ENTRIES:
            return False
        entries, chunk = piece.entries, piece.chunk
        if not self._sound:
            if len(chunk.data) > CHUNK:
                return False
        else:
            # All bytes are in the chunk of the first entry.
            first = self._sound[0]
            if first.chunk.position + len(first.chunk.data) != chunk.position + len(chunk.data):
                return False
            if (first.entries.column("magic")[0] == 2) != (entries.column("magic")[0] == 2):
                return False
        return self._continues(entries)

    def _continues(self, entries: Entries) -> bool:
        """Return whether the offsets of *entries* increase without a gap, from above the last one on."""
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        if self._last_offset is not None:
            is_after_damage = isinstance(self._pieces[-1], UnsoundRange)
            begin = int(firsts[0])
            if begin <= self._last_offset or not (
                is_after_damage or begin == self._last_offset + 1
            ):
                return False
        if len(entries) == 1:
            return bool(lasts[0] >= firsts[0])
        is_batch = entries.column("magic") == 2
        is_next = (firsts[1:] == lasts[:-1] + 1) & (is_batch[1:] == is_batch[0])
        return bool(is_next.all() and np.all(lasts >= firsts))

    def take(self) -> list[Piece]:
        """Return the pieces, joined if damage was frequent, and forget them."""
        pieces: list[Piece] = [*self._pieces]
        if self._sound and len(self._ranges) >= MIN_PLANNED_RANGES:
            first, *others = self._sound
            sound = first.entries.followed_by([piece.entries for piece in others])
            positions, sizes = sound.column("position"), sound.column("size_bytes")
            end = max(self._ranges[-1].end, int(positions[-1] + sizes[-1]))
            pieces = [InterruptedRun(first.chunk, sound, self._ranges, end)]
        self._forget()
        return pieces
