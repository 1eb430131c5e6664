"""python -m magicbyte_tools.bench.scale [--segments N...]: what plans of 10,000 to a million segments cost.

The logs are in a store that computes its answers (`simulated_store`): 20 segments of 10 MiB per
partition, so that a million segments are 50,000 partitions and 10 TB. Each plan is made in a process
of its own, after one of a single partition: by `Dataset.splits`, and by `partitions()` of the data
source, as in Spark. Printed are CPU time without the part of the store's generator, requests, the peak
memory of the process, pickled bytes per split, and the largest number of requests at a time. The
rows of some splits are compared with those that the generator computes without decoding.
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import magicbyte as mb
from magicbyte.limits import MIB
from magicbyte_tools.bench import simulated_store
from magicbyte_tools.bench.machine import machine
from magicbyte_tools.bench.simulated_store import SimulatedFileSystem

SEGMENTS = (10_000, 100_000, 1_000_000)
SEGMENTS_PER_PARTITION = 20
SPLIT_BYTES = 128 * MIB
"""The default of `maxPartitionBytes` in Spark."""

Figures = dict[str, Any]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.scale")
    parser.add_argument("--segments", nargs="*", type=int, default=SEGMENTS)
    parser.add_argument("--by", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--latency-ms", type=float, default=1, help="of each request")
    parser.add_argument("--measure", action="store_true", help="measure in this process")
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measured(options.by[0], options.segments[0], options.latency_ms)))
        return
    for name, value in machine().items():
        print(f"{name}: {value}")
    titles = "plan", "segments", "CPU µs per segment", "CPU µs of the store", "wall s"
    more = "requests per segment", "at a time", "peak MB", "tasks", "B per split", "rows compared"
    print(f"\n| {' | '.join((*titles, *more))} |\n|{'---|' * len((*titles, *more))}")
    for way in options.by:
        for number in options.segments:
            command = [sys.executable, "-m", "magicbyte_tools.bench.scale", "--measure"]
            command += ["--by", way, "--segments", str(number)]
            command += ["--latency-ms", str(options.latency_ms)]
            print_row(way, number, json.loads(subprocess.check_output(command, text=True)))


def print_row(way: str, number: int, figures: Figures) -> None:
    print(
        f"| `{way}` | {number:,} | {figures['cpu_s'] / number * 1e6:.0f} "
        f"| {figures['store_cpu_s'] / number * 1e6:.0f} | {figures['wall_s']:.0f} "
        f"| {figures['requests'] / number:.2f} | {figures['at_a_time']} "
        f"| {figures['peak_bytes'] / 1e6:.0f} | {figures['tasks'] or ''} "
        f"| {figures['split_bytes'] or ''} | {figures['rows']:,} |",
        flush=True,
    )


def measured(way: str, num_segments: int, latency_ms: float) -> Figures:
    """Return the costs of a plan of *num_segments* in this process, by the keys that `print_row` takes."""
    simulated_store.register()
    WAYS[way](1, 0)  # machine code and modules are loaded
    SimulatedFileSystem.reset()
    before = mb.store_requests()["simulated://logs"].total
    num_partitions = max(num_segments // SEGMENTS_PER_PARTITION, 1)
    start, cpu = time.perf_counter(), time.process_time()
    plan = WAYS[way](num_partitions, latency_ms)
    store_cpu = SimulatedFileSystem.cpu_seconds[0]
    figures: Figures = {
        "wall_s": time.perf_counter() - start,
        "cpu_s": time.process_time() - cpu - store_cpu,
        "store_cpu_s": store_cpu,
        "requests": mb.store_requests()["simulated://logs"].total - before,
        "at_a_time": SimulatedFileSystem.busy[1],
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        "tasks": plan.num_tasks,
    }
    num_splits, chosen = plan.chosen()
    if num_splits != num_partitions * SEGMENTS_PER_PARTITION:
        raise ValueError(f"{num_splits} splits of {num_segments} segments")
    figures["split_bytes"] = round(plan.num_bytes / num_splits)
    return {**figures, "rows": sum(map(num_compared_rows, chosen))}


def num_compared_rows(split: mb.Split) -> int:
    """Return the number of rows of *split*; ValueError if the generator has others."""
    logs = SimulatedFileSystem(1, SEGMENTS_PER_PARTITION).logs
    folder = split.file.path.split("/")[-2]
    topic, _, number = folder.removeprefix("topic-").partition("-")
    partition = int(topic) * simulated_store.PARTITIONS_PER_TOPIC + int(number)
    rows = [
        row
        for batch in mb.read_split(split, ("offset", "timestamp", "value"))
        for row in zip(
            batch["offset"].to_pylist(),
            batch["timestamp"].cast("int64").to_pylist(),
            batch["value"].to_pylist(),
            strict=True,
        )
    ]
    if rows != list(logs.records(partition, split.segment)):
        raise ValueError(f"{split.file.path}: the rows are not those that were generated")
    return len(rows)


def _options(num_partitions: int, latency_ms: float) -> dict[str, Any]:
    return {
        "num_partitions": num_partitions,
        "num_segments": SEGMENTS_PER_PARTITION,
        "latency_ms": latency_ms,
    }


@dataclass(slots=True)
class Plan:
    """A plan that was made: the number of its tasks, their pickled bytes, and its splits."""

    chosen: Callable[[], tuple[int, list[mb.Split]]]
    """Returns the number of splits, and some of them."""
    num_tasks: int = 0
    num_bytes: int = 0


def _some(splits: Iterable[mb.Split]) -> tuple[int, list[mb.Split]]:
    """Return the number of *splits*, and some of them."""
    chosen, count = [], 0
    for count, split in enumerate(splits, 1):
        if count in (1, 77, 4_321, 54_321, 987_654):
            chosen.append(split)
    return count, chosen


def plan_of_dataset(num_partitions: int, latency_ms: float) -> Plan:
    """Make a plan by `Dataset.splits`."""
    options = _options(num_partitions, latency_ms)
    found = _some(mb.open(simulated_store.URL, storage_options=options).splits(SPLIT_BYTES))
    return Plan(lambda: found)


def plan_of_spark(num_partitions: int, latency_ms: float) -> Plan:
    """Make the tasks that the data source hands to Spark, and pickle them as Spark does."""
    from magicbyte.spark.data_source import MagicbyteDataSource

    options = _options(num_partitions, latency_ms)
    stored = {f"storage.{name}": str(value) for name, value in options.items()}
    source = MagicbyteDataSource({"path": simulated_store.URL, **stored})
    spark_tasks: list[Any] = list(source.reader(source.schema()).partitions())
    pickled = sum(len(pickle.dumps(task)) for task in spark_tasks)
    splits = (split for task in spark_tasks for split in task.splits)
    return Plan(lambda: _some(splits), len(spark_tasks), pickled)


WAYS: dict[str, Callable[[int, float], Plan]] = {
    "splits": plan_of_dataset,
    "spark": plan_of_spark,
}
"""Functions that make plans, by what they are called on the command line."""


if __name__ == "__main__":
    main(sys.argv[1:])
