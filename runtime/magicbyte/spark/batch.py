"""What a batch reads, planned one partition after the other: memory hangs on the largest of them."""

from functools import partial

from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    BoundedRange,
    ReadableRanges,
    offset_at,
    readable_range,
    survey_of_range,
)
from magicbyte.reading.planner import Planner
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Survey
from magicbyte.spark.driver_log import say
from magicbyte.spark.limits import EARLIEST, LATEST, Limit
from magicbyte.spark.options import SourceOptions
from magicbyte.spark.ranges import divided, partition_of, range_of


class Batch:
    """What of a dataset lies between two limits. Raises InputError where they name other partitions."""

    def __init__(self, read: SourceOptions, dataset: Dataset, start: Limit, end: Limit) -> None:
        self.read = read
        self.dataset = dataset
        self.start, self.end = start, end
        for limit in (start, end):
            limit.check_names(map(partition_of, dataset.logs))
        self._has_said = False

    def splits(self, largest: int) -> list[Split]:
        """Return the splits of what is wanted, of *largest* bytes at most where they can be.

        What the pass over the headers found is logged, the first time.
        """
        made = [split for log in self.dataset.logs for split in self._splits(log, largest)]
        self._has_said = True
        return made

    def _splits(self, log: PartitionLog, largest: int) -> list[Split]:
        planner = Planner(self.dataset.options)
        if self._takes_whole_log:
            survey = planner.survey(log, largest)
            readable = readable_range(survey, planner.options.isolation_level)
            wanted = self._range(planner, log, readable)
        else:
            wanted = self._range(planner, log, ReadableRanges().of(planner, log))
            if wanted[0] >= wanted[1]:
                return []
            survey = survey_of_range(planner, log, wanted, largest)
        self._say(survey)
        return planner.splits_of_ranges(survey, divided(wanted, self.read.max_records))

    @property
    def _takes_whole_log(self) -> bool:
        """Whether everything is wanted, or damage before what is wanted would end the log."""
        is_all = (self.start.everywhere, self.end.everywhere) == (EARLIEST, LATEST)
        has_times = self.start.is_time or self.end.is_time
        return (is_all and not has_times) or self.read.read.on_damage == "stop"

    def _range(self, planner: Planner, log: PartitionLog, there: BoundedRange) -> BoundedRange:
        look_up = partial(offset_at, planner)
        fails = self.read.fail_on_data_loss
        return range_of(log, there, self.start, self.end, look_up, fails=fails)

    def _say(self, survey: Survey) -> None:
        if not self._has_said:
            say("plan", survey.findings)
