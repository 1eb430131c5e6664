"""Contents of control batches, memoized: a log repeats a few distinct transaction markers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from magicbyte.engines._record_headers import UNBOUNDED, BudgetError, WorkBudget
from magicbyte.engines.protocol import Chunk, Control, Engine, Entries, Entry
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

MAX_SHARED_CONTENTS = 16
"""Distinct contents with which all control batches of a chunk are compared together; others are looked up
one by one."""


class ControlContent(NamedTuple):
    """The parts of a decoded control batch that do not depend on its offset, time and producer."""

    control: Control | None
    num_rows: int
    is_sound: bool
    is_clean: bool
    """True if there is no finding."""


@dataclass(frozen=True, slots=True)
class ControlContents:
    """Contents of control batches. It iterates over one for each."""

    distinct: list[ControlContent]
    """The contents; some may be equal."""
    numbers: Indices
    """The index in *distinct* of the content of each control batch."""

    def __iter__(self) -> Iterator[ControlContent]:
        return map(self.distinct.__getitem__, self.numbers.tolist())


@dataclass
class ControlReader:
    """Reads control batches with the reference engine, and remembers their contents."""

    reference: ReferenceEngine = field(default_factory=ReferenceEngine)
    large: Engine | None = None
    """Engine that decodes batches of very many records; None: the reference engine."""
    _cache: dict[tuple[int, int, int | None, bytes], ControlContent] = field(default_factory=dict)

    def read(
        self, chunk: Chunk, entries: Entries, numbers: Indices, *, limits: Limits
    ) -> ControlContents:
        """Return the contents of control batches of *chunk*; *numbers* are their indices in *entries*."""
        distinct: list[ControlContent] = []
        content_numbers = np.full(len(numbers), -1, np.intp)
        names = ("codec", "record_count", "position", "size_bytes")
        codecs, counts, positions, sizes = (entries.column(name)[numbers] for name in names)
        begins, data = positions - chunk.position, np.frombuffer(chunk.data, np.uint8)
        for code in range(MAX_SHARED_CONTENTS):
            unread = np.flatnonzero(content_numbers < 0)
            if not len(unread):
                break
            first = int(unread[0])
            size = int(sizes[first])
            distinct.append(self.content(chunk, entries[int(numbers[first])], limits))
            content_numbers[first] = code
            if size > MAX_CACHED_SIZE:
                continue
            is_same = (sizes[unread] == size) & (codecs[unread] == codecs[first])
            alike = unread[is_same & (counts[unread] == counts[first])]
            section = np.arange(RecordBatchHeader.SIZE, size)
            stored = data[begins[alike][:, None] + section]
            content_numbers[alike[(stored == data[begins[first] + section]).all(axis=1)]] = code
        for index in np.flatnonzero(content_numbers < 0).tolist():
            content_numbers[index] = len(distinct)
            distinct.append(self.content(chunk, entries[int(numbers[index])], limits))
        return ControlContents(distinct, content_numbers)

    def content(self, chunk: Chunk, entry: Entry, limits: Limits) -> ControlContent:
        """Return the content of the control batch *entry*, from the cache if it has that."""
        data = chunk.bytes_of(entry)
        if entry.size_bytes > MAX_CACHED_SIZE:
            return self._decode(data, entry, limits)
        section = bytes(data[RecordBatchHeader.SIZE :])
        key = limits.max_batch_bytes, entry.codec, entry.record_count, section
        content = self._cache.get(key)
        if content is None:
            if len(self._cache) == MAX_CACHED_CONTENTS:
                self._cache.clear()
            content = self._cache[key] = self._decode(data, entry, limits)
        return content

    def _decode(self, data: memoryview, entry: Entry, limits: Limits) -> ControlContent:
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
