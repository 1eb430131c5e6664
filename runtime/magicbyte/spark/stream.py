"""The records as a stream: offsets, and what lies between two of them, as in Spark's Kafka source."""

import math
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.errors import InputError
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    BoundedRange,
    ReadableRanges,
    offset_at,
    survey_of_range,
)
from magicbyte.reading.planner import Planner
from magicbyte.reading.retry import retry_changed
from magicbyte.reading.segment_range import log_start_offset
from magicbyte.reading.split import Split
from magicbyte.spark import spark_columns
from magicbyte.spark.compacted_segments import OwnPart, place_of, read_again, with_own_offsets
from magicbyte.spark.driver_log import one_sentence, say
from magicbyte.spark.limits import EARLIEST, LATEST
from magicbyte.spark.options import SourceOptions
from magicbyte.spark.pickled_readers import Shipped
from magicbyte.spark.ranges import divided, lose, offset_of, partition_of
from magicbyte.spark.record_reader import Part, parts, rows_of
from magicbyte.spark.values import Partition, from_json, name_of, to_json

try:
    from pyspark.sql.streaming import datasource as admission
except ImportError:  # before 4.2 a stream takes all there is
    admission = None  # type: ignore[assignment]  # mypy knows the newest release alone

Offsets = dict[Partition, int]
Json = dict[str, dict[str, int]]
"""Offsets by topic and partition, as Spark's Kafka source has them in its checkpoints."""

AvailableNow: type = admission.SupportsTriggerAvailableNow if admission else object


