"""Tests of scans: engines push columns and conditions into them, and get the rows of `records`."""

import pickle
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import log_builder as build
import magicbyte as mb
from extent import WIDE
from file_damage import flip
from io_faults import counted_reads
from log_builder import Folder
from magicbyte.reading import _scan as scan_module
from magicbyte.tables.schemas import RECORDS
from paths import DATA, shared
from random_log import write_random_log
from scan_queries import (
    LIMIT,
    NUM_RECORDS,
    RandomConditions,
    ask,
    bytes_from,
    rows_of,
    write_large_log,
)

TIERED = shared() / "logs" / "3.9" / "tiered"
QUERIES_PER_LOG = 12 if WIDE else 4
SEEDS = range(20 if WIDE else 1)
OFFSET, TOPIC = ds.field("offset"), ds.field("topic")


def damaged_log(folder: Path) -> Path:
    """Return a copy of a real log in which one batch has a wrong checksum."""
    copy = folder / "damaged"
    shutil.copytree(DATA / "2.8/lives/log-0", copy)
    flip(copy / "v2-transactions-0/00000000000000000002.log", 2771 + 17)
    return copy


LOGS: dict[str, Callable[[Path], Path]] = {
    "transactions of 3.9": lambda _: DATA / "3.9/transactions/log-0",
    "transactions of 4.3": lambda _: DATA / "4.3/transactions/log-0",
    "v0, v1 and upgraded": lambda _: DATA / "2.8/lives/log-0",
    "formats": lambda _: DATA / "2.8/formats/log-0",
    "compacted": lambda _: DATA / "4.3/compacted/log-0",
    "killed": lambda _: DATA / "4.3/killed/log-0",
    "damaged": damaged_log,
}


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> mb.Dataset:
    return mb.open(LOGS[request.param](tmp_path), on_damage="skip", include_internal=True)


@pytest.fixture
def transactions() -> mb.Dataset:
    return mb.open(DATA / "4.3/transactions/log-0")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large")
    write_large_log(path)
    return path


def all_records(log: mb.Dataset, **options: Any) -> pa.Table:
    return log.records(RECORDS.names, **options).to_table()


# Rows


def test_scan_has_the_rows_of_records_in_their_order(log: mb.Dataset) -> None:
    rows = log.records(RECORDS.names)
    wanted, scan = rows.to_table(), log.scan()
    assert wanted.num_rows > 0
    assert scan.to_table().equals(wanted)
    assert scan.report == rows.report
    assert scan.to_reader().read_all().equals(wanted)
    assert pa.table(scan).equals(wanted)
    assert scan.head(5).equals(wanted.slice(0, 5))
    assert scan.count_rows() == wanted.num_rows


def compare(log: mb.Dataset, seed: int) -> None:
    """Ask random queries of the scan of *log*, and of its records in memory."""
    plain, pushed = all_records(log), log.scan()
    conditions = RandomConditions(plain, seed + plain.num_rows)  # others for each log
    with duckdb.connect() as connection:
        connection.register("plain", plain)
        connection.register("pushed", pushed)
        for _ in range(QUERIES_PER_LOG):
            condition = conditions.condition()
            query = f'SELECT topic, partition, "offset", key FROM {{}} WHERE {condition}'
            wanted = rows_of(connection.sql(query.format("plain")))
            assert rows_of(connection.sql(query.format("pushed"))) == wanted, condition


@pytest.mark.parametrize("seed", SEEDS)
def test_duckdb_gets_the_rows_that_the_same_query_gets_in_memory(
    log: mb.Dataset, seed: int
) -> None:
    compare(log, seed)


def test_duckdb_gets_the_rows_of_a_tiered_log() -> None:
    if not TIERED.is_dir():
        pytest.skip("needs the folder shared")
    compare(mb.open(TIERED, on_damage="skip"), 1)


