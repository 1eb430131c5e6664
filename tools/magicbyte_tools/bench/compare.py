"""python -m magicbyte_tools.bench.compare CHECKOUT [--mb N] [--cells GLOB...]: this checkout beside another.

Both checkouts read the same files in turn, with this one's Python and packages. The same pass takes up to a
fifth longer in one process than in another, because its memory has other addresses. So each checkout reads each
file in several new processes, and the fastest pass of each process counts. Prints the ratio of the medians over the processes
for each cell, this checkout over the other, then the geometric mean and the largest ratio; then the same for
log directories, read through `mb.open` and `mb.verify`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from magicbyte_tools.bench import data
from magicbyte_tools.bench.contenders import Contender, ours
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.kafka_source import CACHE, CHECKOUT
from magicbyte_tools.bench.measure import WARM_UP, agree, ask
from magicbyte_tools.bench.process import Process

LOG_DIRS = "tests/data/*/*/log-*"
"""Log directories of real brokers: many small files."""

LOG_DIR_PASSES = """
import json, sys, time
import magicbyte as mb
path, passes = sys.argv[1], int(sys.argv[2])
def records():
    return sum(batch.num_rows for batch in mb.open(path, on_damage="skip").records())
def verify():
    return len(mb.verify(path).findings)
spent = {}
for work in (records, verify):
    work()
    times = []
    for _ in range(passes):
        begun = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - begun)
    spent[work.__name__] = min(times)
print(json.dumps(spent))
"""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="magicbyte_tools.bench.compare", description=__doc__)
    parser.add_argument("checkout", type=Path, help="the other checkout")
    parser.add_argument("--mb", type=int, default=32, help="MiB of records in each file")
    parser.add_argument("--cells", nargs="*", default=["*"], help="shell patterns of cells")
    parser.add_argument("--processes", type=int, default=5, help="processes per checkout and file")
    parser.add_argument("--repetitions", type=int, default=5, help="passes per process")
    parser.add_argument("--engine", default="columnar")
    options = parser.parse_args(arguments)
    other = _python_of(options.checkout)
    contenders = ours(options.engine)
    ratios: dict[str, float] = {}
    for kind in data.chosen(options.cells):
        (segment,) = data.segments([kind], CACHE, raw_bytes=options.mb << 20)
        suited = [contender for contender in contenders if contender.reads(kind)]
        for name, share in _cell(segment, suited, other, options).items():
            ratios[f"{kind.name} {name}"] = share
            print(f"{share:.3f}  {kind.name} {name}", flush=True)
    if ratios:
        _summarize("cells", ratios)
    _summarize("log directories", _log_dirs(other, options.processes))
    return 0


def _python_of(checkout: Path) -> tuple[str, ...]:
    """Return the command of a Python that imports the sources of *checkout*."""
    roots = (str(checkout.resolve() / root) for root in ("runtime", "generated", "tools", "spec"))
    return ("env", f"PYTHONPATH={os.pathsep.join(roots)}", sys.executable)


def _cell(
    segment: Segment,
    contenders: Sequence[Contender],
    other: Sequence[str],
    options: argparse.Namespace,
) -> dict[str, float]:
    """Return the ratios of CPU time for one file, by the name of the contender.

    Raises Disagreement if a contender reads another number of rows than the file has, or other columns.
    """
    command = contenders[0].command
    commands = {"this": command, "other": (*other, *command[1:])}
    fastest: dict[str, dict[str, list[int]]] = {
        contender.name: {checkout: [] for checkout in commands} for contender in contenders
    }
    for number in range(options.processes):
        with ExitStack() as stack:
            order = _in_turn(commands, number)
            working = {
                checkout: stack.enter_context(Process(commands[checkout])) for checkout in order
            }
            if number == 0:
                for process in working.values():
                    agree(segment, contenders, {one.name: process for one in contenders})
            for contender in contenders:
                spent: dict[str, list[int]] = {checkout: [] for checkout in commands}
                for _ in range(WARM_UP + options.repetitions):
                    for checkout, process in working.items():
                        spent[checkout].append(ask(segment, contender, process).thread_ns)
                for checkout, times in spent.items():
                    fastest[contender.name][checkout].append(min(times[WARM_UP:]))
    return {
        name: statistics.median(times["this"]) / statistics.median(times["other"])
        for name, times in fastest.items()
    }


def _in_turn(commands: Mapping[str, Sequence[str]], number: int) -> list[str]:
    """Return the names of both checkouts; each is first in every other round, as the first pass costs more."""
    return list(commands) if number % 2 == 0 else list(commands)[::-1]


def _log_dirs(other: Sequence[str], processes: int) -> dict[str, float]:
    """Return the ratios of CPU time by log directory and kind of work."""
    ratios = {}
    for folder in sorted(CHECKOUT.glob(LOG_DIRS)):
        spent: dict[str, list[Mapping[str, int]]] = {"this": [], "other": []}
        pythons = {"this": (sys.executable,), "other": other}
        for number in range(processes):
            for name in _in_turn(pythons, number):
                command = [*pythons[name], "-c", LOG_DIR_PASSES, str(folder), "3"]
                spent[name].append(json.loads(subprocess.check_output(command, text=True)))
        for work in spent["this"][0]:
            this, that = (min(times[work] for times in spent[name]) for name in ("this", "other"))
            ratios[f"{folder.relative_to(CHECKOUT)} {work}"] = this / that
            print(f"{this / that:.3f}  {folder.relative_to(CHECKOUT)} {work}", flush=True)
    return ratios


def _summarize(title: str, ratios: Mapping[str, float]) -> None:
    worst = max(ratios, key=ratios.__getitem__)
    mean = statistics.geometric_mean(ratios.values())
    print(f"{title}: geometric mean {mean:.3f}, largest {ratios[worst]:.3f} ({worst})", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
