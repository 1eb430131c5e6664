"""Offset and time indexes beside the entries that they lead to.

An index is wrong where a search through it would miss a record: Kafka begins at the place of the
last entry that is not above what is looked for. That is less than Kafka's own tool asks, which
takes sound indexes for wrong ones: an entry may hold the offset of any record of a batch, or of
the last of several that were appended at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from magicbyte.engines.entry_columns import NO_VALUE, Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.errors import MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.indexes import MAX_INDEX_BYTES, check_index, without_zeros
from magicbyte.logdir.log_file import LogFile
from magicbyte.logdir.row_files import RowFormat
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.tables.arrays import Mask
from magicbyte_formats.wire import OffsetIndexEntry, TimeIndexEntry

ROWS: dict[str, type[RowFormat]] = {"index": OffsetIndexEntry, "timeindex": TimeIndexEntry}


@dataclass(slots=True)
class _Index:
    """An index that goes up as it must, while the entries of its segment pass by."""

    file: LogFile
    keys: Numbers
    """What each of its entries is found by: a position, or an offset in a time index."""
    told: Numbers
    """What each says: an offset, or a time."""
    done: int = 0
    highest: int = -1
    """Offset, or time, of all that has passed."""
    wrong: list[int] = field(default_factory=list)

    def take(self, keys: Numbers, told: Numbers) -> None:
        """Compare with entries that have *keys*, and say *told*."""
        end = int(np.searchsorted(self.keys, keys[-1], "right"))
        if end > self.done:
            part = slice(self.done, end)
            at = np.searchsorted(keys, self.keys[part])
            before = np.maximum.accumulate(np.concatenate([[self.highest], told]))[at]
            are_right = self.are_right(part, keys[at], told[at], before)
            self.wrong.extend((np.flatnonzero(~are_right) + self.done).tolist())
            self.done = end
        self.highest = max(self.highest, int(told.max()))

    def are_right(self, part: slice, keys: Numbers, told: Numbers, before: Numbers) -> Mask:
        """Return which entries are right, that lead to those with *keys*, behind *before*."""
        raise NotImplementedError

    def expected(self, number: int) -> str:
        raise NotImplementedError


class _Places(_Index):
    """Positions, and the offsets from which on a search begins there."""

    def are_right(self, part: slice, keys: Numbers, told: Numbers, before: Numbers) -> Mask:
        is_entry: Mask = keys == self.keys[part]
        is_behind: Mask = self.told[part] > before
        return is_entry & is_behind

    def expected(self, number: int) -> str:
        return f"offset {self.told[number]} at byte {self.keys[number]}"


class _Times(_Index):
    """Offsets, and the highest time up to there."""

    def are_right(self, part: slice, keys: Numbers, told: Numbers, before: Numbers) -> Mask:
        is_time: Mask = told == self.told[part]
        is_highest: Mask = self.told[part] >= before
        return is_time & is_highest

    def expected(self, number: int) -> str:
        return f"time {self.told[number]} at offset {self.keys[number]}"


class IndexCheck:
    """The indexes of a partition's segments, while their entries are read in order."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self._last_base = log.logs[-1].base_offset if log.logs else None
        """Of the segment that a broker appends to, whose indexes end in zeros."""
        self._indexes: dict[str, list[_Index]] = {}
        self.findings: list[Finding] = []
        """Of indexes that are none, as they come to light."""

    def take(self, segment: LogFile, entries: Entries) -> None:
        """Compare the indexes of *segment* with sound *entries* of it, which follow on the last ones."""
        if segment.path not in self._indexes:
            self._indexes[segment.path] = list(self._read(segment))
        if not len(entries):
            return
        offsets = np.maximum.accumulate(entries.column("last_offset"))
        times = entries.column("max_timestamp")
        times = np.where(times == NO_VALUE, -1, times)
        for index in self._indexes[segment.path]:
            if isinstance(index, _Places):
                index.take(entries.column("position"), offsets)
            else:
                index.take(offsets, times)

    def _read(self, segment: LogFile) -> Iterator[_Index]:
        base = segment.base_offset
        for file in self._log.files:
            if not file.live or file.kind not in ROWS or file.base_offset != base or base is None:
                continue
            try:
                data = file.read_small(MAX_INDEX_BYTES)
            except MissingError:  # a live broker removed it meanwhile
                continue
            table, finding = check_index(data, ROWS[file.kind], f"{file.kind}-invalid")
            if finding is not None:
                finding = finding.at(self._log.topic, self._log.partition, file.name)
                self.findings.append(replace(finding, base_offset=file.base_offset))
                continue
            told = without_zeros(table)
            if len(told) < len(table) and segment.base_offset != self._last_base:
                self.findings.append(self._zeros(file, len(told), len(table)))
            offsets = base + told["relative_offset"].astype(np.int64)
            if file.kind == "index":
                yield _Places(file, told["ofs_batch"].astype(np.int64), offsets)
            else:
                yield _Times(file, offsets, told["timestamp"].astype(np.int64))

    def finish(self, segments: list[SegmentSurvey]) -> list[Finding]:
        """Return what is wrong with the indexes of *segments*, all of which have been read.

        What leads into damage is not judged.
        """
        for segment in segments:
            for index in self._indexes.get(segment.file.path, ()):
                wrong = [number for number in index.wrong if _is_in_sight(index, number, segment)]
                if all(stretch.kind == "tail" for stretch in segment.unsound_ranges):
                    wrong.extend(range(index.done, len(index.keys)))
                if wrong:
                    self.findings.append(self._mismatch(index, wrong))
        return self.findings

    def _mismatch(self, index: _Index, wrong: list[int]) -> Finding:
        number, more = wrong[0], len(wrong) - 1
        others = f", and {more} more" if more else ""
        size = ROWS[index.file.kind].SIZE
        return Finding(
            code=f"{index.file.kind}-mismatch",
            message=f"{index.expected(number)}: the log has no such place{others}",
            topic=self._log.topic,
            partition=self._log.partition,
            file=index.file.name,
            position=number * size,
            length=size,
            base_offset=index.file.base_offset,
        )

    def _zeros(self, file: LogFile, num_told: int, num_all: int) -> Finding:
        size = ROWS[file.kind].SIZE
        return Finding(
            code=f"{file.kind}-mismatch",
            message=f"{num_all - num_told} entries of zeros, as only the newest segment's has them",
            topic=self._log.topic,
            partition=self._log.partition,
            file=file.name,
            position=num_told * size,
            length=(num_all - num_told) * size,
            base_offset=file.base_offset,
        )


def _is_in_sight(index: _Index, number: int, segment: SegmentSurvey) -> bool:
    """Return whether an entry of *index* leads to bytes that could be read."""
    damage = [stretch for stretch in segment.unsound_ranges if stretch.kind != "tail"]
    if isinstance(index, _Times):
        return not damage
    place = int(index.keys[number])
    return not any(stretch.start <= place < stretch.end for stretch in damage)
