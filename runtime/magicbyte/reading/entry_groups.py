"""Entries that are verified and decoded together."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from magicbyte.engines.protocol import Decoded, Engine, Entries
from magicbyte.limits import MIB, Limits
from magicbyte.tables.schemas import WIRE_TYPES

MAX_GROUP_BYTES = 4 * MIB
"""Bytes of entries that go into one record batch; only a larger entry makes a larger batch."""

MAX_GROUP_BYTES_OF_NUMBERS = 16 * MIB
"""What goes into one of numbers alone, which come to a part of that."""


def max_group_bytes(columns: Sequence[str]) -> int:
    """Return the bytes of entries that go into one record batch of *columns* of the wire."""
    are_numbers = all(pa.types.is_primitive(WIRE_TYPES[name]) for name in columns)
    return MAX_GROUP_BYTES_OF_NUMBERS if are_numbers else MAX_GROUP_BYTES


def groups(entries: Entries, max_bytes: int) -> Iterator[Entries]:
    """Yield *entries*, which lie back to back, in runs of so many bytes, as they are stored."""
    # Of small ones there are many: their sizes are looked at only where that tells something.
    if _num_bytes(entries) <= max_bytes:
        yield from (entries,) if entries else ()
        return
    ends = np.cumsum(entries.column("size_bytes"))
    first = 0
    while first < len(entries):
        most = max_bytes + (int(ends[first - 1]) if first else 0)
        end = max(int(np.searchsorted(ends, most, "right")), first + 1)
        yield entries[first:end]
        first = end


def _num_bytes(entries: Entries) -> int:
    """Return the bytes from the first entry's beginning to the last one's end."""
    if not entries:
        return 0
    first, last = entries[:1], entries[-1:]
    end = last.column("position")[0] + last.column("size_bytes")[0]
    return int(end - first.column("position")[0])


def decode_groups(
    engine: Engine,
    buffer: memoryview,
    entries: Entries,
    columns: Sequence[str],
    *,
    origin: int,
    limits: Limits,
    verify: bool,
) -> Iterator[tuple[Entries, Decoded]]:
    """Yield *entries* in runs with their decoded records, each for one record batch.

    A run ends, too, where what it comes to decompressed is enough for one, and in front of the
    first entry whose checksum is wrong, if those are to be verified; that run, which may be empty,
    is the last then.
    """
    max_bytes = max_group_bytes(columns)
    for group in groups(entries, max_bytes):
        while group:
            found = engine.decode(
                buffer,
                group,
                columns,
                origin=origin,
                limits=limits,
                most_bytes=max_bytes,
                verify=verify,
            )
            count = len(found.num_rows)
            yield group[:count], found
            if found.computed is not None:
                return
            del found  # its memory is used again by what comes next
            group = group[count:]
