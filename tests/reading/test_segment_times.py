"""Tests of conditions on `timestamp`: what cannot match is not read, and rows are never lost."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import magicbyte as mb
from io_faults import counted_reads
from magicbyte.reading import segment_range
from magicbyte.tables.schemas import RECORDS
from scan_queries import ask
from timed_log import LOG_APPEND_TIME, write_timed_segment

BEGIN = 1_700_000_000_000
SEGMENTS, BATCHES, RECORDS_EACH = 4, 30, 2
PER_SEGMENT = BATCHES * RECORDS_EACH
NUM_RECORDS = SEGMENTS * PER_SEGMENT
TIME, OFFSET = ds.field("timestamp"), ds.field("offset")


def at(time: int) -> pa.Scalar:
    return pa.scalar(BEGIN + time, pa.timestamp("ms", "UTC"))


@pytest.fixture(autouse=True)
def small_logs_are_narrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 0)


TimeOf = Callable[[int, random.Random], int]
"""Returns the time after BEGIN of the record with an offset."""

ORDERS: dict[str, TimeOf] = {
    "ascending": lambda offset, rng: 10 * offset,
    "equal": lambda offset, rng: 10 * (offset // 40),
    "jittered": lambda offset, rng: 10 * offset + rng.randrange(-200, 200),
    "random": lambda offset, rng: rng.randrange(10 * NUM_RECORDS),
    "descending": lambda offset, rng: 10 * (NUM_RECORDS - offset),
    "one from the future": lambda offset, rng: 10 * offset + (10**6 if offset == 70 else 0),
    "some without": lambda offset, rng: -BEGIN - 1 if offset % 7 == 0 else 10 * offset,
}


def write_log(folder: Path, time_of: TimeOf, flags: int = 0) -> Path:
    rng = random.Random(4)
    for base in range(0, NUM_RECORDS, PER_SEGMENT):
        offsets = range(base, base + PER_SEGMENT)
        times = [BEGIN + time_of(offset, rng) for offset in offsets]
        batch_times = [times[at : at + RECORDS_EACH] for at in range(0, len(times), RECORDS_EACH)]
        is_closed = base + PER_SEGMENT < NUM_RECORDS
        write_timed_segment(folder / "t-0", base, batch_times, flags=flags, is_closed=is_closed)
    return folder


def conditions(rng: random.Random) -> Iterator[pc.Expression]:
    """Yield random conditions on the times of a log."""
    for _ in range(4):
        low, high = sorted(rng.randrange(-50, 10 * NUM_RECORDS + 50) for _ in range(2))
        offset = rng.randrange(NUM_RECORDS)
        yield rng.choice(
            [
                at(low) <= TIME,
                at(high) < TIME,
                (at(low) <= TIME) & (at(high) > TIME),
                at(high // 10 * 10) == TIME,
                at(high) > TIME,
                ~(at(low) > TIME),
                (at(high) < TIME) | (offset == OFFSET),
                (at(low) < TIME) & (offset <= OFFSET),
                TIME.is_null() | (at(high) < TIME),
                TIME.isin([at(low // 10 * 10), at(high // 10 * 10)]),
                TIME.is_valid(),
            ]
        )


def assert_same_rows(path: Path, rng: random.Random) -> None:
    dataset = mb.open(path, on_damage="skip")
    plain, scan = dataset.records(RECORDS.names).to_table(), dataset.scan()
    assert plain.num_rows == NUM_RECORDS
    for condition in conditions(rng):
        wanted = plain.filter(condition)
        assert scan.to_table(filter=condition).equals(wanted), condition
        fragments = [one.to_table(filter=condition) for one in scan.get_fragments(condition)]
        if fragments:
            assert pa.concat_tables(fragments).equals(wanted), condition
        else:
            assert not wanted.num_rows, condition


@pytest.mark.parametrize("flags", [0, LOG_APPEND_TIME])
@pytest.mark.parametrize("order", ORDERS)
def test_rows_are_the_same_in_any_order_of_times(tmp_path: Path, order: str, flags: int) -> None:
    rng = random.Random(f"{order} {flags}")
    assert_same_rows(write_log(tmp_path, ORDERS[order], flags), rng)


def flipped(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 5])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flipped bits": flipped,
    "cut off": lambda data, rng: data[: 12 * rng.randrange(len(data) // 12)],
    "cut inside of an entry": lambda data, rng: data[: rng.randrange(len(data))],
    "zeros at the end": lambda data, rng: data[: len(data) // 24 * 12].ljust(4096, b"\0"),
    "a later time": lambda data, rng: data[:-12] + bytes([255]) * 2 + data[-10:],
    "earlier times": lambda data, rng: b"".join(
        (int.from_bytes(data[at : at + 8]) - 900).to_bytes(8) + data[at + 8 : at + 12]
        for at in range(0, len(data), 12)
    ),
    "later offsets": lambda data, rng: b"".join(
        data[at : at + 8] + (int.from_bytes(data[at + 8 : at + 12]) + 2).to_bytes(4)
        for at in range(0, len(data), 12)
    ),
}


RANDOM_DAMAGES = ("flipped bits", "cut off", "cut inside of an entry")


def assert_found_by_time(path: Path) -> None:
    """Check conditions on the time of a log whose times are ascending."""
    scan = mb.open(path).scan()
    for first in range(0, NUM_RECORDS, 15):
        assert scan.count_rows(at(10 * first) <= TIME) == NUM_RECORDS - first, first
    assert scan.count_rows(at(10 * NUM_RECORDS) < TIME) == 0


@pytest.mark.parametrize("kind", ["timeindex", "index"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_rows_are_the_same_where_an_index_is_damaged(
    tmp_path: Path, damage: str, kind: str
) -> None:
    rng = random.Random(f"{damage} {kind}")
    write_log(tmp_path, ORDERS["ascending"])
    contents = {path: path.read_bytes() for path in sorted(tmp_path.rglob(f"*.{kind}"))}
    for _ in range(3 if damage in RANDOM_DAMAGES else 1):
        for path, content in contents.items():
            path.write_bytes(DAMAGES[damage](content, rng))
        assert_found_by_time(tmp_path)


def test_rows_are_the_same_where_time_indexes_are_of_other_segments_or_absent(
    tmp_path: Path,
) -> None:
    write_log(tmp_path, ORDERS["ascending"])
    paths = sorted(tmp_path.rglob("*.timeindex"))
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert_found_by_time(tmp_path)
    for path in paths:
        path.unlink()
    assert_found_by_time(tmp_path)


# Bytes


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of four segments of 2 MB each, with ascending times."""
    path: Path = tmp_path_factory.mktemp("large")
    for base in range(0, 400, 100):
        times = [[BEGIN + 10 * offset] for offset in range(base, base + 100)]
        is_closed = base < 300
        write_timed_segment(path / "t-0", base, times, size_bytes=20_000, is_closed=is_closed)
    return path


