"""python -m magicbyte_tools.bench.serve READER [ENGINE]: one line in, one pass over a file, one line out.

A line is FILE, MODE, VIA and THREADS, with tabs between. MODE is `columns`, `views` or `offsets`, or
`headers`, whose rows are entries, or `check`, which is not measured. VIA is `memory` (the bytes are
there beforehand), `file`, `open` (the whole of the library) or `skip` (the same, and damage is
skipped). The answer: rows, checksum, nanoseconds of CPU of this thread and of the process,
nanoseconds by the clock.
"""

import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

READERS = {
    "ours": ("ours", "Ours"),
    "floor": ("floor", "Floor"),
    "aiokafka": ("clients", "Aiokafka"),
    "kafka-python": ("clients", "KafkaPython"),
}
"""Module and class of each reader, by name."""

CLOCKS = (time.thread_time_ns, time.process_time_ns, time.perf_counter_ns)


class PassReader(Protocol):
    def load(self, path: Path, via: str) -> None:
        """Make ready to read *path*; not measured."""

    def read(self, mode: str, threads: int) -> int:
        """Read all of it, and return how many rows it has."""

    def check(self) -> tuple[int, int]:
        """Return rows and checksum of all columns; readers that have no columns say 0."""


def serve(reader: PassReader) -> None:
    """Answer the lines of the standard input, until it ends."""
    loaded = None
    for line in sys.stdin:
        path, mode, via, threads = line.rstrip("\n").split("\t")
        if (path, via) != loaded:
            reader.load(Path(path), via)
            loaded = (path, via)
        checksum = 0
        begun = [clock() for clock in CLOCKS]
        if mode == "check":
            rows, checksum = reader.check()
        else:
            rows = reader.read(mode, int(threads))
        spent = [clock() - start for clock, start in zip(CLOCKS, begun, strict=True)]
        print(rows, checksum, *spent, flush=True)


def main(arguments: Sequence[str]) -> None:
    name, *rest = arguments
    module, kind = READERS[name]
    # Import the measured reader alone: the memory of the process is measured too.
    serve(getattr(importlib.import_module(f"magicbyte_tools.bench.{module}"), kind)(*rest))


if __name__ == "__main__":
    main(sys.argv[1:])
