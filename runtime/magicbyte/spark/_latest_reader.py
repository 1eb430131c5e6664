"""Batch reads of the table `latest`: the last record of each key of a partition, one task per partition."""

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import ReadableRanges, offset_at
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report
from magicbyte.reading.segment_range import with_own_checkpoints
from magicbyte.spark import _spark_columns
from magicbyte.spark._driver_log import log_counts, log_findings, log_unread, without_traceback
from magicbyte.spark._offset_bounds import EARLIEST, LATEST, OffsetBound
from magicbyte.spark._offset_ranges import partition_of, resolve_range
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._pickling import PickledByValue

FROM_THE_BEGINNING = OffsetBound("startingOffsets", everywhere=EARLIEST)
"""A state is what all records of a partition add up to."""


class LatestTask(InputPartition):
    """A partition, and the offset before which its state is wanted; None: at its end."""

    def __init__(self, dataset: Callable[[], Dataset], end: int | None) -> None:
        super().__init__(dataset)
        self.dataset, self.end = dataset, end


class LatestReader(PickledByValue, DataSourceReader):
    """Batch reader for columns of `latest`. Raises InputError for a schema that it cannot produce."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self.options = options
        self.columns, self.schema = _spark_columns.requested_columns(options, schema)

    def partitions(self) -> list[InputPartition]:
        with without_traceback():
            dataset, ends_at = self.options.open(), self.options.batch_bounds[1]
            log_findings("plan", dataset.unreadable)
            log_unread(dataset.unread)
            ends_at.check_names(map(partition_of, dataset.logs))
            tasks = []
            for log in map(with_own_checkpoints, dataset.logs):
                of_log = partial(Dataset, [log], dataset.options)
                tasks.append(LatestTask(of_log, self._end(dataset, log, ends_at)))
            return list(tasks)

    def _end(self, dataset: Dataset, log: PartitionLog, ends_at: OffsetBound) -> int | None:
        """Return the offset of *log* at which *ends_at* is; None at its end."""
        if ends_at.everywhere == LATEST and not ends_at.is_time:
            return None
        planner = Planner(dataset.options)
        (_, end), is_to_end = resolve_range(
            log,
            ReadableRanges().of(planner, log),
            FROM_THE_BEGINNING,
            ends_at,
            partial(offset_at, planner),
            fails=self.options.fail_on_data_loss,
        )
        return None if is_to_end else end

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(
            partition, LatestTask
        ):  # Spark sends InputPartition(None) for an empty plan
            return
        with without_traceback():
            report = Report()
            names = _spark_columns.sources_of(self.columns)
            rows = partition.dataset().latest(names, offset=partition.end)
            for batch in rows.read_into(report):
                arrays = [column.convert(batch.column(column.source)) for column in self.columns]
                yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)
            log_findings("read", report.findings)
            log_counts(report.records, report.bytes)
