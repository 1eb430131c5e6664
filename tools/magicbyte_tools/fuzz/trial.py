"""Cases put to the columnar engine: alone for speed, or beside the reference engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import ColumnarEngine
from magicbyte.engines.protocol import Decoded, DecodedEntry, Engine, Entry
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.findings import Finding
from magicbyte_tools.fuzz import agreement, memory
from magicbyte_tools.fuzz.group import Arrangement

MakeEngine = Callable[[ReferenceEngine], Engine]
"""Makes the engine that is tried, given the reference engine that it may ask."""

REFUSED = Finding(code="bad-record", message="no kernel took it")
NO_ROWS = pa.RecordBatch.from_pylist([], pa.schema([]))


class Judge(ReferenceEngine):
    """A reference engine that records the calls to it, and decodes only where that is compared.

    Decoding would take most of the time, and Python code cannot read outside of a buffer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[int] = set()
        """The positions of the entries that the kernels left to it."""
        self.is_silent = False

    def decode(
        self, buffer: memoryview, entries: Sequence[Entry], *more: Any, **keys: Any
    ) -> Decoded:
        self.asked.update(entry.position for entry in entries)
        if self.is_silent:
            return Decoded(
                rows=NO_ROWS,
                headers=entries,
                num_rows=np.zeros(len(entries), np.int64),
                decompressed=np.zeros(len(entries), np.int64),
                told={n: DecodedEntry(findings=(REFUSED,)) for n in range(len(entries))},
            )
        return super().decode(buffer, entries, *more, **keys)


@dataclass(slots=True)
class Tried:
    """Results of one call on a group of entries."""

    framed: set[int] = field(default_factory=set)
    """The bytes at which there was an entry."""
    accepted: set[int] = field(default_factory=set)
    """Numbers of the cases that a kernel accepted."""
    differences: list[str] = field(default_factory=list)


class Trial:
    def __init__(self, make: MakeEngine | None = None) -> None:
        """Prepare this process: from now on all memory of its columnar engine is between guards."""
        self.places = memory.GuardedBuffers()
        memory.use(self.places)
        self.judge = Judge()
        self.engine = (make or ColumnarEngine)(self.judge)

    def run(self, cases: Sequence[bytes], arrangement: Arrangement, *, is_compared: bool) -> Tried:
        """Run the engine on *cases*, which are back to back and decoded in one call."""
        starts = [0]
        for data in cases:
            starts.append(starts[-1] + len(data))
        return self.run_bytes(b"".join(cases), starts[:-1], arrangement, is_compared=is_compared)

    def run_bytes(
        self, data: bytes, starts: Sequence[int], how: Arrangement, *, is_compared: bool
    ) -> Tried:
        """Run the engine on *data*; it scans from each of *starts* that it has not passed yet."""
        tried = Tried()
        memory.begin_anew(
            self.places,
            least_room=how.least_room,
            most_bytes=how.most_bytes,
            group_bytes=how.group_bytes,
        )
        self.places.alignment = how.alignment
        place = self.places.take(len(data))
        held = place.last(len(data)) if how.is_last else place.first(len(data))
        held[:] = np.frombuffer(data, np.uint8)
        self.judge.asked.clear()
        self.judge.is_silent = not is_compared
        self.judge.views = how.views
        entries = self._scanned(held.data, starts, how, tried, is_compared=is_compared)
        tried.framed.update(entry.position for entry in entries)
        columns, limits = how.columns, how.limits
        if is_compared:
            made, wrong = agreement.decoded(
                self.engine, held.data, entries, columns, origin=0, limits=limits
            )
            tried.differences += wrong
        else:
            made = self.engine.decode(held.data, entries, columns, origin=0, limits=limits)
        counts = zip(entries, made.num_rows.tolist(), strict=True)
        has_rows = {entry.position for entry, num_rows in counts if num_rows}
        tried.accepted = has_rows - self.judge.asked
        return tried

    def _verified(
        self, view: memoryview, origin: int, how: Arrangement, tried: Tried, *, is_compared: bool
    ) -> None:
        """Decode the entries of *view* after a scan, and in fused calls, with checksums verified."""
        columns, limits = how.columns, how.limits
        if is_compared:
            for judge in (agreement.decoded_runs, agreement.taken_runs):
                tried.differences += judge(self.engine, view, columns, origin=origin, limits=limits)
            return
        runs = agreement.runs_of(self.engine, view, origin=origin, verify=False, limits=limits)
        for scan, here, begin in runs:
            self.engine.decode(
                here, scan.entries, columns, origin=begin, limits=limits, verify=True
            )
        for _ in agreement.runs_at_once(self.engine, view, columns, origin=origin, limits=limits):
            pass  # this result is not compared: the test is that no guard page is touched

    def _scanned(
        self,
        view: memoryview,
        starts: Sequence[int],
        how: Arrangement,
        tried: Tried,
        *,
        is_compared: bool,
    ) -> list[Entry]:
        """Return the entries of *view*, with right and wrong checksums."""
        entries: list[Entry] = []
        position = 0
        for start in starts:
            if start < position:
                continue
            there = view[start:]
            if is_compared:
                *_, wrong = agreement.scanned(
                    self.engine, there, origin=start, verify=how.verify, limits=how.limits
                )
                tried.differences += wrong
            elif how.verify:
                self.engine.scan(there, origin=start, verify=True, limits=how.limits)
            if how.verify:
                self._verified(there, start, how, tried, is_compared=is_compared)
            found, size, _ = agreement.entries_of(
                self.engine, there, origin=start, verify=False, limits=how.limits
            )
            entries += found
            position = start + size
        return entries
