"""What is kept between calls: by each thread tables of descriptors and places for plain bytes, by all
of them sizes."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.buffers import Bytes

Numbers = np.ndarray[tuple[int, int], np.dtype[np.int64]]

MAX_KEPT_BYTES = 16 << 20

LEAST_DESCRIPTORS = 4096
LEAST_BYTES = 1 << 20
"""What is made at once, so that the next calls find enough."""

_kept = threading.local()
_learnt: dict[object, Any] = {}


def descriptors(count: int, width: int) -> Numbers:
    """Return a table of *count* descriptors, good until the next call for this width."""
    tables: dict[int, Numbers] = _kept.__dict__.setdefault("descriptors", {})
    if width not in tables or len(tables[width]) < count:
        tables[width] = new_descriptors(max(count, LEAST_DESCRIPTORS), width)
    return tables[width][:count]


def new_descriptors(count: int, width: int) -> Numbers:
    """Return a table of *count* descriptors of the caller's own."""
    return buffers.fresh(count * width * 8).view(np.int64).reshape(count, width)


def room(use: str, num_bytes: int) -> Bytes:
    """Return *num_bytes* or more for *use*, good until the next call for it."""
    rooms: dict[str, Any] = _kept.__dict__.setdefault("rooms", {})
    buffer: Bytes | None = rooms.get(use)
    if buffer is None or len(buffer) < num_bytes:
        buffer = buffers.fresh(max(num_bytes, LEAST_BYTES))
        if len(buffer) <= MAX_KEPT_BYTES:
            rooms[use] = buffer
    return buffer


def forget_room(use: str) -> None:
    """Keep nothing for *use*."""
    _kept.__dict__.get("rooms", {}).pop(use, None)


def kept(use: object, make: Callable[[], Any]) -> Any:
    """Return what this thread has for *use*, or else what *make* makes."""
    found = _kept.__dict__.setdefault("others", {})
    if use not in found:
        found[use] = make()
    return found[use]


def learnt() -> dict[object, Any]:
    """Return what was needed the last time, by whom, in any thread: a new one begins with as much."""
    return _learnt


def forget() -> None:
    """Keep no size, and nothing of this thread's: what comes next is as large as it must be."""
    _kept.__dict__.clear()
    _learnt.clear()
