"""Tests of `--decode` together with the options that choose records, and of `--where`."""

import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from magicbyte_cli import tail
from registry_data import LOG_DIR

from .conftest import refusal, run, run_ndjson

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")

ORDERS = ("dump", LOG_DIR, "--topic", "orders", "--decode", "auto")


def orders(*arguments: object) -> list[dict[str, Any]]:
    return run_ndjson(*ORDERS, *arguments)


@pytest.fixture(scope="module")
def all_orders() -> list[dict[str, Any]]:
    return orders()


def test_condition_on_a_decoded_member_chooses_rows(all_orders: list[dict[str, Any]]) -> None:
    rows = orders("--where", "value.amount > 100.50")
    assert rows == [
        row for row in all_orders if row["value"] and float(row["value"]["amount"]) > 100.5
    ]
    assert 0 < len(rows) < len(all_orders)


@pytest.mark.parametrize(
    ("condition", "is_match"),
    [
        ("offset >= 30", lambda row: row["offset"] >= 30),
        ("partition = 1", lambda row: row["partition"] == 1),
        ("value is null", lambda row: row["value"] is None),
        ("value IS NOT NULL", lambda row: row["value"] is not None),
        ("value_schema_version = 2", lambda row: row["value_schema_version"] == 2),
        ("value.amount < 12345678901234567890.12345", lambda row: row["value"] is not None),
        ("key.id <> 9", lambda row: row["key"]["id"] != 9),
        (
            "value.buyer ~ 1[12]$",
            lambda row: row["value"] and row["value"]["buyer"][-2:] in ("11", "12"),
        ),
        (
            "value.buyer = 'Zoë 100'",
            lambda row: row["value"] and row["value"]["buyer"] == "Zoë 100",
        ),
        ("value.state = NEW", lambda row: row["value"] and row["value"]["state"] == "NEW"),
        ("value.day > 2026-01-20", lambda row: row["value"] and row["value"]["day"] > "2026-01-20"),
        (
            "value.at < 2026-01-01T00:00:42.123Z",
            lambda row: row["value"] and row["value"]["at"] < "2026-01-01T00:00:42.123Z",
        ),
    ],
)
def test_conditions_are_of_the_columns_types(
    all_orders: list[dict[str, Any]], condition: str, is_match: Any
) -> None:
    rows = orders("--where", condition)
    assert rows == [row for row in all_orders if is_match(row)]
    assert rows


def test_conditions_on_bytes_and_on_columns_all_hold(all_orders: list[dict[str, Any]]) -> None:
    rows = orders("--where-value", "Zo", "--where", "offset < 20", "--where", "value.id >= 110")
    expected = [
        row
        for row in all_orders
        if row["value"]
        and row["offset"] < 20
        and row["value"]["id"] >= 110
        and "Zo" in row["value"]["buyer"]
    ]
    assert rows == expected != []


def test_condition_on_a_record_of_several_names_it_with_its_dots() -> None:
    mixed = ("dump", LOG_DIR, "--topic", "mixed", "--decode", "value=registry")
    rows = run_ndjson(*mixed, "--where", "value.ev.A.a > 3")
    assert rows and all(row["value"]["ev.A"]["a"] > 3 for row in rows)
    assert rows == run_ndjson(*mixed, "--where", 'value."ev.A".a > 3')
    errors = run_ndjson(*mixed, "--where", "value_error = no-schema")
    assert [row["offset"] for row in errors] == [25]


def test_last_records_are_decoded_and_are_those_that_match(
    all_orders: list[dict[str, Any]],
) -> None:
    rows = orders("--tail", 2)
    assert rows == [row for row in all_orders if row["offset"] in (58, 59)]
    matching = [row for row in all_orders if row["value"] and row["value"]["id"] < 150]
    ends = [[row for row in matching if row["partition"] == number][-3:] for number in (0, 1)]
    assert orders("--tail", 3, "--where", "value.id < 150") == [*ends[0], *ends[1]]


def test_latest_record_of_each_key_is_decoded(all_orders: list[dict[str, Any]]) -> None:
    rows = orders("--latest")
    last = {(row["partition"], row["key"]["id"]): row for row in all_orders}
    assert {(row["partition"], row["key"]["id"]): row for row in rows} == {
        key: row for key, row in last.items() if row["value"] is not None
    }
    chosen = orders("--latest", "--where", "value.id > 200")
    assert chosen == [row for row in rows if row["value"]["id"] > 200] != []


def test_ranges_and_limits_apply_to_typed_records(all_orders: list[dict[str, Any]]) -> None:
    rows = orders("--from-offset", 10, "--to-offset", 12)
    assert rows == [row for row in all_orders if row["offset"] in (10, 11)]


def test_dispositions_apply_to_typed_records() -> None:
    assert orders("--disposition", "control") == []
    assert "disposition 'none'" in refusal(*ORDERS, "--disposition", "none")


