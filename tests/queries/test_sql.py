"""Tests of `magicbyte.sql`: queries have the rows of the tables, and can reach nothing else."""

import builtins
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from extent import WIDE
from file_damage import flip
from io_faults import counted_reads
from log_builder import Folder
from magicbyte.queries import _connection
from magicbyte.tables.schemas import ALL_TABLES, INTERNAL_TABLES, RECORDS
from magicbyte.tables.stored_types import stored_schema
from paths import DATA, shared
from scan_queries import LIMIT, NUM_RECORDS, RandomConditions, ask, bytes_from, write_large_log

LOG_DIR = DATA / "4.3/transactions/log-0"
OF_ONE_LOG = [name for name in ALL_TABLES if name not in INTERNAL_TABLES]
INTERNAL = "__consumer_offsets"
REGISTRY = shared() / "meaning-data" / "registry-karapace-4.3" / "log-0"


@pytest.fixture
def damaged(folder: Folder) -> Path:
    """A log of three entries; the second has a wrong checksum."""
    entries = [build.batch(build.records(2)), build.batch(build.records(2), 2), build.batch(base=4)]
    path = folder.segment("t-0", b"".join(entries))
    flip(path, len(entries[0]) + 17, 1)
    return folder.path


def value_of(query: str, *paths: Path, **options: Any) -> Any:
    """Return the only value of the result of *query*."""
    ((value,),) = (
        row.values() for row in mb.sql(query, *(paths or (LOG_DIR,)), **options).to_pylist()
    )
    return value


@pytest.mark.parametrize("name", OF_ONE_LOG)
def test_every_table_is_there_with_times_in_microseconds(name: str) -> None:
    rows = mb.sql(f"FROM {name}", LOG_DIR)
    definition = ALL_TABLES[name]
    assert rows.schema.equals(stored_schema(definition))
    wanted = mb.open(LOG_DIR).table(name, definition.names).to_table().cast(rows.schema)
    assert rows.to_table().equals(wanted)


def test_tables_of_internal_topics_are_there() -> None:
    assert {row["name"] for row in mb.sql("SHOW TABLES", LOG_DIR).to_pylist()} == set(ALL_TABLES)
    for name in INTERNAL_TABLES:
        wanted = mb.open(LOG_DIR).table(name).to_table().num_rows
        assert value_of(f"SELECT count(*) FROM {name}") == wanted


def test_each_iteration_runs_the_query_again(tmp_path: Path) -> None:
    shutil.copytree(LOG_DIR, tmp_path / "log-0")
    rows = mb.sql("SELECT count(*) AS number FROM records", tmp_path / "log-0")
    assert rows.to_table().equals(pa.table(rows))
    assert rows.report.records["delivered"] == rows.to_pylist()[0]["number"]


def test_query_is_checked_before_a_byte_of_a_segment_is_read() -> None:
    with counted_reads() as counts:
        rows = mb.sql("SELECT topic, count(*) AS n FROM records GROUP BY ALL ORDER BY n", LOG_DIR)
    assert rows.schema.names == ["topic", "n"]
    assert "log" not in counts


@pytest.mark.parametrize("name", ["batches", "segments", "partitions", "transactions", "gaps"])
def test_conditions_on_other_tables_give_the_rows_that_they_give_in_memory(name: str) -> None:
    dataset = mb.open(LOG_DIR)
    plain = dataset.table(name).to_table()
    conditions = RandomConditions(dataset.records(RECORDS.names).to_table(), 5)
    tried = 0
    while tried < (15 if WIDE else 3):
        condition = conditions.condition()
        if any(word in condition for word in ('"offset"', "timestamp", "key", "value")):
            continue
        tried += 1
        query = f"SELECT count(*) AS number FROM {name} WHERE {condition}"
        assert value_of(query) == ask(query, **{name: plain})[0][0], condition


def test_condition_on_the_topic_reads_its_partitions_only() -> None:
    with counted_reads() as counts:
        value_of("SELECT count(*) FROM batches WHERE topic = 'fenced'")
    fenced = sum(path.stat().st_size for path in LOG_DIR.glob("fenced-*/*.log"))
    assert 0 < counts["log"] < 3 * fenced


