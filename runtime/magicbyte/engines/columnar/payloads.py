"""Payloads in a place from which kernels read: plain, with some bytes behind them."""

import numpy as np

from magicbyte import codecs
from magicbyte.engines.columnar.buffers import Bytes, address
from magicbyte.engines.columnar.scratch import room
from magicbyte.errors import CodecError, LimitError

GROUP_BYTES = 512 << 10
"""Plain bytes that are made before they are read: they are still in the processor's cache then."""


class Arena:
    """Places for plain bytes. What is in them stays where it is until all are cleared."""

    def __init__(self, slack: int) -> None:
        self.slack = slack
        self.used = 0
        """Bytes in use, of all places."""
        self._place: Bytes = room("plain", 2 * GROUP_BYTES)
        self._at = 0
        self._others: list[Bytes] = []
        """Places that became too small, and are still read from."""

    @property
    def is_full(self) -> bool:
        return self.used >= GROUP_BYTES

    def clear(self) -> None:
        self.used = self._at = 0
        self._others.clear()

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
            plain = codecs.decompress(codec, section, magic=magic, max_bytes=max_bytes)
        except (CodecError, LimitError):
            return None
        return self.put(plain)

    def _make_room(self, size: int) -> None:
        if self._at + size + self.slack > len(self._place):
            self._others.append(self._place)
            needed = size + self.slack
            self._place = (
                room("plain", needed)
                if not self._at
                else np.empty(max(needed, 2 * GROUP_BYTES), np.uint8)
            )
            self._at = 0

    def _taken(self, size: int) -> tuple[int, int]:
        begin = address(self._place) + self._at
        self._at += size
        self.used += size
        return begin, begin + size
