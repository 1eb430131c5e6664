"""python -m magicbyte_tools.bench.planning [--segments N...] [--million N]: what plans cost.

Each plan is made in a process of its own by `partitions()` of the data source, as in Spark. Printed are
CPU and elapsed seconds, the peak memory of the process, and the size of the largest pickled split.
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

OFFSET = struct.Struct(">q")

MEASURED = """
import json, pickle, resource, sys, time
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
    "largest": max((len(pickle.dumps(split)) for task in tasks for split in task.splits), default=0),
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
    print("\n| what | segments | CPU s | wall s | peak MB | tasks | largest split B |")
    print("|---|---|---|---|---|---|---|")
    CACHE.mkdir(parents=True, exist_ok=True)
    for number in options.segments:
        with TemporaryDirectory(dir=CACHE) as folder:
            write_segments(Path(folder), number)
            _print_row(f"{number // SEGMENTS_PER_PARTITION} partitions", number, Path(folder))
    with TemporaryDirectory(dir=CACHE) as folder:
        write_batches(Path(folder) / "one-0", options.million)
        _print_row(f"{options.million:,} batches", 1, Path(folder))
    with TemporaryDirectory(dir=CACHE) as folder:
        write_aborted(Path(folder) / "one-0", options.million)
        aborted = f"{options.million:,} aborted transactions"
        _print_row(aborted, 1, Path(folder))
        _print_row(f"{aborted}, `transactions` `index`", 1, Path(folder), transactions="index")


def _print_row(what: str, segments: int, folder: Path, **more: str) -> None:
    found = measured({"path": str(folder), **more})
    print(
        f"| {what} | {segments:,} | {found['cpu_s']:.1f} | {found['plan_s']:.1f} | {found['peak_bytes'] / 1e6:.0f} "
        f"| {found['tasks']:,} | {found['largest']:,} |",
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


def write_aborted(folder: Path, number: int) -> None:
    """Write a segment of *number* aborted transactions of one record, and its .txnindex, into *folder*."""

    def entries() -> Iterator[bytes]:
        for offset in range(0, 2 * number, 2):
            yield _at(DATA, offset)
            yield _at(ABORT, offset + 1)

    _write(folder, entries())
    index = (
        # A broker writes this last stable offset if no other transaction is open at the marker.
        AbortedTransaction.FIXED.pack(0, PRODUCER, offset, offset + 1, offset + 2)
        for offset in range(0, 2 * number, 2)
    )
    (folder / f"{0:020}.txnindex").write_bytes(b"".join(index))


def _write(folder: Path, entries: Iterator[bytes]) -> None:
    folder.mkdir(parents=True)
    with (folder / f"{0:020}.log").open("wb") as file:
        file.writelines(entries)


PRODUCER = 1
_ONE = entry_parts.rec(0)
PLAIN = entry_parts.batch(_ONE).data
DATA = entry_parts.transactional(_ONE, producer=PRODUCER).data
ABORT = entry_parts.marker(entry_parts.ABORT, 0, producer=PRODUCER).data


def _at(entry: bytes, offset: int) -> bytes:
    """Return the batch *entry* with the base offset *offset*, which its checksum does not cover."""
    return OFFSET.pack(offset) + entry[OFFSET.size :]


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(sys.argv[1:])
