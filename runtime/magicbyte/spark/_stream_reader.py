"""Stream reads of records: offsets, and the records between two of them, as in Spark's Kafka source."""

import logging
import math
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.errors import InputError, error_of
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    BoundedRange,
    ReadableRanges,
    offset_at,
    survey_for_tasks,
)
from magicbyte.reading.planner import Planner
from magicbyte.reading.retry import retry_changed
from magicbyte.reading.split import Split
from magicbyte.spark._driver_log import log_findings, log_unread, without_traceback
from magicbyte.spark._offset_bounds import EARLIEST, LATEST
from magicbyte.spark._offset_ranges import divide, partition_of, report_data_loss, resolve_offset
from magicbyte.spark._option_values import Partition, from_json, name_of, to_json
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._record_reader import plan_tasks, read_rows
from magicbyte.spark._replanning import (
    ReplannableTask,
    partition_of_split,
    read_replanned,
    replannable_tasks,
)
from magicbyte.spark._spark_rows import RowsAfterOffset, spark_rows
from magicbyte.spark._splits_task import SplitsTask

log = logging.getLogger("magicbyte.spark")

try:
    from pyspark.sql.streaming import datasource as admission
except ImportError:  # Spark before 4.2 has no read limits: a trigger reads all there is
    admission = None  # type: ignore[assignment]  # mypy sees the newest release only

Offsets = dict[Partition, int]
JsonOffsets = dict[str, dict[str, int]]
"""Offsets by topic and partition, as in the checkpoints of Spark's Kafka source."""

AvailableNow: type = admission.SupportsTriggerAvailableNow if admission else object


