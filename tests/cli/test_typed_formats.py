"""Tests of CSV and NDJSON of typed records: one stable name for each field, whatever the values are."""

import csv
import io
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.tables.json_values import json_values
from registry_data import LOG_DIR

from .conftest import refusal, run, run_ndjson

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")

TOPICS = ("orders", "mixed", "clicks", "payments", "in-headers", "numbers", "debezium")


def csv_rows(text: str) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


def as_members(value: Any) -> str:
    """Return the text of a CSV field that has *value*."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("topic", TOPICS)
def test_fields_have_the_same_names_in_all_rows_and_formats(tmp_path: Path, topic: str) -> None:
    options = ("--topic", topic, "--decode", "value=registry" if topic == "mixed" else "auto")
    rows = mb.open(LOG_DIR).typed_records(topic, value=options[3].removeprefix("value="))
    names = rows.schema.names
    printed = run_ndjson("dump", LOG_DIR, *options)
    assert {tuple(row) for row in printed} == {tuple(names)}
    out = tmp_path / "rows.ndjson"
    assert run("export", LOG_DIR, *options, "-o", out).exit_code == 0
    exported = [json.loads(line) for line in out.read_text().splitlines()]
    assert {tuple(row) for row in exported} == {tuple(names)}
    fields = csv_rows(run("dump", LOG_DIR, *options, "--format", "csv").stdout)
    assert {tuple(row) for row in fields} == {tuple(names)}
    assert len(printed) == len(exported) == len(fields) == rows.to_table().num_rows
    assert [row["offset"] for row in printed] == [int(row["offset"]) for row in fields]


def test_nested_values_are_json_in_one_field_and_scalars_are_bare(tmp_path: Path) -> None:
    out = tmp_path / "orders.csv"
    run("export", LOG_DIR, "--topic", "orders", "--decode", "auto", "-o", out)
    table = mb.open(LOG_DIR).typed_records("orders").to_table()
    values = json_values(table["value"].combine_chunks())
    fields = csv_rows(out.read_bytes().decode())
    assert [row["value"] for row in fields] == [as_members(value) for value in values]
    assert fields[0]["timestamp"] == "2026-09-21T14:13:21.000Z"
    options = ("--topic", "numbers", "--decode", "key=int32,value=int64", "--limit", 2)
    rows = csv_rows(run("dump", LOG_DIR, *options, "--format", "csv").stdout)
    assert [(row["key"], row["value"]) for row in rows] == [("0", "0"), ("1", "1000003")]


def test_bytes_are_base64_in_files_and_under_one_name_in_ndjson(tmp_path: Path) -> None:
    options = ("--topic", "mixed", "--decode", "value=registry")
    rows = mb.open(LOG_DIR).typed_records("mixed", value="registry").to_pylist()
    undecoded = [row["value_bytes"] for row in rows]
    for suffix in ("csv", "ndjson"):
        out = tmp_path / f"mixed.{suffix}"
        run("export", LOG_DIR, *options, "-o", out)
        text = out.read_bytes().decode()
        fields: list[dict[str, Any]] = (
            [*csv_rows(text)]
            if suffix == "csv"
            else [json.loads(line) for line in text.splitlines()]
        )
        contents = [b64decode(row["value_bytes"] or "") for row in fields]
        assert contents == [data or b"" for data in undecoded]
    printed = run_ndjson("dump", LOG_DIR, *options)
    assert [
        None if row["value_bytes"] is None else b64decode(row["value_bytes"]) for row in printed
    ] == undecoded
    printed = run_ndjson("dump", LOG_DIR, *options, "--bytes", "hex")
    assert [row["value_bytes"] for row in printed] == [
        None if data is None else data.hex() for data in undecoded
    ]


def test_headers_have_the_same_members_whether_they_are_text_or_not() -> None:
    rows = run_ndjson("dump", LOG_DIR, "--topic", "in-headers", "--decode", "auto")
    plain = mb.open(LOG_DIR, topics=["in-headers"]).records(["headers"]).to_pylist()
    headers = [header for row in rows for header in row["headers"]]
    assert {tuple(header) for header in headers} == {("key", "value", "value_encoding")}
    for header, expected in zip(
        headers, (one for row in plain for one in row["headers"]), strict=True
    ):
        text, encoding = header["value"], header["value_encoding"]
        data = b64decode(text) if encoding == "base64" else text.encode()
        assert data == expected["value"]


def test_plain_records_and_other_tables_are_csv_and_ndjson_too(tmp_path: Path) -> None:
    out = tmp_path / "records.csv"
    result = run("export", LOG_DIR, "--topic", "orders", "-o", out, "--bytes", "hex")
    assert "120 rows of records" in result.stderr
    rows = mb.open(LOG_DIR, topics=["orders"]).records(["offset", "key"]).to_pylist()
    fields = csv_rows(out.read_bytes().decode())
    assert [(int(one["offset"]), bytes.fromhex(one["key"])) for one in fields] == [
        (row["offset"], row["key"]) for row in rows
    ]
    run("export", LOG_DIR, "--table", "partitions", "-o", tmp_path / "partitions.jsonl")
    lines = (tmp_path / "partitions.jsonl").read_text().splitlines()
    assert len(lines) == mb.open(LOG_DIR).table("partitions").to_table().num_rows
    text = run("dump", LOG_DIR, "--table", "partitions", "--format", "csv").stdout
    assert len(csv_rows(text)) == len(lines)
    assert "expected one of .parquet" in refusal("export", LOG_DIR, "-o", tmp_path / "x.txt")


def test_following_and_tail_print_csv() -> None:
    text = run(
        "dump", LOG_DIR, "--topic", "orders", "--decode", "auto", "--tail", 1, "--format", "csv"
    )
    assert len(csv_rows(text.stdout)) == 2
