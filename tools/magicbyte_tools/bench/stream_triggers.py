"""python -m magicbyte_tools.bench.stream_triggers [--mib N] [--step KB] [--triggers N]: bytes that a trigger of a stream reads.

A stream of Spark reads a partition of one segment of N MiB, in which each batch is a transaction, as a running
broker has it on its disk. Before each trigger the segment grows by a number of bytes. Counted are the bytes
that all Python processes of Spark read from any file, plans and tasks together; the JVM reads none of the log.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from magicbyte.limits import MIB
from magicbyte.spark import use_java
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.log_writer import growing_log
from magicbyte_tools.bench.process import read_by

FIRST_TRIGGERS = 2
"""Triggers after the first one that are not counted: processes of Spark still import modules."""

TRIGGER_INTERVAL = "2 seconds"
"""Interval so long that few triggers begin while the segment grows, which would divide the appended bytes."""

KB = 1000


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.stream_triggers")
    parser.add_argument("--mib", type=int, default=1024, help="mebibytes of the segment")
    parser.add_argument("--step", type=int, default=1000, help="kilobytes appended per trigger")
    parser.add_argument("--triggers", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[128], help="records per batch")
    parser.add_argument("--isolation-level", default="read_committed")
    options = parser.parse_args(arguments)
    CACHE.mkdir(parents=True, exist_ok=True)
    with spark_session() as spark:
        for rows_per_batch in options.rows:
            print(f"\n{rows_per_batch} records per batch, {options.isolation_level}\n")
            print("| trigger | bytes appended | bytes read | ratio | rows |")
            print("|---:|---:|---:|---:|---:|", flush=True)
            with TemporaryDirectory(dir=CACHE) as temporary:
                for line in measured(spark, Path(temporary), rows_per_batch, options):
                    print(line, flush=True)


def measured(
    spark: SparkSession, folder: Path, rows_per_batch: int, options: argparse.Namespace
) -> Iterator[str]:
    """Yield a line of the table for each trigger, the first one included."""
    partition = folder / "topic-0"
    with growing_log(partition, transactions=True, rows_per_batch=rows_per_batch) as (
        writer,
        batches,
    ):
        while writer.size_bytes < options.mib * MIB - options.step * KB * (options.triggers + 3):
            batches.append_to(writer)
        writer.flush()
        query = start_query(spark, partition, folder / "checkpoint", options.isolation_level)
        try:
            query.processAllAvailable()
            before = bytes_read()
            yield line_of("first", writer.size_bytes, more_read({}, before), query)
            for number in range(-FIRST_TRIGGERS, options.triggers):
                appended = writer.size_bytes
                while writer.size_bytes < appended + options.step * KB:
                    batches.append_to(writer)
                writer.flush()
                appended = writer.size_bytes - appended
                query.processAllAvailable()
                now = bytes_read()
                if number >= 0:
                    yield line_of(str(number + 1), appended, more_read(before, now), query)
                before = now
        finally:
            query.stop()


def line_of(name: str, appended: int, read_bytes: int, query: StreamingQuery) -> str:
    progress = [each for each in query.recentProgress if each["numInputRows"]]
    rows = progress[-1]["numInputRows"] if progress else 0
    return f"| {name} | {appended:,} | {read_bytes:,} | {read_bytes / appended:.2f} | {rows:,} |"


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """Provide a session of Spark with one thread, so that tasks use one process."""
    use_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[1]")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(CACHE / "spark"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def start_query(
    spark: SparkSession, folder: Path, checkpoint: Path, isolation_level: str
) -> StreamingQuery:
    source = spark.readStream.format("magicbyte").option("startingOffsets", "latest")
    frame = source.option("isolationLevel", isolation_level).load(str(folder))
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    return writer.trigger(processingTime=TRIGGER_INTERVAL).start()


def bytes_read() -> dict[int, int]:
    """Return the bytes that each Python process of Spark, which is below this process, has read, by process id."""
    children: dict[int, list[int]] = {}
    is_python: dict[int, bool] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                name, _, rest = (entry / "stat").read_text().rpartition(")")
                is_python[int(entry.name)] = "python" in name
                children.setdefault(int(rest.split()[1]), []).append(int(entry.name))
    read, waiting = {}, children.get(os.getpid(), [])
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        if is_python[process]:
            read[process] = read_by(process) or 0
    return read


def more_read(earlier: Mapping[int, int], now: Mapping[int, int]) -> int:
    """Return the bytes read between *earlier* and *now*; Spark ends processes that are idle for a minute."""
    return sum(num_bytes - earlier.get(process, 0) for process, num_bytes in now.items())


if __name__ == "__main__":
    main(sys.argv[1:])