class StreamReader(PickledByValue, DataSourceStreamReader, AvailableNow):  # type: ignore[misc]  # as above
    """Stream reader for columns of `records`. Raises InputError for a schema that it cannot produce.

    The offset of a stream has, for each partition, the offset after the last one that was read. With
    read_committed, records are read up to the last stable offset.
    """

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        if options.table != "records":
            raise InputError(f"a stream of the table {options.table}", "the table records")
        self.options = options
        self.start = options.stream_start
        self.rows = spark_rows(options, schema)
        self._readable_ranges = ReadableRanges()
        self._latest: Offsets = {}
        self._target: Offsets | None = None
        """End of a query that reads only what exists when it starts."""
        self._triggered = -math.inf
        """Time of the last trigger that read something."""
        self._logged: set[Finding | UnreadPath] = set()
        """Findings and unread paths that earlier batches have logged."""

    def __getstate__(self) -> dict[str, Any]:
        # Tasks do not need the driver's knowledge of the logs.
        caches = {"_readable_ranges": ReadableRanges(), "_latest": {}, "_target": None}
        caches["_logged"] = set()
        return self.__dict__ | caches

    # Offsets

    def initialOffset(self) -> JsonOffsets:
        with without_traceback():
            return to_json(retry_changed(self._initial_offsets))

    def _initial_offsets(self) -> Offsets:
        dataset = self.options.open()
        logs = _logs_by_partition(dataset)
        self.start.check_names(logs)
        planner = Planner(dataset.options)
        return {partition: self._initial_offset(planner, log) for partition, log in logs.items()}

    def _initial_offset(self, planner: Planner, log: PartitionLog) -> int:
        first, end = readable = self._readable_ranges.of(planner, log)
        self._log_findings_at_end(log)
        offset = resolve_offset(log, readable, self.start, partial(offset_at, planner))
        if offset == EARLIEST:
            return first
        if offset == LATEST:
            return end
        if not first <= offset <= end:
            self._report_data_loss(f"offset {offset} of {log.name}", f"{first} to {end}")
        return min(max(offset, first), end)

    def latestOffset(self, start: JsonOffsets | None = None, limit: Any = None) -> JsonOffsets:
        with without_traceback():
            begin = from_json(start or {})
            readable = retry_changed(lambda: self._readable(begin))
            latest = {partition: end for partition, (_, end) in readable.items()}
            if self._target is not None:
                # The next query reads later records. Partitions that no longer exist are left out.
                latest = {
                    partition: min(end, self._target[partition])
                    for partition, end in latest.items()
                    if partition in self._target
                }
            self._latest = latest
            firsts = {
                partition: begin.get(partition, first) for partition, (first, _) in readable.items()
            }
            log.info(
                "%d offsets behind in %d partitions",
                sum(latest[partition] - firsts[partition] for partition in latest),
                sum(latest[partition] > firsts[partition] for partition in latest),
            )
            if start is None or (admission and isinstance(limit, admission.ReadAllAvailable)):
                return to_json(latest)
            if self._waits(firsts, latest):
                return to_json(begin)
            max_offsets = self.options.max_offsets
            if max_offsets is None:
                return to_json(latest)
            return to_json(share_offsets(max_offsets, firsts, latest))

    def _readable(self, begin: Offsets) -> dict[Partition, BoundedRange]:
        """Return for each partition the range of offsets that a consumer could read now.

        A range does not end before *begin*, or before an earlier end, where only bytes that are damaged
        or cannot be read follow: otherwise records would be read twice when they can be read again.
        """
        dataset = self.options.open()
        planner, readable = Planner(dataset.options), {}
        for partition, log in _logs_by_partition(dataset).items():
            first, end = self._readable_ranges.of(planner, log)
            self._log_findings_at_end(log)
            if not self._readable_ranges.is_end_known(log):
                end = max(end, begin.get(partition, end), self._latest.get(partition, end))
            readable[partition] = first, end
        return readable

    def _log_findings_at_end(self, log: PartitionLog) -> None:
        """Log the findings about bytes after the last sound entry, each once in a query.

        No batch has these bytes. Raises the first error if damage ends the read.
        """
        findings = self._readable_ranges.findings_at_end(log)
        if self.options.read.on_damage == "fail":
            for finding in findings:
                if finding.severity == "error":
                    raise error_of(finding)
        new = [finding for finding in findings if finding not in self._logged]
        log_findings(f"end of {log.name}", new, is_growing=True)
        self._logged.update(new)

    def getDefaultReadLimit(self) -> Any:
        max_offsets, min_offsets = self.options.max_offsets, self.options.min_offsets
        if max_offsets is not None:
            return admission.ReadMaxRows(max_offsets)
        if min_offsets is not None:
            return admission.ReadMinRows(min_offsets)
        return admission.ReadAllAvailable()

    def reportLatestOffset(self) -> JsonOffsets | None:
        return to_json(self._latest) or None

    def prepareForTriggerAvailableNow(self) -> None:
        with without_traceback():
            readable = retry_changed(lambda: self._readable({}))
            self._target = {partition: end for partition, (_, end) in readable.items()}

    def _waits(self, firsts: Offsets, latest: Offsets) -> bool:
        """Return whether a batch waits for `minOffsetsPerTrigger`, until `maxTriggerDelay` is over."""
        min_offsets = self.options.min_offsets
        if min_offsets is None or self._target is not None:
            return False
        now = time.monotonic()
        is_late = (now - self._triggered) * 1000 >= self.options.max_trigger_delay_ms
        count = sum(end - firsts[partition] for partition, end in latest.items())
        if not is_late and count < min_offsets:
            return True
        self._triggered = now
        return False

    # Between offsets

    def partitions(self, start: JsonOffsets, end: JsonOffsets) -> list[InputPartition]:
        with without_traceback():
            return retry_changed(lambda: self._tasks(from_json(start), from_json(end)))

    def _tasks(self, begin: Offsets, end_offsets: Offsets) -> list[InputPartition]:
        dataset = self.options.open()
        self._log_what_is_not_read(dataset)
        planner, logs = Planner(dataset.options), _logs_by_partition(dataset)
        ranges = {
            partition: divide(offsets, self.options.max_records)
            for partition, offsets in self._ranges(planner, logs, begin, end_offsets).items()
        }
        in_order: set[Partition] = set()

        def plan(max_bytes: int) -> list[Split]:
            splits: list[Split] = []
            for partition, parts in ranges.items():
                if parts:
                    log = logs[partition]
                    stable = self._readable_ranges.stable_offset(log)
                    own, is_in_order = _splits(planner, log, parts, max_bytes, stable)
                    splits += own
                    if is_in_order:
                        in_order.add(partition)
            return splits

        planned = list(plan_tasks(self.options, plan))
        return list(replannable_tasks(planned, in_order))

    def _log_what_is_not_read(self, dataset: Dataset) -> None:
        """Log the paths that cannot be or are not read, each once in a query."""
        log_findings("plan", [each for each in dataset.unreadable if each not in self._logged])
        log_unread([unread for unread in dataset.unread if unread not in self._logged])
        self._logged.update(dataset.unreadable, dataset.unread)

    def _ranges(
        self,
        planner: Planner,
        logs: Mapping[Partition, PartitionLog],
        begin: Offsets,
        end_offsets: Offsets,
    ) -> dict[Partition, BoundedRange]:
        for partition in sorted(
            (begin.keys() - end_offsets.keys()) | (end_offsets.keys() - logs.keys())
        ):
            self._report_data_loss(
                f"partition {name_of(partition)} is gone", "that it still exists"
            )
        return {
            partition: self._range(planner, logs[partition], begin.get(partition), last)
            for partition, last in end_offsets.items()
            if partition in logs
        }

    def _range(
        self, planner: Planner, log: PartitionLog, first: int | None, last: int
    ) -> BoundedRange:
        log_start, log_end = log.log_start_offset or 0, self._latest.get(partition_of(log), -1)
        if log_end < last:
            log_start, log_end = self._readable_ranges.of(planner, log)
            if not self._readable_ranges.is_end_known(log):
                log_end = max(log_end, last)  # the task reports unreadable bytes
        if first is None:
            first = log_start
            if first:
                self._report_data_loss(
                    f"new partition {log.name} begins at offset {first}", "that it begins at 0"
                )
        if last < first:
            self._report_data_loss(
                f"{log.name} ends at offset {last}, but {first} was read before", "no lower end"
            )
        elif first < last and (first < log_start or last > log_end):
            self._report_data_loss(
                f"offsets from {first} to below {last} of {log.name}",
                f"some of {log_start} to {log_end - 1}, which exist",
            )
        return max(first, log_start), min(last, log_end)

    def _report_data_loss(self, found: str, expected: str) -> None:
        report_data_loss(found, expected, fails=self.options.fail_on_data_loss)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, ReplannableTask):  # Spark's task for an empty plan
            return
        rows = RowsAfterOffset(self.rows)

        def read(split: Split) -> Iterator[pa.RecordBatch]:
            return read_rows(SplitsTask((split,)), rows)

        with without_traceback():
            for split, can_replan in zip(partition.splits, partition.can_replan, strict=True):
                plan = partial(self._plan_again, partition_of_split(split))
                for batch in read_replanned(split, read, plan) if can_replan else read(split):
                    yield pa.RecordBatch.from_arrays(batch.columns[1:], schema=self.rows.schema)

    def _plan_again(self, partition: Partition, offsets: BoundedRange) -> list[Split] | None:
        """Return the current splits of *offsets*; None if offsets are out of order."""
        dataset = self.options.open()
        planner, logs = Planner(dataset.options), _logs_by_partition(dataset)
        ranges = self._ranges(planner, logs, {partition: offsets[0]}, {partition: offsets[1]})
        if partition not in ranges or ranges[partition][0] >= ranges[partition][1]:
            return []
        splits, is_in_order = _splits(
            planner, logs[partition], [ranges[partition]], self.options.max_partition_bytes
        )
        return splits if is_in_order else None

    def commit(self, end: JsonOffsets) -> None:
        """Do nothing: the reader stores no state."""