def num_bytes(path: Path, condition: pc.Expression) -> tuple[int, int]:
    """Return the number of rows for *condition*, and the bytes of segments that are read."""
    scan = mb.open(path).scan()
    with counted_reads() as counts:
        number = scan.to_table(columns=["offset"], filter=condition).num_rows
    return number, counts.get("log", 0)


GRANULARITY = 6 * (1 << 16)
"""Bytes before and after a range that may be read, and bytes of headers of each segment."""


@pytest.mark.parametrize("first", [350, 210, 100, 399])
def test_no_more_of_the_log_is_read_than_what_is_late_enough(
    large: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 1 << 20)
    number, size = num_bytes(large, at(10 * first) <= TIME)
    assert number == 400 - first
    assert size < 20_100 * number + GRANULARITY


def test_nothing_is_read_after_the_newest_time(large: Path) -> None:
    number, size = num_bytes(large, at(4000) < TIME)
    assert (number, size < GRANULARITY) == (0, True)


def test_fragments_are_the_segments_that_may_match(large: Path) -> None:
    scan = mb.open(large).scan()
    assert [len(list(scan.get_fragments(at(10 * first) <= TIME))) for first in (0, 250, 399)] == [
        4,
        2,
        1,
    ]
    assert len(list(scan.get_fragments(at(100) > TIME))) == 4


@pytest.mark.parametrize("by_sql", [False, True])
def test_duckdb_and_sql_read_no_more_for_a_condition_on_the_time(large: Path, by_sql: bool) -> None:
    query = (
        "SELECT count(*) AS number FROM records "
        f"WHERE timestamp >= make_timestamptz({1000 * (BEGIN + 3500)})"
    )
    with counted_reads() as counts:
        if by_sql:
            ((number,),) = (row.values() for row in mb.sql(query, large).to_pylist())
        else:
            ((number,),) = ask(query, records=mb.open(large).scan())
    assert number == 50
    assert counts["log"] < 20_100 * 50 + GRANULARITY


def test_times_beyond_what_microseconds_hold_are_kept(tmp_path: Path) -> None:
    write_timed_segment(tmp_path / "t-0", 0, [[1 << 60], [BEGIN]])
    write_timed_segment(tmp_path / "t-0", 2, [[BEGIN]])
    (row,) = mb.sql(
        "SELECT count(*) AS n FROM records WHERE timestamp IS NULL", tmp_path
    ).to_pylist()
    assert row == {"n": 1}
    late = pa.scalar(1 << 59, pa.timestamp("ms", "UTC"))
    assert mb.open(tmp_path).scan().count_rows(late < TIME) == 1
