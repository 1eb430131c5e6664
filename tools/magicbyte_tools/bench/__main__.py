"""python -m magicbyte_tools.bench [--engine NAME] [--mb N] [--cells GLOB...] [--parts PART...] ...

Measures an engine of magicbyte beside other readers of Kafka logs, and writes docs/performance.md.
`--from FILE` writes the page from the figures of an earlier run.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from magicbyte.engines.factory import engine
from magicbyte.engines.reference import ReferenceEngine
from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench import data
from magicbyte_tools.bench.damage import damage
from magicbyte_tools.bench.header_scan import header_scan
from magicbyte_tools.bench.kafka_source import CACHE, CHECKOUT
from magicbyte_tools.bench.machine import machine
from magicbyte_tools.bench.measure import Disagreement, measure
from magicbyte_tools.bench.performance_page import page
from magicbyte_tools.bench.plot import plot
from magicbyte_tools.bench.process import Stopped
from magicbyte_tools.bench.profile import modes, profile
from magicbyte_tools.bench.results import Results, load
from magicbyte_tools.bench.starts import starts
from magicbyte_tools.bench.whole_jobs import whole_jobs

PAGE = CHECKOUT / "docs" / "performance.md"

SIZES = ("mb", "seed", "repetitions", "jobs_mb", "threads_mb", "damage_mb")
"""Options that are saved with the results."""

OF_SIZES = data.Kind(2, "100B", "16k", "lz4")
"""Kind of the files for the measurements of file sizes, whole jobs, header scans and damage."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        results = load(options.earlier) if options.earlier else _measured(options, arguments)
    except (Disagreement, Stopped) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    write(results, options.out)
    return 0


def write(results: Results, out: Path) -> None:
    """Write the page of *results* to *out*, and its plot to the folder `pictures` beside *out*."""
    picture = out.parent / "pictures" / f"{out.stem}.svg"
    drawn = plot(results.cells)
    if drawn is not None:
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(drawn, "utf-8")
    link = None if drawn is None else f"{picture.parent.name}/{picture.name}"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(results, link), "utf-8")


def _measured(options: argparse.Namespace, arguments: Sequence[str]) -> Results:
    """Measure the parts that *options* names; return the results, which are also saved after each part."""
    given = shlex.join(arguments)
    results = Results(
        command=f'make bench OPTIONS="{given}"' if given else "make bench",
        engine=engine(options.engine).name,
        machine=machine(),
        **{name: getattr(options, name) for name in SIZES},
    )
    for part in options.parts:
        MEASURE[part](options, results)
        results.save(options.results)
    return results


def _segments(
    options: argparse.Namespace, kinds: Sequence[data.Kind], mb: int
) -> list[data.Segment]:
    """Return a segment file with *mb* MiB of records for each of *kinds*; missing files are written."""
    return data.segments(kinds, CACHE, raw_bytes=mb << 20, seed=options.seed)


def _cells(options: argparse.Namespace, results: Results) -> None:
    contenders, results.left_out = who.contenders(options.engine, CACHE)
    for name, reason in results.left_out.items():
        print(f"{name} is left out: {reason}", flush=True)
    for segment in _segments(options, data.chosen(options.cells), options.mb):
        print(segment.kind.name, flush=True)
        results.cells.append(measure(segment, contenders, repetitions=options.repetitions))
        results.save(options.results)


def _profiles(options: argparse.Namespace, results: Results) -> None:
    if options.engine == ReferenceEngine.name:
        return
    for segment in _segments(options, data.chosen(options.cells), options.mb):
        print("profile of", segment.kind.name, flush=True)
        results.profiles += [
            profile(segment, mode=mode, repetitions=options.repetitions)
            for mode in modes(segment.kind)
        ]


def _threads(options: argparse.Namespace, results: Results) -> None:
    contenders = who.over_threads(options.engine, options.threads)
    kinds = [data.Kind(2, "100B", "16k", codec) for codec in data.CODECS]
    for segment in _segments(options, kinds, options.threads_mb):
        print(segment.kind.name, "with threads", flush=True)
        results.threads.append(measure(segment, contenders, repetitions=options.repetitions))
        results.save(options.results)


def _file(options: argparse.Namespace, mb: int) -> data.Segment:
    """Return the segment file of the kind OF_SIZES with *mb* MiB of records."""
    (segment,) = _segments(options, [OF_SIZES], mb)
    return segment


def _sizes(options: argparse.Namespace, results: Results) -> None:
    contenders = who.over_sizes(options.engine, CACHE)
    for mb in options.sizes:
        print(mb, "MiB", flush=True)
        segment = _file(options, mb)
        results.sizes[str(mb)] = measure(segment, contenders, repetitions=options.repetitions)
        results.save(options.results)


def _jobs(options: argparse.Namespace, results: Results) -> None:
    segment = _file(options, options.jobs_mb)
    results.jobs, left_out = whole_jobs(segment, CACHE, repetitions=options.repetitions)
    results.left_out |= left_out


def _headers(options: argparse.Namespace, results: Results) -> None:
    segment = _file(options, options.jobs_mb)
    results.headers = header_scan(
        segment, CACHE, engine=options.engine, repetitions=options.repetitions
    )


def _damage(options: argparse.Namespace, results: Results) -> None:
    segment = _file(options, options.damage_mb)
    results.damage, results.damage_profiles = damage(
        segment,
        CACHE,
        engine=options.engine,
        seed=options.seed,
        repetitions=options.repetitions,
    )


def _starts(options: argparse.Namespace, results: Results) -> None:
    results.starts = starts(repetitions=options.repetitions)


MEASURE = {
    "cells": _cells,
    "profiles": _profiles,
    "threads": _threads,
    "sizes": _sizes,
    "jobs": _jobs,
    "headers": _headers,
    "damage": _damage,
    "starts": _starts,
}
"""Functions that measure the parts of a run, by the part's name, in the order in which they run."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description="Measure an engine beside others.")
    add = parser.add_argument
    add("--engine", default="auto", help="ours: auto, reference")
    count = partial(add, type=_positive, metavar="N")
    count("--mb", default=64, help="MiB of records in each file (64)")
    add(
        "--seed", type=int, default=data.SEED, help=f"what the records are drawn from ({data.SEED})"
    )
    count("--repetitions", default=5, help="turns (5)")
    add("--parts", nargs="+", choices=MEASURE, default=[*MEASURE], help="by default all")
    add("--cells", nargs="+", default=["*"], metavar="GLOB", help="files by name: 'v2-*-lz4'")
    count("--threads", nargs="+", default=[1, 2], help="(1 2)")
    add("--sizes", nargs="+", type=_positive, default=[10, 128, 1024], metavar="MB")
    count("--threads-mb", default=512, help="of the files that threads share (512)")
    count("--jobs-mb", default=128, help="of the file of whole jobs and headers (128)")
    count("--damage-mb", default=1024, help="of the damaged file (1024)")
    add("--out", type=Path, default=PAGE, metavar="FILE", help="the page (docs/performance.md)")
    add("--results", type=Path, default=CACHE / "results.json", metavar="FILE", help="the figures")
    add("--from", dest="earlier", type=Path, metavar="FILE", help="figures of an earlier run")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
