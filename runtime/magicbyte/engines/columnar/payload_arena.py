"""Payloads in a place from which kernels read: plain, with some bytes behind them."""

from collections.abc import Callable

from magicbyte import codecs
from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.buffers import NOTHING, Bytes, address
from magicbyte.engines.columnar.formats import Places
from magicbyte.engines.columnar.kernel_loader import inflate
from magicbyte.engines.columnar.libraries import functions
from magicbyte.engines.columnar.stops import NO_ROOM
from magicbyte.engines.columnar.thread_buffers import Numbers, forget_room, room
from magicbyte.errors import CodecError, LimitError

GROUP_BYTES = 512 << 10
"""Plain bytes that are made before they are read: they are still in the processor's cache then."""

Fill = Callable[[int, int], tuple[int, int, int]]


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
    def place(self) -> tuple[int, int]:
        """Where plain bytes go, if nothing is kept there, and how many of them."""
        return self._begin, len(self._place)

    @property
    def is_full(self) -> bool:
        return self._is_full or self.used >= GROUP_BYTES

    def clear(self) -> None:
        self.used = self._at = 0
        self._is_full = False
        self._others.clear()

    def release(self) -> None:
        """Clear all places, and hold no more memory than at first."""
        self.clear()
        if len(self._place) > 2 * GROUP_BYTES:
            self._set_place(NOTHING)
            forget_room("plain")
            self._set_place(room("plain", 2 * GROUP_BYTES))

    def inflate(self, desc: Numbers, first: int, end: int, at: Places, max_bytes: int) -> int:
        """Decompress entries of `INFLATED` codecs from *first* on, and return the first that is not done.

        It is left to `decompress`, unless this is full.
        """
        kernel = inflate()

        def fill(place: int, room: int) -> tuple[int, int, int]:
            return kernel(desc, first, end, at, place, room, self.slack, max_bytes, functions())

        return self._fill(fill, first, max_bytes)

    def _fill(self, fill: Fill, first: int, max_bytes: int) -> int:
        """Have *fill* write plain bytes of entries from *first* on, where there is room for one.

        It takes an address and the room there, and returns the first entry that is not done, why,
        and the bytes that it wrote.
        """
        while True:
            stop, why, used = fill(self._begin + self._at, len(self._place) - self._at)
            self._taken(used)
            if stop > first or why != NO_ROOM:
                self._is_full = why == NO_ROOM
                return stop
            if self.used:
                self._is_full = True
                return stop
            # Nobody knows what it comes to; it may well be little.
            self._make_room(2 * len(self._place))

    def put(self, plain: bytes | memoryview) -> tuple[int, int]:
        """Keep *plain*, and return the addresses at which it begins and ends."""
        size = len(plain)
        self._make_room(size)
        self._bytes[self._at : self._at + size] = plain
        return self._taken(size)

    def decompress(
        self, codec: int, section: memoryview, *, magic: int, max_bytes: int
    ) -> tuple[int, int] | None:
        """Keep *section* decompressed, and return its ends; None where the codec refuses it."""
        try:
            plain = codecs.decompress(codec, section, magic=magic, max_bytes=max_bytes)
        except (CodecError, LimitError):
            return None
        return self.put(plain)

    def _make_room(self, size: int) -> None:
        needed = size + self.slack
        if self._at + needed <= len(self._place):
            return
        if self.used:
            self._others.append(self._place)
            self._set_place(buffers.fresh(needed + GROUP_BYTES))
        else:
            self._set_place(NOTHING)  # what is too small goes before there is more
            forget_room("plain")
            self._set_place(room("plain", needed))

    def _set_place(self, place: Bytes) -> None:
        self._place, self._begin, self._at = place, address(place), 0
        self._bytes = place.data

    def _taken(self, size: int) -> tuple[int, int]:
        begin = self._begin + self._at
        self._at += size
        self.used += size
        return begin, begin + size
