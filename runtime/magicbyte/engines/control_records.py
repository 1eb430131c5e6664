"""Contents of control batches, memoized: a log repeats a few distinct transaction markers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from magicbyte.engines._record_headers import UNBOUNDED, BudgetError, WorkBudget
from magicbyte.engines.protocol import Chunk, Control, Engine, Entries
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.tables.arrays import Indices
from magicbyte_formats.wire import RecordBatchHeader

MAX_CACHED_BYTES = 64
"""Largest records section that is cached. A transaction marker has 17 bytes."""

MAX_CACHED_SIZE = RecordBatchHeader.SIZE + MAX_CACHED_BYTES

MAX_RECORDS = 10_000
"""Records and headers of a control batch that the reference engine decodes, in a third of a second."""

MAX_CACHED_CONTENTS = 1024
"""Distinct contents that are cached. Each coordinator epoch makes two, commit and abort."""


class ControlContent(NamedTuple):
    """The parts of a decoded control batch that do not depend on its offset, time and producer."""

    control: Control | None
    num_rows: int
    is_sound: bool
    is_clean: bool
    """True if there is no finding."""


@dataclass
class ControlReader:
    """Reads control batches with the reference engine, and remembers their contents."""

    reference: ReferenceEngine = field(default_factory=ReferenceEngine)
    large: Engine | None = None
    """Engine that decodes batches of very many records; None: the reference engine."""
    _cache: dict[tuple[int, int, int, bytes], ControlContent] = field(default_factory=dict)

    def read(
        self, chunk: Chunk, entries: Entries, numbers: Indices, *, limits: Limits
    ) -> Iterator[ControlContent]:
        """Yield the content of each control batch of *chunk*; *numbers* are their indices in *entries*."""
        names = ("codec", "record_count", "position", "size_bytes")
        columns = [entries.column(name)[numbers].tolist() for name in names]
        for number, codec, count, position, size in zip(numbers.tolist(), *columns, strict=True):
            begin = position - chunk.position
            data = chunk.data[begin : begin + size]
            if size > MAX_CACHED_SIZE:
                yield self._decode(data, entries, number, limits)
                continue
            key = limits.max_batch_bytes, codec, count, bytes(data[RecordBatchHeader.SIZE :])
            content = self._cache.get(key)
            if content is None:
                if len(self._cache) == MAX_CACHED_CONTENTS:
                    self._cache.clear()
                content = self._cache[key] = self._decode(data, entries, number, limits)
            yield content

    def _decode(
        self, data: memoryview, entries: Entries, number: int, limits: Limits
    ) -> ControlContent:
        entry = entries[number]
        budget = UNBOUNDED if self.large is None else WorkBudget(MAX_RECORDS)
        try:
            _, decoded = self.reference.decode_entry(data, entry, (), limits, budget=budget)
        except BudgetError:
            assert self.large is not None
            chunk = Chunk(data, entry.position)
            decoded = self.large.decode(chunk, (), limits=limits, verify=False).result(0)
        return ControlContent(
            decoded.control, decoded.num_rows, decoded.is_sound, not decoded.findings
        )
