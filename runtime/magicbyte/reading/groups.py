"""Entries that are decoded together."""

from collections.abc import Iterator

import numpy as np

from magicbyte.engines import Entries
from magicbyte.limits import MIB

MAX_GROUP_BYTES = 4 * MIB
"""Bytes of entries that go into one record batch; only a larger entry makes a larger batch."""

EXPANSION = 16
"""What a byte of a compressed entry counts for there, as nobody knows what it comes to."""


def groups(entries: Entries, expansion: int = EXPANSION) -> Iterator[Entries]:
    """Yield *entries* in runs; a byte of a compressed one counts for *expansion*."""
    is_compressed = entries.column("codec") != 0
    ends = np.cumsum(entries.column("size_bytes") * np.where(is_compressed, expansion, 1))
    first = 0
    while first < len(entries):
        most = MAX_GROUP_BYTES + (int(ends[first - 1]) if first else 0)
        end = max(int(np.searchsorted(ends, most, "right")), first + 1)
        yield entries[first:end]
        first = end
