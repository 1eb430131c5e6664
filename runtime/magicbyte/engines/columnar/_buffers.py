"""Pools of memory for the kernels: columns, descriptors and scratch memory.

Memory is reused, because the first write to a fresh page takes longer than all work of a kernel on it.
Memory of columns is reused once Arrow has dropped the last column in it; scratch memory belongs to a thread.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

ALIGNMENT = 64
"""Alignment that Arrow recommends, in bytes."""

MAX_SPARE_BYTES = 64 << 20
"""Released memory that the pool keeps, of all columns in total."""

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]
EMPTY: Bytes = np.empty(0, np.uint8)

Descriptors = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""A row of int64 fields for each entry: `NAMES` of a format's description are their indices."""

MAX_CACHED_BYTES = 16 << 20
"""Scratch memory that a thread keeps for a purpose; larger memory is freed after its use."""

MIN_SCRATCH_BYTES = 1 << 20
"""Smallest scratch memory, so that the next calls need no more."""


def allocate(num_bytes: int) -> Bytes:
    """Return *num_bytes* of aligned memory, not initialized.

    All memory that kernels access and that is not the caller's is allocated here, so that a fuzzer can
    place it between guard pages.
    """
    memory: Bytes = np.empty(num_bytes + ALIGNMENT, np.uint8)
    skipped = -address(memory) % ALIGNMENT
    return memory[skipped : skipped + num_bytes]


def allocate_zeros(num_bytes: int) -> Bytes:
    """Return what `allocate` does, but zero: the operating system clears its pages when they are used."""
    memory: Bytes = np.zeros(num_bytes + ALIGNMENT, np.uint8)
    skipped = -address(memory) % ALIGNMENT
    return memory[skipped : skipped + num_bytes]


class ColumnMemory:
    """The buffers of one Arrow batch, which are pooled together."""

    __slots__ = ("addresses", "initial_state", "num_bytes", "parts", "sizes", "structs")

    def __init__(self, count: int) -> None:
        self.initial_state: Any = None
        """Kernel state without rows, with the addresses and capacities of these buffers."""
        self.structs: Any = None
        """Arrow's C structs that describe these buffers."""
        self.parts: list[Bytes] = [EMPTY] * count
        self.addresses = np.zeros(count, np.int64)
        self.sizes = np.zeros(count, np.int64)
        self.num_bytes = 0

    def grow(self, number: int, num_bytes: int, num_kept: int) -> None:
        """Replace buffer *number* by one of *num_bytes*; copy its first *num_kept* bytes (zeros if new)."""
        old, new = self.parts[number], allocate(num_bytes)
        new[:num_kept] = old[:num_kept] if len(old) else 0
        self.parts[number] = new
        self.num_bytes += num_bytes - len(old)
        self.addresses[number], self.sizes[number] = address(new), num_bytes


class MemoryPool:
    """Pool of released column memory, by use: columns of one layout need similar sizes each time."""

    def __init__(self, max_bytes: int = MAX_SPARE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.RLock()  # a destructor may release memory while this thread holds it
        self._spare: dict[object, list[ColumnMemory]] = {}
        self._num_bytes = 0

    def acquire(self, use: object, count: int) -> ColumnMemory:
        """Return released memory of the same *use*, else new memory for *count* buffers; not initialized."""
        with self._lock:
            spare = self._spare.get(use)
            if not spare:
                return ColumnMemory(count)
            memory = spare.pop()
            if not spare:
                del self._spare[use]
            self._num_bytes -= memory.num_bytes
            return memory

    def release(self, use: object, memory: ColumnMemory) -> None:
        """Keep *memory* for the next use; evict the memory that was released longest ago if there is too much."""
        with self._lock:
            own = self._spare.pop(use, [])
            while self._spare and self._num_bytes + memory.num_bytes > self.max_bytes:
                oldest = next(iter(self._spare))
                self._num_bytes -= self._spare[oldest].pop().num_bytes
                if not self._spare[oldest]:
                    del self._spare[oldest]
            if self._num_bytes + memory.num_bytes <= self.max_bytes:
                own.append(memory)
                self._num_bytes += memory.num_bytes
            if own:
                self._spare[use] = own


@dataclass(slots=True, eq=False)
class MemoryLease:
    """Object that Arrow holds while it needs the columns; its destructor releases their memory."""

    pool: MemoryPool
    use: object
    memory: ColumnMemory
    referenced: Any = None
    """Objects that must live as long: validity bitmaps, and the buffer that views refer to."""

    def __del__(self) -> None:
        self.pool.release(self.use, self.memory)


POOL = MemoryPool()


def address(memory: "np.ndarray[Any, Any]") -> int:
    """Return the address of *memory*: five times as fast as through NumPy's own attributes."""
    return int(pa.py_buffer(memory).address)


# Memory of a thread

_of_thread = threading.local()
_size_estimates: dict[object, Any] = {}


def descriptor_table(count: int, width: int) -> Descriptors:
    """Allocate a table of *count* descriptors of *width* fields."""
    return allocate(count * width * 8).view(np.int64).reshape(count, width)


def scratch(purpose: str, num_bytes: int) -> Bytes:
    """Return at least *num_bytes* of scratch memory, valid until this thread's next call for *purpose*."""
    cache: dict[str, Bytes] = _of_thread.__dict__.setdefault("scratch", {})
    memory = cache.get(purpose)
    if memory is None or len(memory) < num_bytes:
        memory = allocate(max(num_bytes, MIN_SCRATCH_BYTES))
        if len(memory) <= MAX_CACHED_BYTES:
            cache[purpose] = memory
    return memory


def drop_scratch(purpose: str) -> None:
    """Free this thread's scratch memory for *purpose*."""
    _of_thread.__dict__.get("scratch", {}).pop(purpose, None)


def cached(cache_key: object, make: Callable[[], Any]) -> Any:
    """Return this thread's cached value for *cache_key*; *make* creates it at the first use."""
    values = _of_thread.__dict__.setdefault("values", {})
    if cache_key not in values:
        values[cache_key] = make()
    return values[cache_key]


def size_estimates() -> dict[object, Any]:
    """Return size estimates from earlier calls, shared by all threads, to size first allocations."""
    return _size_estimates


def reset() -> None:
    """Forget all size estimates, and free the memory of this thread."""
    _of_thread.__dict__.clear()
    _size_estimates.clear()
