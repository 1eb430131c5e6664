"""Batch reads of records: planned on the driver, read by tasks."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.reading.lost_times import lost_times
from magicbyte.reading.results import Tally, examine
from magicbyte.reading.split import Split, select_rows
from magicbyte.spark._batch_plan import BatchPlan
from magicbyte.spark._driver_log import PlanTotals, log_counts, log_findings, without_traceback
from magicbyte.spark._options import STREAM_OPTIONS, SourceOptions
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._plan_file import load_or_create_plan
from magicbyte.spark._pushed_filters import PushedFilters
from magicbyte.spark._spark_rows import SparkRows, spark_rows
from magicbyte.spark._splits_task import PackedSplits, PackedTask, SplitsTask
from magicbyte.spark._tasks import each_task, spare_collector

log = logging.getLogger("magicbyte.spark")


class RecordsReader(PickledByValue, DataSourceReader):
    """Batch reader for columns of `records`. Raises InputError for a schema that it cannot produce."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self.options = options
        self.bounds = options.batch_bounds
        self.rows = spark_rows(options, schema)
        self.filters = PushedFilters()

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the rows."""
        return self.rows.schema

    def partitions(self) -> Sequence[InputPartition]:
        with without_traceback():
            options = self.options
            for name in STREAM_OPTIONS:
                if name.lower() in options.raw:
                    log.warning("%s only applies to streams: this batch read ignores it", name)
            if options.plan_path is None:
                return list(map(PackedTask, self._plan()))
            planned = load_or_create_plan(options, options.plan_path, self._plan)
            return list(map(PackedTask, planned))

    def _plan(self) -> Iterator[tuple[Split, ...]]:
        dataset = self.options.open()
        if dataset.num_internal:
            log.info(
                "%d partitions of internal topics are left out; read them with includeInternal",
                dataset.num_internal,
            )
        plan = BatchPlan(self.options, dataset, *self.bounds, self.filters)
        totals = PlanTotals()
        for splits in plan_tasks(self.options, plan.splits):
            totals.add(splits)
            yield splits
        totals.log()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from read_rows(partition, self.rows)


class FilteringReader(RecordsReader):
    """Batch reader that plans only records which may match the filters of the query.

    Spark 4.1 and later refuse a reader with `pushFilters` unless
    `spark.sql.python.filterPushdown.enabled` is on; Spark 4.0 does not call it.
    """

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Keep *filters* for the plan, and return all of them: Spark evaluates them again."""
        self.filters = PushedFilters(filters)
        if filters:
            log.warning(
                "planned for %d filters of this query: other queries of the same DataFrame or view may "
                "get this plan from Spark, and lack rows; load() again for each query",
                len(filters),
            )
        return filters


def plan_tasks(
    options: SourceOptions, plan: Callable[[int], Iterable[Split]]
) -> Iterator[tuple[Split, ...]]:
    """Yield the splits of each task, for all that *plan* yields; its argument is the maximum size of a split."""
    max_bytes, min_count = options.max_partition_bytes, options.min_partitions
    splits = plan(max_bytes)
    if min_count is not None:
        planned = PackedSplits()
        for split in splits:
            planned.add(split)
        splits = planned
        if 0 < len(planned) < min_count:
            splits = plan(max(1, min(max_bytes, planned.num_bytes // min_count)))
    if options.max_records is None:
        yield from each_task(splits, max_bytes, min_count=min_count)
        return
    # Each range has at most max_records offsets. A task of one range cannot exceed that.
    for _, range_splits in groupby(
        splits, key=lambda split: (split.topic, split.partition, split.options.offsets)
    ):
        yield from each_task(range_splits, max_bytes)


def read_rows(partition: InputPartition, rows: SparkRows) -> Iterator[pa.RecordBatch]:
    """Yield the records of a task as *rows*."""
    spare_collector()
    if not isinstance(
        partition, SplitsTask | PackedTask
    ):  # Spark sends InputPartition(None) for an empty plan
        return
    with without_traceback():
        total = Tally()
        names = rows.sources
        for split in partition.splits:
            tally = Tally()
            for piece in examine(split, names):
                tally.count(piece)
                for batch in select_rows(piece, ("delivered",)):
                    if "timestamp" in batch.schema.names:
                        tally.findings.extend(lost_times(split, batch.column("timestamp"), None))
                    arrays, findings = rows.convert(batch)
                    tally.findings.extend(findings)
                    yield pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
            log_findings("read", tally.findings)
            total.bytes.update(tally.bytes)
            total.records.update(tally.records)
        log_counts(total.records, total.bytes)
