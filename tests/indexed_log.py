"""Partitions with offset indexes, as a broker writes them: an entry at each 4 KiB."""

from collections.abc import Sequence
from pathlib import Path

import log_builder as build
from magicbyte_tools.vectors.companion_cases import offset_index

INTERVAL = 4096
"""Default of `index.interval.bytes`."""


def indexed_files(
    batches: Sequence[bytes], base: int = 0, *, per_batch: int = 1
) -> tuple[bytes, bytes]:
    """Return the segment of *batches*, each of *per_batch* offsets from *base* on, and its offset index."""
    entries, position, since_last = [], 0, 0
    for number, data in enumerate(batches):
        if since_last > INTERVAL:
            entries.append(((number + 1) * per_batch - 1, position))
            since_last = 0
        position += len(data)
        since_last += len(data)
    return b"".join(batches), offset_index(*entries)


def value_of(offset: int) -> bytes:
    return b"%d " % offset * 150


def batches(first: int, end: int, size: int = 4) -> list[bytes]:
    """Return batches of *size* records with the offsets from *first* to before *end*."""
    return [
        build.batch_of(base, *map(value_of, range(base, base + size)))
        for base in range(first, end, size)
    ]


def write_segment(
    folder: Path, data: Sequence[bytes], base: int = 0, *, per_batch: int = 4
) -> Path:
    """Write *data*, batches of *per_batch* offsets each, as a segment with its offset index."""
    folder.mkdir(parents=True, exist_ok=True)
    log, index = indexed_files(data, base, per_batch=per_batch)
    path = folder / f"{base:020}.log"
    path.write_bytes(log)
    path.with_suffix(".index").write_bytes(index)
    return path


def write_snapshot(folder: Path, base: int, *producers: tuple[int, int, int, int]) -> None:
    """Write a producer snapshot of *producers*, as `log_builder.producer_snapshot` takes them."""
    (folder / f"{base:020}.snapshot").write_bytes(build.producer_snapshot(*producers))
