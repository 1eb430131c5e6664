"""Tests that pyarrow, DuckDB, Polars and pandas take the tables directly, with equal values."""

import threading
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from file_damage import flip
from log_builder import Folder
from magicbyte.reading import _scan
from magicbyte.reading.results import Rows
from magicbyte.tables.schemas import RECORDS, TABLES
from paths import DATA

LOGS = {
    "2.8/lives": ["upgraded-one-segment", "v2-append-time-gzip"],
    "4.3/compacted": ["compacted-gzip", "transactional"],
    "4.3/plain": ["headers"],
    "4.3/transactions": ["deleted-records", "fenced", "open"],
}
"""Records without times, tombstones, headers, and transactions of all outcomes."""


def by_reader(rows: Rows) -> pa.Table:
    return pa.RecordBatchReader.from_stream(rows).read_all()


def by_duckdb(rows: Rows) -> pa.Table:
    return duckdb.sql("FROM rows").to_arrow_table()


def kept_by_duckdb(rows: Rows) -> pa.Table:
    with duckdb.connect() as connection:
        connection.register("logs", rows)
        connection.sql("CREATE TABLE kept AS FROM logs")
        return connection.sql("FROM kept").to_arrow_table()


def by_polars(rows: Rows) -> pa.Table:
    return pl.DataFrame(rows).to_arrow()


def by_pandas(rows: Rows) -> pa.Table:
    """Return *rows* after a round trip through pandas; its floats become integers again."""
    frame = pd.DataFrame.from_arrow(rows)
    return pa.Table.from_pandas(frame, schema=rows.schema, preserve_index=False)


def by_pandas_in_arrows_types(rows: Rows) -> pa.Table:
    frame = rows.to_table().to_pandas(types_mapper=pd.ArrowDtype)
    return pa.Table.from_pandas(frame, preserve_index=False)


LIBRARIES: tuple[Callable[[Rows], pa.Table], ...] = (
    pa.table,
    by_reader,
    by_duckdb,
    kept_by_duckdb,
    by_polars,
    by_pandas,
    by_pandas_in_arrows_types,
)

library = pytest.mark.parametrize("taken", LIBRARIES, ids=lambda taken: taken.__name__)


def opened(cluster: str) -> mb.Dataset:
    return mb.open(DATA / cluster / "log-0", topics=LOGS[cluster])


@pytest.fixture(scope="module")
def transactions() -> mb.Dataset:
    """A log that has rows in every table."""
    return opened("4.3/transactions")


@pytest.fixture
def small(folder: Folder) -> mb.Dataset:
    """Two batches with null, empty and full keys, values and headers; the second has no time."""
    records = [
        build.record(None, b"k", [(b"a", None), (b"b", b"")]),
        build.record(b"", None, [("ключ".encode(), bytes(range(256)))], delta=1),
        build.record(bytes(range(256)), b"", delta=2),
    ]
    content = build.batch(records) + build.batch(records, 3, time=-1)
    return mb.open(folder.segment("t-0", content).parent)


def same(found: pa.Table, wanted: pa.Table) -> bool:
    """Return whether column names and values are equal; the libraries' types may differ."""
    return found.column_names == wanted.column_names and found.to_pylist() == wanted.to_pylist()


@library
@pytest.mark.parametrize("name", TABLES)
def test_a_library_holds_what_a_table_holds_and_so_it_does_again(
    transactions: mb.Dataset, name: str, taken: Callable[[Rows], pa.Table]
) -> None:
    rows: Rows = getattr(transactions, name)(TABLES[name].names)
    wanted = rows.to_table()
    assert wanted.num_rows > 0
    assert same(taken(rows), wanted)
    assert same(taken(rows), wanted)


@library
@pytest.mark.parametrize("cluster", LOGS)
def test_a_library_holds_all_records_and_of_chosen_columns_those_in_their_order(
    cluster: str, taken: Callable[[Rows], pa.Table]
) -> None:
    log = opened(cluster)
    wanted = log.records(RECORDS.names).to_table()
    assert same(taken(log.records(RECORDS.names)), wanted)
    chosen = ["value", "offset", "headers"]
    assert same(taken(log.records(chosen)), wanted.select(chosen))


def test_the_logs_that_libraries_take_have_nulls_tombstones_headers_and_outcomes() -> None:
    seen = set()
    for cluster in LOGS:
        for row in opened(cluster).records(RECORDS.names).to_pylist():
            seen |= {
                f"no {what}" for what in ("timestamp", "value", "outcome") if row[what] is None
            }
            seen |= {what for what in ("headers", "outcome") if row[what]}
    assert seen == {"no timestamp", "no value", "no outcome", "headers", "outcome"}


