"""Tests of `pipeline --decode`: Parquet with typed columns, in a folder for each topic, and appended to."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

import magicbyte as mb
from data_source import InProcessSpark
from magicbyte.errors import InputError
from magicbyte.spark import write_parquet
from magicbyte.spark._schema_changes import SchemaChangeError, added_columns, merged_schema
from magicbyte.spark.session import LazySession
from magicbyte_cli import main
from registry_data import LOG_DIR

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())


def rows_in(out: Path, topic: str) -> list[dict[str, Any]]:
    table = pa.dataset.dataset(out / "records" / f"topic={topic}").to_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted(rows, key=lambda row: (row["partition"], row["offset"]))


def in_python(topic: str, names: list[str], **options: Any) -> list[dict[str, Any]]:
    rows = mb.open(LOG_DIR).typed_records(topic, columns=names, **options).to_pylist()
    return sorted(rows, key=lambda row: (row["partition"], row["offset"]))


NAMES = ["partition", "offset", "key", "value", "value_schema_id", "value_bytes", "value_error"]


@pytest.mark.usefixtures("in_process")
def test_each_topic_has_a_folder_with_the_columns_of_typed_records(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_parquet(
        LOG_DIR,
        out=out,
        topics=["orders", "mixed", "clicks"],
        decode="value=registry",
        tables=["records"],
        columns=NAMES,
    )
    assert sorted(one.name for one in (out / "records").iterdir()) == [
        *("topic=clicks", "topic=mixed", "topic=orders"),
    ]
    for topic in ("orders", "mixed", "clicks"):
        assert rows_in(out, topic) == in_python(topic, NAMES, value="registry")
    (file, *_) = (out / "records" / "topic=orders").rglob("*.parquet")
    fields = {one.name: one.type for one in pq.read_schema(file).field("value").type}
    assert fields["amount"] == pa.decimal128(12, 2)
    assert fields["at"] == pa.timestamp("us", "UTC")
    assert fields["state"] == pa.string()


@pytest.mark.usefixtures("in_process")
def test_report_has_a_line_for_each_side_and_reason_with_count_and_first_offset(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    topics = ["mixed", "orders"]
    summary = write_parquet(LOG_DIR, out=out, topics=topics, decode="value=registry")
    rows = mb.open(LOG_DIR).typed_records("mixed", value="registry")
    rows.to_table()
    expected = [one for one in rows.report.findings if one.topic == "mixed"]
    assert [one for one in summary.findings if one.topic == "mixed"] == expected
    assert {"values-decoded", "value-not-decoded"} <= {one.code for one in expected}
    problems = pq.read_table(out / "problems").to_pylist()
    assert {one.message for one in expected} <= {row["message"] for row in problems}


def pipeline(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["pipeline", *map(str, arguments)])


@pytest.mark.usefixtures("in_process")
def test_command_prints_what_was_decoded_and_refuses_what_does_not_fit(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--topic", "mixed", "--decode", "value=registry")
    result = pipeline(LOG_DIR, out, *options, "--tables", "records")
    assert result.exit_code == 0, result.output
    assert "mixed: values decoded as registry: 19 of 29" in result.stderr
    assert "values not decoded: 1 (no-schema" in result.stderr
    for more, message in (
        (("--decode", "nonsense"), "decode option 'nonsense'"),
        (("--tables", "batches", "--decode", "auto"), "decode without the table records"),
        (("--columns", "nope", "--decode", "auto"), "typed records have no column 'nope'"),
        (("--append", "--delta", "--decode", "auto"), "Delta Lake or Iceberg with --decode"),
        (("--schemas", "x"), "schemas without decode"),
    ):
        result = pipeline(LOG_DIR, tmp_path / "other", *more)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert not (tmp_path / "other").exists()


def schema_record(version: int, fields: list[dict[str, Any]]) -> tuple[bytes, bytes]:
    subject = {"subject": "t-value", "version": version}
    schema = {"type": "record", "name": "R", "fields": fields}
    key = json.dumps({"keytype": "SCHEMA", **subject, "magic": 1}).encode()
    value = {**subject, "id": version, "deleted": False, "schema": json.dumps(schema)}
    return key, json.dumps(value).encode()


A = {"name": "a", "type": "int"}
B = {"name": "b", "type": ["null", "string"], "default": None}
TEXT = {"name": "a", "type": "string"}


def log_of(
    folder: Path, schemas: list[tuple[bytes, bytes]], values: list[bytes], topic: str = "t"
) -> Path:
    """Write a log of *values*, and the topic of a registry with *schemas*, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, rows in (("_schemas", schemas), (topic, [(None, value) for value in values])):
        columns = {
            "topic": pa.array([name] * len(rows)),
            "partition": pa.array([0] * len(rows), pa.int32()),
            "key": pa.array([key for key, _ in rows], pa.binary()),
            "value": pa.array([value for _, value in rows], pa.binary()),
        }
        part = folder.with_name(f"{folder.name}-{name}")
        mb.write(pa.table(columns), part)
        shutil.copytree(part / f"{name}-0", folder / f"{name}-0")
        shutil.rmtree(part)
    return folder


