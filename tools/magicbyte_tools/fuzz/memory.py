"""Memory between pages that nobody may touch: a byte too far ends the process, instead of passing.

A place ends where the page behind it begins, or begins where the page before it ends.
"""

import ctypes
import mmap

import numpy as np

from magicbyte.engines.columnar import buffers, engine, fused, output, payload_arena, thread_buffers
from magicbyte.engines.columnar.buffers import POOL, Bytes

NOBODY = 0
"""PROT_NONE of mprotect."""

LEAST_BYTES = 2 * mmap.PAGESIZE
"""What the smallest place can hold: most of what is asked for fits, and few sizes are kept."""


class GuardedBuffer:
    """*num_bytes*, a multiple of a page, with such a page before and behind them."""

    def __init__(self, num_bytes: int) -> None:
        page = mmap.PAGESIZE
        self.num_bytes = num_bytes
        self._map = mmap.mmap(-1, num_bytes + 2 * page, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        for guard in (begin, begin + page + num_bytes):
            _protect(guard, page)
        whole: Bytes = np.frombuffer(self._map, np.uint8)
        self.bytes = whole[page : page + num_bytes]

    def last(self, num_bytes: int, alignment: int = 1) -> Bytes:
        """Return *num_bytes* that end at the guard, but for what *alignment* of their beginning takes."""
        begin = self.num_bytes - num_bytes
        begin -= begin % alignment
        return self.bytes[begin : begin + num_bytes]

    def first(self, num_bytes: int) -> Bytes:
        """Return *num_bytes* that begin at the guard."""
        return self.bytes[:num_bytes]


def _protect(address: int, num_bytes: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if library.mprotect(address, num_bytes, NOBODY):
        number = ctypes.get_errno()
        raise OSError(number, f"mprotect of {num_bytes} bytes")


class GuardedBuffers:
    """Places that are used again, all at once: what was in them is found there by the next user."""

    def __init__(self) -> None:
        self.alignment = 1
        """Of the beginnings of what is `fresh`, in bytes: 1 leaves no byte before the guard."""
        self._free: dict[int, list[GuardedBuffer]] = {}
        self._used: list[GuardedBuffer] = []

    def take(self, num_bytes: int) -> GuardedBuffer:
        """Return a place for *num_bytes* or more, good until `clear`."""
        size = max(LEAST_BYTES, 1 << (max(num_bytes, 1) - 1).bit_length())
        spare = self._free.setdefault(size, [])
        place = spare.pop() if spare else GuardedBuffer(size)
        self._used.append(place)
        return place

    def fresh(self, num_bytes: int) -> Bytes:
        """Return *num_bytes* that end at a guard, as the columnar engine asks for memory."""
        return self.take(num_bytes + self.alignment).last(num_bytes, self.alignment)

    def clear(self) -> None:
        """Take all places back; nobody may hold any of them still."""
        for place in self._used:
            self._free[place.num_bytes].append(place)
        self._used.clear()


def use(places: GuardedBuffers) -> None:
    """Have the columnar engine of this process take all its memory from *places*, as it needs it."""
    buffers.fresh = places.fresh
    POOL.max_bytes = 0
    thread_buffers.LEAST_BYTES = thread_buffers.LEAST_DESCRIPTORS = 1
    engine.FEWEST_AT_ONCE = fused.FEWEST = 1


def begin_anew(
    places: GuardedBuffers, *, least_room: int, most_bytes: int, group_bytes: int
) -> None:
    """Have the next call of the engine find no memory, and ask for no more than these say.

    *least_room* is what a column has room for at least, in rows or bytes, *most_bytes* what one of
    bytes has room for at most, *group_bytes* the plain bytes that are made before they are read:
    few of them, and each payload has a place of its own.
    """
    places.clear()
    thread_buffers.forget()
    output.LEAST_ROOM = least_room
    output.MOST_BYTES = most_bytes
    payload_arena.GROUP_BYTES = group_bytes