def share_offsets(
    max_offsets: int, firsts: Mapping[Partition, int], latest: Mapping[Partition, int]
) -> Offsets:
    """Return end offsets so that about *max_offsets* are read, in proportion to each partition's size.

    Every partition gets at least one, so the total may exceed *max_offsets* by one per partition:
    the rule of Spark's Kafka source.
    """
    sizes = {
        partition: end - firsts[partition]
        for partition, end in latest.items()
        if end > firsts[partition]
    }
    total = sum(sizes.values())
    ends = dict(latest)
    for partition, size in sizes.items():
        share = max_offsets * size / total
        count = math.ceil(share) if share < 1 else math.floor(share)
        ends[partition] = min(latest[partition], firsts[partition] + count)
    return ends


def _splits(
    planner: Planner,
    log: PartitionLog,
    ranges: list[BoundedRange],
    max_bytes: int,
    stable_offset: int | None = None,
) -> tuple[list[Split], bool]:
    """Return the splits of consecutive *ranges* of *log*, and whether its offsets are in order.

    No transaction that began before *stable_offset* is open.
    """
    survey = survey_for_tasks(planner, log, ranges, max_bytes, stable_offset=stable_offset)
    log_findings("plan", survey.findings, is_growing=True)
    return planner.splits_of_ranges(survey, ranges), survey.is_in_order


def _logs_by_partition(dataset: Dataset) -> dict[Partition, PartitionLog]:
    return {partition_of(log): log for log in dataset.logs}
