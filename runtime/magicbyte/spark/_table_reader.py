"""Batch reads of the tables other than `records`.

A task lists the batches of some splits, or computes the rows of one partition. For the latter the driver
reads nothing but file names.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import wanted_offsets
from magicbyte.reading.plan_ahead import plan_ahead
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import examine
from magicbyte.reading.segment_range import with_own_checkpoints
from magicbyte.reading.split import Split
from magicbyte.reading.table_rows import batch_rows, record_batch
from magicbyte.spark import _spark_columns
from magicbyte.spark._driver_log import log_findings, log_unread, without_traceback
from magicbyte.spark._options import SourceOptions
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._splits_task import PackedTask, SplitsTask
from magicbyte.spark._tasks import each_task
from magicbyte.tables import schemas
from magicbyte.tables.stored_types import to_stored_batch

ROWS_PER_BATCH = 4096
"""Largest number of rows of the table `batches` in one Arrow batch."""


class PartitionTask(InputPartition):
    """A partition whose rows one task computes, or the problems of the log.dirs."""

    def __init__(self, dataset: Callable[[], Dataset]) -> None:
        super().__init__(dataset)
        self.dataset = dataset


class TableReader(PickledByValue, DataSourceReader):
    """Batch reader for columns of a table. Raises InputError for a schema that it cannot produce."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self.options = options
        self.columns, self.schema = _spark_columns.requested_columns(options, schema)

    def partitions(self) -> list[InputPartition]:
        with without_traceback():
            dataset, max_bytes = self.options.open(), self.options.max_partition_bytes
            log_findings("plan", dataset.unreadable)
            log_unread(dataset.unread)
            options = dataset.options
            if self.options.table == "batches":
                planned = each_task(_planned(dataset, max_bytes), max_bytes)
                return list(map(PackedTask, planned))
            if self.options.table in schemas.INTERNAL_TABLES:
                return [PartitionTask(_of_all_topics(dataset))]
            read = {log.folder for log in dataset.logs}
            datasets = [
                partial(Dataset, [log] if log.folder in read else [], options, all_logs=[log])
                for log in map(with_own_checkpoints, dataset.all_logs)
            ]
            if self.options.table == "problems":
                outside = partial(
                    Dataset, [], options, log_dirs=dataset.log_dirs, unread_paths=dataset.unread
                )
                datasets.insert(0, outside)
            return list(map(PartitionTask, datasets))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        names = tuple(column.source for column in self.columns)
        with without_traceback():
            if isinstance(partition, SplitsTask | PackedTask):
                rows = _batches(partition.splits, names)
            elif isinstance(partition, PartitionTask):
                rows = iter(partition.dataset().stored(self.options.table, names))
            else:  # Spark sends InputPartition(None) for an empty plan
                return
            for batch in rows:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)


def _of_all_topics(dataset: Dataset) -> Callable[[], Dataset]:
    """Return a function that makes a dataset of all topics, for a table of internal topics."""
    logs = dataset.of_topics(dataset.all_topics).logs
    return partial(Dataset, logs, dataset.options, log_dirs=dataset.log_dirs)


def _planned(dataset: Dataset, max_bytes: int) -> Iterator[Split]:
    """Yield the splits of *dataset* while partitions are planned, and log the findings of the surveys."""
    planner = Planner(dataset.options)
    survey_ahead = partial(planner.survey, split_bytes=max_bytes, for_records=True)
    for log, survey in plan_ahead(dataset.logs, survey_ahead):
        log_findings("plan", survey.findings)
        yield from planner.splits(survey, wanted_offsets(planner, log))


def _batches(splits: tuple[Split, ...], names: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    schema = schemas.BATCHES.schema(names)
    for split in splits:
        rows = (
            {name: row[name] for name in names}
            for piece in examine(split, None)
            for row in batch_rows(split, piece, quick=False)
        )
        while chunk := list(islice(rows, ROWS_PER_BATCH)):
            yield to_stored_batch(record_batch(chunk, schema))
