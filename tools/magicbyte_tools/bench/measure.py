"""Measures contenders on one file: all are warmed up, then they take turns, one pass each."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte_tools.bench.contenders import Contender
from magicbyte_tools.bench.data import Segment
from magicbyte_tools.bench.process import Pass, Process

WARM_UP = 2
"""Least number of passes before the first measured one."""


class Disagreement(Exception):
    """Contenders read different rows from one file."""


@dataclass(slots=True)
class Cell:
    """Times of the contenders for one file; lists have an item per repetition."""

    name: str
    cpu_ns: dict[str, list[float]] = field(default_factory=dict)
    """CPU nanoseconds of the reading thread, per row."""
    wall_ns: dict[str, list[float]] = field(default_factory=dict)
    """Elapsed nanoseconds per row."""
    peak_bytes: dict[str, int | None] = field(default_factory=dict)
    """Peak memory of each contender's process."""
    busy: float | None = None
    """Share of all processors that other programs used; None if the system has no count."""


def measure(segment: Segment, contenders: Sequence[Contender], *, repetitions: int) -> Cell:
    """Measure *contenders* on *segment*, each in a process of its own.

    Raises Disagreement if a contender reads another number of rows than the segment has.
    """
    cell = Cell(segment.kind.name)
    suited = [contender for contender in contenders if contender.reads(segment.kind)]
    with ExitStack() as stack:
        working = {one.name: stack.enter_context(Process(one.command)) for one in suited}
        agree(segment, suited, working)
        for one in suited:
            cell.cpu_ns[one.name], cell.wall_ns[one.name] = [], []
            _warm_up(segment, one, working)
        others = Others()
        for _ in range(repetitions):
            for one in suited:
                for took in _settled(segment, one, working):
                    others.less(took.process_ns)
                cell.cpu_ns[one.name].append(took.thread_ns / took.rows)
                cell.wall_ns[one.name].append(took.wall_ns / took.rows)
        cell.busy = others.share()
        cell.peak_bytes = {name: process.peak_bytes for name, process in working.items()}
    return cell


def _warm_up(segment: Segment, contender: Contender, working: dict[str, Process]) -> None:
    passes, spent_ns = 0, 0
    while passes < WARM_UP or spent_ns < contender.warm_up_s * 1e9:
        spent_ns += ask(segment, contender, working[contender.name]).thread_ns
        passes += 1


def _settled(segment: Segment, contender: Contender, working: dict[str, Process]) -> Iterator[Pass]:
    """Yield the passes of a contender until its times have settled; the last pass is the measured one."""
    spent_ns = 0
    while spent_ns < contender.settle_s * 1e9:
        took = ask(segment, contender, working[contender.name])
        spent_ns += took.wall_ns
        yield took
    yield ask(segment, contender, working[contender.name])


def ask(segment: Segment, contender: Contender, process: Process) -> Pass:
    """Have *process* read *segment* once as *contender*, and return the cost.

    Raises Disagreement if it reads another number of rows than the segment has.
    """
    took = process.ask(segment.path, contender.mode, contender.via, contender.threads)
    if contender.reads_all and took.rows != segment.num_rows:
        raise Disagreement(
            f"{segment.kind.name}: {contender.name} reads {took.rows} rows of {segment.num_rows}"
        )
    return took


def agree(segment: Segment, contenders: Sequence[Contender], working: dict[str, Process]) -> None:
    """Raise Disagreement unless all *contenders* read the number of rows written and equal column sums."""
    sums = {}
    for one in contenders:
        # `check` runs once per contender: reading from a file or by mb.open decodes with the same code.
        checked = working[one.name].ask(segment.path, "check", one.via)
        if one.reads_all and checked.rows != segment.num_rows:
            told = f"{one.name} finds {checked.rows} rows of {segment.num_rows}"
            raise Disagreement(f"{segment.kind.name}: {told}")
        if one.reads_all and one.has_checksum:
            sums[one.name] = checked.checksum
    if len(set(sums.values())) > 1:
        raise Disagreement(f"{segment.kind.name}: the columns differ: {sums}")


class Others:
    """Measures the CPU time that other programs use, by the busy time in /proc/stat."""

    def __init__(self) -> None:
        self._begun = time.monotonic_ns()
        self._busy = _busy_ns()
        self._own = time.process_time_ns()

    def less(self, process_ns: int) -> None:
        """Count *process_ns* of CPU time, in ns, as the benchmark's own."""
        self._own -= process_ns

    def share(self) -> float | None:
        """Return the share of all processors used by other programs since creation; None if not counted."""
        busy = _busy_ns()
        if busy is None or self._busy is None:
            return None
        others = busy - self._busy - (time.process_time_ns() - self._own)
        elapsed = (time.monotonic_ns() - self._begun) * (os.cpu_count() or 1)
        return max(0.0, others / elapsed)


def _busy_ns() -> int | None:
    try:
        counts = Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal = map(int, counts[:8])
    ticks = user + nice + system + irq + softirq + steal
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
