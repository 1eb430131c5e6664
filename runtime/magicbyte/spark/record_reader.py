"""The records, as Spark reads them: planned on the driver, read by tasks."""

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from magicbyte.findings import Finding
from magicbyte.reading.lost_times import lost_times
from magicbyte.reading.split import Split, read_split
from magicbyte.spark import spark_columns
from magicbyte.spark.batch import Batch
from magicbyte.spark.driver_log import one_sentence, say
from magicbyte.spark.options import OF_STREAMS, SourceOptions
from magicbyte.spark.pickled_readers import Shipped
from magicbyte.spark.plan_file import kept
from magicbyte.spark.spark_columns import Column
from magicbyte.spark.tasks import size_of, spare_collector, tasks

log = logging.getLogger("magicbyte.spark")


class Part(InputPartition):
    """Splits that one task reads."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(splits)
        self.splits = splits


class RecordsReader(Shipped, DataSourceReader):
    """Reads the columns of a schema. Raises InputError where it is not one that we can give."""

    def __init__(self, read: SourceOptions, schema: StructType) -> None:
        self.options = read
        self.limits = read.batch
        self.columns, self.schema = spark_columns.wanted(read, schema)

    def partitions(self) -> Sequence[InputPartition]:
        with one_sentence():
            read = self.options
            for name in OF_STREAMS:
                if name.lower() in read.given:
                    log.warning("%s is for streams: a batch makes nothing of it", name)
            if read.plan_path is None:
                return self._planned()
            made = kept(read, read.plan_path, lambda: [part.splits for part in self._planned()])
            return list(map(Part, made))

    def _planned(self) -> list[Part]:
        read = self.options
        dataset = read.open()
        if dataset.num_internal:
            log.info(
                "%d partitions of internal topics left out; includeInternal reads them",
                dataset.num_internal,
            )
        return list(parts(read, Batch(read, dataset, *self.limits).splits))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from rows_of(partition, self.columns, self.schema)


def parts(read: SourceOptions, plan: Callable[[int], list[Split]]) -> Iterator[Part]:
    """Yield tasks that together read what *plan* gives: splits of so many bytes at most."""
    largest, least = read.max_partition_bytes, read.min_partitions
    splits = plan(largest)
    if least is not None and 0 < len(splits) < least:
        splits = plan(max(1, min(largest, size_of(splits) // least)))
    if read.max_records is None:
        yield from map(Part, tasks(splits, largest, least_count=least))
        return
    # A task reads of one range, so that it spans no more offsets than that.
    for _, of_range in groupby(
        splits, key=lambda split: (split.topic, split.partition, split.options.offsets)
    ):
        yield from map(Part, tasks(list(of_range), largest))


def rows_of(
    partition: InputPartition, chosen: Sequence[Column], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the records that a task reads, as *chosen* columns in *schema*."""
    spare_collector()
    if not isinstance(partition, Part):  # a plan without splits comes as InputPartition(None)
        return
    with one_sentence():
        for split in partition.splits:
            findings: list[Finding] = []
            for batch in read_split(split, spark_columns.sources_of(chosen), findings=findings):
                if "timestamp" in batch.schema.names:
                    findings.extend(lost_times(split, batch.column("timestamp"), None))
                arrays = [column.made_from(batch.column(column.source)) for column in chosen]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            say("read", findings)
