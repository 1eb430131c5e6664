"""Medians of a cell, and ratios formed within each repetition."""

from statistics import median

from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.measure import Cell


def per_second(cell: Cell, name: str) -> float | None:
    """Return the rows that *name* reads in a second of CPU; None where it took no part."""
    times = cell.cpu_ns.get(name)
    return 1e9 / median(times) if times else None


def ratio(cell: Cell, name: str, base: str) -> float | None:
    """Return how many times the CPU of *base* *name* takes; None where either took no part."""
    return _ratio(cell.cpu_ns.get(name), cell.cpu_ns.get(base))


def wall_ratio(cell: Cell, name: str, base: str) -> float | None:
    """Return how many times as long as *base* *name* takes by the clock."""
    return _ratio(cell.wall_ns.get(name), cell.wall_ns.get(base))


def job_ratio(job: ProcessJob, base: ProcessJob) -> float | None:
    """Return how many times the CPU of *base* *job* takes."""
    return _ratio(job.cpu_s, base.cpu_s)


def job_wall_ratio(job: ProcessJob, base: ProcessJob) -> float | None:
    """Return how many times as long as *base* *job* takes by the clock."""
    return _ratio(job.wall_s, base.wall_s)


def _ratio(times: list[float] | None, bases: list[float] | None) -> float | None:
    if not times or not bases:
        return None
    return median(time / base for time, base in zip(times, bases, strict=True))


def spread(cell: Cell, name: str) -> float | None:
    """Return the range of the times of *name* without the extremes, as a share of the median."""
    times = sorted(cell.cpu_ns.get(name, ()))
    if len(times) > 2:
        times = times[1:-1]
    return (times[-1] - times[0]) / median(times) if times else None
