"""Fuzzes reads of ranges: each partition is read whole, in ranges, by both engines, with threads and in splits.

A range must give the rows that the whole read delivers for it. It may give fewer if it reports that it has
left out segments (`range-unread`).
"""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import magicbyte as mb
from magicbyte.errors import MagicbyteError
from magicbyte.findings import Finding
from magicbyte.reading import segment_range
from magicbyte.reading.partial_plan import UNREAD_SEGMENTS, wanted_offsets
from magicbyte.reading.planner import Planner
from magicbyte.tables.schemas import DISPOSITIONS, RECORDS
from magicbyte_tools.fuzz.folder_task import ENGINES, LEVELS, FolderFuzzTask
from magicbyte_tools.fuzz.log_changes import ChangedFiles, changed_files
from magicbyte_tools.fuzz.partition import SeedPartition
from magicbyte_tools.fuzz.segmented import segmented_partitions
from magicbyte_tools.fuzz.task import Message

COLUMNS = tuple(name for name in RECORDS.names if name != "outcome")
"""Columns that are compared: a range may call a transaction open that the whole log decides."""

SOURCES = ("markers", "markers", "index")
"""Options `transactions` to draw from."""

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


def read_rows(opened: mb.Dataset, *, is_whole: bool = False, **options: Any) -> RangeRead:
    """Read records of *opened* with *options* of `mb.open`; *is_whole*: of every disposition."""
    dispositions = DISPOSITIONS if is_whole else ("delivered",)
    rows = with_options(opened, **options).records(COLUMNS, dispositions=dispositions)
    return RangeRead(rows.to_table(), tuple(rows.report.findings))


def with_options(opened: mb.Dataset, **options: Any) -> mb.Dataset:
    """Return *opened* with other options: its folder is not listed again, but all files are read again."""
    return mb.Dataset(
        opened.logs,
        replace(opened.options, **options),
        log_dirs=opened.log_dirs,
        all_logs=opened.all_logs,
        unread_paths=opened.unread,
    )


def read_in_splits(opened: mb.Dataset, max_bytes: int, **options: Any) -> pa.Table:
    """Read the delivered records of *opened* in splits that were pickled, as tasks of Spark do."""
    splits = pickle.loads(pickle.dumps(with_options(opened, **options).plan(max_bytes)))
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
class RangeFuzzTask(FolderFuzzTask):
    """Task whose cases are partitions of several segments with a few mutated files."""

    word: str = "ranges"
    read_log: Callable[..., RangeRead] = read_rows

    @cached_property
    def partitions(self) -> list[SeedPartition]:
        return list(segmented_partitions(self.directories, self.seed, are_all=not self.is_changed))

    def changed(self, chance: Random, seed_partition: SeedPartition) -> ChangedFiles:
        return changed_files(chance, seed_partition)

    def outcomes(self, folder: Path, number: int, send: Callable[[Message], None]) -> Iterator[str]:
        yield "cases"
        # Small segments are read by their indexes, too.
        segment_range.MIN_SAVED_BYTES = segment_range.MIN_SAVED_PART = 1
        chance = Random(f"{self.seed} bounds {number}")
        how = {"isolation_level": chance.choice(LEVELS), "transactions": chance.choice(SOURCES)}
        name = ", ".join(how.values())
        try:
            opened = mb.open(folder, on_damage="skip")
            whole, differences = self._whole(opened, how, chance)
            if how["transactions"] == "index":
                yield "by index"
                differences += self._markers_difference(opened, how, whole)
            for what, expected, actual in self._ranges(opened, how, whole, chance):
                yield "ranges"
                if any("bytes were read" in finding.message for finding in actual.findings):
                    yield "by offset index"
                if len(actual.rows) < len(expected):
                    yield "withheld"
                if (difference := range_difference(expected, actual)) is not None:
                    differences.append(f"{what}: {difference}")
        except MagicbyteError:
            yield "refused"  # a log without a sound entry, for instance
            return
        except Exception as error:
            send(self.failure("error", number, f"{name}: {type(error).__name__}: {error}"))
            return
        for difference in differences[:1]:
            send(self.failure("difference", number, f"{name}: {difference}"))
        yield "damaged" if any(f.severity == "error" for f in whole.findings) else "sound"

    def _whole(
        self, opened: mb.Dataset, how: dict[str, Any], chance: Random
    ) -> tuple[RangeRead, list[str]]:
        """Read *opened* whole in four ways; return one result, and how the others differ from it."""
        whole = self.read_log(opened, engine=ENGINES[0], is_whole=True, **how)
        differences = [
            f"the whole log with {threads} threads"
            for threads in (1, 2)
            if self.read_log(opened, engine=ENGINES[1], threads=threads, is_whole=True, **how)
            != whole
        ]
        size = chance.choice((1, 100, 1000, 3000))
        if not read_in_splits(opened, size, **how).equals(whole.delivered):
            differences.append(f"splits of {size} bytes")
        return whole, differences

    def _markers_difference(
        self, opened: mb.Dataset, how: dict[str, Any], whole_log: RangeRead
    ) -> list[str]:
        """Return that the rows differ from those by markers, though no index was trusted."""
        if all(finding.code != "txnindex-doubted" for finding in whole_log.findings):
            return []  # an index that was changed may name other transactions than the markers do
        by_markers = self.read_log(
            opened, engine=ENGINES[1], is_whole=True, **how | {"transactions": "markers"}
        )
        return [] if by_markers.rows.equals(whole_log.rows) else ["indexes that are not trusted"]

    def _ranges(
        self, opened: mb.Dataset, how: dict[str, Any], whole_log: RangeRead, chance: Random
    ) -> Iterator[tuple[str, pa.Table, RangeRead]]:
        """Yield the name, the expected rows and the result of some ranges."""
        offsets = pc.unique(whole_log.rows["offset"]).to_pylist()
        bases = [file.base_offset for log in opened.logs for file in log.logs]
        points = [*offsets, *(base for base in bases if base is not None), 0, 1 << 33]
        for _ in range(NUM_RANGES):
            bounds = _bounds(chance, points)
            engine = chance.choice(ENGINES)
            actual = self.read_log(opened, engine=engine, offsets=bounds, **how)
            yield f"offsets {bounds}", whole_log.within(bounds), actual
        times = whole_log.rows["timestamp"].drop_null().cast(pa.int64()).to_pylist()
        bounds = _bounds(chance, times or [0])
        expected = whole_log.within(_offsets_of(opened, bounds, how))
        actual = self.read_log(opened, engine=ENGINES[1], times=bounds, **how)
        yield f"times {bounds}", expected, actual


def _offsets_of(opened: mb.Dataset, times: Bounds, how: dict[str, Any]) -> Bounds:
    """Return the offsets of a range of *times*, as the reference engine finds them."""
    options = replace(opened.options, engine=ENGINES[0], times=times, **how)
    (log,) = opened.logs
    return wanted_offsets(Planner(options), log)


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
