"""Runs the columnar engine on fuzz cases, and on request compares it with the reference engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import ColumnarEngine
from magicbyte.engines.protocol import Chunk, DecodedEntry, Engine, Entry
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte_tools.fuzz import agreement, memory
from magicbyte_tools.fuzz.group import Arrangement

MakeEngine = Callable[[ReferenceEngine], Engine]
"""Function that creates the engine under test, given the reference engine that it falls back to."""

REFUSED = Finding(code="bad-record", message="no kernel took it")
NO_ROWS = pa.RecordBatch.from_pylist([], pa.schema([]))


class Judge(ReferenceEngine):
    """Reference engine that records which entries it is given, and decodes them only if they are compared.

    Decoding would take most of the time, and Python code cannot read outside of a buffer anyway.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[int] = set()
        """Positions of the entries that the kernels left to the reference engine."""
        self.is_silent = False

    def decode_entry(
        self,
        data: memoryview,
        entry: Entry,
        columns: Sequence[str],
        limits: Limits,
        **more: Any,
    ) -> tuple[pa.RecordBatch, DecodedEntry]:
        self.asked.add(entry.position)
        if self.is_silent:
            return NO_ROWS, DecodedEntry(findings=(REFUSED,))
        return super().decode_entry(data, entry, columns, limits, **more)


@dataclass(slots=True)
class Tried:
    """Results of the engine on the entries of a call, by their positions in the bytes."""

    framed: set[int] = field(default_factory=set)
    """Positions of log entries with a sound frame."""
    accepted: set[int] = field(default_factory=set)
    """Positions of the entries that a kernel decoded to rows."""
    differences: list[str] = field(default_factory=list)


class Trial:
    def __init__(self, make: MakeEngine | None = None) -> None:
        """Prepare this process: from now on its columnar engine allocates between guard pages."""
        self.places = memory.GuardedBuffers()
        memory.use(self.places)
        self.judge = Judge()
        self.engine = (make or ColumnarEngine)(self.judge)

    def run(self, cases: Sequence[bytes], arrangement: Arrangement, *, is_compared: bool) -> Tried:
        """Run the engine on *cases*, placed one after another in one buffer."""
        starts = [*accumulate(map(len, cases), initial=0)][:-1]
        return self.run_bytes(b"".join(cases), starts, arrangement, is_compared=is_compared)

    def run_bytes(
        self, data: bytes, starts: Sequence[int], how: Arrangement, *, is_compared: bool
    ) -> Tried:
        """Run the engine on *data* from each position in *starts* that the entries before do not cover."""
        tried = Tried()
        memory.begin_anew(self.places, how)
        place = self.places.take(len(data))
        held = place.last(len(data)) if how.is_last else place.first(len(data))
        held[:] = np.frombuffer(data, np.uint8)
        self.judge.asked.clear()
        self.judge.is_silent = not is_compared
        self.judge.views = how.views
        position = 0
        for start in starts:
            if start >= position:
                view = held.data[start:]
                position = start + self._run_from(view, start, how, tried, is_compared=is_compared)
        return tried

    def _run_from(
        self, view: memoryview, start: int, how: Arrangement, tried: Tried, *, is_compared: bool
    ) -> int:
        """Scan and decode the entries at the beginning of *view*; return their size in bytes."""
        engine, columns, limits = self.engine, how.columns, how.limits
        chunk = Chunk(view, start)
        if is_compared:
            tried.differences += agreement.scan_differences(
                engine, chunk, verify=how.verify, limits=limits
            )
        elif how.verify:
            engine.scan(chunk, verify=True, limits=limits)
        entries, end, _ = agreement.entries_of(engine, chunk, verify=False, limits=limits)
        tried.framed.update(entry.position for entry in entries)
        for verify, max_bytes in agreement.RUNS:
            if verify and not how.verify:
                continue
            of_entries = Chunk(view[:end], start)
            options: dict[str, Any] = {"limits": limits, "verify": verify, "max_bytes": max_bytes}
            if is_compared:
                tried.differences += agreement.run_differences(
                    engine, of_entries, columns, **options
                )
            for decoded, _ in agreement.decoded_runs(engine, of_entries, columns, **options):
                counts = zip(decoded.entries, decoded.num_rows.tolist(), strict=True)
                has_rows = {entry.position for entry, num_rows in counts if num_rows}
                tried.accepted |= has_rows - self.judge.asked
        return end