@library
@pytest.mark.parametrize("binary_view", [False, True])
def test_null_empty_and_other_values_differ_in_libraries(
    small: mb.Dataset, taken: Callable[[Rows], pa.Table], binary_view: bool
) -> None:
    rows = small.records(["key", "value", "headers", "timestamp"], binary_view=binary_view)
    columns = taken(rows).to_pydict()
    every = bytes(range(256))
    assert columns["key"] == [b"k", None, b""] * 2
    assert columns["value"] == [None, b"", every] * 2
    headers = [[("a", None), ("b", b"")], [("ключ", every)], []]
    assert [
        [(header["key"], header["value"]) for header in of_row] for of_row in columns["headers"]
    ] == headers * 2
    assert [time is None for time in columns["timestamp"]] == [False] * 3 + [True] * 3


@library
def test_table_of_no_rows_keeps_its_columns_in_libraries(
    small: mb.Dataset, taken: Callable[[Rows], pa.Table]
) -> None:
    rows = small.records(dispositions=["aborted"])
    assert taken(rows).column_names == rows.schema.names
    assert taken(rows).num_rows == 0


def test_a_whole_pass_of_a_library_leaves_its_report(transactions: mb.Dataset) -> None:
    rows, others = transactions.records(), transactions.records()
    others.to_table()
    by_duckdb(rows)
    assert rows.report == others.report
    assert rows.error is None


# pyarrow


def test_a_schema_asks_for_other_types_of_the_same_columns(small: mb.Dataset) -> None:
    rows = small.records(["offset", "value"])
    wanted = pa.schema([("offset", pa.int32()), ("value", pa.large_binary())])
    assert pa.table(rows, schema=wanted).equals(rows.to_table().cast(wanted))
    assert pa.schema(rows) == rows.schema
    with pytest.raises(ValueError, match="field names are not matching"):
        pa.RecordBatchReader.from_stream(rows, schema=pa.schema([("value", pa.binary())]))


# DuckDB


def test_duckdb_joins_tables_and_a_table_with_itself_twice() -> None:
    def joined(rows: Rows, batches: Rows) -> Any:
        return duckdb.sql("""
            SELECT count(*), sum(batches."position") FROM rows JOIN batches
            ON (rows.topic, rows.partition) = (batches.topic, batches.partition)
            AND rows."offset" BETWEEN base_offset AND last_offset
        """).fetchall()

    def joined_with_itself(rows: Rows) -> Any:
        return duckdb.sql("""
            SELECT count(*) FROM rows a JOIN rows b USING (topic, partition, "offset")
        """).fetchall()

    log = opened("4.3/transactions")
    rows, batches = log.records(), log.batches()
    positions = log.records(["position"]).to_table().column("position").to_pylist()
    for _ in range(2):
        assert joined(rows, batches) == [(len(positions), sum(positions))]
        assert joined_with_itself(rows) == [(len(positions),)]


