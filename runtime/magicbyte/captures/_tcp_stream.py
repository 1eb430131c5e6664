"""The bytes that one side of a TCP connection sends, in order."""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

MAX_PENDING_BYTES = 16 << 20
"""Bytes after missing ones that are kept until those come: more than a TCP window usually has."""

MAX_ALL_PENDING_BYTES = 256 << 20
"""The same for all streams of a capture."""

MAX_PENDING_SEGMENTS = 20_000

MAX_AHEAD = 1 << 30
"""Farthest sequence number that may belong to the stream: TCP's largest window."""

NUM_FAR = 3
"""Segments in a row that are farther ahead before the stream goes on there: a single one may be stray."""

SEQUENCES = 1 << 32


class MissingBytes(NamedTuple):
    """Bytes of a stream that were not captured."""

    num_bytes: int


@dataclass(slots=True)
class PendingTotal:
    """Bytes that all streams of a capture keep until missing ones come."""

    num_bytes: int = 0


class TcpStream:
    """Puts segments in order. Where they overlap, the first one captured counts, as on the wire."""

    def __init__(self, pending_total: PendingTotal) -> None:
        self._total = pending_total
        self._next: int | None = None
        """Sequence number of the next byte; None before the first segment."""
        self._offset = 0
        """Number of the next byte in the stream, which does not wrap."""
        self._pending: list[tuple[int, memoryview | bytes | int]] = []
        """Segments after missing bytes by their offset: their bytes, or how many were cut off."""
        self._num_pending = 0
        self._num_far = 0
        """Segments in a row that were too far ahead."""

    @property
    def has_missing_bytes(self) -> bool:
        """True if bytes before the pending ones are missing."""
        return bool(self._pending)

    def begin(self, sequence: int) -> None:
        """Begin the stream after a SYN with *sequence*; one that is sent again changes nothing."""
        if self._next is None:
            self._next = (sequence + 1) % SEQUENCES

    def add(
        self, sequence: int, data: memoryview, num_cut: int
    ) -> Iterator[memoryview | bytes | MissingBytes]:
        """Yield the bytes, and numbers of missing ones, that a segment completes. *num_cut* bytes after *data* were cut off."""
        if self._next is None:
            self._next = sequence
        ahead = (sequence - self._next) % SEQUENCES
        if ahead >= SEQUENCES // 2:
            ahead -= SEQUENCES
        if ahead > MAX_AHEAD:
            self._num_far += 1
            if self._num_far < NUM_FAR:
                return
            yield from self.finish()
            ahead = (sequence - self._next) % SEQUENCES
            self._advance(ahead)
            yield MissingBytes(ahead)
            ahead = 0
        self._num_far = 0
        begin = self._offset + ahead
        if len(data):
            yield from self._add_part(begin, data)
        if num_cut:
            yield from self._add_part(begin + len(data), num_cut)

    def _add_part(
        self, begin: int, stream_part: memoryview | int
    ) -> Iterator[memoryview | bytes | MissingBytes]:
        if begin > self._offset:
            self._keep(begin, stream_part)
            is_full = self._num_pending > MAX_PENDING_BYTES
            is_full = is_full or self._total.num_bytes > MAX_ALL_PENDING_BYTES
            if is_full or len(self._pending) > MAX_PENDING_SEGMENTS:
                yield from self.skip_missing()
            return
        yield from self._in_order(begin, stream_part)
        yield from self._filled()

    def _keep(self, begin: int, stream_part: memoryview | int) -> None:
        kept = stream_part if isinstance(stream_part, int) else bytes(stream_part)
        insort(self._pending, (begin, kept), key=itemgetter(0))
        self._count(0 if isinstance(kept, int) else len(kept))

    def _count(self, num_bytes: int) -> None:
        self._num_pending += num_bytes
        self._total.num_bytes += num_bytes

    def _in_order(
        self, begin: int, stream_part: memoryview | bytes | int
    ) -> Iterator[memoryview | bytes | MissingBytes]:
        """Yield the new bytes of *stream_part*, which does not begin after the next byte."""
        num_bytes = stream_part if isinstance(stream_part, int) else len(stream_part)
        num_new = begin + num_bytes - self._offset
        if num_new <= 0:
            return
        self._advance(num_new)
        yield (
            MissingBytes(num_new)
            if isinstance(stream_part, int)
            else stream_part[num_bytes - num_new :]
        )

    def _advance(self, num_bytes: int) -> None:
        assert self._next is not None
        self._offset += num_bytes
        self._next = (self._next + num_bytes) % SEQUENCES

    def _filled(self) -> Iterator[memoryview | bytes | MissingBytes]:
        """Yield the pending segments before which no bytes are missing any more."""
        num_taken = 0
        while num_taken < len(self._pending) and self._pending[num_taken][0] <= self._offset:
            begin, stream_part = self._pending[num_taken]
            num_taken += 1
            self._count(0 if isinstance(stream_part, int) else -len(stream_part))
            yield from self._in_order(begin, stream_part)
        del self._pending[:num_taken]

    def skip_missing(self) -> Iterator[memoryview | bytes | MissingBytes]:
        """Yield the first missing bytes, and those that follow them."""
        if self._pending:
            num_missing = self._pending[0][0] - self._offset
            self._advance(num_missing)
            yield MissingBytes(num_missing)
            yield from self._filled()

    def finish(self) -> Iterator[memoryview | bytes | MissingBytes]:
        """Yield all that is pending, and the missing bytes before it."""
        while self._pending:
            yield from self.skip_missing()
