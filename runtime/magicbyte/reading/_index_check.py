"""Checks offset and time indexes against the entries of their segments.

An index is wrong where a lookup in it would miss a record: Kafka starts to read at the position of
the last index entry that is not above the wanted offset. Kafka's own tool is stricter and rejects
sound indexes: an index entry may hold the offset of any record of a batch, or of the last of
several batches that were appended together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from magicbyte.engines.entry_columns import NO_VALUE, Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.errors import MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir.indexes import MAX_INDEX_BYTES, check_index, without_zeros
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.tables.arrays import Mask, RowFormat
from magicbyte_formats.wire import OffsetIndexEntry, TimeIndexEntry

ROWS: dict[str, type[RowFormat]] = {"index": OffsetIndexEntry, "timeindex": TimeIndexEntry}


@dataclass(slots=True)
class _SegmentIndex:
    """An index whose entries ascend, compared with the entries of its segment in order."""

    file: LogFile
    keys: Numbers
    """The keys of its entries in the log: positions, or offsets in a time index."""
    values: Numbers
    """The values of its entries: offsets, or timestamps in a time index."""
    num_compared: int = 0
    highest: int = -1
    """The highest offset, or timestamp, in the log so far."""
    wrong: list[int] = field(default_factory=list)
    """Numbers of the entries that the log contradicts."""

    def add(self, keys: Numbers, values: Numbers) -> None:
        """Compare the index with the log's next entries, whose keys and values are *keys* and *values*."""
        end = int(np.searchsorted(self.keys, keys[-1], "right"))
        if end > self.num_compared:
            compared = slice(self.num_compared, end)
            indices = np.searchsorted(keys, self.keys[compared])
            before = np.maximum.accumulate(np.concatenate([[self.highest], values]))[indices]
            are_right = self.are_right(compared, keys[indices], values[indices], before)
            self.wrong.extend((np.flatnonzero(~are_right) + self.num_compared).tolist())
            self.num_compared = end
        self.highest = max(self.highest, int(values.max()))

    def are_right(self, compared: slice, keys: Numbers, values: Numbers, before: Numbers) -> Mask:
        """Return a mask of the *compared* index entries that agree with the log entries they point to.

        *keys* and *values* belong to the log entries; *before* is the highest value before each.
        """
        raise NotImplementedError

    def text(self, number: int) -> str:
        """Return the entry with this number as text."""
        raise NotImplementedError


class _OffsetIndex(_SegmentIndex):
    def are_right(self, compared: slice, keys: Numbers, values: Numbers, before: Numbers) -> Mask:
        is_position: Mask = keys == self.keys[compared]
        is_above: Mask = self.values[compared] > before
        return is_position & is_above

    def text(self, number: int) -> str:
        return f"offset {self.values[number]} at byte {self.keys[number]}"


class _TimeIndex(_SegmentIndex):
    def are_right(self, compared: slice, keys: Numbers, values: Numbers, before: Numbers) -> Mask:
        is_timestamp: Mask = values == self.values[compared]
        is_highest: Mask = self.values[compared] >= before
        return is_timestamp & is_highest

    def text(self, number: int) -> str:
        return f"timestamp {self.values[number]} at offset {self.keys[number]}"


class IndexCheck:
    """Compares the indexes of a partition's segments with their entries, in order."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        # The segment that a broker appends to: its indexes may end in zeros.
        self._last_base = log.logs[-1].base_offset if log.logs else None
        self._indexes: dict[str, list[_SegmentIndex]] = {}
        """Valid indexes by the path of their segment."""
        self._findings: list[Finding] = []

    def add(self, segment: LogFile, entries: Entries) -> None:
        """Compare the indexes of *segment* with *entries*, the log's next sound entries."""
        if segment.path not in self._indexes:
            self._indexes[segment.path] = list(self._read(segment))
        if not len(entries):
            return
        offsets = np.maximum.accumulate(entries.column("last_offset"))
        times = entries.column("max_timestamp")
        times = np.where(times == NO_VALUE, -1, times)
        for index in self._indexes[segment.path]:
            if isinstance(index, _OffsetIndex):
                index.add(entries.column("position"), offsets)
            else:
                index.add(offsets, times)

    def _read(self, segment: LogFile) -> Iterator[_SegmentIndex]:
        base = segment.base_offset
        for file in self._log.files:
            if not file.live or file.kind not in ROWS or file.base_offset != base or base is None:
                continue
            try:
                data = file.read_small(MAX_INDEX_BYTES)
            except MissingError:  # a live broker has removed it
                continue
            except UnreadableError as error:
                self._add_finding(error.finding, file, base)
                continue
            table, finding = check_index(data, ROWS[file.kind], f"{file.kind}-invalid")
            if finding is not None:
                self._add_finding(finding, file, base)
                continue
            rows = without_zeros(table)
            if (num_zeros := len(table) - len(rows)) and base != self._last_base:
                self._add_mismatch(
                    file,
                    f"{num_zeros} entries of zeros at the end, which only the index of the newest "
                    "segment may have",
                    len(rows),
                    num_zeros,
                )
            offsets = base + rows["relative_offset"].astype(np.int64)
            if file.kind == "index":
                yield _OffsetIndex(file, rows["ofs_batch"].astype(np.int64), offsets)
            else:
                yield _TimeIndex(file, offsets, rows["timestamp"].astype(np.int64))

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return the findings; all entries of *segments* have been added.

        Index entries that lead into damage are not judged.
        """
        for segment in segments:
            damage = [unsound for unsound in segment.unsound_ranges if unsound.kind != "tail"]
            for index in self._indexes.get(segment.file.path, ()):
                if not damage:
                    wrong = [*index.wrong, *range(index.num_compared, len(index.keys))]
                elif isinstance(index, _OffsetIndex):
                    wrong = [
                        number
                        for number in index.wrong
                        if not any(
                            range_.start <= index.keys[number] < range_.end for range_ in damage
                        )
                    ]
                else:
                    wrong = []
                if wrong:
                    others = f", nor with {len(wrong) - 1} more" if len(wrong) > 1 else ""
                    self._add_mismatch(
                        index.file,
                        f"{index.text(wrong[0])}: no entry of the log agrees with that{others}",
                        wrong[0],
                        1,
                    )
        return self._findings

    def _add_finding(self, finding: Finding, file: LogFile, base: int) -> None:
        names = self._log.topic, self._log.partition, file.name, self._log.replica
        finding = finding.at(*names)
        self._findings.append(replace(finding, base_offset=base))

    def _add_mismatch(self, file: LogFile, message: str, first: int, count: int) -> None:
        """Add a finding about *count* entries of the index *file*, from the *first* on."""
        size = ROWS[file.kind].SIZE
        self._findings.append(
            self._log.finding(
                f"{file.kind}-mismatch",
                message,
                file=file.name,
                position=first * size,
                length=count * size,
                base_offset=file.base_offset,
            )
        )
