"""Fuzzes reads of ranges: each partition is read whole, in ranges, by both engines, with threads and in splits.

A range must give the rows that the whole read delivers for it. It may give fewer if it reports that it has
left out segments (`range-unread`).
"""

import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import magicbyte as mb
from magicbyte.errors import MagicbyteError
from magicbyte.findings import Finding
from magicbyte.reading.partial_plan import UNREAD_SEGMENTS
from magicbyte.tables.schemas import DISPOSITIONS, RECORDS
from magicbyte_tools.fuzz.log_changes import ChangedFiles, changed_files
from magicbyte_tools.fuzz.partition import SeedPartition
from magicbyte_tools.fuzz.segmented import segmented_partitions
from magicbyte_tools.fuzz.task import Failure, Message, Tally, What
from magicbyte_tools.fuzz.whole import ENGINES, LEVELS, TOLD_EVERY, changed_folder

COLUMNS = tuple(name for name in RECORDS.names if name != "outcome")
"""Columns that are compared: a range may call a transaction open that the whole log decides."""

NUM_RANGES = 3
"""Ranges of offsets that are read of each partition, besides one of times."""

Bounds = tuple[int | None, int | None]


@dataclass(frozen=True)
class RangeRead:
    """The rows of a read and its findings."""

    rows: pa.Table
    findings: tuple[Finding, ...]

    @cached_property
    def delivered(self) -> pa.Table:
        return self.rows.filter(pc.equal(self.rows["disposition"], "delivered"))

    def within(self, bounds: Bounds) -> pa.Table:
        """Return the delivered rows whose offsets are within *bounds*."""
        first, end = bounds
        offsets = self.delivered["offset"]
        mask = pc.greater_equal(offsets, -(1 << 63) if first is None else first)
        if end is not None:
            mask = pc.and_(mask, pc.less(offsets, end))
        return self.delivered.filter(mask)


def read_rows(folder: Path, *, is_whole: bool = False, **options: Any) -> RangeRead:
    """Read records of the partition *folder* with *options* of `mb.open`; *is_whole*: of every disposition."""
    dispositions = DISPOSITIONS if is_whole else ("delivered",)
    rows = mb.open(folder, on_damage="skip", **options).records(COLUMNS, dispositions=dispositions)
    return RangeRead(rows.to_table(), tuple(rows.report.findings))


def read_in_splits(folder: Path, max_bytes: int, **options: Any) -> pa.Table:
    """Read the delivered records of *folder* in splits that were pickled, as tasks of Spark do."""
    dataset = mb.open(folder, on_damage="skip", **options)
    splits = pickle.loads(pickle.dumps(dataset.plan(max_bytes)))
    batches = [batch for split in splits for batch in mb.read_split(split, COLUMNS)]
    return pa.Table.from_batches(batches, RECORDS.schema(COLUMNS))


def range_difference(expected_rows: pa.Table, actual: RangeRead) -> str | None:
    """Return how the range *actual* differs from the *expected_rows*; None if that is allowed."""
    if actual.rows.equals(expected_rows):
        return None
    wanted, given = (list(map(str, table.to_pylist())) for table in (expected_rows, actual.rows))
    if surplus := set(given) - set(wanted):
        return f"{len(surplus)} rows that the whole read does not deliver, one {min(surplus)}"
    remaining = iter(wanted)
    if not all(row in remaining for row in given):
        return "rows in another order"
    if not any(finding.code == UNREAD_SEGMENTS for finding in actual.findings):
        return f"{len(wanted) - len(given)} of {len(wanted)} rows missing without {UNREAD_SEGMENTS}"
    return None