def test_offset_range_reads_no_more_bytes_than_it_has(large: Path) -> None:
    query = f"""
        SELECT count(*) AS number, max("offset") AS last FROM records
        WHERE topic = 'x' AND partition = 0 AND "offset" > {LIMIT}
    """
    with counted_reads() as counts:
        (row,) = mb.sql(query, large).to_pylist()
    assert row == {"number": NUM_RECORDS - 1 - LIMIT, "last": NUM_RECORDS - 1}
    assert counts["log"] < bytes_from(large, "x-0", LIMIT) + 5 * (1 << 16)


# Internal topics


@pytest.mark.parametrize(
    ("condition", "is_read"),
    [
        (f"topic = '{INTERNAL}'", True),
        (f"topic IN ('fenced', '{INTERNAL}')", True),
        (f"topic = '{INTERNAL}' AND \"offset\" >= 0", True),
        (f"topic = 'fenced' OR topic = '{INTERNAL}'", True),
        ("topic <> 'fenced'", False),
        ("topic < 'a'", False),
        ("partition < 100", False),
        ("topic IS NOT NULL", False),
        ("true", False),
    ],
)
def test_internal_topic_is_read_if_a_condition_names_it(condition: str, is_read: bool) -> None:
    query = (
        f"SELECT count(*) FILTER (topic = '{INTERNAL}') > 0 AS has FROM records WHERE {condition}"
    )
    assert value_of(query) == is_read
    if "offset" not in condition.replace(INTERNAL, ""):
        assert value_of(query.replace("records", "batches")) == is_read
    assert value_of(query, include_internal=True) or "fenced" in condition or not is_read


def test_topics_that_were_not_selected_are_not_read_by_name() -> None:
    query = f"SELECT count(*) AS number FROM records WHERE topic = '{INTERNAL}'"
    assert value_of(query, topics=["fenced"]) == 0


# Typed records


TYPED_CONDITIONS = (
    *("true", "value IS NULL", "value_error IS NULL", '"offset" > 5', "partition = 0"),
    *("value.id > 150", "value.state IN ('NEW', 'PAID')", "value.amount > 99.5", "value.ok"),
    *("value.day > DATE '2026-04-15'", "value.address.zip = '00100'", "value.buyer LIKE 'Z%'"),
    *("value.at > TIMESTAMPTZ '2026-01-01 00:00:50+00'", "key.id = 9", "value.raw IS NOT NULL"),
    *("timestamp > TIMESTAMPTZ '2026-09-21 14:13:22+00'", "value.either IS NULL"),
)


@pytest.mark.parametrize("condition", TYPED_CONDITIONS)
def test_typed_records_of_a_topic_are_a_table_of_the_schema_topics(condition: str) -> None:
    if not REGISTRY.is_dir():
        pytest.skip("needs the folder shared")
    plain = mb.open(REGISTRY).typed_records("orders").to_table()
    query = f'SELECT count(*) AS n, min("offset") AS first FROM {{}} WHERE {condition}'
    wanted = ask(query.format("plain"), plain=plain)
    for name in ("topics.orders", 'TOPICS . "orders"'):
        (row,) = mb.sql(query.format(name), REGISTRY).to_pylist()
        assert [tuple(row.values())] == wanted


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("large")
    write_large_log(path)
    return path


SAMPLE_BYTES = 10 * (1 << 16)
"""Bytes of the first offsets, from which forms are recognized, and before and after a range."""


@pytest.mark.parametrize(
    ("condition", "number"),
    [
        (f'"offset" > {LIMIT}', NUM_RECORDS - 1 - LIMIT),
        ('partition = 0 AND "offset" BETWEEN 700000 AND 700100 AND value IS NOT NULL', 101),
        ("partition = 1", 0),
    ],
)
def test_condition_limits_what_is_read_of_typed_records(
    large: Path, condition: str, number: int
) -> None:
    with counted_reads() as counts:
        assert value_of(f"SELECT count(*) FROM topics.x WHERE {condition}", large) == number
    size = bytes_from(large, "x-0", 0) * number // NUM_RECORDS
    assert counts["log"] < size + SAMPLE_BYTES


