"""The engine: kernels where they go on, the reference engine where they stop."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa

from magicbyte.engines import Decoded, DecodedEntry, Entry, Scan
from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.formats import format_of
from magicbyte.engines.columnar.group import Group
from magicbyte.engines.columnar.scratch import descriptors
from magicbyte.engines.entry import LEAST_SIZES
from magicbyte.engines.reference import ReferenceEngine, rows_of_nothing
from magicbyte.limits import Limits
from magicbyte_formats.wire import EntryHeader

MOST_AT_ONCE = 4096
"""Entries that are described at once."""


class ColumnarEngine:
    name = "columnar"

    def __init__(self) -> None:
        self._reference = ReferenceEngine()

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        view = np.frombuffer(buffer, np.uint8)
        begin, length = address(view), len(view)
        entries: list[Entry] = []
        computed: list[int | None] = []
        position = 0
        while position < length and (stop is None or len(entries) < stop):
            most = MOST_AT_ONCE if stop is None else min(MOST_AT_ONCE, stop - len(entries))
            count, size = 0, 0
            magic = _magic_at(buffer, position)
            if magic is not None:
                chosen = format_of(magic)
                desc = descriptors(most, chosen.kernels.WIDTH)
                count, size = chosen.kernels.scan(
                    begin + position, length - position, most, verify, desc
                )
                entries += chosen.entries(desc[:count], origin + position)
                sums = desc[:count, chosen.kernels.NAMES["computed"]].tolist()
                computed += sums if verify else [None] * count
            if not count:
                # What is wrong here, or unusual, the reference says.
                found = self._reference.scan_at(
                    buffer, position, origin=origin, verify=verify, stop=1
                )
                if not found.entries:
                    return Scan(entries, computed, position, found.stopped_by)
                entries += found.entries
                computed += found.computed
                size = found.end - position
            position += size
        return Scan(entries, computed, position, None)

    def decode(
        self,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
    ) -> Decoded:
        decoded: list[DecodedEntry] = []
        rows: list[pa.RecordBatch] = []
        for _, run in groupby(entries, lambda entry: entry.magic < 2):
            group = Group(self._reference, buffer, list(run), columns, origin=origin, limits=limits)
            decoded += group.decode()
            rows += group.rows()
        if not rows:
            nothing = self._reference.decode(buffer, [], columns, origin=origin, limits=limits)
            return Decoded(nothing.rows, decoded)
        return Decoded(_joined(rows), decoded)


def _magic_at(buffer: memoryview, position: int) -> int | None:
    """Return the magic of the entry at *position*, if it is one that there are kernels for."""
    at = position + EntryHeader.POSITIONS["magic"]
    return buffer[at] if at < len(buffer) and buffer[at] in LEAST_SIZES else None


def _joined(rows: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    if len(rows) == 1:
        return rows[0]
    if not rows[0].num_columns:
        return rows_of_nothing(sum(batch.num_rows for batch in rows))
    return pa.concat_batches(rows)
