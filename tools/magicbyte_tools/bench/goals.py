"""Goals of the columnar engine (speed ratios, memory, cost of headers), and the verdicts of a run on them."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean

from magicbyte_formats.wire import RecordBatchHeader
from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench.damage import DAMAGED, SOUND
from magicbyte_tools.bench.data import KINDS, Kind
from magicbyte_tools.bench.measure import Cell
from magicbyte_tools.bench.ratios import job_ratio, job_wall_ratio, ratio, wall_ratio
from magicbyte_tools.bench.results import Results
from magicbyte_tools.bench.starts import MAGICBYTE, PYARROW

SHAPES = ("100B", "1000B", "100B-3h")

TIMES_AS_FAST_AS_JAVA = {
    "none": (3.0, 1.8, 5.0),
    "lz4": (2.0, 1.4, 2.9),
    "snappy": (1.9, 1.6, 2.6),
    "zstd": (1.4, 1.2, 1.9),
    "gzip": (1.8, 1.8, 2.1),
}
"""Least factor by which magicbyte is faster than `Java exact`, by codec and in the order of SHAPES."""

TIME_TO_THE_FLOOR = {
    "none": (2.2, 1.7, 3.2),
    "lz4": (1.4, 1.25, 1.8),
    "snappy": (1.4, 1.3, 1.7),
    "zstd": (1.15, 1.1, 1.3),
    "gzip": (1.2, 1.1, 1.2),
}
"""Largest ratio of magicbyte's CPU time to the floor's, by codec and in the order of SHAPES."""

NOISE = 1.25
"""Factor by which a file may miss its goal and still be accepted: machines and their load differ."""

TIE = 0.95
"""Least factor of a goal to be no slower: differences of 5% are within the noise."""

OF_MESSAGES = 1.5
"""Least factor by which magicbyte is faster than Java on v0 and v1."""

VIEWS = {("1000B", "none"): 1.3}
"""Least factor by which views are faster than `Java columns`, by shape and codec."""

GEOMETRIC_MEAN = 2.0
AIOKAFKA, AIOKAFKA_UNCOMPRESSED = 1.25, 3.5
TWO_THREADS = {"none": 1.5, "gzip": 1.5, "lz4": 1.7, "snappy": 1.7, "zstd": 1.7}
MEMORY = {"10": 200e6, "1024": 300e6}
"""Largest peak memory in bytes, by MiB of records in the file."""
OF_CONSUMER, OF_DUMP_LOG = 1 / 3, 1 / 4
"""Largest CPU time of `magicbyte export`, as a share of the consumer's and of kafka-dump-log's."""
HEADER_BYTES_READ, HEADER_PASS_US = RecordBatchHeader.SIZE, 1.0
"""Largest cost per batch: bytes that the command reads, and microseconds of CPU of a header pass."""
OF_SOUND = 1.5
"""Largest ratio of CPU time, the damaged file to the sound file."""
START = 2.0
"""Largest ratio of `import magicbyte` to `import pyarrow`, which magicbyte cannot do without."""


@dataclass(frozen=True, slots=True)
class Goal:
    what: str
    cell: str
    measured: float | None
    """Measured value; None if the run did not measure it."""
    bound: float
    is_least: bool
    slack: float = 1.0

    @property
    def verdict(self) -> str:
        """Verdict: `met`, `accepted` (missed by no more than the slack), `missed`, or `not measured`."""
        if self.measured is None:
            return "not measured"
        holds = operator.ge if self.is_least else operator.le
        if holds(self.measured, self.bound):
            return "met"
        eased = self.bound / self.slack if self.is_least else self.bound * self.slack
        return "accepted" if holds(self.measured, eased) else "missed"


_at_least = partial(Goal, is_least=True)
_at_most = partial(Goal, is_least=False)


def goals(results: Results) -> Iterator[Goal]:
    """Yield all goals with their measured values in *results*, in the order of the page."""
    cells = {cell.name: cell for cell in results.cells}
    for kind in KINDS:
        cell = cells.get(kind.name)
        if cell is not None:
            yield from _of_cell(kind, cell)
    yield _mean(results.cells)
    for cell in results.threads:
        gain = wall_ratio(cell, "1 thread", "2 threads")
        codec = cell.name.rpartition("-")[2]
        yield _at_least("two threads, times as fast as one", cell.name, gain, TWO_THREADS[codec])
    for size, most in MEMORY.items():
        cell = results.sizes.get(size)
        peak = cell.peak_bytes.get(who.OURS_OPEN) if cell else None
        megabytes = None if peak is None else peak / 1e6
        yield _at_most("peak memory, MB", f"{size} MiB of records", megabytes, most / 1e6)
    yield from _of_jobs(results)
    yield from _of_headers(results)
    yield _at_most(
        "a flipped bit in every hundredth entry: times a sound file",
        f"{results.damage_mb} MiB of records",
        ratio(results.damage, DAMAGED, SOUND) if results.damage else None,
        OF_SOUND,
    )
    yield from _of_starts(results)


def _of_cell(kind: Kind, cell: Cell) -> Iterator[Goal]:
    name, codec = cell.name, kind.codec
    times_java = ratio(cell, who.JAVA_EXACT, who.OURS)
    as_fast = "times as fast as Java, exact"
    if kind.magic < 2:
        yield _at_least(as_fast, name, times_java, OF_MESSAGES, slack=NOISE)
        return
    column = SHAPES.index(kind.shape)
    least, most = TIMES_AS_FAST_AS_JAVA[codec][column], TIME_TO_THE_FLOOR[codec][column]
    yield _at_least(as_fast, name, times_java, least, slack=NOISE)
    to_floor = ratio(cell, who.OURS, who.FLOOR)
    yield _at_most("time to the floor", name, to_floor, most, slack=NOISE)
    bare = AIOKAFKA_UNCOMPRESSED if codec == "none" else AIOKAFKA
    for what, slower, ours, bound in (
        ("times as fast as Java, columns", who.JAVA_COLUMNS, who.OURS, TIE),
        ("times as fast as Go", who.GO, who.OURS, TIE),
        ("times as fast as Rust", who.RUST, who.OURS, TIE),
        ("offsets and times: times as fast as Java", who.JAVA_OFFSETS, who.OURS_OFFSETS, 1.0),
        ("times as fast as aiokafka's iteration", who.AIOKAFKA, who.OURS, bare),
    ):
        yield _at_least(what, name, ratio(cell, slower, ours), bound)
    if (kind.shape, codec) in VIEWS:
        gain = ratio(cell, who.JAVA_COLUMNS, who.OURS_VIEWS)
        bound = VIEWS[kind.shape, codec]
        yield _at_least("views: times as fast as Java, columns", name, gain, bound)


def _mean(cells: list[Cell]) -> Goal:
    batches = [cell for cell in cells if cell.name.startswith("v2-")]
    ratios = [ratio(cell, who.JAVA_EXACT, who.OURS) for cell in batches]
    measured = [times for times in ratios if times is not None]
    mean = geometric_mean(measured) if measured else None
    files = f"v2, {len(measured)} files"
    return _at_least("geometric mean over Java, exact", files, mean, GEOMETRIC_MEAN)


def _of_jobs(results: Results) -> Iterator[Goal]:
    jobs = {job.name: job for job in results.jobs}
    export = jobs.get("export")
    for name, most in (("consumer", OF_CONSUMER), ("dump-log", OF_DUMP_LOG)):
        other = jobs.get(name)
        share = export.cpu / other.cpu if export and other else None
        yield _at_most("CPU of an export to Parquet", f"as a share of {name}'s", share, most)
    batches, headers = jobs.get("dump batches"), jobs.get("dump-log headers")
    share = batches.wall / headers.wall if batches and headers else None
    base = "as a share of dump-log's, headers alone"
    yield _at_most("time of a dump of batches", base, share, 1.0)


def _of_headers(results: Results) -> Iterator[Goal]:
    headers = results.headers
    size = headers.bytes_per_batch if headers else None
    time = headers.pass_us_per_batch if headers else None
    reads, cpu = "bytes that dump --quick reads, per batch", "CPU of a pass, µs per batch"
    yield _at_most("headers alone", reads, size, HEADER_BYTES_READ)
    yield _at_most("headers alone", cpu, time, HEADER_PASS_US)


def _of_starts(results: Results) -> Iterator[Goal]:
    starts = {job.name: job for job in results.starts}
    ours, arrow = starts.get(MAGICBYTE), starts.get(PYARROW)
    for clock, of in (("CPU", job_ratio), ("by the clock", job_wall_ratio)):
        times = of(ours, arrow) if ours and arrow else None
        yield _at_most("import magicbyte, times import pyarrow", clock, times, START)
