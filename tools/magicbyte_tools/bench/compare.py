"""python -m magicbyte_tools.bench.compare CHECKOUT [--mb N] [--cells GLOB...]: this checkout beside another.

Both checkouts read the same files in turn, in processes of their own, with this one's Python and packages.
Prints the ratio of the medians for each cell, this checkout over the other, then the geometric mean
and the largest ratio; then the same for log directories, read through `mb.open` and `mb.verify`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from magicbyte_tools.bench import data
from magicbyte_tools.bench.contenders import ours
from magicbyte_tools.bench.kafka_source import CACHE, CHECKOUT
from magicbyte_tools.bench.measure import measure
from magicbyte_tools.bench.ratios import ratio

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
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--engine", default="columnar")
    options = parser.parse_args(arguments)
    other = _python_of(options.checkout)
    contenders = ours(options.engine)
    others = [
        replace(contender, name=f"other {contender.name}", command=(*other, *contender.command[1:]))
        for contender in contenders
    ]
    pairs = [pair for both in zip(contenders, others, strict=True) for pair in both]
    ratios: dict[str, float] = {}
    for kind in data.chosen(options.cells):
        (segment,) = data.segments([kind], CACHE, raw_bytes=options.mb << 20)
        cell = measure(segment, pairs, repetitions=options.repetitions)
        for contender in contenders:
            share = ratio(cell, contender.name, f"other {contender.name}")
            if share is not None:
                ratios[f"{kind.name} {contender.name}"] = share
                print(f"{share:.3f}  {kind.name} {contender.name}", flush=True)
    if ratios:
        _summarize("cells", ratios)
    _summarize("log directories", _log_dirs(other, options.repetitions))
    return 0


def _python_of(checkout: Path) -> tuple[str, ...]:
    """Return the command of a Python that imports the sources of *checkout*."""
    roots = (str(checkout.resolve() / root) for root in ("runtime", "generated", "tools", "spec"))
    return ("env", f"PYTHONPATH={os.pathsep.join(roots)}", sys.executable)


def _log_dirs(other: Sequence[str], repetitions: int) -> dict[str, float]:
    """Return the ratios of CPU time by log directory and kind of work."""
    ratios = {}
    for folder in sorted(CHECKOUT.glob(LOG_DIRS)):
        spent: dict[str, list[Mapping[str, int]]] = {"this": [], "other": []}
        for _ in range(repetitions):
            for name, python in (("this", (sys.executable,)), ("other", other)):
                command = [*python, "-c", LOG_DIR_PASSES, str(folder), "3"]
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
