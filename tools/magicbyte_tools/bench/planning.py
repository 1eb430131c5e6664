"""python -m magicbyte_tools.bench.planning [--segments N...] [--million N]: what plans cost.

Each plan is made in a process of its own by `partitions()` of the data source, as in Spark. Printed are
CPU and elapsed seconds, the peak memory of the process, and the pickled bytes of all tasks per split.
"""

import argparse
import json
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from magicbyte_formats.wire import AbortedTransaction
from magicbyte_tools.bench.kafka_source import CACHE
from magicbyte_tools.bench.machine import machine
from magicbyte_tools.vectors import entry_parts

SEGMENTS = (2_000, 10_000, 20_000)
SEGMENTS_PER_PARTITION = 20
BATCHES_PER_SEGMENT = 4

INTERLEAVED = 100
"""Producers whose transactions are open at the same time."""

OFFSET = struct.Struct(">q")

MEASURED = """
import json, resource, sys, time
from pyspark import cloudpickle
from magicbyte.spark.data_source import MagicbyteDataSource
source = MagicbyteDataSource(json.loads(sys.argv[1]))
reader = source.reader(source.schema())
ready, cpu = time.perf_counter(), time.process_time()
tasks = list(reader.partitions())
print(json.dumps({
    "plan_s": time.perf_counter() - ready,
    "cpu_s": time.process_time() - cpu,
    "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    "tasks": len(tasks),
    "split_bytes": sum(len(cloudpickle.dumps(task)) for task in tasks)
    / max(sum(len(task.splits) for task in tasks), 1),
}))
"""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.bench.planning")
    parser.add_argument("--segments", nargs="*", type=int, default=SEGMENTS)
    parser.add_argument(
        "--million", type=int, default=1_000_000, help="batches, and aborted transactions"
    )
    options = parser.parse_args(arguments)
    for name, value in machine().items():
        print(f"{name}: {value}")
    print("\n| what | segments | CPU s | wall s | peak MB | tasks | B per split |")
    print("|---|---|---|---|---|---|---|")
    CACHE.mkdir(parents=True, exist_ok=True)
    for number in options.segments:
        with TemporaryDirectory(dir=CACHE) as folder:
            write_segments(Path(folder), number)
            _print_row(f"{number // SEGMENTS_PER_PARTITION} partitions", number, Path(folder))
    with TemporaryDirectory(dir=CACHE) as folder:
        write_batches(Path(folder) / "one-0", options.million)
        _print_row(f"{options.million:,} batches", 1, Path(folder))
    for producers in (1, INTERLEAVED):
        with TemporaryDirectory(dir=CACHE) as folder:
            write_aborted(Path(folder) / "one-0", options.million, num_producers=producers)
            aborted = f"{options.million:,} aborted transactions"
            if producers > 1:
                aborted += f" of {producers} producers, interleaved"
            _print_row(aborted, 1, Path(folder))
            _print_row(f"{aborted}, `transactions` `index`", 1, Path(folder), transactions="index")


def _print_row(what: str, segments: int, folder: Path, **more: str) -> None:
    found = measured({"path": str(folder), **more})
    print(
        f"| {what} | {segments:,} | {found['cpu_s']:.1f} | {found['plan_s']:.1f} | {found['peak_bytes'] / 1e6:.0f} "
        f"| {found['tasks']:,} | {found['split_bytes']:.0f} |",
        flush=True,
    )


def measured(read_options: dict[str, str]) -> dict[str, Any]:
    """Plan a read with *read_options* in a new process; return its figures, by the keys in MEASURED."""
    command = [sys.executable, "-c", MEASURED, json.dumps(read_options)]
    figures: dict[str, Any] = json.loads(subprocess.check_output(command, text=True))
    return figures


def write_segments(
    folder: Path, number: int, *, per_partition: int = SEGMENTS_PER_PARTITION
) -> None:
    """Write *number* small segments into partition folders of *per_partition* segments each in *folder*."""
    for partition in range(number // per_partition):
        place = folder / f"many-{partition}"
        place.mkdir(parents=True)
        for base in range(0, per_partition * BATCHES_PER_SEGMENT, BATCHES_PER_SEGMENT):
            entries = (_at(PLAIN, base + number) for number in range(BATCHES_PER_SEGMENT))
            (place / f"{base:020}.log").write_bytes(b"".join(entries))


def write_batches(folder: Path, number: int) -> None:
    """Write a segment of *number* batches, with one record each, into *folder*."""
    _write(folder, (_at(PLAIN, offset) for offset in range(number)))


def write_aborted(folder: Path, number: int, *, num_producers: int = 1) -> None:
    """Write a segment of *number* aborted transactions of one record, and its .txnindex, into *folder*.

    As many transactions as *num_producers*, which divides *number*, are open at a time.
    """
    one = entry_parts.rec(0)
    ids = range(PRODUCER, PRODUCER + num_producers)
    data = [entry_parts.transactional(one, producer=producer).data for producer in ids]
    aborts = [entry_parts.marker(entry_parts.ABORT, 0, producer=producer).data for producer in ids]
    rounds = range(0, 2 * number, 2 * num_producers)

    def entries() -> Iterator[bytes]:
        for offset in rounds:
            for step, entry in enumerate([*data, *aborts]):
                yield _at(entry, offset + step)

    def index() -> Iterator[bytes]:
        for offset in rounds:
            for step, producer in enumerate(ids):
                first, last = offset + step, offset + num_producers + step
                # A broker writes the first offset of the oldest transaction that is open after the marker.
                stable = first + 1 if step + 1 < num_producers else last + 1
                yield AbortedTransaction.FIXED.pack(0, producer, first, last, stable)

    _write(folder, entries())
    (folder / f"{0:020}.txnindex").write_bytes(b"".join(index()))


def _write(folder: Path, entries: Iterator[bytes]) -> None:
    folder.mkdir(parents=True)
    with (folder / f"{0:020}.log").open("wb") as file:
        file.writelines(entries)


PRODUCER = 1
_ONE = entry_parts.rec(0)
PLAIN = entry_parts.batch(_ONE).data


def _at(entry: bytes, offset: int) -> bytes:
    """Return the batch *entry* with the base offset *offset*, which its checksum does not cover."""
    return OFFSET.pack(offset) + entry[OFFSET.size :]


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(sys.argv[1:])
