"""Tests that filters of a query limit what is read, and never which rows come."""

import random
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession, datasource

import magicbyte as mb
from data_source import offsets_by_partition
from extent import WIDE
from file_damage import flip
from log_builder import batch, record
from magicbyte.errors import InputError
from magicbyte.spark._options import parse
from magicbyte.spark._pushed_filters import PushedFilters
from magicbyte.spark._tasks import size_of
from magicbyte.spark.data_source import MagicbyteDataSource
from paths import DATA

HAS_PUSHDOWN = hasattr(datasource, "LessThan")
needs_pushdown = pytest.mark.skipif(not HAS_PUSHDOWN, reason="Spark 4.1 and later push filters")
SETTING = "spark.sql.python.filterPushdown.enabled"
COLUMNS = "topic,partition,offset,timestamp,value"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOG_DIRS = sorted(path for path in DATA.glob("*/*/log-0"))

Test = Callable[[dict[str, Any]], bool]


def reader_of(path: str | Path, filters: list[Any], **options: str) -> Any:
    options = {"columns": COLUMNS, "filterPushdown": "true", **options}
    source = MagicbyteDataSource({"path": str(path), **options})
    reader = source.reader(source.schema())
    assert reader.pushFilters(filters) == filters
    return reader


def pushed_rows(path: str | Path, filters: list[Any], **options: str) -> list[dict[str, Any]]:
    """Return the rows that are read for *filters*, which Spark would evaluate again."""
    reader = reader_of(path, filters, **options)
    batches = [each for task in reader.partitions() for each in reader.read(task)]
    return pa.Table.from_batches(batches, reader.schema).to_pylist()


def random_filters(rng: random.Random, rows: list[dict[str, Any]]) -> list[tuple[Any, Test]]:
    """Return some filters with values of *rows*, each with the test that it means."""
    kinds: dict[str, Test] = {
        "EqualTo": lambda here, there: here == there,
        "EqualNullSafe": lambda here, there: here == there,
        "LessThan": lambda here, there: here < there,
        "LessThanOrEqual": lambda here, there: here <= there,
        "GreaterThan": lambda here, there: here > there,
        "GreaterThanOrEqual": lambda here, there: here >= there,
    }
    chosen = []
    for _ in range(rng.randint(1, 3)):
        column = rng.choice(["topic", "partition", "offset", "offset", "timestamp"])
        values = [rng.choice(rows)[column] for _ in range(3)]
        if rng.random() < 0.2:
            spark_filter, test = datasource.In((column,), values), values.__contains__
        else:
            kind = rng.choice(sorted(kinds))
            spark_filter = getattr(datasource, kind)((column,), values[0])
            test = partial(
                lambda compare, there, here: compare(here, there), kinds[kind], values[0]
            )
        if rng.random() < 0.2:
            spark_filter = datasource.Not(spark_filter)
            test = partial(lambda inner, here: not inner(here), test)
        chosen.append(
            (spark_filter, partial(lambda name, inner, row: inner(row[name]), column, test))
        )
    return chosen


@needs_pushdown
@pytest.mark.parametrize("number", range(len(LOG_DIRS)), ids=lambda number: str(LOG_DIRS[number]))
def test_pushed_filters_leave_the_rows_as_they_are(number: int) -> None:
    log_dir = LOG_DIRS[number]
    level = ("read_committed", "read_uncommitted")[number % 2]
    options = {"isolationLevel": level, "onDamage": "skip"}
    everything = pushed_rows(log_dir, [], **options)
    rng = random.Random(7)
    num_fewer = 0
    count = 12 if WIDE else 4
    for _ in range(count):
        filters = random_filters(rng, everything)
        read = pushed_rows(log_dir, [each for each, _ in filters], **options)
        num_fewer += len(read) < len(everything)
        for _, test in filters:
            read = list(filter(test, read))
        expected = [row for row in everything if all(test(row) for _, test in filters)]
        assert sorted(map(repr, read)) == sorted(map(repr, expected)), filters
    assert num_fewer > count // 4


def write_topic(folder: Path, *, num_partitions: int, num_batches: int) -> None:
    """Write partitions of four segments, with *num_batches* batches of ten records each in a segment."""
    entry = batch([record(bytes(400), delta=delta) for delta in range(10)])
    for partition in range(num_partitions):
        place = folder / f"orders-{partition}"
        place.mkdir(parents=True)
        for segment in range(4):
            first = segment * num_batches * 10
            offsets = range(first, first + num_batches * 10, 10)
            data = b"".join(struct.pack(">q", offset) + entry[8:] for offset in offsets)
            (place / f"{first:020}.log").write_bytes(data)


