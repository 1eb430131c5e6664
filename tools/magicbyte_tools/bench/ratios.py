"""Medians of measured times, and medians of the ratios within each repetition."""

from statistics import median

from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.measure import Cell


def per_second(cell: Cell, name: str) -> float | None:
    """Return the rows that contender *name* reads per CPU second; None if it was not measured in *cell*."""
    times = cell.cpu_ns.get(name)
    return 1e9 / median(times) if times else None


def ratio(cell: Cell, name: str, base: str) -> float | None:
    """Return the ratio of CPU times of contenders *name* and *base*; None if either was not measured."""
    return _ratio(cell.cpu_ns.get(name), cell.cpu_ns.get(base))


def wall_ratio(cell: Cell, name: str, base: str) -> float | None:
    """Return the ratio of elapsed times of contenders *name* and *base*; None if either is missing."""
    return _ratio(cell.wall_ns.get(name), cell.wall_ns.get(base))


def job_ratio(job: ProcessJob, base: ProcessJob) -> float | None:
    """Return the ratio of CPU times of the jobs *job* and *base*, the median over the repetitions."""
    return _ratio(job.cpu_s, base.cpu_s)


def job_wall_ratio(job: ProcessJob, base: ProcessJob) -> float | None:
    """Return the ratio of elapsed times of the jobs *job* and *base*, the median over the repetitions."""
    return _ratio(job.wall_s, base.wall_s)


def _ratio(times: list[float] | None, bases: list[float] | None) -> float | None:
    if not times or not bases:
        return None
    return median(time / base for time, base in zip(times, bases, strict=True))


def spread(cell: Cell, name: str) -> float | None:
    """Return the range of *name*'s CPU times without both extremes, as a share of the median, or None."""
    times = sorted(cell.cpu_ns.get(name, ()))
    if len(times) > 2:
        times = times[1:-1]
    return (times[-1] - times[0]) / median(times) if times else None
