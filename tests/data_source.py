"""Runs the Spark data source without Spark: plans its tasks and reads their rows."""

from typing import Any

import pyarrow as pa

from magicbyte.spark.data_source import MagicbyteDataSource


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