@pytest.fixture
def scanned_columns(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The columns of each scan of records during the test."""
    found: list[tuple[str, ...]] = []
    read_records = _scan.read_records

    def noted(planner: Any, logs: Any, names: tuple[str, ...], *more: Any, **options: Any) -> Any:
        found.append(names)
        return read_records(planner, logs, names, *more, **options)

    monkeypatch.setattr(_scan, "read_records", noted)
    return found


def last_offset(rows: Any, condition: str = "true") -> Any:
    return duckdb.sql(f'SELECT max("offset") FROM rows WHERE {condition}').fetchall()[0][0]


def test_duckdb_asks_a_stream_for_all_its_columns(
    small: mb.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB does not pass the query's columns to a stream, as docs/datasets.md says."""
    streams: list[object] = []
    stream = Rows.__arrow_c_stream__

    def noted(rows: Rows, requested_schema: object = None) -> object:
        streams.append(requested_schema)
        return stream(rows, requested_schema)

    monkeypatch.setattr(Rows, "__arrow_c_stream__", noted)
    assert last_offset(small.records()) == 5
    assert streams == [None]


def test_duckdb_has_no_time_too_far_away_and_null_where_it_is_stored(folder: Folder) -> None:
    content = build.batch(build.records(1)) + build.batch(build.records(1), 1, time=1 << 62)
    log = mb.open(folder.segment("t-0", content).parent)
    with pytest.raises(duckdb.ConversionException):
        by_duckdb(log.records(["timestamp"]))
    stored = by_duckdb(log.stored("records", ["timestamp"])).column("timestamp")
    assert stored.cast(pa.int64()).to_pylist() == [build.TIME * 1000, None]


def test_threads_end_when_duckdb_has_enough(small: mb.Dataset, folder: Folder) -> None:
    def first(rows: Rows) -> Any:
        return duckdb.sql('SELECT "offset" FROM rows LIMIT 1').fetchall()

    rows = mb.open(folder.path / "t-0", threads=2).records()
    before = threading.active_count()
    assert first(rows) == [(0,)]
    assert threading.active_count() == before


# Polars


def scan(log: mb.Dataset) -> pl.LazyFrame:
    """Return the lazy frame of docs/datasets.md."""
    return pl.scan_pyarrow_dataset(log.scan())


def test_a_lazy_reader_reads_the_columns_of_its_query_each_time(
    scanned_columns: list[tuple[str, ...]],
) -> None:
    log = opened("4.3/compacted")
    lazy = scan(log)
    query = lazy.filter(pl.col("value").is_null()).select("topic", "offset")
    wanted = [row for row in log.records().to_pylist() if row["value"] is None]
    scanned_columns.clear()
    for _ in range(2):
        assert query.collect().rows() == [(row["topic"], row["offset"]) for row in wanted]
    assert [sorted(columns) for columns in scanned_columns] == [["offset", "topic", "value"]] * 2
    assert len(wanted) == 7


def test_a_lazy_reader_gives_what_the_same_query_gives_of_all_rows() -> None:
    log = opened("2.8/lives")
    lazy, held = scan(log), pl.DataFrame(log.records(RECORDS.names)).lazy()
    of_topic = pl.col("topic") > "v"
    late = pl.col("offset") > 20
    for query in (
        lambda rows: rows,
        lambda rows: rows.select(pl.len()),
        lambda rows: rows.filter(of_topic).head(5),
        lambda rows: rows.head(50).filter(late),
        lambda rows: rows.head(0),
        lambda rows: rows.filter(pl.col("offset") < 0),
        lambda rows: rows.group_by("topic", maintain_order=True).agg(pl.col("offset").max()),
    ):
        assert query(lazy).collect().equals(query(held).collect())
    none = scan(mb.Dataset([], log.options))
    assert none.collect().equals(pl.DataFrame(RECORDS.schema(RECORDS.names).empty_table()))


def test_duckdb_asks_a_lazy_reader_for_the_columns_of_its_query(
    scanned_columns: list[tuple[str, ...]],
) -> None:
    log = opened("2.8/lives")
    lazy = scan(log)
    offsets = [row["offset"] for row in log.records().to_pylist() if row["topic"] < "v"]
    scanned_columns.clear()
    assert last_offset(lazy, "topic < 'v'") == max(offsets)
    assert [sorted(columns) for columns in scanned_columns] == [["offset", "topic"]]


# Damage


ENTRIES = [build.batch(build.records(2)), build.batch(build.records(2), 2), build.batch(base=4)]


@pytest.fixture
def damaged(folder: Folder) -> Rows:
    """Rows of a log of three entries; the second has a wrong checksum, where the read fails."""
    path = folder.segment("t-0", b"".join(ENTRIES))
    flip(path, len(ENTRIES[0]) + 17, 1)
    return mb.open(path.parent).records(["offset", "value"])


@pytest.mark.parametrize(
    "taken",
    [taken for taken in LIBRARIES if taken is not by_pandas_in_arrows_types],  # by to_table
    ids=lambda taken: taken.__name__,
)
def test_the_error_of_a_library_has_our_sentence_and_the_rows_have_our_error(
    damaged: Rows, taken: Callable[[Rows], pa.Table]
) -> None:
    with pytest.raises(mb.ChecksumError) as ours:
        damaged.to_table()
    with pytest.raises(Exception) as theirs:
        taken(damaged)
    assert str(ours.value) in str(theirs.value)
    assert "Traceback" not in str(theirs.value)
    assert isinstance(damaged.error, mb.ChecksumError)
    assert vars(damaged.error) == vars(ours.value)
    with pytest.raises(RuntimeError, match="no report yet"):
        assert damaged.report


def test_error_is_of_the_last_exported_stream(damaged: Rows, folder: Folder) -> None:
    with pytest.raises(pa.ArrowInvalid):
        pa.table(damaged)
    assert isinstance(damaged.error, mb.ChecksumError)
    folder.segment("t-0", b"".join(ENTRIES))
    assert pa.table(damaged).num_rows == 5
    assert damaged.error is None
