"""Buffers between guard pages: a read or write one byte too far ends the process.

A buffer ends where the next guard page begins, or begins where the previous guard page ends.
"""

import ctypes
import mmap

import numpy as np

from magicbyte.engines.columnar import buffers, engine, fused, output, payload_arena, thread_buffers
from magicbyte.engines.columnar.buffers import POOL, Bytes

NOBODY = 0
"""PROT_NONE of mprotect."""

LEAST_BYTES = 2 * mmap.PAGESIZE
"""Bytes of the smallest buffer: most requests fit, and few sizes are cached."""


class GuardedBuffer:
    """A buffer of *num_bytes*, a multiple of the page size, between two guard pages."""

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
    """Buffers that are all reused after `clear`; the next user finds the old contents in them."""

    def __init__(self) -> None:
        self.alignment = 1
        """Alignment of `fresh` buffers in bytes; 1 leaves no byte before the guard page."""
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
        """Take all buffers back; no caller may hold one of them any longer."""
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
    """Clear the engine's cached memory, and set its sizes for the next call.

    *least_room* is the smallest capacity of a column in rows or bytes, *most_bytes* the largest of a
    column of bytes, *group_bytes* the decompressed bytes that share an arena: with few, each payload
    has a buffer of its own.
    """
    places.clear()
    thread_buffers.forget()
    output.LEAST_ROOM = least_room
    output.MOST_BYTES = most_bytes
    payload_arena.GROUP_BYTES = group_bytes
