"""What a thread keeps between calls: tables of descriptors, and places for plain bytes."""

import threading
from typing import Any

import numpy as np

from magicbyte.engines.columnar.buffers import Bytes

Numbers = np.ndarray[tuple[int, int], np.dtype[np.int64]]

MAX_KEPT_BYTES = 16 << 20

_kept = threading.local()


def descriptors(count: int, width: int) -> Numbers:
    """Return a table of *count* descriptors, good until the next call for this width."""
    tables: dict[int, Numbers] = _kept.__dict__.setdefault("descriptors", {})
    if width not in tables or len(tables[width]) < count:
        tables[width] = np.empty((max(count, 4096), width), np.int64)
    return tables[width][:count]


def room(use: str, num_bytes: int) -> Bytes:
    """Return *num_bytes* or more for *use*, good until the next call for it."""
    rooms: dict[str, Any] = _kept.__dict__.setdefault("rooms", {})
    found: Bytes | None = rooms.get(use)
    if found is None or len(found) < num_bytes:
        found = np.empty(max(num_bytes, 1 << 20), np.uint8)
        if len(found) <= MAX_KEPT_BYTES:
            rooms[use] = found
    return found
