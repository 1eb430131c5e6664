"""The other tables than records, as Spark reads them.

A task reads batches of some splits, or what a few whole partitions give: nothing but names is read
on the driver for those.
"""

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.options import ReadOptions
from magicbyte.reading.planner import Planner
from magicbyte.reading.segment_range import with_own_checkpoints
from magicbyte.reading.split import Split, examine
from magicbyte.reading.table_rows import batch_rows, record_batch
from magicbyte.spark import spark_columns
from magicbyte.spark.driver_log import one_sentence, say
from magicbyte.spark.options import SourceOptions
from magicbyte.spark.pickled_readers import Shipped
from magicbyte.spark.tasks import tasks
from magicbyte.tables import schemas
from magicbyte.tables.stored_types import to_stored_batch

ROWS = 4096
"""Rows of batches in a record batch."""


class Splits(InputPartition):
    """Splits whose batches a task lists."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(splits)
        self.splits = splits


class Logs(InputPartition):
    """A partition that a task reads all of; or none, and the log.dirs, of which there are problems."""

    def __init__(
        self, log: PartitionLog | None, is_read: bool, log_dirs: tuple[LogDir, ...], of: ReadOptions
    ) -> None:
        super().__init__(log)
        self.log = log
        self.is_read = is_read
        self.log_dirs = log_dirs
        self.options = of

    def dataset(self) -> Dataset:
        logs = [self.log] if self.log is not None else []
        read = logs if self.is_read else []
        return Dataset(read, self.options, log_dirs=self.log_dirs, all_logs=logs)


class TableReader(Shipped, DataSourceReader):
    """Reads the columns of a schema. Raises InputError where it is not one that we can give."""

    def __init__(self, read: SourceOptions, schema: StructType) -> None:
        self.options = read
        self.columns, self.schema = spark_columns.wanted(read, schema)

    def partitions(self) -> list[InputPartition]:
        with one_sentence():
            dataset, largest = self.options.open(), self.options.max_partition_bytes
            if self.options.table == "batches":
                planner, splits = Planner(dataset.options), []
                for log in dataset.logs:
                    splits += planner.plan(log, largest)
                    say("plan", planner.survey(log, largest).findings)
                return [Splits(task) for task in tasks(splits, largest)]
            read = {log.folder for log in dataset.logs}
            of = dataset.options
            dirs = [Logs(None, False, dataset.log_dirs, of)]
            logs = [
                Logs(with_own_checkpoints(log), log.folder in read, (), of)
                for log in dataset.all_logs
            ]
            return [*(dirs if self.options.table == "problems" else ()), *logs]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        names = tuple(column.source for column in self.columns)
        with one_sentence():
            if isinstance(partition, Splits):
                rows = _batches(partition.splits, names)
            elif isinstance(partition, Logs):
                rows = iter(partition.dataset().stored(self.options.table, names))
            else:  # a plan without any comes as InputPartition(None)
                return
            for batch in rows:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)


def _batches(splits: tuple[Split, ...], names: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    schema = schemas.BATCHES.schema(names)
    for split in splits:
        rows = (
            {name: row[name] for name in names}
            for piece in examine(split, None)
            for row in batch_rows(split, piece, quick=False)
        )
        while some := list(islice(rows, ROWS)):
            yield to_stored_batch(record_batch(some, schema))
