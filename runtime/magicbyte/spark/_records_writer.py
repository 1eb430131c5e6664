"""Writes a DataFrame as the partitions of a log.dir: tasks write runs, and the commit publishes them or nothing.

A task names its files after its attempt, and only the files of attempts that Spark reports are published. So an attempt
that failed, or that lost against another one, leaves nothing.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from magicbyte.errors import InputError
from magicbyte.spark._conditions import input_errors_have
from magicbyte.spark._driver_log import without_traceback
from magicbyte.spark._pickling import PickledByValue
from magicbyte.spark._spark_columns import SPARK_TYPES
from magicbyte.tables.stored_types import MICROSECONDS
from magicbyte.writing.record_runs import RecordRun
from magicbyte.writing.record_sink import RecordSink

log = logging.getLogger("magicbyte.spark")

INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())

ARROW_TYPES: dict[str, pa.DataType] = {
    **{
        SPARK_TYPES[arrow_type].simpleString(): arrow_type
        for arrow_type in (pa.binary(), pa.string(), pa.bool_(), *INTEGERS, MICROSECONDS)
    },
    "void": pa.null(),
    "timestamp_ntz": pa.timestamp("us"),
    **{
        f"array<struct<key:{key},value:{value}>>": pa.list_(
            pa.struct([("key", pa.binary()), ("value", pa.binary())])
        )
        for key in ("string", "binary")
        for value in ("string", "binary")
    },
}
"""Arrow's types of the columns that records have, by Spark's names; a text may take the place of bytes."""


@dataclass
class TaskRuns(WriterCommitMessage):
    """Runs that an attempt of a task has written."""

    task: int
    """Number of the task: it decides the order of records without offsets."""
    runs: list[RecordRun]


class RecordsWriter(PickledByValue, DataSourceArrowWriter):
    """The writer of a query; Spark sends it to the tasks, and then to the process that commits."""

    def __init__(self, sink: RecordSink, schema: StructType) -> None:
        """Create the folder for the tasks. Raises InputError if *schema* has no columns of records."""
        self._sink = sink
        self._schema = _arrow_schema(schema)
        with input_errors_have("MAGICBYTE_INVALID_SCHEMA"):
            sink.check_schema(self._schema)
            if "offset" in self._schema.names and sink.starting_offset != 0:
                raise InputError("startingOffset with the column 'offset'", "one of them")
        sink.begin()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write the rows of a task."""
        with without_traceback():
            context = TaskContext.get()
            assert context is not None
            task = context.partitionId()
            writer = self._sink.run_writer(
                self._schema,
                file_prefix=f"{task:06}-{context.taskAttemptId()}-",
                first_partition=task,
            )
            for arrow_batch in iterator:
                writer.write(
                    arrow_batch.rename_columns(self._schema.names), time.time_ns() // 1_000_000
                )
            return TaskRuns(task, writer.finish())

    def commit(self, task_messages: Sequence[WriterCommitMessage | None]) -> None:
        """Publish the partitions of all tasks."""
        with without_traceback():
            tasks = sorted(
                (message for message in task_messages if isinstance(message, TaskRuns)),
                key=lambda message: message.task,
            )
            report = self._sink.commit(run for task_runs in tasks for run in task_runs.runs)
            log.info(
                "written: %d records in %d partitions of %s",
                sum(row["records"] for row in report.partitions),
                len(report.partitions),
                self._sink.path,
            )

    def abort(self, task_messages: Sequence[WriterCommitMessage | None]) -> None:
        """Delete the files of all tasks."""
        self._sink.discard()


@input_errors_have("MAGICBYTE_INVALID_SCHEMA")
def _arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow types of the columns of *schema*, with names in lower case, as Spark resolves them."""
    arrow_fields = []
    for field in schema.fields:
        data_type = field.dataType.simpleString()
        if data_type not in ARROW_TYPES:
            raise InputError(
                f"column {field.name} as {data_type}",
                "value, key as string or binary; headers as array<struct<key:string,value:binary>>; topic as string; "
                "partition as int; timestamp; offset as bigint; no other columns",
            )
        arrow_fields.append(pa.field(field.name.lower(), ARROW_TYPES[data_type]))
    return pa.schema(arrow_fields)
