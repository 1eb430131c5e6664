"""Payloads in a place from which kernels read: plain, with some bytes behind them."""

import numpy as np

from magicbyte import codecs
from magicbyte.codecs import snappy
from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.buffers import Bytes, address
from magicbyte.engines.columnar.compiled import inflate
from magicbyte.engines.columnar.libraries import functions
from magicbyte.engines.columnar.scratch import Numbers, room
from magicbyte.errors import CodecError, LimitError

GROUP_BYTES = 512 << 10
"""Plain bytes that are made before they are read: they are still in the processor's cache then."""


NO_ROOM = -2
"""Why `inflate` stopped, where more room helps."""

Places = np.ndarray[tuple[int], np.dtype[np.int64]]


class Arena:
    """Places for plain bytes. What is in them stays where it is until all are cleared."""

    def __init__(self, slack: int) -> None:
        self.slack = slack
        self.used = 0
        """Bytes in use, of all places."""
        self._set_place(room("plain", 2 * GROUP_BYTES))
        self._is_full = False
        self._others: list[Bytes] = []
        """Places that became too small, and are still read from."""

    @property
    def is_full(self) -> bool:
        return self._is_full or self.used >= GROUP_BYTES

    def clear(self) -> None:
        self.used = self._at = 0
        self._is_full = False
        self._others.clear()

    def inflate(self, desc: Numbers, first: int, end: int, at: Places, max_bytes: int) -> int:
        """Decompress entries from *first* on in one go, and return the first that is not done.

        It is left to `decompress`, unless this is full.
        """
        kernel = inflate()
        while True:
            place = self._begin + self._at
            left = len(self._place) - self._at
            stop, why, used = kernel(
                desc, first, end, at, place, left, self.slack, max_bytes, functions()
            )
            self._taken(used)
            if stop > first or why != NO_ROOM:
                self._is_full = why == NO_ROOM
                return stop
            if self.used:
                self._is_full = True
                return stop
            if len(self._place) > max_bytes + (4 << 20):
                return stop
            # Nobody knows what it comes to; it may well be little.
            self._make_room(2 * len(self._place))

    def put(self, plain: bytes | memoryview) -> tuple[int, int]:
        """Keep *plain*, and return the addresses at which it begins and ends."""
        size = len(plain)
        self._make_room(size)
        self._place[self._at : self._at + size] = np.frombuffer(plain, np.uint8)
        return self._taken(size)

    def decompress(
        self, codec: int, section: memoryview, *, magic: int, max_bytes: int
    ) -> tuple[int, int] | None:
        """Keep *section* decompressed, and return its ends; None where the codec refuses it."""
        try:
            if codec == snappy.ID:
                return self._snappy(section, max_bytes)
            plain = codecs.decompress(codec, section, magic=magic, max_bytes=max_bytes)
        except (CodecError, LimitError):
            return None
        return self.put(plain)

    def _snappy(self, section: memoryview, max_bytes: int) -> tuple[int, int]:
        """Have the library write where kernels read: its bytes know what they come to."""
        size = snappy.measure(section, max_bytes=max_bytes)
        self._make_room(size)
        snappy.decompress_into(section, self._place.data[self._at : self._at + size])
        return self._taken(size)

    def _make_room(self, size: int) -> None:
        needed = size + self.slack
        if self._at + needed > len(self._place):
            self._others.append(self._place)
            is_empty = not self.used
            larger = room("plain", needed) if is_empty else buffers.fresh(needed + GROUP_BYTES)
            self._set_place(larger)

    def _set_place(self, place: Bytes) -> None:
        self._place, self._begin, self._at = place, address(place), 0

    def _taken(self, size: int) -> tuple[int, int]:
        begin = self._begin + self._at
        self._at += size
        self.used += size
        return begin, begin + size
