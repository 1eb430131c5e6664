"""Partitions whose segments have offset and time indexes, as a broker writes them, for any timestamps."""

from collections.abc import Sequence
from pathlib import Path

import log_builder as build
from indexed_log import INTERVAL
from magicbyte_tools.vectors.companion_cases import offset_index, time_index

LOG_APPEND_TIME = 8
"""Bit of the attributes of a batch whose records all have its largest timestamp."""


def timed_batch(base: int, times: Sequence[int], size_bytes: int, flags: int = 0) -> bytes:
    """Return a batch with a record for each of *times*, of about *size_bytes*."""
    value = b"%d " % base + b"." * (size_bytes // len(times))
    records = [
        build.record(value, delta=number, time_delta=time - times[0])
        for number, time in enumerate(times)
    ]
    return build.batch(records, base, time=times[0], max_time=max(times), flags=flags)


def write_timed_segment(
    folder: Path,
    base: int,
    batch_times: Sequence[Sequence[int]],
    *,
    size_bytes: int = 1500,
    flags: int = 0,
    is_closed: bool = True,
) -> Path:
    """Write a segment with a batch for each of *batch_times*, the timestamps of its records (LogSegment.append)."""
    folder.mkdir(parents=True, exist_ok=True)
    positions: list[tuple[int, int]] = []
    times: list[tuple[int, int]] = []
    latest, latest_offset, since_last = -1, base, 0

    def append_time() -> None:
        if latest > (times[-1][0] if times else -1):
            times.append((latest, latest_offset - base))

    data = bytearray()
    offset = base
    for record_times in batch_times:
        last = offset + len(record_times) - 1
        if max(record_times) > latest:
            latest, latest_offset = max(record_times), last
        if since_last > INTERVAL:
            positions.append((last - base, len(data)))
            append_time()
            since_last = 0
        batch = timed_batch(offset, record_times, size_bytes, flags)
        data += batch
        since_last += len(batch)
        offset = last + 1
    if is_closed:
        append_time()
    path = folder / f"{base:020}.log"
    path.write_bytes(data)
    path.with_suffix(".index").write_bytes(offset_index(*positions))
    path.with_suffix(".timeindex").write_bytes(time_index(*times))
    return path