class StreamReader(Shipped, DataSourceStreamReader, AvailableNow):  # type: ignore[misc]  # as above
    """Reads the columns of a schema. Raises InputError where it is not one that we can give.

    An offset is that behind the last that was read, for each partition. Committed records are
    read up to the last stable offset.
    """

    def __init__(self, read: SourceOptions, schema: StructType) -> None:
        if read.table != "records":
            raise InputError(f"a stream of the table {read.table}", "the table records")
        self.options = read
        self.start = read.stream_start
        self.columns, self.schema = spark_columns.wanted(read, schema)
        self._ends = ReadableRanges()
        self._latest: Offsets = {}
        self._target: Offsets | None = None
        """Where a query ends that takes only what is there as it starts."""
        self._triggered = -math.inf

    def __getstate__(self) -> dict[str, Any]:
        # Tasks need nothing of what is known of the logs.
        return self.__dict__ | {"_ends": ReadableRanges(), "_latest": {}, "_target": None}

    # Offsets

    def initialOffset(self) -> Json:
        with one_sentence():
            return to_json(retry_changed(self._initials))

    def _initials(self) -> Offsets:
        dataset = self.options.open()
        logs = _by_partition(dataset)
        self.start.check_names(logs)
        planner = Planner(dataset.options)
        return {place: self._initial(planner, logs[place]) for place in logs}

    def _initial(self, planner: Planner, log: PartitionLog) -> int:
        there = self._ends.of(planner, log)
        offset = offset_of(log, there, self.start, partial(offset_at, planner))
        if offset == EARLIEST:
            return there[0]
        if offset == LATEST:
            return there[1]
        if not there[0] <= offset <= there[1]:
            lose(
                f"offset {offset} of {log.name}",
                f"{there[0]} to {there[1]}",
                fails=self.options.fail_on_data_loss,
            )
        return min(max(offset, there[0]), there[1])

    def latestOffset(self, start: Json | None = None, limit: Any = None) -> Json:
        with one_sentence():
            begin = from_json(start or {})
            there = retry_changed(self._there)
            latest = {place: end for place, (_, end) in there.items()}
            if self._target is not None:
                # What has come since is for the next query; what has gone is gone.
                latest = {
                    place: min(end, self._target[place])
                    for place, end in latest.items()
                    if place in self._target
                }
            self._latest = latest
            firsts = {place: begin.get(place, first) for place, (first, _) in there.items()}
            if start is None or (admission and isinstance(limit, admission.ReadAllAvailable)):
                return to_json(latest)
            if self._waits(firsts, latest):
                return to_json(begin)
            most = self.options.max_offsets
            return to_json(latest if most is None else shared(most, firsts, latest))

    def _there(self) -> dict[Partition, BoundedRange]:
        """Return the offsets that a consumer finds now."""
        dataset = self.options.open()
        planner = Planner(dataset.options)
        return {place: self._ends.of(planner, log) for place, log in _by_partition(dataset).items()}

    def getDefaultReadLimit(self) -> Any:
        most, least = self.options.max_offsets, self.options.min_offsets
        if most is not None:
            return admission.ReadMaxRows(most)
        return admission.ReadAllAvailable() if least is None else admission.ReadMinRows(least)

    def reportLatestOffset(self) -> Json | None:
        return to_json(self._latest) or None

    def prepareForTriggerAvailableNow(self) -> None:
        with one_sentence():
            self._target = {place: end for place, (_, end) in retry_changed(self._there).items()}

    def _waits(self, firsts: Offsets, latest: Offsets) -> bool:
        """Return whether too few offsets are there, and they have not been waited for too long."""
        least = self.options.min_offsets
        if least is None or self._target is not None:
            return False
        now = time.monotonic()
        is_late = (now - self._triggered) * 1000 >= self.options.max_trigger_delay_ms
        if not is_late and sum(latest[place] - firsts[place] for place in latest) < least:
            return True
        self._triggered = now
        return False

    # Between offsets

    def partitions(self, start: Json, end: Json) -> list[InputPartition]:
        with one_sentence():
            return retry_changed(lambda: self._parts(from_json(start), from_json(end)))

    def _parts(self, begin: Offsets, end: Offsets) -> list[InputPartition]:
        dataset, read = self.options.open(), self.options
        planner, logs = Planner(dataset.options), _by_partition(dataset)
        found = self._ranges(planner, logs, begin, end)
        wanted = {place: divided(one, read.max_records) for place, one in found.items()}
        in_order: set[Partition] = set()

        def plan(largest: int) -> list[Split]:
            splits: list[Split] = []
            for place, of_one in wanted.items():
                if of_one:
                    found, is_in_order = _splits(planner, logs[place], of_one, largest)
                    splits += found
                    if is_in_order:
                        in_order.add(place)
            return splits

        return list(with_own_offsets(list(parts(read, plan)), in_order))

    def _ranges(
        self, planner: Planner, logs: Mapping[Partition, PartitionLog], begin: Offsets, end: Offsets
    ) -> dict[Partition, BoundedRange]:
        for place in sorted((begin.keys() - end.keys()) | (end.keys() - logs.keys())):
            self._lose(f"partition {name_of(place)} is gone", "that it is there as before")
        return {
            place: self._range(planner, logs[place], begin.get(place), last)
            for place, last in end.items()
            if place in logs
        }

    def _range(
        self, planner: Planner, log: PartitionLog, first: int | None, last: int
    ) -> BoundedRange:
        there = log_start_offset(log) or 0, self._latest.get(partition_of(log), -1)
        if there[1] < last:
            there = self._ends.of(planner, log)
        if first is None:
            first = there[0]
            if first:
                self._lose(f"new partition {log.name} begins at {first}", "that it begins at 0")
        if last < first:
            self._lose(f"{log.name} ends at {last}, and {first} was read", "the same or more")
        elif first < last and (first < there[0] or last > there[1]):
            self._lose(
                f"offsets from {first} to below {last} of {log.name}",
                f"some of {there[0]} to {there[1] - 1}, which are there",
            )
        return max(first, there[0]), min(last, there[1])

    def _lose(self, found: str, expected: str) -> None:
        lose(found, expected, fails=self.options.fail_on_data_loss)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, OwnPart):  # a plan without splits
            return
        offset = spark_columns.named(["offset"])[0]
        schema = self.schema.insert(0, pa.field(offset.name, offset.type))

        def read(split: Split) -> Iterator[pa.RecordBatch]:
            return rows_of(Part((split,)), (offset, *self.columns), schema)

        with one_sentence():
            for split, is_own in zip(partition.splits, partition.are_own, strict=True):
                plan = partial(self._plan_again, place_of(split))
                for batch in read_again(split, read, plan) if is_own else read(split):
                    yield pa.RecordBatch.from_arrays(batch.columns[1:], schema=self.schema)

    def _plan_again(self, place: Partition, wanted: BoundedRange) -> list[Split] | None:
        """Return splits of the *wanted* offsets as they lie now; None where they have no order."""
        dataset = self.options.open()
        planner, logs = Planner(dataset.options), _by_partition(dataset)
        ranges = self._ranges(planner, logs, {place: wanted[0]}, {place: wanted[1]})
        if place not in ranges or ranges[place][0] >= ranges[place][1]:
            return []
        splits, is_in_order = _splits(
            planner, logs[place], [ranges[place]], self.options.max_partition_bytes
        )
        return splits if is_in_order else None

    def commit(self, end: Json) -> None:
        """Nothing is kept of what was read."""


def shared(most: int, firsts: Mapping[Partition, int], latest: Mapping[Partition, int]) -> Offsets:
    """Return where to end so that *most* offsets are read, in proportion to what is there.

    No partition starves, so that there may be one more for each: the rule of Spark's Kafka source.
    """
    sizes = {place: end - firsts[place] for place, end in latest.items() if end > firsts[place]}
    total = sum(sizes.values())
    ends = dict(latest)
    for place, size in sizes.items():
        share = most * size / total
        count = math.ceil(share) if share < 1 else math.floor(share)
        ends[place] = min(latest[place], firsts[place] + count)
    return ends


def _splits(
    planner: Planner, log: PartitionLog, wanted: list[BoundedRange], largest: int
) -> tuple[list[Split], bool]:
    """Return the splits of the *wanted* offsets of a partition, and whether offsets are in order."""
    survey = survey_of_range(planner, log, (wanted[0][0], wanted[-1][1]), largest)
    say("plan", survey.findings, grows=True)
    return planner.splits_of_ranges(survey, wanted), survey.is_in_order


def _by_partition(dataset: Dataset) -> dict[Partition, PartitionLog]:
    return {partition_of(log): log for log in dataset.logs}
