"""Plan a batch read, one partition after the other: memory depends on the largest partition."""

from functools import partial

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    BoundedRange,
    ReadableRanges,
    offset_at,
    readable_range,
    survey_of_range,
)
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import OffsetRange
from magicbyte.reading.split import Split
from magicbyte.spark._driver_log import log_findings, log_unread
from magicbyte.spark._offset_bounds import EARLIEST, LATEST, OffsetBound
from magicbyte.spark._offset_ranges import divide, partition_of, resolve_range
from magicbyte.spark._options import SourceOptions


class BatchPlan:
    """The plan of the records of *dataset* from *start* to *end*.

    Raises InputError if a bound names other partitions than the ones in *dataset*.
    """

    def __init__(
        self, options: SourceOptions, dataset: Dataset, start: OffsetBound, end: OffsetBound
    ) -> None:
        self._options = options
        self._dataset = dataset
        self._start, self._end = start, end
        for bound in (start, end):
            bound.check_names(map(partition_of, dataset.logs))
        self._is_logged = False
        """True once the surveys' findings were logged; `splits` may be called twice."""

    def splits(self, max_bytes: int) -> list[Split]:
        """Return the splits, of *max_bytes* at most where entries permit it.

        The first call logs the findings of the surveys.
        """
        if not self._is_logged:
            log_findings("plan", self._dataset.unreadable)
            log_unread(self._dataset.unread)
        splits = [split for log in self._dataset.logs for split in self._splits(log, max_bytes)]
        self._is_logged = True
        return splits

    def _splits(self, log: PartitionLog, max_bytes: int) -> list[Split]:
        planner = Planner(self._dataset.options)
        if self._needs_whole_log:
            survey = planner.survey(log, max_bytes)
            readable = readable_range(survey, planner.options.isolation_level)
            offsets, is_to_end = self._resolve(planner, log, readable)
        else:
            readable = ReadableRanges().of(planner, log)
            offsets, is_to_end = self._resolve(planner, log, readable)
            if offsets[0] >= offsets[1] and not is_to_end:
                return []
            wanted = offsets[0], None if is_to_end else offsets[1]
            survey = survey_of_range(planner, log, wanted, max_bytes)
        if not self._is_logged:
            log_findings("plan", [*survey.findings, *planner.index_findings])
        ranges: list[OffsetRange] = [*divide(offsets, self._options.max_records)]
        if is_to_end:
            # The log may have lost offsets after its last sound entry: those are wanted, too.
            ranges[-1:] = [(ranges[-1][0] if ranges else offsets[0], None)]
        return planner.splits_of_ranges(survey, ranges)

    @property
    def _needs_whole_log(self) -> bool:
        """True if all offsets are read, or if reading stops at damage, also before the range."""
        is_all = (self._start.everywhere, self._end.everywhere) == (EARLIEST, LATEST)
        has_times = self._start.is_time or self._end.is_time
        return (is_all and not has_times) or self._options.read.on_damage == "stop"

    def _resolve(
        self, planner: Planner, log: PartitionLog, readable: BoundedRange
    ) -> tuple[BoundedRange, bool]:
        look_up = partial(offset_at, planner)
        fails = self._options.fail_on_data_loss
        return resolve_range(log, readable, self._start, self._end, look_up, fails=fails)
