"""Buffers between guard pages: a read or write one byte too far ends the process.

A buffer ends where the next guard page begins, or begins where the previous guard page ends.
"""

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from types import ModuleType

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import _buffers, _entry_run, _output, engine
from magicbyte.engines.columnar._buffers import POOL, Bytes
from magicbyte_tools.fuzz.group import Arrangement

NOBODY = 0
"""Protection PROT_NONE of mprotect: no access."""

LEAST_BYTES = 2 * mmap.PAGESIZE
"""Bytes of the smallest buffer: most requests fit, and few sizes are cached."""


MEMORY_SETTINGS = {
    "SAMPLE_ROWS": (1, 7, 512),
    "MIN_CAPACITY": (1, 16, 4096),
    "MIN_OUTPUT_BYTES": (1 << 14, 256 << 20),
}
"""Settings of modules that run kernels of values, and what they may be while values are fuzzed."""


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
        """Return *num_bytes* that end at the guard page, or before it if their *alignment* requires it."""
        begin = self.num_bytes - num_bytes
        begin -= begin % alignment
        return self.bytes[begin : begin + num_bytes]

    def first(self, num_bytes: int) -> Bytes:
        """Return *num_bytes* that begin right after the first guard page."""
        return self.bytes[:num_bytes]


def _protect(address: int, num_bytes: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if library.mprotect(address, num_bytes, NOBODY):
        number = ctypes.get_errno()
        raise OSError(number, f"mprotect of {num_bytes} bytes")


class GuardedBuffers:
    """Pool of guarded buffers, which are all reused after `clear` and keep their old contents."""

    def __init__(self) -> None:
        self.alignment = 1
        """Alignment of `allocate` buffers in bytes; 1 leaves no byte before the guard page."""
        self._free: dict[int, list[GuardedBuffer]] = {}
        self._used: list[GuardedBuffer] = []

    def take(self, num_bytes: int) -> GuardedBuffer:
        """Return a guarded buffer of *num_bytes* or more, which the caller may use until `clear`."""
        size = max(LEAST_BYTES, 1 << (max(num_bytes, 1) - 1).bit_length())
        spare = self._free.setdefault(size, [])
        place = spare.pop() if spare else GuardedBuffer(size)
        self._used.append(place)
        return place

    def allocate(self, num_bytes: int) -> Bytes:
        """Return *num_bytes* that end at a guard page; replaces the columnar engine's `allocate`."""
        return self.take(num_bytes + self.alignment).last(num_bytes, self.alignment)

    def allocate_zeros(self, num_bytes: int) -> Bytes:
        """Return what `allocate` does, but zero."""
        memory = self.allocate(num_bytes)
        memory[:] = 0
        return memory

    def binary_array(self, encoded_values: Sequence[bytes]) -> pa.Array:
        """Return *encoded_values* as an Arrow array whose bytes and offsets end at guard pages."""
        offsets = self.allocate(4 * (len(encoded_values) + 1))
        offsets[:] = np.cumsum([0, *map(len, encoded_values)], dtype=np.int32).view(np.uint8)
        joined = b"".join(encoded_values)
        guarded = self.take(max(len(joined), 1)).last(len(joined))
        guarded[:] = np.frombuffer(joined, np.uint8)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(guarded)]
        return pa.Array.from_buffers(pa.binary(), len(encoded_values), buffers)

    def clear(self) -> None:
        """Make all buffers free for reuse; no caller may use one of them any more."""
        for place in self._used:
            self._free[place.num_bytes].append(place)
        self._used.clear()


@contextmanager
def kernel_memory(places: GuardedBuffers, module: ModuleType) -> Iterator[None]:
    """Make the kernels of values allocate from *places*; at the end, *module* has its settings of memory again."""
    settings = [
        *((_buffers, name, getattr(_buffers, name)) for name in ("allocate", "allocate_zeros")),
        *((module, name, getattr(module, name)) for name in MEMORY_SETTINGS),
    ]
    _buffers.allocate, _buffers.allocate_zeros = places.allocate, places.allocate_zeros
    try:
        yield
    finally:
        for owner, name, setting in settings:
            setattr(owner, name, setting)


def draw_memory_settings(module: ModuleType, random: Random) -> None:
    """Draw how much memory *module*, which runs a kernel of values, provides at first and at most."""
    for name, choices in MEMORY_SETTINGS.items():
        setattr(module, name, random.choice(choices))


def use(places: GuardedBuffers) -> None:
    """Make the columnar engine in this process allocate all its memory from *places*, and cache none."""
    _buffers.allocate, _buffers.allocate_zeros = places.allocate, places.allocate_zeros
    POOL.max_bytes = 0
    _buffers.MIN_SCRATCH_BYTES = 1
    engine.MIN_SCANNED = _entry_run.MIN_DESCRIPTORS = 1


def begin_anew(places: GuardedBuffers, arrangement: Arrangement) -> None:
    """Free the columnar engine's buffers, and set the capacities for its next call.

    A payload of more than 64 times the scratch bytes is decompressed outside of the kernel.
    """
    places.clear()
    places.alignment = arrangement.alignment
    _buffers.reset()
    _output.MIN_CAPACITY = arrangement.min_capacity
    _output.MAX_COLUMN_BYTES = arrangement.max_column_bytes
    _entry_run.SCRATCH_BYTES = arrangement.scratch_bytes
    _entry_run.MAX_SCRATCH_BYTES = 64 * arrangement.scratch_bytes
