"""python -m magicbyte_tools.fuzz [--cases N] [--seed N] [--compare N] [LOG...] and more: see --help.

Decodes millions of mutated log entries by the columnar engine, in buffers that end at a guard page, and
compares some results with the reference engine. `--whole` mutates whole partitions instead, and reads
each with both engines. `--ranges` also reads ranges of them, in threads and in splits. Exit status 1 if
there was a crash, a hang, an exception or a difference.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from magicbyte_tools.fuzz.entry_fuzzer import Again, EntryFuzzTask
from magicbyte_tools.fuzz.group import NUM_CASES
from magicbyte_tools.fuzz.ranges import RangeFuzzTask
from magicbyte_tools.fuzz.report import FuzzReport
from magicbyte_tools.fuzz.task import Task
from magicbyte_tools.fuzz.watch import watched
from magicbyte_tools.fuzz.whole import PartitionFuzzTask
from magicbyte_tools.generate.kaitai import CHECKOUT

OUT = Path("out", "fuzz")
DATA = CHECKOUT / "tests" / "data"

CHUNK = 3200 * NUM_CASES
WHOLE_CHUNK = 5000
RANGES_CHUNK = 1000
"""Cases per worker process, CHUNK for entries: memory that a worker leaks is freed when it ends."""

MOST_FAILURES = 20
"""Number of failures after which the run ends: most have the same few causes."""

LEAST_ACCEPTED = 0.2
"""Lower bound of the share of cases that kernels accept and that can therefore be compared."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="fuzz", description="Give the engines bytes that nobody meant."
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="LOG", help="segments, or folders with some, whose entries, or partitions, are changed too")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="decides every case")
    parser.add_argument("--cases", type=int, metavar="N", help="how many; by default 10 million, of --whole 100000, of --ranges 10000")  # fmt: skip
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first case")  # fmt: skip
    parser.add_argument("--compare", type=int, default=200_000, metavar="N", help="accepted entries that the reference engine decodes too, at most; by default 200000")  # fmt: skip
    parser.add_argument("--whole", action="store_true", help="change whole partitions, small ones in LOG (by default, tests/data) and made ones, and read them with both engines")  # fmt: skip
    parser.add_argument("--ranges", action="store_true", help="change partitions of several segments, and compare ranges of each with the whole")  # fmt: skip
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try what was written of a failure again, in every arrangement")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many processes at once")  # fmt: skip
    parser.add_argument("--hang", type=float, default=60, metavar="S", help="seconds without an answer that are a hang")  # fmt: skip
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"where failing bytes go, by default {OUT}")  # fmt: skip
    options = parser.parse_args(arguments)
    if sys.platform == "win32":
        parser.error("there is no mprotect on this system")
    for path in [*options.paths, *([options.replay] if options.replay else [])]:
        if not path.exists():
            parser.error(f"{path}: there is no such file or folder")
    report = FuzzReport(seed=options.seed, out=options.out)
    run(tasks(options), report, jobs=options.jobs, hang_s=options.hang)
    return report.finish()


def tasks(options: argparse.Namespace) -> list[Task]:
    """Return the tasks for the command line *options*; each takes some minutes."""
    if options.ranges:
        if options.replay is not None:
            first, paths = options.first, (options.replay,)
            return [RangeFuzzTask(first, first + 1, options.seed, paths, is_changed=False)]
        paths = tuple(options.paths) or (DATA,)
        end = options.first + (10_000 if options.cases is None else options.cases)
        return [
            RangeFuzzTask(begin, min(begin + RANGES_CHUNK, end), options.seed, paths)
            for begin in range(options.first, end, RANGES_CHUNK)
        ]
    if options.replay is not None:
        if options.replay.is_dir():
            return [PartitionFuzzTask(0, 1, options.seed, (options.replay,), is_changed=False)]
        return [Again(options.replay.read_bytes())]
    if options.whole:
        paths = tuple(options.paths) or (DATA,)
        end = options.first + (100_000 if options.cases is None else options.cases)
        return [
            PartitionFuzzTask(begin, min(begin + WHOLE_CHUNK, end), options.seed, paths)
            for begin in range(options.first, end, WHOLE_CHUNK)
        ]
    cases = 10_000_000 if options.cases is None else options.cases
    first = options.first // NUM_CASES * NUM_CASES
    end = -(-(first + cases) // NUM_CASES) * NUM_CASES
    share = options.compare / max(cases, 1)
    logs = [log for path in options.paths for log in (sorted(path.rglob("*.log")) or [path])]
    return [
        EntryFuzzTask(
            begin,
            min(begin + CHUNK, end),
            options.seed,
            tuple(logs),
            most_compared=round(share * (min(begin + CHUNK, end) - begin)),
            share=share / LEAST_ACCEPTED,
        )
        for begin in range(first, end, CHUNK)
    ]


def run(fuzz_tasks: Sequence[Task], report: FuzzReport, *, jobs: int, hang_s: float) -> None:
    """Run *fuzz_tasks* in *jobs* threads, and add their tallies and failures to *report*."""

    def one(task: Task) -> None:
        if len(report.failures) >= MOST_FAILURES:
            return
        for told in watched(task, hang_s=hang_s):
            report.add(told)
            if len(report.failures) >= MOST_FAILURES:
                return

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, fuzz_tasks))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