@dataclass(frozen=True)
class RangeFuzzTask:
    """Task whose cases are partitions of several segments with a few mutated files."""

    first: int
    end: int
    seed: int
    directories: tuple[Path, ...]
    """Folders whose small partitions are mutated, besides partitions that are built from the seed."""
    read_log: Callable[..., RangeRead] = read_rows
    is_changed: bool = True
    """False to read the partitions unchanged, as `--replay` does."""

    @cached_property
    def partitions(self) -> list[SeedPartition]:
        return list(segmented_partitions(self.directories, self.seed, are_all=not self.is_changed))

    def case(self, number: int) -> tuple[SeedPartition, ChangedFiles]:
        chance = Random(f"{self.seed} ranges {number}")
        partition = chance.choice(self.partitions)
        return partition, changed_files(chance, partition) if self.is_changed else {}

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        tally: Tally = Counter()
        with TemporaryDirectory(prefix="magicbyte-fuzz-") as root:
            for number in range(self.first, self.end):
                begin(number)
                partition, files = self.case(number)
                own = Path(root, str(id(partition)), partition.name)
                with changed_folder(own, partition, files) as folder:
                    for became in self._outcomes(folder, number, send):
                        tally["partitions", became] += 1
                if number % TOLD_EVERY == 0:
                    send(tally)
                    tally = Counter()
        send(tally)

    def _outcomes(
        self, folder: Path, number: int, send: Callable[[Message], None]
    ) -> Iterator[str]:
        yield "cases"
        chance = Random(f"{self.seed} bounds {number}")
        level = chance.choice(LEVELS)
        try:
            whole, differences = self._whole(folder, level, chance)
            for what, expected, actual in self._ranges(folder, level, whole, chance):
                yield "ranges"
                if len(actual.rows) < len(expected):
                    yield "withheld"
                if (difference := range_difference(expected, actual)) is not None:
                    differences.append(f"{what}: {difference}")
        except MagicbyteError:
            yield "refused"  # a log without a sound entry, for instance
            return
        except Exception as error:
            send(self.failure("error", number, f"{level}: {type(error).__name__}: {error}"))
            return
        for difference in differences[:1]:
            send(self.failure("difference", number, f"{level}: {difference}"))
        yield "damaged" if any(f.severity == "error" for f in whole.findings) else "sound"

    def _whole(self, folder: Path, level: str, chance: Random) -> tuple[RangeRead, list[str]]:
        """Read *folder* whole in four ways; return one result, and how the others differ from it."""
        options = {"isolation_level": level, "is_whole": True}
        whole = self.read_log(folder, engine=ENGINES[0], **options)
        differences = [
            f"the whole log with {threads} threads"
            for threads in (1, 2)
            if self.read_log(folder, engine=ENGINES[1], threads=threads, **options) != whole
        ]
        size = chance.choice((1, 100, 1000, 3000))
        if not read_in_splits(folder, size, isolation_level=level).equals(whole.delivered):
            differences.append(f"splits of {size} bytes")
        return whole, differences

    def _ranges(
        self, folder: Path, level: str, whole_log: RangeRead, chance: Random
    ) -> Iterator[tuple[str, pa.Table, RangeRead]]:
        """Yield the name, the expected rows and the result of some ranges."""
        offsets = pc.unique(whole_log.rows["offset"]).to_pylist()
        points = [*offsets, *(int(path.name[:20]) for path in folder.glob("*.log")), 0, 1 << 33]
        for _ in range(NUM_RANGES):
            bounds = _bounds(chance, points)
            engine = chance.choice(ENGINES)
            actual = self.read_log(folder, isolation_level=level, engine=engine, offsets=bounds)
            yield f"offsets {bounds}", whole_log.within(bounds), actual
        times = whole_log.rows["timestamp"].drop_null().cast(pa.int64()).to_pylist()
        bounds = _bounds(chance, times or [0])
        by_time = {"isolation_level": level, "times": bounds}
        expected = self.read_log(folder, engine=ENGINES[0], is_whole=True, **by_time).delivered
        yield f"times {bounds}", expected, self.read_log(folder, engine=ENGINES[1], **by_time)

    def alone(self, case: int) -> "RangeFuzzTask | None":
        return None

    def behind(self, case: int) -> "RangeFuzzTask":
        return replace(self, first=case + 1)

    def failure(self, what: What, case: int, message: str) -> Failure:
        partition, files = self.case(case)
        whole = {
            f"{partition.name}/{name}": data
            for name, data in (partition.files | files).items()
            if data is not None
        }
        return Failure(what, case, partition.name, message, whole)


def _bounds(chance: Random, points: list[int]) -> Bounds:
    """Return two of *points*, or numbers next to them, in order; sometimes one of them is open."""
    first, end = sorted(
        min(max(chance.choice(points) + chance.choice((-1, 0, 0, 0, 1)), 0), (1 << 63) - 1)
        for _ in range(2)
    )
    match chance.randrange(6):
        case 0:
            return first, None
        case 1:
            return None, end
        case _:
            return first, end
