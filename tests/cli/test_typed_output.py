"""Tests of `--decode` of `magicbyte dump` and `export`."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from magicbyte.tables.stored_types import MICROSECONDS
from registry_data import LOG_DIR, registry_of

from .conftest import PLAIN, run, run_ndjson

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")


def test_decoded_values_are_json_with_the_label_of_their_schema():
    result = run("dump", LOG_DIR, "--topic", "orders", "--decode", "auto", "--limit", 1)
    header, row = result.stdout.splitlines()
    assert header.split() == [
        *("topic", "partition", "offset", "timestamp", "key", "headers", "value_schema", "value"),
    ]
    assert '{"id":9}' in row and "orders-value v1 (3)" in row and '"buyer":"Zoë 100"' in row
    assert "orders: values decoded as registry: " in result.stderr
    assert result.exit_code == 0


def test_undecoded_value_is_its_bytes_with_the_reason_and_the_id():
    result = run(
        "dump",
        LOG_DIR,
        "--topic",
        "mixed",
        "--decode",
        "value=registry",
        "--columns",
        "offset,value",
    )
    lines = result.stdout.splitlines()
    assert lines[26].strip() == r"25  \x00\x00\x01\x86\x9f\x02 ! no schema 99999"
    assert "5 warnings:" in result.stderr


@pytest.mark.parametrize(("bytes_as", "cell"), [("hex", "000001869f02"), ("base64", "AAABhp8C")])
def test_undecoded_value_is_shown_as_bytes_are(bytes_as: str, cell: str):
    columns = ("--columns", "value", "--bytes", bytes_as)
    result = run("dump", LOG_DIR, "--topic", "mixed", "--decode", "value=registry", *columns)
    assert f"{cell} ! no schema 99999" in result.stdout.splitlines()[26]


def test_ndjson_has_objects_and_stable_names():
    rows = run_ndjson("dump", LOG_DIR, "--topic", "orders", "--topic", "clicks", "--decode", "auto")
    assert len(rows) == 145
    assert len({tuple(row) for row in rows}) == 1
    by_topic = {row["topic"]: row for row in rows}
    assert by_topic["clicks"]["value"]["page"] == "/é24"
    assert by_topic["clicks"]["key"] == "u0"
    assert by_topic["orders"]["value"]["amount"] == "336.50"
    assert by_topic["orders"]["value"]["ratio"] == 1e-300
    assert "Infinity" in {
        row["value"]["ratio"] for row in rows if row["topic"] == "orders" and row["value"]
    }


def test_named_forms_decode_keys_and_values():
    rows = run_ndjson(
        "dump", LOG_DIR, "--topic", "numbers", "--decode", "key=int32,value=int64", "--limit", 2
    )
    assert [(row["key"], row["value"]) for row in rows] == [(0, 0), (1, 1000003)]


def test_schemas_may_come_from_another_path(tmp_path: Path):
    shutil.copytree(LOG_DIR / "orders-0", tmp_path / "orders-0")
    options = ("--decode", "auto", "--schemas", LOG_DIR, "--limit", 1)
    (row,) = run_ndjson("dump", tmp_path, *options)
    assert row["value"]["id"] == 100
    options = ("--decode", "auto", "--schemas", LOG_DIR, "--reader-schema", 3, "--limit", 1)
    (row,) = run_ndjson("dump", tmp_path, *options)
    assert row["value"]["customer"] == "Zoë 100"


def test_dump_without_decode_hints_at_frames_where_schemas_are_at_hand(tmp_path: Path):
    hint = "--decode auto decodes them"
    assert hint in run("dump", LOG_DIR, "--topic", "orders").stderr
    assert hint not in run("dump", LOG_DIR, "--topic", "debezium").stderr
    assert hint not in run("dump", PLAIN, "--limit", 5).stderr
    shutil.copytree(LOG_DIR / "orders-0", tmp_path / "orders-0")
    assert hint not in run("dump", tmp_path).stderr


def test_export_writes_typed_columns(tmp_path: Path):
    out = tmp_path / "orders.parquet"
    result = run("export", LOG_DIR, "--topic", "orders", "--decode", "auto", "-o", out)
    assert result.exit_code == 0, result.stderr
    table = pq.read_table(out)
    types = {field.name: field.type for field in table.schema.field("value").type}
    assert types["amount"] == pa.decimal128(12, 2)
    assert types["state"] == pa.string()
    assert table.schema.field("timestamp").type == MICROSECONDS
    assert table.num_rows == 120
    assert "120 rows" in result.stderr


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("topic", ["mixed", "payments", "numbers", "clicks", "debezium"])
def test_every_topic_can_be_exported(tmp_path: Path, topic: str, suffix: str):
    out = tmp_path / f"{topic}.{suffix}"
    result = run("export", LOG_DIR, "--topic", topic, "--decode", "auto", "-o", out)
    assert result.exit_code in (0, 1), result.stderr
    assert out.stat().st_size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dump", LOG_DIR, "--decode", "nonsense"), "decode option 'nonsense'"),
        (("dump", LOG_DIR, "--decode", "value=avr:x"), "value 'avr:x'"),
        (
            ("dump", LOG_DIR, "--decode", "auto", "--table", "batches"),
            "--decode applies to records, not to batches",
        ),
        (("dump", LOG_DIR, "--decode", "auto", "--schemas", "absent"), "absent"),
        (("export", LOG_DIR, "--decode", "auto", "-o", "x.parquet"), "--topic with one name"),
    ],
)
def test_wrong_option_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_tables_of_schemas_are_printed_without_a_word_about_internal_topics():
    result = run("dump", LOG_DIR, "--table", "schemas", "--columns", "subject,references")
    assert (
        '[{"name":"common/money.proto","subject":"common/money.proto","version":1}]'
        in result.stdout
    )
    assert result.stderr == ""
    rows = run_ndjson("dump", LOG_DIR, "--table", "schema_configs")
    assert json.loads(rows[0]["config"]) == {"compatibilityLevel": "BACKWARD"}
    assert not registry_of().findings
