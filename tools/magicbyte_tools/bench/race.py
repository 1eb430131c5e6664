"""python -m magicbyte_tools.bench.race [--mb N] [--codec NAME...] [--parquet CODEC]: from a topic to Parquet, beside Spark's Kafka source.

A broker on this machine serves a topic of four partitions, and a folder holds the same segments. Each
job is a process with its children, on `local[2]` and one release of Spark; jobs run one after the other.
A pipeline of a single record is measured too, as the cost of the start.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.dataset

from magicbyte_tools.bench import data, jobs, kafka_source, planning
from magicbyte_tools.bench.broker import TOPIC, serving
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.machine import machine

PARTITIONS = 4

KAFKA = "the Kafka source"
SOURCE = '`spark.read.format("magicbyte")`'
RECORDS = "`magicbyte pipeline --tables records`"
PIPELINE = "`magicbyte pipeline`, all six tables and the report"
START = "`magicbyte pipeline` of a single record"

COLUMNS = "key,value,topic,partition,offset,timestamp,timestamp_type"
"""Columns of Spark's Kafka source, by magicbyte's names."""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.race")
    parser.add_argument("--mb", type=int, default=1024, help="MiB of records in all partitions")
    parser.add_argument("--codec", nargs="+", choices=data.CODECS, default=["none", "lz4"])
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument(
        "--parquet", default="zstd", help="what Spark compresses with; pipeline: zstd"
    )
    options = parser.parse_args(arguments)
    for name, value in machine().items():
        print(f"{name}: {value}")
    python = kafka_source.python()
    kinds = [data.Kind(2, "100B", "16k", codec) for codec in options.codec]
    for segment in data.segments(kinds, CACHE, raw_bytes=(options.mb << 20) // PARTITIONS):
        with TemporaryDirectory(dir=CACHE) as folder:
            done = _race(segment, python, Path(folder), options.parquet, options.repetitions)
        print(_table(segment, done, options.parquet), flush=True)


def _race(
    segment: Segment, python: str, folder: Path, parquet: str, repetitions: int
) -> list[ProcessJob]:
    logs, out = folder / "logs", folder / "out"
    for number in range(PARTITIONS):
        partition = logs / f"{TOPIC}-{number}"
        partition.mkdir(parents=True)
        (partition / f"{0:020}.log").hardlink_to(segment.path)
    single = folder / "single"
    planning.write_batches(single / f"{TOPIC}-0", 1)
    broker = folder / "broker"
    broker.mkdir()
    reaped = [sys.executable, "-m", "magicbyte_tools.bench.process_reaper", python]
    job = [*reaped, "-m", "magicbyte_tools.bench.spark_job"]
    ours = [*reaped, "-c", "from magicbyte_cli import main; main()", "pipeline"]
    settings = ["--overwrite", "--master=local[2]", "--conf=spark.driver.memory=4g"]
    only = ["--tables=records", f"--columns={COLUMNS}"]
    with serving(
        segment.path, segment.num_rows, broker, CACHE, num_partitions=PARTITIONS
    ) as address:
        servers = f"kafka.bootstrap.servers={address}"
        of_kafka = [servers, f"subscribe={TOPIC}", f"spark.jars={kafka_source.jars()}"]
        commands = {
            KAFKA: [*job, "kafka", str(out / "kafka"), parquet, *of_kafka],
            SOURCE: [*job, "magicbyte", str(out / "source"), parquet, f"path={logs}"],
            RECORDS: [*ours, str(logs), str(out / "records"), *settings, *only],
            PIPELINE: [*ours, str(logs), str(out / "pipeline"), *settings],
            START: [*ours, str(single), str(out / "single"), *settings],
        }
        done = jobs.run(commands, repetitions=repetitions)
    for made in ("kafka", "source", "records/records", "pipeline/records"):
        rows = pyarrow.dataset.dataset(out / made, format="parquet").count_rows()
        if rows != PARTITIONS * segment.num_rows:
            raise SystemExit(f"{made}: {rows} rows of {PARTITIONS * segment.num_rows}")
    return done


def _table(segment: Segment, done: Sequence[ProcessJob], parquet: str) -> str:
    rows = PARTITIONS * segment.num_rows
    size = PARTITIONS * segment.size_bytes / 1e6
    kafka = next(job for job in done if job.name == KAFKA)
    lines = [
        f"\n{rows / 1e6:.1f} M records of 100 B in {size:,.0f} MB, {segment.kind.codec}; "
        f"Spark writes Parquet with {parquet}, `magicbyte pipeline` with zstd:\n",
        "| | CPU s | wall s | CPU µs per row | CPU of Kafka's | wall of Kafka's |",
        "|---|---|---|---|---|---|",
    ]
    for job in done:
        lines.append(
            f"| {job.name} | {job.cpu:.1f} | {job.wall:.1f} | {job.cpu / rows * 1e6:.2f} "
            f"| {job.cpu / kafka.cpu:.2f} | {job.wall / kafka.wall:.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
