"""Decodes entries whose checksums are verified already."""

from collections.abc import Iterator, Sequence

from magicbyte.engines.protocol import Chunk, Decoded, Engine
from magicbyte.limits import Limits
from magicbyte.reading._walk import max_batch_bytes


def decode_verified(
    engine: Engine, chunk: Chunk, num_entries: int, columns: Sequence[str], *, limits: Limits
) -> Iterator[Decoded]:
    """Decode the first *num_entries* of *chunk*, whose checksums are verified, one Arrow batch at a time."""
    max_bytes = max_batch_bytes(columns)
    while num_entries:
        decoded = engine.decode(
            chunk,
            columns,
            limits=limits,
            max_bytes=max_bytes,
            verify=False,
            max_entries=num_entries,
        )
        chunk, num_entries = chunk.after(decoded.end), num_entries - len(decoded.entries)
        yield decoded
        del decoded  # free the rows before decoding more