def test_polars_gets_the_rows_that_the_same_query_gets_in_memory(log: mb.Dataset) -> None:
    plain = all_records(log)
    held, lazy = pl.DataFrame(plain).lazy(), pl.scan_pyarrow_dataset(log.scan())
    conditions = RandomConditions(plain, 3)
    pick = conditions.random.choice
    topic, offset = pl.col("topic"), pl.col("offset")
    time = pl.col("timestamp")
    for _ in range(QUERIES_PER_LOG):
        choices = [
            topic == pick(conditions.topics),
            topic.is_in([pick(conditions.topics), pick(conditions.topics)]),
            topic.str.starts_with("a"),
            pl.col("partition") == pick([0, 1]),
            offset >= pick(range(conditions.last + 2)),
            offset < pick(range(conditions.last + 2)),
            offset.is_in([pick(range(conditions.last + 2)) for _ in range(3)]),
            time >= pl.lit(pick(conditions.times)).cast(pl.Datetime("ms", "UTC")),
            pl.col("key") == pick(conditions.keys),
            pl.col("value").is_null(),
        ]
        one, another, third = (pick(choices) for _ in range(3))
        condition = pick([one, one & another, one | another, ~one, (one & another) | third])

        def query(frame: pl.LazyFrame, condition: pl.Expr = condition) -> pl.DataFrame:
            return frame.filter(condition).select("topic", "partition", "offset", "key").collect()

        assert query(lazy).equals(query(held)), condition


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("on_damage", ["skip", "stop"])
def test_scan_of_a_random_log_has_the_rows_that_match(
    folder: Folder, seed: int, level: str, on_damage: str
) -> None:
    rng = random.Random(seed)
    write_random_log(rng, folder)
    log = mb.open(folder.path, on_damage=on_damage, isolation_level=level)
    dispositions = rng.choice([["delivered"], ["aborted", "control"], ["below_log_start"]])
    plain, scan = (
        all_records(log, dispositions=dispositions),
        log.scan(dispositions=dispositions),
    )
    for _ in range(10):
        low, high = sorted(rng.sample(range(300), 2))
        for condition in (
            low < OFFSET,
            (low <= OFFSET) & (high >= OFFSET),
            OFFSET.isin([low, high]),
            (low > OFFSET) | (high == OFFSET),
        ):
            assert scan.to_table(filter=condition).equals(plain.filter(condition)), condition


def test_range_of_the_dataset_holds_in_its_scan() -> None:
    path = DATA / "4.3/transactions/log-0"
    for options in ({"offsets": (10, 30)}, {"times": (1_700_000_000_000, None)}):
        dataset: mb.Dataset = mb.open(path, **options)
        wanted = all_records(dataset).filter(OFFSET >= 20)
        assert dataset.scan().to_table(filter=OFFSET >= 20).equals(wanted)
        assert dataset.scan().to_table().equals(all_records(dataset))


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize(
    "dispositions", [["aborted"], ["control", "delivered"], ["outside_range"], ["below_log_start"]]
)
def test_scan_has_the_rows_of_its_dispositions(level: str, dispositions: list[str]) -> None:
    path = DATA / "4.3/transactions/log-0"
    dataset = mb.open(path, isolation_level=level, offsets=(5, 60))
    wanted, scan = (
        all_records(dataset, dispositions=dispositions),
        dataset.scan(dispositions=dispositions),
    )
    for condition in (OFFSET >= 20, OFFSET.isin([3, 70]), TOPIC == "fenced"):
        assert scan.to_table(filter=condition).equals(wanted.filter(condition))


def test_records_in_memory_without_a_topic_are_scanned() -> None:
    scan = mb.from_bytes(build.batch(build.records(5))).scan()
    assert scan.count_rows() == scan.count_rows(TOPIC.is_null()) == 5
    assert scan.count_rows(OFFSET >= 3) == 2
    assert scan.count_rows(TOPIC == "t") == 0


@pytest.mark.parametrize("table", ["batches", "segments", "partitions", "transactions"])
def test_other_tables_are_scanned_too(transactions: mb.Dataset, table: str) -> None:
    wanted = transactions.table(table).to_table()
    scan = transactions.scan(table)
    assert scan.to_table().equals(wanted)
    assert scan.to_table(filter=TOPIC == "fenced").equals(wanted.filter(TOPIC == "fenced"))
    (fragment,) = scan.get_fragments()
    assert fragment.to_table().equals(wanted)


