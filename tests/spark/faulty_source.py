"""A data source for tests: magicbyte's, on a disk some of whose blocks, files and folders cannot be read.

Spark plans and reads in processes of its own. This module and `io_faults` are sent to them by value,
and the option `faults` says what each of them cannot read.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

import io_faults
from faulty_logs import Fault
from io_faults import FaultyDisk, faulty_disk
from magicbyte.spark.data_source import MagicbyteDataSource


def faults_option(faults: Iterable[Fault]) -> str:
    """Return the value of the option `faults`."""
    disk = FaultyDisk()
    for fault in faults:
        fault.put_into(disk)
    blocks = {path: sorted(numbers) for path, numbers in disk.blocks.items()}
    return json.dumps([blocks, disk.unopened, disk.unlisted])


@contextmanager
def disk_with(faults: str) -> Iterator[None]:
    with faulty_disk() as disk:
        blocks, disk.unopened, disk.unlisted = json.loads(faults)
        disk.blocks = {path: set(numbers) for path, numbers in blocks.items()}
        yield


class FaultySource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "magicbyte-on-a-faulty-disk"

    def source(self) -> tuple[str, MagicbyteDataSource]:
        options = {key.lower(): value for key, value in self.options.items()}
        faults = options.pop("faults")
        return faults, MagicbyteDataSource(options)

    def schema(self) -> StructType:
        faults, source = self.source()
        with disk_with(faults):
            return source.schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        faults, source = self.source()
        with disk_with(faults):
            return FaultyReader(faults, source.reader(schema))


class FaultyReader(DataSourceReader):
    def __init__(self, faults: str, reader: DataSourceReader) -> None:
        self.faults, self.reader = faults, reader

    def partitions(self) -> list[InputPartition]:
        with disk_with(self.faults):
            return list(self.reader.partitions())

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with disk_with(self.faults):
            yield from self.reader.read(partition)


class FaultyTask:
    """A task of a Spark job, on a faulty disk."""

    def __init__(self, faults: str, task: Any) -> None:
        self.faults, self.task = faults, task

    def __call__(self, items: Iterable[Any]) -> Iterator[Any]:
        with disk_with(self.faults):
            yield from self.task(items)


for module in (sys.modules[__name__], io_faults):
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
