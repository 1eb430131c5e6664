"""python -m magicbyte_tools.bench.verbs: costs of `dump` and `verify`, beside Kafka's kafka-dump-log.

Prints tables of jobs, which are processes that write to a file. The jobs of a table take turns.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.bench import java_reader, jobs
from magicbyte_tools.bench.data import chosen, segments
from magicbyte_tools.bench.foreign_programs import tool
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.machine import machine
from magicbyte_tools.bench.ours import OF_RECORDS
from magicbyte_tools.bench.planning import write_segments
from magicbyte_tools.bench.whole_jobs import DUMP_LOG, MAGICBYTE

KIND = "v2-100B-16k-none"

DUMPED_BYTES = 134_000_000
"""Bytes of records in the dumped partition: 1.0 million records."""

VERIFIED_BYTES = 1 << 30

PARTITIONS, SMALL_SEGMENTS = 2_000, 10_000

DEEP = ["--deep-iteration", "--print-data-log"]

READ_ALL = f"""
import sys, magicbyte as mb
for _ in mb.open(sys.argv[1]).records({OF_RECORDS!r}):
    pass
"""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.verbs")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args(arguments)
    for name, value in machine().items():
        print(f"{name}: {value}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as folder:
        log = _log(Path(folder), DUMPED_BYTES)
        jars = java_reader.class_path("broker", CACHE)
        kafka = [tool("java"), "-Xmx256M", "-cp", jars, DUMP_LOG, *DEEP]
        commands = {
            "Kafka's kafka-dump-log": [*kafka, "--files", str(log)],
            "magicbyte kafka-dump-log": [
                *MAGICBYTE, "kafka-dump-log", *DEEP, "--files", str(log)
            ],
            "magicbyte dump --format ndjson": [*MAGICBYTE, "dump", str(log), "--format", "ndjson"],
        }  # fmt: skip
        _tell(f"{log.stat().st_size:,} bytes", jobs.run(commands, repetitions=options.repetitions))
    with TemporaryDirectory(dir=CACHE) as folder:
        log = _log(Path(folder), VERIFIED_BYTES)
        commands = {
            "all columns into Arrow": [sys.executable, "-c", READ_ALL, str(log.parent)],
            "magicbyte verify": [*MAGICBYTE, "verify", str(log.parent)],
        }
        _tell(f"{log.stat().st_size:,} bytes", jobs.run(commands, repetitions=options.repetitions))
    with TemporaryDirectory(dir=CACHE) as folder:
        write_segments(Path(folder), SMALL_SEGMENTS, per_partition=SMALL_SEGMENTS // PARTITIONS)
        commands = {"magicbyte verify": [*MAGICBYTE, "verify", folder]}
        (job,) = jobs.run(commands, repetitions=options.repetitions)
        _tell(f"{PARTITIONS:,} partitions with {SMALL_SEGMENTS:,} segments", [job])
        print(f"\n{job.cpu / SMALL_SEGMENTS * 1000:.2f} ms of CPU per segment")


def _log(folder: Path, raw_bytes: int) -> Path:
    """Link a segment with *raw_bytes* of records into a partition folder in *folder*; return its path."""
    (segment,) = segments(chosen([KIND]), CACHE, raw_bytes=raw_bytes)
    log = folder / "bench-0" / f"{0:020}.log"
    log.parent.mkdir(parents=True)
    log.hardlink_to(segment.path)
    print(f"\n{segment.num_rows:,} records in {segment.num_batches:,} batches")
    return log


def _tell(what: str, done: Sequence[ProcessJob]) -> None:
    """Print the costs of the jobs *done* as a Markdown table, each compared with the first job."""
    print(f"\n| {what} | wall s | CPU s | peak MB | wall to the first | CPU to the first |")
    print("|---|---:|---:|---:|---:|---:|")
    for job in done:
        peak = max(size or 0 for size in job.peak_bytes) / 1e6
        ratios = f"{job.wall / done[0].wall:.2f} | {job.cpu / done[0].cpu:.2f}"
        print(
            f"| {job.name} | {job.wall:.2f} | {job.cpu:.2f} | {peak:.0f} | {ratios} |", flush=True
        )


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(sys.argv[1:])
