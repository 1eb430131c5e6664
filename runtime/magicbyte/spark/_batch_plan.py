"""Plan a batch read, one partition after the other: memory depends on the largest partition."""

from collections.abc import Iterator
from functools import partial

from magicbyte.findings import Finding
from magicbyte.limits import MIB
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    BoundedRange,
    ReadableRanges,
    offset_at,
    readable_range,
    survey_of_range,
)
from magicbyte.reading.plan_ahead import plan_ahead
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import OffsetRange
from magicbyte.reading.split import Split
from magicbyte.spark._driver_log import log_findings, log_unread
from magicbyte.spark._offset_bounds import EARLIEST, LATEST, OffsetBound
from magicbyte.spark._offset_ranges import divide, partition_of, resolve_range
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._pushed_filters import PushedFilters

MIN_SPLIT_BYTES = MIB // 4
"""Smallest splits from which a range of offsets is read."""


class BatchPlan:
    """The plan of the records of *dataset* from *start* to *end* that may match *filters*.

    Raises InputError if a bound names other partitions than the ones in *dataset*.
    """

    def __init__(
        self,
        options: SourceOptions,
        dataset: Dataset,
        start: OffsetBound,
        end: OffsetBound,
        filters: PushedFilters,
    ) -> None:
        self._options = options
        self._dataset = dataset
        self._start, self._end = start, end
        self._filters = filters
        for bound in (start, end):
            bound.check_names(map(partition_of, dataset.logs))
        self._is_logged = False
        """True once the surveys' findings were logged; `splits` may be called twice."""

    def splits(self, max_bytes: int) -> Iterator[Split]:
        """Yield the splits, of *max_bytes* at most where entries permit it, while partitions are planned.

        The findings of the surveys are logged once.
        """
        if not self._is_logged:
            log_findings("plan", self._dataset.unreadable)
            log_unread(self._dataset.unread)
        logs = filter(self._filters.may_match, self._dataset.logs)
        for _, (splits, findings) in plan_ahead(logs, partial(self._splits, max_bytes=max_bytes)):
            if not self._is_logged:
                log_findings("plan", findings)
            yield from splits
        self._is_logged = True

    def _splits(self, log: PartitionLog, max_bytes: int) -> tuple[list[Split], list[Finding]]:
        """Return the splits of *log*, of *max_bytes* at most, and the findings of its survey."""
        planner = Planner(self._dataset.options)
        if self._needs_whole_log:
            survey = planner.survey(log, max_bytes, for_records=True)
            readable = readable_range(survey, planner.options.isolation_level)
            offsets, is_to_end = self._resolve(planner, log, readable)
        else:
            readable = self._readable(planner, log)
            offsets, is_to_end = self._resolve(planner, log, readable)
            if offsets[0] >= offsets[1] and not is_to_end:
                return [], []
            wanted = offsets[0], None if is_to_end else offsets[1]
            max_bytes = split_bytes(log, offsets, readable, max_bytes)
            survey = survey_of_range(planner, log, wanted, max_bytes)
        ranges: list[OffsetRange] = [*divide(offsets, self._options.max_records)]
        if is_to_end:
            # The log may have lost offsets after its last sound entry: those are wanted, too.
            ranges[-1:] = [(ranges[-1][0] if ranges else offsets[0], None)]
        splits = planner.splits_of_ranges(survey, ranges)
        return splits, [*survey.findings, *planner.index_findings]

    @property
    def _needs_whole_log(self) -> bool:
        """True if all offsets are read, or if reading stops at damage, also before the range."""
        has_limits = not self._is_unbounded or self._filters.has_limits
        return not has_limits or self._options.read.on_damage == "stop"

    @property
    def _is_unbounded(self) -> bool:
        """True if the options want all offsets."""
        if self._start.is_time or self._end.is_time:
            return False
        return (self._start.everywhere, self._end.everywhere) == (EARLIEST, LATEST)

    def _readable(self, planner: Planner, log: PartitionLog) -> BoundedRange:
        """Return the offsets of *log* that a consumer can read, up to the last one that may match.

        The end of the log is not looked for if all offsets that may match are in earlier segments.
        """
        after = self._filters.offsets[1]
        last_base = log.logs[-1].base_offset if log.logs else None
        if self._is_unbounded and last_base is not None and after <= last_base:
            first = log.log_start_offset or 0
            return first, max(first, after)
        return ReadableRanges().of(planner, log)

    def _resolve(
        self, planner: Planner, log: PartitionLog, readable: BoundedRange
    ) -> tuple[BoundedRange, bool]:
        """Return the offsets to read, and whether all to the end of the log are wanted."""
        look_up = partial(offset_at, planner)
        fails = self._options.fail_on_data_loss
        (first, end), is_to_end = resolve_range(
            log, readable, self._start, self._end, look_up, fails=fails
        )
        lowest, after = self._filters.offsets
        first = max(first, lowest)
        if self._filters.first_time is not None:
            found = look_up(log, self._filters.first_time)
            first = max(first, end if found is None else found)
        return (first, min(end, after)), is_to_end and after > end


def split_bytes(
    log: PartitionLog, offsets: BoundedRange, readable: BoundedRange, max_bytes: int
) -> int:
    """Return the size of the splits of *log* from which *offsets* are read, *max_bytes* at most.

    A split is read as a whole, so few offsets need small splits. The *readable* offsets are taken to be
    evenly distributed over a segment.
    """
    bases = [0 if file.base_offset is None else file.base_offset for file in log.logs]
    size = 0
    for file, begin, end in zip(log.logs, bases, [*bases[1:], readable[1]], strict=True):
        low, high = max(begin, offsets[0]), min(end, offsets[1])
        if low < high:
            size += (file.size_bytes - file.start) * (high - low) // (end - begin)
    return min(max_bytes, max(MIN_SPLIT_BYTES, size // 8))
