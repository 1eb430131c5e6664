"""Memory that a thread uses again in its next call, and size estimates that all threads share."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.buffers import Bytes

Descriptors = np.ndarray[tuple[int, int], np.dtype[np.int64]]
"""A row of int64 fields for each entry: `NAMES` of a format's description are their indices."""

MAX_CACHED_BYTES = 16 << 20
"""Scratch memory that a thread keeps for a purpose; larger memory is freed after its use."""

MIN_SCRATCH_BYTES = 1 << 20
"""Smallest scratch memory, so that the next calls need no more."""

_of_thread = threading.local()
_size_estimates: dict[object, Any] = {}


def descriptor_table(count: int, width: int) -> Descriptors:
    """Allocate a table of *count* descriptors of *width* fields."""
    return buffers.allocate(count * width * 8).view(np.int64).reshape(count, width)


def scratch(purpose: str, num_bytes: int) -> Bytes:
    """Return at least *num_bytes* of scratch memory, valid until this thread's next call for *purpose*."""
    cache: dict[str, Bytes] = _of_thread.__dict__.setdefault("scratch", {})
    memory = cache.get(purpose)
    if memory is None or len(memory) < num_bytes:
        memory = buffers.allocate(max(num_bytes, MIN_SCRATCH_BYTES))
        if len(memory) <= MAX_CACHED_BYTES:
            cache[purpose] = memory
    return memory


def drop_scratch(purpose: str) -> None:
    """Free this thread's scratch memory for *purpose*."""
    _of_thread.__dict__.get("scratch", {}).pop(purpose, None)


def cached(key: object, make: Callable[[], Any]) -> Any:
    """Return this thread's value of *key*; *make* makes it at the first use."""
    values = _of_thread.__dict__.setdefault("values", {})
    if key not in values:
        values[key] = make()
    return values[key]


def size_estimates() -> dict[object, Any]:
    """Return size estimates from earlier calls, shared by all threads, to size first allocations."""
    return _size_estimates


def reset() -> None:
    """Forget all size estimates, and free the memory of this thread."""
    _of_thread.__dict__.clear()
    _size_estimates.clear()