def framed(version: int, body: bytes) -> bytes:
    return b"\0" + version.to_bytes(4, "big") + body


FIRST = [framed(1, b"\x02"), framed(1, b"\x04")]


@pytest.fixture
def appended(tmp_path: Path, in_process: None) -> Callable[..., list[str]]:
    def append(*arguments: Any, **options: Any) -> list[str]:
        log = log_of(tmp_path / "log", *arguments)
        said: list[str] = []
        options = {"decode": "value=registry", "append": True, **options}
        write_parquet(log, out=tmp_path / "out", topics=["t"], say=said.append, **options)
        return said

    return append


def test_new_column_of_the_newest_schema_is_null_in_earlier_files(
    tmp_path: Path, appended: Callable[..., list[str]]
) -> None:
    one, two = schema_record(1, [A]), schema_record(2, [A, B])
    appended([one], FIRST)
    said = appended([one, two], [*FIRST, framed(2, b"\x06\x02\x02z"), framed(1, b"\x08")])
    assert "t: new columns value.b, null in the files of earlier runs" in said
    files = sorted((tmp_path / "out" / "records" / "topic=t").rglob("*.parquet"))
    schemas = [pq.read_schema(file).field("value").type.names for file in files]
    assert schemas == [["a"], ["a", "b"]]
    # A column that goes is no error either; nothing is written twice.
    said = appended([one, two, schema_record(3, [A])], [*FIRST, *FIRST, framed(3, b"\x0a")])
    assert not any("new columns" in sentence for sentence in said)
    values = [row["a"] for file in files for row in pq.read_table(file)["value"].to_pylist()]
    assert values == [1, 2, 3, 4]


def test_column_of_another_type_is_an_error_that_says_what_to_do(
    tmp_path: Path, appended: Callable[..., list[str]]
) -> None:
    one, two = schema_record(1, [A]), schema_record(2, [TEXT])
    appended([one], FIRST)
    both = [*FIRST, framed(2, b"\x02z")]
    with pytest.raises(InputError, match=r"value\.a of t is string now, and int32 in the files"):
        appended([one, two], both)
    with pytest.raises(InputError, match="was written with decode"):
        appended([one, two], both, decode="value=bytes")
    with pytest.raises(InputError, match="was written with"):
        appended([one, two], both, decode=None)
    assert len(list((tmp_path / "out" / "records").rglob("*.parquet"))) == 1
    # Nothing new: no file is written, so no column changes.
    assert "no new offsets" in appended([one, two], FIRST)


def test_reader_schema_of_the_earlier_runs_keeps_their_columns(
    tmp_path: Path, appended: Callable[..., list[str]]
) -> None:
    one, two = schema_record(1, [A]), schema_record(2, [TEXT])
    appended([one], FIRST, reader_schema=1)
    appended([one, two], [*FIRST, framed(2, b"\x02z")], reader_schema=1)
    assert [row["value_error"] for row in rows_in(tmp_path / "out", "t")] == [
        *(None, None, "incompatible"),
    ]


def test_schemas_merge_by_name_and_keep_their_types() -> None:
    earlier = pa.schema(
        [("v", pa.struct([("a", pa.int32()), ("s", pa.struct([("x", pa.int8())]))]))]
    )
    newer = pa.schema([("v", pa.struct([("s", pa.struct([("y", pa.int8())])), ("b", pa.int32())]))])
    merged = merged_schema(earlier, newer)
    assert merged.field("v").type.names == ["a", "s", "b"]
    assert merged.field("v").type.field("s").type.names == ["x", "y"]
    assert added_columns(earlier, newer) == ["v.s.y", "v.b"]
    listed = [pa.schema([("v", pa.list_(one))]) for one in (pa.int32(), pa.int64())]
    with pytest.raises(SchemaChangeError, match=r"v\[\] is int64, and was int32"):
        merged_schema(*listed)
    single = pa.field("v", pa.struct([("a", pa.int32())]))
    several = single.with_metadata({"magicbyte.struct": "one-of"})
    with pytest.raises(SchemaChangeError, match="v is one of several types of records"):
        merged_schema(pa.schema([single]), pa.schema([several]))


def test_spark_runs_typed_tasks_and_merges_the_columns_of_a_topic(
    spark: SparkSession, tmp_path: Path
) -> None:
    one, two = schema_record(1, [A]), schema_record(2, [A, B])
    out = tmp_path / "out"
    for schemas, values in (([one], FIRST), ([one, two], [*FIRST, framed(2, b"\x06\x02\x02z")])):
        log = log_of(tmp_path / "log", schemas, values)
        write_parquet(log, out=out, topics=["t"], append=True, decode="value=registry")
    frame = spark.read.option("mergeSchema", "true").parquet(str(out / "records" / "topic=t"))
    rows = frame.select("offset", "value.a", "value.b").orderBy("offset").collect()
    assert [tuple(row) for row in rows] == [(0, 1, None), (1, 2, None), (2, 3, "z")]