def test_appended_records_are_decoded_with_schemas_that_are_registered_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    shutil.copytree(LOG_DIR / "orders-0", log / "orders-0")

    def register(_: float) -> None:
        if not (log / "_schemas-0").exists():
            shutil.copytree(LOG_DIR / "_schemas-0", log / "_schemas-0")
            shutil.copytree(LOG_DIR / "orders-1", log / "orders-1")
            return
        raise KeyboardInterrupt

    monkeypatch.setattr(tail, "sleep", Mock(side_effect=register))
    command = (
        "dump",
        log,
        "--topic",
        "orders",
        "--decode",
        "value=registry",
        "--follow",
        "--tail",
        1,
    )
    before, *after = run_ndjson(*command, "--columns", "partition,offset,value,value_error")
    assert before == {"partition": 0, "offset": 59, "value": None, "value_error": "no-schema"}
    assert len(after) == 60
    assert {row["partition"] for row in after} == {1}
    assert after[0]["value"]["buyer"]


def test_following_prints_the_form_once_and_the_first_undecoded_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tail, "sleep", Mock(side_effect=KeyboardInterrupt))
    options = ("--decode", "value=registry", "--follow", "--columns", "offset,value")
    result = run("dump", LOG_DIR, "--topic", "mixed", *options)
    assert "mixed: values decoded as registry; the form was named" in result.stderr
    assert "no-schema" in result.stderr
    assert "! no schema 99999" in result.stdout


def test_export_takes_conditions_and_the_latest_records(tmp_path: Path) -> None:
    out = tmp_path / "orders.parquet"
    options = ("--topic", "orders", "--decode", "auto", "-o", out, "--overwrite")
    assert run("export", LOG_DIR, *options, "--where", "value.amount > 100").exit_code == 0
    amounts = pq.read_table(out)["value"].combine_chunks().field("amount")
    assert amounts.type == pa.decimal128(12, 2) and 0 < len(amounts) < 120
    assert min(amounts.to_pylist()) > 100
    run("export", LOG_DIR, *options, "--latest")
    assert pq.read_table(out).num_rows == len(orders("--latest"))


def test_export_of_plain_records_takes_conditions_and_the_latest_records(tmp_path: Path) -> None:
    out = tmp_path / "orders.parquet"
    options = ("--topic", "orders", "-o", out, "--overwrite", "--columns", "offset,timestamp")
    run("export", LOG_DIR, *options, "--where", "offset >= 58")
    assert pq.read_table(out)["offset"].to_pylist() == [58, 59, 58, 59]
    run("export", LOG_DIR, *options, "--latest")
    latest = mb.open(LOG_DIR, topics=["orders"]).latest(["offset"]).to_pylist()
    assert pq.read_table(out)["offset"].to_pylist() == [row["offset"] for row in latest]
    run("export", LOG_DIR, *options, "--where-key", "0x00000000040a")
    assert 0 < pq.read_table(out).num_rows < 20


def test_condition_on_offsets_of_plain_records_reads_only_their_bytes() -> None:
    rows = run_ndjson("dump", LOG_DIR, "--topic", "orders", "--where", "offset = 7")
    assert [row["offset"] for row in rows] == [7, 7]
    assert (
        run_ndjson("dump", LOG_DIR, "--topic", "orders", "--latest", "--where", "offset < 0") == []
    )


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("value.amount", "expected COLUMN OPERATOR LITERAL"),
        ("value.amount >", "expected a literal"),
        ("value is null 5", "expected COLUMN OPERATOR LITERAL"),
        ("nope = 1", "no column 'nope'; expected one of topic, partition, offset"),
        ("value.nope = 1", "value of topic orders has no member 'nope'; expected one of id"),
        ("value.amount.x = 1", "has no member 'x'; expected value.amount itself, which is decimal"),
        ("value.amount > 1e99", "'1e99'; expected a decimal number"),
        ("value.amount > many", "'many'; expected a decimal number"),
        ("value.id = 1.5", "'1.5'; expected an integer"),
        ("value.at > noon", "'noon'; expected a time such as"),
        ("value.counts = 1", "expected IS NULL or IS NOT NULL for a map"),
        ("value.id ~ 1", "~ on int64; expected text or bytes"),
        ("value.buyer ~ (", "expected a regular expression"),
    ],
)
def test_wrong_condition_is_an_error_that_says_what_is_possible(
    condition: str, message: str
) -> None:
    assert message in refusal(*ORDERS, "--where", condition)


def test_condition_on_a_decoded_column_without_decode_names_the_columns() -> None:
    message = refusal("dump", LOG_DIR, "--topic", "orders", "--where", "value.amount > 1")
    assert "value of topic - has no member 'amount'; expected value itself" in message
    assert "--where applies to records, not to batches" in refusal(
        "dump", LOG_DIR, "--table", "batches", "--where", "offset > 1"
    )


def test_segment_outside_of_a_partition_folder_is_decoded(tmp_path: Path) -> None:
    segment = tmp_path / "00000000000000000000.log"
    shutil.copyfile(LOG_DIR / "numbers-0" / segment.name, segment)
    rows = run_ndjson("dump", segment, "--decode", "key=int32,value=int64", "--limit", 2)
    assert [(row["topic"], row["value"]) for row in rows] == [(None, 0), (None, 1000003)]
