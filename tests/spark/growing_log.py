"""Writes a log directory as it was at earlier times, up to a batch of each partition."""

import struct
from pathlib import Path

from paths import DATA

CLUSTER = DATA / "4.3" / "transactions" / "log-0"
PARTITIONS = ("aborted-0", "interleaved-0", "interleaved-1", "open-0")


def entries_of(segment: Path) -> list[bytes]:
    data, entries = segment.read_bytes(), []
    while data:
        size = 12 + struct.unpack_from(">i", data, 8)[0]
        entries.append(data[:size])
        data = data[size:]
    return entries


def write_part(target: Path, share: float) -> None:
    """Write the first *share* of the entries of each partition, as a log directory is that grows."""
    for name in PARTITIONS:
        segments = sorted((CLUSTER / name).glob("*.log"))
        left = round(share * sum(len(entries_of(segment)) for segment in segments))
        for segment in segments:
            entries = entries_of(segment)[:left]
            left -= len(entries)
            if entries or segment is segments[0]:
                (target / name).mkdir(parents=True, exist_ok=True)
                (target / name / segment.name).write_bytes(b"".join(entries))
