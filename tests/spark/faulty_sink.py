"""A data source for tests: magicbyte's, whose tasks are killed, fail, or are too late to be counted, at their first attempts.

`python faulty_sink.py FOLDER COUNT` writes COUNT rows into FOLDER, in four tasks that Spark may try again, and prints
how many attempts failed. This module is sent to Spark's processes by value.
"""

import os
import signal
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from magicbyte.spark import use_java
from magicbyte.spark.data_source import MagicbyteDataSource
from spark_environment import QUICK_START

MAX_FAILURES = 4
"""Spark ends a job when one of its tasks has failed this often."""


def numbered(spark: SparkSession, count: int, num_tasks: int = 4) -> DataFrame:
    """Return rows whose keys and values are their numbers, in tasks of consecutive numbers."""
    number = F.col("id").cast("string")
    return spark.range(0, count, 1, num_tasks).select(
        number.alias("key"),
        F.concat(F.lit("value "), number).alias("value"),
        F.timestamp_millis(F.lit(1_714_000_000_000) + F.col("id")).alias("timestamp"),
    )


class FaultySink(DataSource):
    @classmethod
    def name(cls) -> str:
        return "magicbyte-with-faulty-tasks"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        writer = MagicbyteDataSource(dict(self.options)).writer(schema, overwrite)
        assert isinstance(writer, DataSourceArrowWriter)
        return FaultyWriter(writer)


class FaultyWriter(DataSourceArrowWriter):
    def __init__(self, writer: DataSourceArrowWriter) -> None:
        self.writer = writer

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        task, attempt = context.partitionId(), context.attemptNumber()
        message = self.writer.write(_cut(iterator, task) if attempt < task % 3 else iterator)
        if task == 3 and attempt < MAX_FAILURES - 1:
            raise OSError("the answer of the task is lost")
        return message

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self.writer.commit(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self.writer.abort(messages)


def _cut(iterator: Iterator[pa.RecordBatch], task: int) -> Iterator[pa.RecordBatch]:
    """Yield some rows of a task, and end it: by an error, or as the system does that lacks memory."""
    yield next(iterator)
    if task == 1:
        raise OSError(5, "Input/output error")
    os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, count: int) -> None:
    use_java()
    builder = SparkSession.builder.master(f"local[2,{MAX_FAILURES}]")
    for name, value in {
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.sparkContext.setJobGroup("write", "a write")
    spark.dataSource.register(FaultySink)
    rows = numbered(spark, count).write.format("magicbyte-with-faulty-tasks").mode("append")
    rows.options(topic="t", partitions=3, **{"kafka.compression.type": "zstd"}).save(folder)
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup("write"))
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    print(sum(stage.numFailedTasks for stage in stages if stage))
    spark.stop()


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