@pytest.fixture(scope="module")
def topic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A topic of 32 MB: two partitions of four segments of 4 MB."""
    folder = tmp_path_factory.mktemp("topic")
    write_topic(folder, num_partitions=2, num_batches=1000)
    return folder


def bytes_read() -> int:
    """Return the bytes that this process has read so far."""
    return int(Path("/proc/self/io").read_text().split()[1])


@needs_pushdown
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts bytes by /proc/self/io")
@pytest.mark.parametrize("first", [0, 15_000, 25_037, 39_990])
def test_few_offsets_of_one_partition_are_read_in_few_bytes(topic: Path, first: int) -> None:
    filters = [
        datasource.EqualTo(("partition",), 0),
        datasource.GreaterThanOrEqual(("offset",), first),
        datasource.LessThan(("offset",), first + 10),
    ]
    pushed_rows(topic, filters)  # modules are imported
    reader = reader_of(topic, filters, columns="partition,offset")
    before = bytes_read()
    tasks = reader.partitions()
    splits = [split for task in tasks for split in task.splits]
    assert [split.partition for split in splits] == [0] * len(splits)
    rows = [each for task in tasks for batch in reader.read(task) for each in batch.to_pylist()]
    assert [row["offset"] for row in rows] == list(range(first, first + 10))
    assert size_of(splits) < 600_000
    assert bytes_read() - before < 1_400_000


@needs_pushdown
def test_filter_that_no_offset_matches_reads_nothing(topic: Path) -> None:
    for filters in (
        [datasource.LessThan(("offset",), 0)],
        [datasource.EqualTo(("topic",), "payments")],
        [datasource.GreaterThan(("offset",), 5), datasource.LessThan(("offset",), 5)],
    ):
        assert list(reader_of(topic, filters).partitions()) == []
    late = [datasource.GreaterThan(("timestamp",), datetime(2031, 1, 1, tzinfo=UTC))]
    assert pushed_rows(topic, late) == []


@needs_pushdown
def test_times_limit_only_where_reading_begins() -> None:
    """Records need not be in the order of their times."""
    time = EPOCH + timedelta(milliseconds=1_000)
    filters = PushedFilters([datasource.LessThan(("timestamp",), time)])
    assert not filters.has_limits
    filters = PushedFilters([datasource.GreaterThan(("Timestamp",), time)])
    assert filters.first_time == 1_000
    before = EPOCH - timedelta(milliseconds=1)  # the time of records without one
    assert PushedFilters([datasource.EqualTo(("timestamp",), before)]).first_time is None


@needs_pushdown
def test_unknown_filters_limit_nothing() -> None:
    class Near(datasource.Filter):
        attribute = ("offset",)
        value = 3

    null = datasource.EqualNullSafe(("offset",), None)
    nested = datasource.EqualTo(("headers", "key"), "a")
    text = datasource.Not(datasource.StringContains(("topic",), "x"))
    assert not PushedFilters([Near(), datasource.IsNull(("key",)), null, nested, text]).has_limits


def test_pushdown_is_for_batches_of_records_that_are_planned_anew(topic: Path) -> None:
    with pytest.raises(InputError, match="filterPushdown with planPath"):
        parse({"path": str(topic), "filterpushdown": "true", "planpath": "/tmp/plan"})
    with pytest.raises(InputError, match="filterPushdown with the table batches"):
        parse({"path": str(topic), "filterpushdown": "true", "table": "batches"})
    stream = parse({"path": str(topic), "filterpushdown": "true"})
    with pytest.raises(InputError, match="filterPushdown in a stream"):
        _ = stream.stream_start


@needs_pushdown
def test_spark_pushes_the_filters_of_a_query(spark: SparkSession, tmp_path: Path) -> None:
    write_topic(tmp_path, num_partitions=2, num_batches=2)
    flip(max((tmp_path / "orders-0").iterdir()), 100)  # a read of its offsets would fail
    everything = mb.open(tmp_path, on_damage="skip").records(["topic", "partition", "offset"])
    offsets = offsets_by_partition(everything.to_pylist())
    spark.conf.set(SETTING, "true")
    try:
        for where, partition, expected in (
            ("partition = 1 and offset < 25", 1, range(25)),
            ("offset between 20 and 39 and partition <= 0", 0, range(20, 40)),
            ("topic in ('orders', 'x') and partition in (1) and offset > 77", 1, range(78, 80)),
        ):
            frame = spark.read.format("magicbyte").option("columns", "topic,partition,offset")
            frame = frame.option("filterPushdown", "true").load(str(tmp_path)).where(where)
            assert sorted(row.offset for row in frame.collect()) == list(expected)
            assert {*expected} <= {*offsets[f"orders-{partition}"]}
    finally:
        spark.conf.unset(SETTING)