def test_keys_are_looked_for_in_the_first_offsets_and_values_in_all(folder: Folder) -> None:
    nulls = build.batch([build.record(None, delta=number) for number in range(5000)])
    last = build.batch([build.record(b'{"a": 1}', b"5")], 5000)
    folder.segment("t-0", nulls + last)
    (row,) = mb.open(folder.path).typed_records("t").to_table().slice(5000).to_pylist()
    assert (row["key"], row["value"]) == ("5", '{"a": 1}')


def test_typed_records_have_times_in_microseconds_and_findings() -> None:
    rows = mb.sql("FROM topics.fenced", LOG_DIR)
    wanted = mb.open(LOG_DIR).typed_records("fenced").to_table()
    assert rows.schema.field("timestamp").type == pa.timestamp("us", "UTC")
    assert rows.to_table().equals(wanted.cast(rows.schema))
    assert rows.report.records["delivered"] == wanted.num_rows
    assert {finding.code for finding in rows.report.findings} == {"values-decoded"}


def test_topic_whose_name_is_no_identifier_is_in_quotes(folder: Folder) -> None:
    folder.segment("select.a-b_c-0", build.batch(build.records(3)))
    assert value_of('SELECT count(*) FROM topics."select.a-b_c"', folder.path) == 3


def test_topics_and_columns_that_are_no_table_are_told_apart() -> None:
    with pytest.raises(mb.InputError, match="nothing does not exist"):
        mb.sql("FROM topics.nothing", LOG_DIR)
    assert "__consumer_offsets" in {
        row["topic"] for row in mb.sql("SELECT topics.topic FROM topics", LOG_DIR).to_pylist()
    }


# Errors


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "FROM orders",
            "name orders does not exist; expected topics.orders, the table of this topic",
        ),
        ('FROM "a-b"', 'name a-b does not exist; expected topics."a-b", the table of this topic'),
        (
            "FROM topics.order",
            'name order does not exist; expected one of topics.orders, topics."a-b"',
        ),
        (
            "FROM topics.a-b",
            'syntax error at or near "-"; expected such a name in quotes: topics."a-b"',
        ),
        ("FROM topics.a - b", "syntax error"),
        ("FROM nothing", "nothing does not exist! Did you mean"),
    ],
)
def test_query_that_misspells_a_topic_is_told_its_table(
    query: str, sentence: str, folder: Folder
) -> None:
    for name in ("orders-0", "a-b-0"):
        folder.segment(name, build.batch(build.records(1)))
    with pytest.raises(mb.InputError) as error:
        mb.sql(query, folder.path)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELEC 1", "syntax error"),
        ("", "0 SQL statements; expected one"),
        ("SELECT 1; SELECT 2", "2 SQL statements; expected one"),
        ("SELECT nothing FROM records", 'column "nothing" not found'),
        ("FROM nothing", "nothing does not exist"),
        ("COPY records TO 'out.csv'", "a statement of type COPY; expected a query"),
        ("CREATE TABLE t AS FROM records", "a statement of type CREATE"),
        ("SET memory_limit = '1TB'", "a statement of type SET"),
        ("ATTACH 'x.db'", "a statement of type ATTACH"),
        ("INSTALL httpfs", "a statement of type LOAD"),
        ("PRAGMA version", "a statement of type PRAGMA"),
    ],
)
def test_query_that_is_not_one_question_is_an_error_in_one_line(query: str, sentence: str) -> None:
    with pytest.raises(mb.InputError) as error:
        mb.sql(query, LOG_DIR)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_error_while_the_rows_are_read_is_an_error_of_ours() -> None:
    rows = mb.sql("SELECT (topic || 'x')::INTEGER FROM records", LOG_DIR)
    with pytest.raises(mb.InputError, match="Conversion Error: Could not convert string"):
        rows.to_table()


def test_damage_is_the_error_of_the_read(damaged: Path) -> None:
    rows = mb.sql("SELECT count(*) AS number FROM records", damaged)
    with pytest.raises(mb.ChecksumError) as error:
        rows.to_table()
    assert error.value.position is not None
    with pytest.raises(pa.ArrowInvalid):
        pa.table(rows)
    assert isinstance(rows.error, mb.ChecksumError)


