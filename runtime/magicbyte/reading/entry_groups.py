"""Size of Arrow batches, in bytes of log entries."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from magicbyte.engines.protocol import Decoded, Engine
from magicbyte.limits import MIB, Limits
from magicbyte.tables.schemas import WIRE_TYPES

MAX_BATCH_BYTES = 4 * MIB
"""Decompressed bytes of the entries in an Arrow batch, until which entries are added."""

MAX_NUMBERS_BATCH_BYTES = 16 * MIB
"""The same if all columns are numbers, which are a small part of the entries' bytes."""


def max_batch_bytes(columns: Sequence[str]) -> int:
    """Return the decompressed bytes of entries for an Arrow batch of the wire *columns*."""
    for name in columns:
        if not pa.types.is_primitive(WIRE_TYPES[name]):
            return MAX_BATCH_BYTES
    return MAX_NUMBERS_BATCH_BYTES


def decode_verified(
    engine: Engine,
    buffer: memoryview,
    num_entries: int,
    columns: Sequence[str],
    *,
    origin: int,
    limits: Limits,
) -> Iterator[Decoded]:
    """Decode the first entries of *buffer*, whose checksums are known to be right, for a batch at a time."""
    position, max_bytes = 0, max_batch_bytes(columns)
    while num_entries:
        decoded = engine.decode(
            buffer[position:],
            columns,
            origin=origin + position,
            limits=limits,
            max_bytes=max_bytes,
            verify=False,
            stop=num_entries,
        )
        position, num_entries = position + decoded.end, num_entries - len(decoded.entries)
        yield decoded
        del decoded  # free the rows before decoding more
