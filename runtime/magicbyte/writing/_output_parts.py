"""A partition that is to be written, as a stream of parts: where segments begin, and log entries."""

from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class NewSegment:
    """The beginning of a segment."""

    base_offset: int
    """The offset after which the segment file is named; no entry of it is below."""


@dataclass(frozen=True, slots=True)
class EntryBytes:
    """Log entries as bytes."""

    data: memoryview
    """Whole entries back to back, in the order of their offsets."""
    entries: Entries | None = None
    """Their headers, if they are known. Positions count from the position of the first one."""


OutputPart = NewSegment | EntryBytes


def headers_of(entry_bytes: EntryBytes, limits: Limits = DEFAULT_LIMITS) -> Entries:
    """Return the headers of the entries of *entry_bytes*."""
    if entry_bytes.entries is not None:
        return entry_bytes.entries
    chunk, runs = Chunk(entry_bytes.data, 0), []
    scanner = engine("auto")
    while len(chunk.data):
        scan = scanner.scan(chunk, verify=False, limits=limits)
        assert scan.end, "the part has whole entries"
        runs.append(scan.entries)
        chunk = chunk.after(scan.end)
    return Entries() if not runs else runs[0].followed_by(runs[1:])


def starts_of(entries: Entries) -> Numbers:
    """Return where each of *entries* begins in the bytes of its part."""
    positions = entries.column("position")
    return positions - positions[0] if len(positions) else np.zeros(0, np.int64)
