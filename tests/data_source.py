"""Runs the Spark data source and the tasks of the pipeline without Spark, in this process."""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from magicbyte.spark.data_source import MagicbyteDataSource


class InProcessSpark:
    """Runs the tasks of a Spark job in this process."""

    version = "none"

    def __init__(self) -> None:
        self.sparkContext = self
        self._partitions: list[Iterable[Any]] = []

    def parallelize(self, items: list[Any], number: int) -> "InProcessSpark":
        self._partitions = [[item] for item in items]
        return self

    def mapPartitions(self, task: Callable[[Iterable[Any]], Iterable[Any]]) -> "InProcessSpark":
        self._partitions = [task(iter(items)) for items in self._partitions]
        return self

    def collect(self) -> list[Any]:
        return [item for items in self._partitions for item in items]

    def count(self) -> int:
        return len(self.collect())


def planned(path: str, **options: str) -> tuple[Any, list[Any]]:
    """Return the data source's reader for *path* and *options*, and its tasks."""
    source = MagicbyteDataSource({"path": path, **options})
    reader = source.reader(source.schema())
    return reader, list(reader.partitions())


def rows(path: str, **options: str) -> list[dict[str, Any]]:
    """Return the rows of all tasks, in the order of the tasks."""
    reader, tasks = planned(path, **options)
    batches = [batch for task in tasks for batch in reader.read(task)]
    return pa.Table.from_batches(batches, reader.schema).to_pylist()


def places(path: str, **options: str) -> dict[str, list[int]]:
    """Return the offsets of the records, by partition, in the order of the tasks."""
    return offsets_by_partition(rows(path, columns="topic,partition,offset", **options))


def offsets_by_partition(records: list[dict[str, Any]]) -> dict[str, list[int]]:
    offsets: dict[str, list[int]] = {}
    for row in records:
        offsets.setdefault(f"{row['topic']}-{row['partition']}", []).append(row["offset"])
    return offsets
