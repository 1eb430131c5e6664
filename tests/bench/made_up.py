"""Benchmark results with invented times, for tests of the pages and ratios that use them."""

from collections.abc import Sequence

from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench.damage import DAMAGED, SOUND
from magicbyte_tools.bench.header_scan import HeaderScan
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.measure import Cell
from magicbyte_tools.bench.profile import PARTS, Profile
from magicbyte_tools.bench.results import Results


def cell(name: str, **times: float) -> Cell:
    """Return a cell of three turns: each contender's time, ten times it, and a hundred times it."""
    names = {
        "ours": who.OURS,
        "exact": who.JAVA_EXACT,
        "columns": who.JAVA_COLUMNS,
        "go": who.GO,
        "rust": who.RUST,
        "floor": who.FLOOR,
        "aiokafka": who.AIOKAFKA,
        "one": "1 thread",
        "two": "2 threads",
        "opened": who.OURS_OPEN,
        "sound": SOUND,
        "damaged": DAMAGED,
    }
    turns = {names[key]: [time, time * 10, time * 100] for key, time in times.items()}
    peaks = {name: 250_000_000 for name in turns}
    return Cell(name, turns, turns, peaks, busy=0.25)


def results(*cells: Cell, **others: object) -> Results:
    given = {
        "command": "make bench",
        "engine": "auto",
        "mb": 4,
        "seed": 1,
        "repetitions": 3,
        "jobs_mb": 1,
        "threads_mb": 1,
    }
    machine = {"processor": "2 cores of a processor"}
    return Results(**{**given, "machine": machine, "cells": list(cells), **others})  # type: ignore[arg-type]


def job(name: str, cpu: float) -> ProcessJob:
    return ProcessJob(name, [cpu, cpu, cpu * 50], [cpu * 2] * 3, [None, 100_000_000, 90_000_000])


def parts(name: str, of: Sequence[str] = PARTS) -> Profile:
    """Return a profile of three turns: parts take 1, 2, 3, ... ns, nine times that in the last."""
    return Profile(name, {part: [ns, ns, ns * 9.0] for ns, part in enumerate(of, 1)})


def headers() -> HeaderScan:
    """Return a scan of 101 headers: each takes 2 µs in a pass; by command, 30 µs and 61 bytes."""
    whole = ProcessJob("whole", [0.503, 0.603, 0.703], [1.0] * 3, [None] * 3, [7161, 7161, 7161])
    first = ProcessJob("first", [0.5, 0.6, 0.71], [1.0] * 3, [None] * 3, [1061, 1061, 1061])
    return HeaderScan(101, [101_000, 202_000, 909_000], whole, first)