def test_report_has_each_finding_once(damaged: Path) -> None:
    rows = mb.sql(
        "SELECT count(*) AS number FROM records a JOIN records b USING (topic, partition)",
        damaged,
        on_damage="skip",
    )
    assert rows.to_pylist() == [{"number": 9}]
    assert [finding.code for finding in rows.report.findings] == ["checksum-mismatch"]


def test_time_that_does_not_fit_is_null_and_a_finding(folder: Folder) -> None:
    content = build.batch(build.records(1)) + build.batch(build.records(2), 1, time=1 << 62)
    path = folder.segment("t-0", content).parent
    rows = mb.sql('SELECT "offset", timestamp IS NULL AS lost FROM records ORDER BY 1', path)
    assert [row["lost"] for row in rows.to_pylist()] == [False, True, True]
    assert {finding.code for finding in rows.report.findings} == {"timestamp-out-of-range"}
    assert value_of("SELECT count(*) FROM records", path) == 3


# Safety


@pytest.mark.parametrize(
    "query",
    [
        "FROM read_csv('{}')",
        "FROM '{}'",
        "FROM read_text('{}')",
        "FROM glob('{}')",
        "FROM read_parquet('https://localhost/x.parquet')",
    ],
)
def test_no_file_and_no_network_is_reached(query: str, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("name\nx\n")
    with pytest.raises(mb.InputError, match="Permission Error"):
        mb.sql(query.format(path), LOG_DIR).to_table()


def test_files_are_read_if_that_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("topic\nfenced\n")
    query = f"SELECT count(*) AS number FROM records JOIN '{path}' USING (topic)"
    assert value_of(query, allow_files=True) == 4


def test_variables_of_python_are_no_tables() -> None:
    secret = pa.table({"a": [1]})
    settings: dict[str, Any] = {"memory_limit": None, "allow_files": True}
    with (
        _connection.connection_to({}, {}, **settings) as connection,
        pytest.raises(duckdb.CatalogException, match="secret does not exist"),
    ):
        connection.sql("FROM secret")
    assert secret.num_rows == 1


def test_memory_limit_holds_and_its_folder_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    query = "SELECT list(repeat(a.range::VARCHAR, 100)) AS l FROM range(1000000) a"
    with pytest.raises(mb.InputError, match="expected a higher memory limit"):
        mb.sql(query, LOG_DIR, memory_limit=50_000_000).to_table()
    assert not list(tmp_path.iterdir())


def test_large_sort_is_spilled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    query = "SELECT hash(range) AS h, repeat('x', 50) AS x FROM range(2000000) ORDER BY h"
    rows = mb.sql(query, LOG_DIR, memory_limit=80_000_000)
    batches = iter(rows)
    num_rows = next(batches).num_rows
    assert list(tmp_path.glob("magicbyte-sql-*/*"))
    assert num_rows + sum(batch.num_rows for batch in batches) == 2_000_000
    assert not list(tmp_path.iterdir())


def test_reader_that_stops_ends_the_query() -> None:
    rows = mb.sql("SELECT range FROM range(100000000000)", LOG_DIR)
    reading = iter(rows)
    assert next(reading).num_rows
    reading.close()  # type: ignore[attr-defined]


def test_missing_duckdb_is_an_error_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import_module = builtins.__import__

    def without_duckdb(name: str, *more: Any) -> Any:
        if name == "duckdb":
            raise ModuleNotFoundError("No module named 'duckdb'", name="duckdb")
        return import_module(name, *more)

    monkeypatch.setattr(builtins, "__import__", without_duckdb)
    with pytest.raises(
        mb.InputError, match=r"not installed; expected pip install 'magicbyte\[sql\]'"
    ):
        mb.sql("SELECT 1", LOG_DIR)


def test_old_duckdb_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb, "__version__", "1.4.1")
    with pytest.raises(mb.InputError, match=r"duckdb 1\.4\.1; expected pip install"):
        _connection.import_duckdb()