# Columns


@pytest.fixture
def columns_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The columns of each read of records during the test."""
    columns: list[tuple[str, ...]] = []
    read_records = scan_module.read_records

    def noted(planner: Any, logs: Any, names: tuple[str, ...], *more: Any, **options: Any) -> Any:
        columns.append(names)
        return read_records(planner, logs, names, *more, **options)

    monkeypatch.setattr(scan_module, "read_records", noted)
    return columns


def test_only_columns_that_a_query_needs_are_decoded(
    transactions: mb.Dataset, columns_read: list[tuple[str, ...]]
) -> None:
    scan = transactions.scan()
    queries = {
        "SELECT count(*) FROM scan": {("topic",)},
        'SELECT max("offset") FROM scan': {("offset",)},
        "SELECT value FROM scan WHERE key IS NULL": {("key", "value")},
        "SELECT key FROM scan WHERE topic = 'fenced'": {("topic", "key")},
    }
    for query, columns in queries.items():
        columns_read.clear()
        ask(query, scan=scan)
        assert set(columns_read) == columns, query


def test_columns_may_be_expressions(transactions: mb.Dataset) -> None:
    columns = {"next": ds.field("offset") + 1, "has_key": ds.field("key").is_valid()}
    scan = transactions.scan()
    result = scan.to_table(columns=columns, filter=OFFSET < 3)
    plain = ds.InMemoryDataset(all_records(transactions))
    assert result.equals(plain.to_table(columns=columns, filter=OFFSET < 3))
    assert scan.scanner(columns=columns).projected_schema == result.schema
    assert scan.to_table(columns=[], filter=OFFSET < 3).num_rows == result.num_rows


def test_partitions_are_counted_without_their_records(transactions: mb.Dataset) -> None:
    with counted_reads() as counts:
        ask("SELECT count(*) FROM partitions", partitions=transactions.scan("partitions"))
    few = counts.get("log", 0)
    with counted_reads() as counts:
        transactions.scan("partitions").to_table()
    assert counts["log"] > few


# What is read


GRANULARITY = 5 * (1 << 16)
"""Bytes before and after a range that may be read: splits of 64 KiB, and headers."""

QUERY = """
    SELECT count(*), max("offset") FROM scan WHERE topic = 'x' AND partition = 0 AND "offset" > {}
