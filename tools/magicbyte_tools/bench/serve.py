"""python -m magicbyte_tools.bench.serve READER [ENGINE]: one line in, one pass over a file, one line out.

A line is FILE, MODE, VIA and THREADS, with tabs between. MODE is `columns`, `kept`, `views` or `offsets`,
or `headers`, which counts entries, or `check`, which sums up columns and is not measured. VIA is `memory`
(the bytes are loaded beforehand), `file`, `open` (`mb.open`) or `skip` (`mb.open`, damage skipped). The
answer: rows, checksum, CPU nanoseconds of the thread and of the process, elapsed nanoseconds.
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
        """Prepare to read *path* in the way *via*, such as loading it into memory; not measured."""

    def read(self, mode: str, threads: int) -> int:
        """Read the whole file in *mode*, and return the number of rows."""

    def check(self) -> tuple[int, int]:
        """Read the whole file; return the number of rows and the checksum of the columns (0: no columns)."""


def serve(pass_reader: PassReader) -> None:
    """Make a pass over a file with *pass_reader* for each line of standard input, and print its cost."""
    loaded = None
    for line in sys.stdin:
        path, mode, via, threads = line.rstrip("\n").split("\t")
        if (path, via) != loaded:
            pass_reader.load(Path(path), via)
            loaded = (path, via)
        checksum = 0
        begun = [clock() for clock in CLOCKS]
        if mode == "check":
            rows, checksum = pass_reader.check()
        else:
            rows = pass_reader.read(mode, int(threads))
        spent = [clock() - start for clock, start in zip(CLOCKS, begun, strict=True)]
        print(rows, checksum, *spent, flush=True)


def main(arguments: Sequence[str]) -> None:
    name, *rest = arguments
    module, kind = READERS[name]
    # Import the measured reader alone: the memory of the process is measured too.
    serve(getattr(importlib.import_module(f"magicbyte_tools.bench.{module}"), kind)(*rest))


if __name__ == "__main__":
    main(sys.argv[1:])
