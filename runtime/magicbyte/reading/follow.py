"""Reads the last records of logs, and records appended later, as `tail -f` does with lines."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from magicbyte.errors import ChangedError, MissingError, error_of
from magicbyte.findings import TAILS
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    UNREAD_SEGMENTS,
    BoundedRange,
    ReadableRanges,
    wanted_offsets,
)
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE, ReadOptions
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.retry import retry_changed

RecordFilter = Callable[[Dataset, Sequence[str]], Rows]
"""Returns some records of a dataset, with these columns."""

NOT_REPORTED = (*TAILS, UNREAD_SEGMENTS)
"""Codes that are usual while a log is followed: an incomplete batch at its end is being written."""

NOT_OF_TAIL = (UNREAD_SEGMENTS, "range-outside-log")
"""Codes about the range that was read: the user asked for the last records, and for no range."""

GROWTH = 4
"""Factor by which the offset range grows while it holds too few records."""


class Follower:
    """The records of logs that grow: each record once, in order within each log.

    Each call of `new_rows` opens the logs again, and so finds new segments and partitions, ends
    that were truncated and beginnings that were deleted.
    """

    def __init__(
        self,
        open_now: Callable[[], Dataset],
        choose: RecordFilter,
        columns: Sequence[str],
        *,
        tail: int | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Follow the logs that *open_now* opens.

        Args:
            choose: Returns the wanted records of a dataset, in the given columns.
            columns: Columns of the records.
            tail: Records of each log to begin with. None: all.
            warn: Called with a sentence when records were lost.
        """
        self._open_now = open_now
        self._choose = choose
        self._columns = tuple(columns)
        self._tail = tail
        self._warn = warn
        self._ranges = ReadableRanges()
        self._next: dict[str, int] = {}
        """Offset to read next, by log."""
        self._first_logs: set[str] | None = None
        """The logs of the first call."""

    def new_rows(self, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the records that were appended since the last call, and add findings to *report*.

        Raises what opening and reading raise, except for files that changed meanwhile.
        """
        dataset = retry_changed(self._open_now)
        report.findings.extend(dataset.unreadable)
        if self._first_logs is None:
            self._first_logs = {log.key for log in dataset.logs}
        for log in dataset.logs:
            log_report = Report()
            try:
                yield from self._new_rows_of(log, dataset.options, log_report)
            except (ChangedError, MissingError):
                continue  # the next call reads the files that replaced these
            finally:
                log_report.findings = [f for f in log_report.findings if f.code not in NOT_REPORTED]
                report.add(log_report)

    def _new_rows_of(
        self, log: PartitionLog, options: ReadOptions, report: Report
    ) -> Iterator[pa.RecordBatch]:
        planner = Planner(options)
        start, end = readable = self._ranges.of(planner, log)
        for finding in self._ranges.findings_at_end(log):
            if options.on_damage == "fail" and finding.severity == "error":
                raise error_of(finding)
            report.findings.append(finding)
        if log.key not in self._next:
            self._next[log.key] = self._first_offset(planner, log, readable)
        first = self._next[log.key]
        if first > end and not self._ranges.is_end_known(log):
            end = first  # records that were read before are damaged or unreadable now
        elif first > end:
            self._warn(
                f"{log.name} was truncated to offset {end} after it had been read up to {first}: "
                f"new records from {end} on follow"
            )
            first = end
        elif first < start:
            self._warn(
                f"{log.name} begins at {start} now: offsets {first} to {start - 1} were deleted "
                "before they were read"
            )
            first = start
        self._next[log.key] = first
        first = max(first, options.offsets[0] or 0)
        if first < end:
            columns = [*self._columns, *({"offset"} - set(self._columns))]
            stable = self._ranges.stable_offset(log)
            rows = self._choose(_between(log, options, first, end, stable), columns)
            for batch in rows.read_into(report):
                self._next[log.key] = batch.column("offset")[-1].as_py() + 1
                yield batch.select(self._columns)
            self._next[log.key] = end

    def _first_offset(self, planner: Planner, log: PartitionLog, readable: BoundedRange) -> int:
        start, end = readable
        low, _ = wanted_offsets(planner, log)
        first = min(max(start, start if low is None else low), end)
        if self._tail is None or log.key not in (self._first_logs or ()):
            return first
        rows = _last_of(
            log,
            planner.options,
            self._choose,
            ["offset"],
            self._tail,
            (first, end),
            end,
            Report(),
            self._ranges.stable_offset(log),
        )
        offsets = [batch.column("offset")[0].as_py() for batch in rows if batch.num_rows]
        return min(offsets, default=end)


def last_rows(
    dataset: Dataset, choose: RecordFilter, columns: Sequence[str], count: int, report: Report
) -> Iterator[pa.RecordBatch]:
    """Yield the last *count* records that *choose* chooses of each log of *dataset*.

    Logs are read from their ends, as far back as necessary; *report* covers that part only.
    """
    report.findings.extend(dataset.unreadable)
    for log in dataset.logs:
        planner = Planner(dataset.options)
        ranges = ReadableRanges()
        start, end = ranges.of(planner, log)
        stable = ranges.stable_offset(log)
        low, high = wanted_offsets(planner, log)
        offsets = max(start, start if low is None else low), min(end, end if high is None else high)
        yield from _last_of(
            log, dataset.options, choose, columns, count, offsets, high, report, stable
        )


def _last_of(
    log: PartitionLog,
    options: ReadOptions,
    choose: RecordFilter,
    columns: Sequence[str],
    count: int,
    offsets: BoundedRange,
    high: int | None,
    report: Report,
    stable_offset: int | None,
) -> Iterator[pa.RecordBatch]:
    """Yield the last *count* records of one log that are inside of *offsets*.

    *high* is the end of the wanted offsets, None if there is none. It may be after *offsets*, which
    end with the last sound entry: damage after that entry is reported, too. No transaction that began
    before *stable_offset* is open.
    """
    first, end = offsets
    num_offsets = count
    while True:
        begin = max(first, end - num_offsets)
        log_report = Report()
        last, surplus = deque[pa.RecordBatch](), -count
        if high is None or begin < high:
            rows = choose(_between(log, options, begin, high, stable_offset), columns)
            for batch in rows.read_into(log_report):
                last.append(batch)
                surplus += len(batch)
                while last and surplus >= len(last[0]):
                    surplus -= len(last.popleft())
        if surplus >= 0 or begin <= first:
            break
        num_offsets *= GROWTH
    log_report.findings = [f for f in log_report.findings if f.code not in NOT_OF_TAIL]
    report.add(log_report)
    for batch in last:
        yield batch.slice(max(surplus, 0))
        surplus = 0


def _between(
    log: PartitionLog, options: ReadOptions, first: int, end: int | None, stable_offset: int | None
) -> Dataset:
    """Return the dataset of the offsets [*first*, *end*) of *log*; None: up to its end.

    No transaction that began before *stable_offset* is open.
    """
    options = replace(options, offsets=(first, end), times=NO_RANGE)
    return Dataset([log], options, planner=Planner(options, stable_offset=stable_offset))