"""


def by_duckdb(log: mb.Dataset, limit: int) -> tuple[int, int]:
    scan = log.scan()
    ((number, last),) = ask(QUERY.format(limit), scan=scan)
    assert scan.report.records["delivered"] == number
    return number, last


def by_polars(log: mb.Dataset, limit: int) -> tuple[int, int]:
    offset = pl.col("offset")
    query = (pl.col("topic") == "x") & (pl.col("partition") == 0) & (offset > limit)
    lazy = pl.scan_pyarrow_dataset(log.scan()).filter(query)
    ((number, last),) = lazy.select(pl.len(), offset.max()).collect().rows()
    return number, last


def by_pyarrow(log: mb.Dataset, limit: int) -> tuple[int, int]:
    condition = (TOPIC == "x") & (ds.field("partition") == 0) & (limit < OFFSET)
    offsets = log.scan().to_table(columns=["offset"], filter=condition)["offset"].to_pylist()
    return len(offsets), max(offsets)


@pytest.mark.parametrize(
    "count", [by_duckdb, by_polars, by_pyarrow], ids=lambda count: count.__name__
)
@pytest.mark.parametrize("limit", [LIMIT, 700_500, NUM_RECORDS - 1500])
def test_offset_range_reads_no_more_bytes_of_the_log_than_it_has(
    large: Path, count: Callable[[mb.Dataset, int], tuple[int, int]], limit: int
) -> None:
    log = mb.open(large)
    with counted_reads() as counts:
        answer = count(log, limit)
    assert answer == (NUM_RECORDS - 1 - limit, NUM_RECORDS - 1)
    size = bytes_from(large, "x-0", limit + 1)
    assert size <= counts["log"] <= size + GRANULARITY


def test_single_offsets_read_a_few_batches_each(large: Path) -> None:
    scan = mb.open(large, topics=["y"]).scan()
    condition = OFFSET.isin([5, 650_000, NUM_RECORDS - 1])
    with counted_reads() as counts:
        assert scan.count_rows(condition) == 3
    assert counts["log"] < 6 * GRANULARITY


def test_condition_without_matching_partitions_reads_nothing(large: Path) -> None:
    scan = mb.open(large).scan()
    with counted_reads() as counts:
        assert scan.count_rows(TOPIC == "z") == 0
        assert scan.count_rows((OFFSET > 7) & (OFFSET < 7)) == 0
    assert not counts
    assert not scan.report.findings


def test_only_the_partition_of_a_condition_is_opened(transactions: mb.Dataset) -> None:
    topics = {log.topic for log in transactions.logs}
    assert len(topics) > 3
    scan = transactions.scan()
    scan.to_table(filter=TOPIC == "fenced")
    wanted = mb.open(DATA / "4.3/transactions/log-0", topics=["fenced"])
    rows = wanted.records()
    rows.to_table()
    assert scan.report.records == rows.report.records


def test_partition_that_ends_before_the_offsets_of_a_condition_is_no_finding(
    transactions: mb.Dataset,
) -> None:
    scan = transactions.scan()
    assert scan.count_rows(OFFSET > 1 << 40) == 0
    assert "range-outside-log" not in {finding.code for finding in scan.report.findings}


def test_scan_with_a_limit_ends_early(large: Path) -> None:
    scan = mb.open(large, topics=["x"]).scan()
    with counted_reads() as counts:
        assert scan.head(3, columns=["offset"])["offset"].to_pylist() == [0, 1, 2]
        assert ask('SELECT "offset" FROM scan LIMIT 1', scan=scan) == [(0,)]
    assert counts["log"] < bytes_from(large, "x-0", 0) / 2


# Fragments


def test_fragments_are_the_segments_and_have_all_rows(log: mb.Dataset) -> None:
    scan = log.scan()
    tables = [fragment.to_table() for fragment in scan.get_fragments()]
    assert sum(len(each.logs) for each in log.logs) >= len(tables) >= len(log.logs)
    assert pa.concat_tables(tables).equals(scan.to_table())


def test_fragments_guarantee_topic_partition_and_offsets(log: mb.Dataset) -> None:
    for fragment in log.scan().get_fragments():
        outside = fragment.count_rows(~fragment.partition_expression)
        assert outside == 0
        assert fragment.physical_schema == log.scan().schema


def test_fragments_that_a_condition_rules_out_are_not_returned(large: Path) -> None:
    scan = mb.open(large).scan()
    assert len(list(scan.get_fragments())) == 8
    assert len(list(scan.get_fragments(filter=TOPIC == "x"))) == 4
    narrowed = scan.filter((TOPIC == "x") & (OFFSET > LIMIT))
    (fragment,) = narrowed.get_fragments()
    assert fragment.count_rows() == narrowed.count_rows() == NUM_RECORDS - 1 - LIMIT
    assert fragment.count_rows(OFFSET < LIMIT + 11) == 10


# Errors and findings


@pytest.fixture
def damaged(folder: Folder) -> Path:
    """A log of two partitions; in one the second entry has a wrong checksum."""
    entries = [build.batch(build.records(2)), build.batch(build.records(2), 2), build.batch(base=4)]
    path = folder.segment("t-0", b"".join(entries))
    flip(path, len(entries[0]) + 17, 1)
    folder.segment("u-0", b"".join(entries))
    return folder.path


def test_error_of_a_scan_is_ours(damaged: Path) -> None:
    scan = mb.open(damaged).scan()
    with pytest.raises(mb.ChecksumError) as ours:
        scan.to_table()
    with pytest.raises(mb.ChecksumError):
        scan.count_rows()
    with pytest.raises(duckdb.Error) as of_duckdb:
        ask("SELECT count(*) FROM scan", scan=scan)
    assert str(ours.value) in str(of_duckdb.value)
    assert "Traceback" not in str(of_duckdb.value)
    assert isinstance(scan.error, mb.ChecksumError) and scan.error.position == ours.value.position
    with pytest.raises(mb.ChecksumError):
        pl.scan_pyarrow_dataset(scan).select("offset").collect()
    assert scan.count_rows(TOPIC == "u") == 5
    assert scan.error is None


def test_findings_are_those_of_the_partitions_that_were_read(damaged: Path) -> None:
    scan = mb.open(damaged, on_damage="skip").scan()
    assert scan.count_rows() == 8
    assert [finding.code for finding in scan.report.findings] == ["checksum-mismatch"]
    scan.count_rows(TOPIC == "u")
    assert not scan.report.findings


def test_there_is_no_report_before_a_scan(damaged: Path) -> None:
    with pytest.raises(RuntimeError, match="no report yet"):
        assert mb.open(damaged).scan().report


def unsupported() -> Iterator[tuple[str, Callable[[Any], Any]]]:
    yield "to_table", lambda scan: scan.join(scan, "offset")
    yield "to_table", lambda scan: scan.join_asof(scan, "offset", "topic", 1)
    yield "to_table", lambda scan: scan.sort_by("offset")
    yield "to_table", lambda scan: scan.take([0])
    yield "to_batches", lambda scan: scan.scanner().scan_batches()
    yield "cast", lambda scan: scan.replace_schema(scan.schema)
    yield "to_reader", lambda scan: ds.Scanner.from_dataset(scan).to_table()
    yield "to_table", lambda scan: ds.dataset([scan, scan]).to_table()


@pytest.mark.parametrize(("instead", "call"), [*unsupported()])
def test_what_a_log_cannot_do_is_an_error_that_names_another_way(
    transactions: mb.Dataset, instead: str, call: Callable[[Any], Any]
) -> None:
    with pytest.raises(NotImplementedError, match=instead):
        call(transactions.scan())


def test_wrong_arguments_are_errors(transactions: mb.Dataset) -> None:
    scan = transactions.scan()
    with pytest.raises(mb.InputError, match="no table 'topcis'"):
        transactions.scan("topcis")
    with pytest.raises(mb.InputError, match="disposition 'lost'"):
        transactions.scan(dispositions=["lost"])
    with pytest.raises(pa.ArrowInvalid, match="nothing"):
        scan.to_table(columns=["nothing"])
    with pytest.raises(pa.ArrowInvalid, match="nothing"):
        scan.scanner(filter=ds.field("nothing") == 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colunms'"):
        scan.to_table(colunms=["offset"])
    assert scan.to_table(columns=["offset"], use_threads=True, batch_readahead=4).num_rows
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(scan)


# Streams


def test_batches_have_no_more_rows_than_asked_for(large: Path) -> None:
    scan = mb.open(large, topics=["x"], offsets=(0, 5000)).scan()
    for condition in (None, OFFSET < 4000):
        sizes = [batch.num_rows for batch in scan.to_batches(filter=condition, batch_size=300)]
        assert max(sizes) <= 300 and sum(sizes) == scan.count_rows(condition)


def test_several_threads_may_scan_at_once(transactions: mb.Dataset) -> None:
    scan = transactions.scan()
    conditions = [OFFSET > 10, TOPIC == "fenced", OFFSET < 40, None] * 2
    plain = all_records(transactions)
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda each: scan.to_table(filter=each), conditions))
    for condition, table in zip(conditions, tables, strict=True):
        assert table.equals(plain if condition is None else plain.filter(condition))


def test_threads_of_a_scan_end_when_duckdb_has_enough() -> None:
    scan = mb.open(DATA / "4.3/transactions/log-0", threads=2).scan()
    before = threading.active_count()
    assert len(ask('SELECT "offset" FROM scan LIMIT 1', scan=scan)) == 1
    assert threading.active_count() == before


def test_datasets_are_written_from_the_stream_of_a_scan(
    transactions: mb.Dataset, tmp_path: Path
) -> None:
    scan = transactions.scan()
    ds.write_dataset(scan.to_reader(filter=OFFSET < 20), tmp_path / "out", format="parquet")
    assert ds.dataset(tmp_path / "out").count_rows() == scan.count_rows(OFFSET < 20)
