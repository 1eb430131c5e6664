"""Surveys of the bytes that hold an offset range, which the offset indexes of a log locate.

A survey of whole segments reads all of their bytes. This one begins at the batch of the index entry
before the range, and ends at the entry after it. The batch is believed if its checksum and its
offsets are right. The rows are the same as by whole segments if the entries between follow each
other without damage, and if each transaction that concerns them is settled:

- A transaction with data in the range ends at the producer's next marker, after the range.
- A transaction that began before the range and is still open would hold back all records after it.
  A later producer snapshot, or an earlier survey, shows that there is none.

Everything else is left to a survey of whole segments.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from magicbyte.engines.entry import HEADER_BYTES, Entry, read_entry
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import FormatError, LimitError, MissingError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.limits import MIB
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, check_below, read_producer_snapshot
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import positions_around, positions_between, read_positions
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading import segment_range
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import OffsetRange
from magicbyte.reading.segment_range import bounded, known_bases
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import StructuredRows

MORE_BYTES = 64 << 10
"""Bytes after a range that are read first for the markers of its transactions; then twice as many."""

MAX_UNCOMMITTED_BYTES = 128 << 10
"""The most such bytes with `read_uncommitted`, which delivers the records in any case."""

MAX_VERIFIED_BYTES = 16 * MIB
"""Bytes up to which all checksums are verified by the survey, so that damage leads to a survey of whole
segments. In larger ranges the read finds it."""

MAX_SNAPSHOTS = 2
"""Producer snapshots that are tried before whole segments are surveyed."""

UNREAD_BYTES = "range-unread"
"""Code of the finding that bytes were left out of a survey."""

COMPANIONS_MISSING = ("snapshot-missing", "txnindex-missing")
"""Codes of findings about companion files, which are not read."""


class _RangeStart(NamedTuple):
    """Position at which a survey begins."""

    segment: int
    position: int
    first_offset: int


class _RangeEnd(NamedTuple):
    """Position at which a survey ends, before the end of the log."""

    segment: int
    position: int
    ceiling: int
    """All offsets before *position* are below it."""


def survey_by_index(
    planner: Planner,
    log: PartitionLog,
    offsets: OffsetRange,
    split_bytes: int | None,
    stable_offset: int | None = None,
) -> Survey | None:
    """Return a survey of the bytes of *log* that hold *offsets*; None if whole segments must tell.

    No transaction that began before *stable_offset* is open, as far as the caller knows.
    """
    is_committed = planner.options.isolation_level == "read_committed"
    first, end = offsets
    if not may_use_indexes(planner, log) or (end is not None and end <= (first or 0)):
        return None
    return _RangeSurvey(planner, log, offsets, split_bytes).run(stable_offset, is_committed)


def may_use_indexes(planner: Planner, log: PartitionLog) -> bool:
    """Return whether the offset indexes of *log*, as a broker writes them, may tell which bytes are read."""
    options = planner.options
    if options.isolation_level == "read_committed" and options.transactions == "index":
        return False  # other rules decide which transactions are open
    is_other_log = log.is_filled or log.state is not None or planner.aborted_list is not None
    return not is_other_log and options.on_damage != "stop" and bool(known_bases(log))


def unread_finding(log: PartitionLog, num_bytes: int) -> Finding:
    """Return the finding that no more than *num_bytes* of *log* are read for a range."""
    num_all = log.log_bytes
    return log.finding(
        UNREAD_BYTES,
        f"{num_bytes:,} of {num_all:,} bytes were read for these offsets: damage in the "
        "others, and records that are in the wrong place, would not be noticed",
        found=str(num_bytes),
        expected=str(num_all),
    )


@dataclass(frozen=True, slots=True)
class _RangeSurvey:
    planner: Planner
    log: PartitionLog
    offsets: OffsetRange
    split_bytes: int | None
    index_rows: dict[int, StructuredRows] = field(default_factory=dict)
    """The offset indexes that were read, by number of the segment."""
    partial_indexes: set[int] = field(default_factory=set)
    """Segments of whose indexes only the entries around the range were read."""

    def run(self, stable_offset: int | None, is_committed: bool) -> Survey | None:
        range_start = self._start()
        range_end = None if range_start is None else self._end(range_start)
        if range_start is None or not self._is_worth_it(range_start, range_end):
            return None
        if range_start.position:
            range_start = self._checked(range_start, range_end)
        if range_start is None or (
            is_committed and not self._is_stable(range_start, stable_offset)
        ):
            return None
        survey, num_bytes = self._settled(range_start, range_end, is_committed)
        if survey is None:
            return None
        survey.findings = [each for each in survey.findings if each.code not in COMPANIONS_MISSING]
        survey.findings.append(unread_finding(self.log, num_bytes))
        return survey

    # Positions

    def _index_rows(self, segment: int) -> StructuredRows:
        """Return the offset index of *segment*, or the entries around the range."""
        if segment not in self.index_rows:
            around = self._rows_around(segment)
            if around is None:
                return self._all_index_rows(segment)
            self.index_rows[segment] = around
            self.partial_indexes.add(segment)
        return self.index_rows[segment]

    def _all_index_rows(self, segment: int) -> StructuredRows:
        file = self.log.logs[segment]
        self.index_rows[segment] = read_positions(self.log, file, self.planner.index_findings)
        self.partial_indexes.discard(segment)
        return self.index_rows[segment]

    def _rows_around(self, segment: int) -> StructuredRows | None:
        """Return the entries of the index of *segment* around the range, if the index is large."""
        bases, (first, end) = known_bases(self.log), self.offsets
        if first is None:
            return None
        if segment + 1 == len(bases):  # the span of its offsets is not known
            low = max(first - bases[segment], 0)
            return positions_between(self.log, self.log.logs[segment], low)
        if end is None:
            return None
        base, span = bases[segment], bases[segment + 1] - bases[segment]
        low, high = (min(max(offset - base, 0), span - 1) for offset in (first, end - 1))
        return positions_around(self.log, self.log.logs[segment], low, high, span)

    def _start(self) -> _RangeStart | None:
        """Return the last position in the indexes that is not after the range; None for small segments."""
        bases, (first, end) = known_bases(self.log), self.offsets
        number = 0 if first is None else max(bisect_right(bases, first) - 1, 0)
        after = len(bases) if end is None else max(bisect_left(bases, end), number + 1)
        num_whole = sum(file.size_bytes for file in self.log.logs[number:after])
        if num_whole < segment_range.MIN_SAVED_BYTES:
            return None
        base, position = bases[number], 0
        if first is not None and first > base:
            index_rows = self._index_rows(number)
            before = bisect_right(index_rows["relative_offset"], first - base) - 1
            if before >= 0:
                position = int(index_rows["ofs_batch"][before])
        return _RangeStart(number, position, base)

    def _end(self, range_start: _RangeStart) -> _RangeEnd | None:
        """Return the first position in the indexes that is after the range; None if there is none."""
        end = self.offsets[1]
        if end is None:
            return None
        bases = known_bases(self.log)
        number = max(bisect_left(bases, end) - 1, range_start.segment)
        index_rows = self._index_rows(number)
        # The batches from an entry's position on end with its offset, or, if they were appended
        # together, one of them does. So the next entry's position is after the offset.
        least = bisect_left(index_rows["relative_offset"], end - 1 - bases[number]) + 1
        after = range_start.position if number == range_start.segment else 0
        return self._end_at(number, index_rows, least, after)

    def _end_at(
        self, number: int, index_rows: StructuredRows, least: int, after: int
    ) -> _RangeEnd | None:
        """Return the end at the entry *least* of an index, or the next one whose position is above *after*."""
        bases = known_bases(self.log)
        for row in index_rows[least:]:
            if row["ofs_batch"] > after:
                ceiling = bases[number] + int(row["relative_offset"])
                return _RangeEnd(number, int(row["ofs_batch"]), ceiling)
        if number + 1 == len(bases):
            return None
        return _RangeEnd(number, self.log.logs[number].size_bytes, bases[number + 1])

    def _later(self, range_end: _RangeEnd, num_more: int) -> _RangeEnd | None:
        """Return the end of a survey that has *num_more* bytes more, about, than one up to *range_end*."""
        number, position = range_end.segment, range_end.position
        if position == self.log.logs[number].size_bytes:
            number, position = number + 1, 0
        index_rows = self._index_rows(number)
        least = bisect_left(index_rows["ofs_batch"], position + num_more)
        if least == len(index_rows) and number in self.partial_indexes:
            index_rows = self._all_index_rows(number)
            least = bisect_left(index_rows["ofs_batch"], position + num_more)
        return self._end_at(number, index_rows, least, position)

    def _sizes(self, range_start: _RangeStart, range_end: _RangeEnd | None) -> tuple[int, int]:
        """Return the bytes from *range_start* to *range_end*, and the bytes of the whole segments."""
        logs = self.log.logs
        last = (
            logs[range_start.segment :]
            if range_end is None
            else logs[range_start.segment : range_end.segment + 1]
        )
        num_whole = sum(file.size_bytes for file in last)
        num_after = 0 if range_end is None else last[-1].size_bytes - range_end.position
        return num_whole - range_start.position - num_after, num_whole

    def _is_worth_it(self, range_start: _RangeStart, range_end: _RangeEnd | None) -> bool:
        num_bytes, num_whole = self._sizes(range_start, range_end)
        is_less = num_bytes * segment_range.MIN_SAVED_PART <= num_whole
        return is_less and num_whole - num_bytes >= segment_range.MIN_SAVED_BYTES

    # Bytes

    def _checked(self, range_start: _RangeStart, range_end: _RangeEnd | None) -> _RangeStart | None:
        """Return *range_start* with the offset of its batch; None if the index is wrong about the batch."""
        part_file = self._part(range_start, range_end).logs[0]
        entry = _sound_batch(self.planner, part_file, part_file.start)
        if entry is None:
            return None
        base, index_rows = (
            known_bases(self.log)[range_start.segment],
            self._index_rows(range_start.segment),
        )
        before = bisect_left(index_rows["ofs_batch"], range_start.position) - 1
        number = bisect_right(index_rows["ofs_batch"], range_start.position) - 1
        least = base + int(index_rows["relative_offset"][before]) + 1 if before >= 0 else base
        most = base + int(index_rows["relative_offset"][number])
        first = self.offsets[0]
        is_before = first is None or entry.first_offset <= first
        if not is_before or not least <= entry.first_offset <= entry.last_offset <= most:
            return None
        return range_start._replace(first_offset=entry.first_offset)

    def _part(self, range_start: _RangeStart, range_end: _RangeEnd | None) -> PartitionLog:
        """Return the bytes from *range_start* to *range_end* as a log of its own, without companion files."""
        logs = self.log.logs
        files = (
            [*logs[range_start.segment :]]
            if range_end is None
            else [*logs[range_start.segment : range_end.segment + 1]]
        )
        if range_end is not None:
            files[-1] = replace(files[-1], size_bytes=range_end.position)
        files[0] = replace(
            files[0], start=range_start.position, base_offset=range_start.first_offset
        )
        ceiling = None if range_end is None else range_end.ceiling
        return bounded(self.log, tuple(files), range_start.first_offset, ceiling)

    def _settled(
        self, range_start: _RangeStart, range_end: _RangeEnd | None, is_committed: bool
    ) -> tuple[Survey | None, int]:
        """Return a survey from *range_start* on in which the transactions of the range end, and its bytes.

        The survey is None if something in it is damaged or uncertain.
        """
        num_more = MORE_BYTES
        while True:
            part = self._part(range_start, range_end)
            num_bytes, _ = self._sizes(range_start, range_end)
            survey = self.planner.survey_once(
                part, self.split_bytes, verify=num_bytes <= MAX_VERIFIED_BYTES, by_markers=True
            )
            if not self._is_certain(survey):
                return None, 0
            if range_end is None or not self._has_open(survey):
                return survey, num_bytes
            if num_more > MAX_UNCOMMITTED_BYTES and not is_committed:
                return survey, num_bytes
            range_end = self._later(range_end, num_more)
            num_more *= 2

    def _is_certain(self, survey: Survey) -> bool:
        """Return whether *survey* shows no damage, and no doubt about a transaction."""
        for segment in survey.segments:
            if any(unsound.kind != "tail" for unsound in segment.unsound_ranges):
                return False
        has_transactions = any(segment.has_transactions for segment in survey.segments)
        has_gaps = any(finding.code == "offset-gap" for finding in survey.findings)
        is_uncertain = bool(survey.transactions.uncertain())
        return survey.is_in_order and not is_uncertain and not (has_gaps and has_transactions)

    def _has_open(self, survey: Survey) -> bool:
        """Return whether a transaction with data in the range has not ended in *survey*."""
        end = self.offsets[1]
        unfinished = survey.transactions.with_outcome("open", "undecided")
        return any(end is None or txn.first_offset < end for txn in unfinished)

    # Transactions from before the range

    def _is_stable(self, range_start: _RangeStart, stable_offset: int | None) -> bool:
        """Return whether no transaction that began before *range_start* is open at the end of the log."""
        if range_start.first_offset == 0 or (stable_offset or -1) >= range_start.first_offset:
            return True
        snapshots = [
            file
            for file in self.log.files
            if file.live
            and file.kind == "snapshot"
            and (file.base_offset or 0) > range_start.first_offset
        ]
        return any(
            self._shows_none_open(file, range_start.first_offset)
            for file in snapshots[:MAX_SNAPSHOTS]
        )

    def _shows_none_open(self, snapshot: LogFile, offset: int) -> bool:
        """Return whether *snapshot* is of this log, and states no open transaction from before *offset*.

        A transaction that it does not state does not hold back later records, in a survey of the whole log
        neither: see `unstated_open`.
        """
        base = snapshot.base_offset or 0
        if base not in known_bases(self.log) and base > self._log_end_offset():
            return False  # a broker ignores it, too
        try:
            producers = read_producer_snapshot(snapshot.read_small(MAX_COMPANION_BYTES))
            check_below(producers, base)
        except (FormatError, MissingError, UnreadableError):
            return False
        firsts = [producer.current_transaction_first_offset for producer in producers]
        return not any(0 <= first < offset for first in firsts)

    def _log_end_offset(self) -> int:
        """Return the offset after the last batch of the log, from its last index entry on; 0 if it is damaged."""
        number = len(self.log.logs) - 1
        positions: Sequence[int] = self._index_rows(number)["ofs_batch"].tolist()
        begin = positions[-1] if positions else 0
        end = 0
        try:
            with self.planner.open_log(self.log.logs[number]) as file:
                file.will_read(begin, file.size_bytes)
                for frame in frames(file, begin=begin, limits=self.planner.options.limits):
                    end = frame.last_offset + 1
        except (FormatError, LimitError):
            return 0
        return end


def _sound_batch(planner: Planner, segment: LogFile, position: int) -> Entry | None:
    """Return the batch at *position* of *segment* if its checksum is right, else None."""
    limits = planner.options.limits
    with planner.open_log(segment) as file:
        file.will_read(position, file.size_bytes)
        left = file.size_bytes - position
        try:
            header = file.read_at(position, min(HEADER_BYTES, left))
            entry = read_entry(header, 0, origin=position)
        except FormatError:
            return None
        if entry.magic != 2 or entry.size_bytes > min(left, limits.max_entry_bytes):
            return None
        chunk = Chunk(memoryview(file.read_at(position, entry.size_bytes)), position)
        scan = planner.new_engine().scan(chunk, verify=True, limits=limits, max_entries=1)
        is_readable = file.unreadable is None
    return entry if is_readable and len(scan.entries) == 1 else None
