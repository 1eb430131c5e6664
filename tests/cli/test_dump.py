"""Tests of `magicbyte dump`: rows on stdout, findings and notes on stderr."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import magicbyte as mb
from file_damage import flip
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.tables.schemas import INTERNAL_TABLES, TABLES
from magicbyte_cli import main
from magicbyte_cli.typed_output import TABLES_OF_TOPICS
from paths import DATA

from .conftest import PLAIN, TRANSACTIONS, error_line, refusal, run, run_ndjson

UNCOMMITTED = ("--isolation-level", "read_uncommitted")


def short(data: str | None) -> str | None:
    """Return hex digits as the Java consumer's recorded rows have them: long ones as SHA-256."""
    if data is None or len(data) <= 512:
        return data
    raw = bytes.fromhex(data)
    return f"sha256:{hashlib.sha256(raw).hexdigest()}:{len(raw)}"


@pytest.mark.parametrize("level", ["read_uncommitted", "read_committed"])
def test_records_are_those_the_java_consumer_got(
    oracle: Callable[..., list[dict[str, Any]]], level: str
) -> None:
    expected = oracle("4.3/transactions", "interleaved-0", isolation=level)
    rows = run_ndjson(
        *("dump", TRANSACTIONS, "--topic", "interleaved", "--partition", 0),
        *("--isolation-level", level, "--bytes", "hex"),
    )
    assert [
        (row["offset"], row["timestamp"], short(row["key"]), short(row["value"])) for row in rows
    ] == [(row["offset"], row["timestamp"], row["key"], row["value"]) for row in expected]


@pytest.mark.parametrize("table", TABLES)
def test_ndjson_has_the_tables_columns_in_order(table: str) -> None:
    names = list(TABLES[table].names)
    if table == "records":
        names = [name for name in names if name not in ("file", "position")]
    for row in run_ndjson("dump", PLAIN / "headers-0", "--table", table)[:1]:
        assert [name for name in row if not name.endswith("_encoding")] == names


@pytest.mark.parametrize("table", TABLES)
def test_text_begins_with_the_names_of_the_columns(table: str) -> None:
    result = run("dump", PLAIN / "headers-0", "--table", table)
    assert result.exit_code == 0
    names = result.stdout.splitlines()[0].split()
    assert set(names) <= set(TABLES[table].names)
    assert "\t" not in result.stdout


def test_columns_come_in_the_tables_order_however_they_are_asked_for() -> None:
    columns = ("--columns", "position,value,offset")
    (row,) = run_ndjson("dump", TRANSACTIONS / "committed-0", *columns, "--limit", 1)
    assert list(row) == ["offset", "value", "value_encoding", "position"]


def test_text_is_what_it_says() -> None:
    result = run("dump", TRANSACTIONS, "--topic", "aborted", "--limit", 2, *UNCOMMITTED)
    assert result.exit_code == 0
    assert result.stdout == (
        "topic    partition  offset  timestamp                 key         headers  value\n"
        "aborted          0       0  2022-12-13T08:06:59.864Z  key-469374  []"
        "       naïve façade rho iota façade λάμδα naïve\n"
        "aborted          0       1  2022-12-13T08:06:59.870Z  key-465803  []"
        "       mu rho ключ sigma ключ\n"
    )


def test_a_limit_ends_the_read_before_damage_behind_it(damaged: Path) -> None:
    assert len(run_ndjson("dump", damaged, "--limit", 3, *UNCOMMITTED)) == 3
    assert run("dump", damaged).exit_code == 1


def test_a_limit_does_not_hide_damage_before_it(damaged: Path) -> None:
    result = run("dump", damaged, "--topic", "append-time", "--limit", 3)
    assert result.exit_code == 1
    assert "checksum-mismatch" in result.stderr


def test_records_around_damage_are_printed_and_the_damage_is_reported(damaged: Path) -> None:
    whole = run_ndjson("dump", TRANSACTIONS / "append-time-0")
    rows = run_ndjson("dump", damaged / "append-time-0", status=1)
    assert rows == whole[-len(rows) :] and 0 < len(rows) < len(whole)
    lines = run("dump", damaged / "append-time-0", "--format", "ndjson").stderr.splitlines()
    assert any(line.startswith("not shown: ") and "damaged" in line for line in lines)
    at = lines.index("1 error:")
    assert lines[at + 1].startswith(
        "  append-time-0/00000000000000000000.log byte 0: stored CRC-32C 0x"
    )
    assert lines[at + 1].endswith("[checksum-mismatch]")


def test_a_partition_ends_at_its_damage_where_that_is_asked_for(damaged: Path) -> None:
    log = damaged / "append-time-0"
    assert refusal("dump", log, "--on-damage", "stop", "--format", "ndjson", status=1)


def test_the_first_damage_is_a_line_where_it_is_not_to_be_skipped(damaged: Path) -> None:
    log = damaged / "append-time-0"
    line = error_line("dump", log, "--on-damage", "fail", "--format", "ndjson", status=1)
    assert "CRC-32C" in line


def test_at_most_ten_findings_are_printed(tmp_path: Path) -> None:
    folder = tmp_path / "append-time-0"
    shutil.copytree(TRANSACTIONS / "append-time-0", folder)
    batches = run_ndjson("dump", folder, "--table", "batches")
    for batch in batches[1:15]:
        flip(folder / batch["file"], batch["position"] + batch["size_bytes"] - 1)
    result = run("dump", folder)
    problems = run_ndjson("dump", folder, "--table", "problems", status=1)
    assert result.exit_code == 1 and len(problems) > 10
    told = [line for line in result.stderr.splitlines() if line.startswith("  ")]
    assert len(told) == 10
    assert f"and {len(problems) - 10} more: see --table problems" in result.stderr.splitlines()


def test_records_withheld_by_read_committed_are_reported_and_printed_on_request() -> None:
    read = ("dump", TRANSACTIONS / "open-0", "--isolation-level", "read_committed")
    result = run(*read)
    assert result.exit_code == 0
    said = next(line for line in result.stderr.splitlines() if line.startswith("not shown: "))
    assert "aborted" in said and "withheld" in said
    shown = run(*read, "--disposition", "aborted,withheld", "--format", "ndjson")
    dispositions = {json.loads(line)["disposition"] for line in shown.stdout.splitlines()}
    assert dispositions == {"aborted", "withheld"}
    assert "aborted" not in shown.stderr


def test_records_of_aborted_transactions_are_counted_where_they_are_printed() -> None:
    path = TRANSACTIONS / "interleaved-0"
    aborted = run_ndjson("dump", path, "--disposition", "aborted", "--columns", "offset")
    assert len(aborted) > 10
    line = (
        f"{len(aborted)} records of aborted transactions included; --isolation-level read_committed "
        "leaves them out"
    )
    result = run("dump", path, "--isolation-level", "read_uncommitted")
    assert line in result.stderr.splitlines()
    assert "included" not in run("dump", path).stderr


def test_commands_have_the_same_defaults() -> None:
    """Read what a consumer with read_committed gets, and go on after damage."""
    defaults = {"isolation_level": "read_committed", "on_damage": "skip"}
    for name in ("dump", "export", "pipeline", "transactions"):
        command = main.get_command(click.Context(main), name)
        assert command is not None
        values = {option.name: option.default for option in command.params}
        assert {option: values[option] for option in defaults} == defaults, name


@pytest.mark.parametrize(("time", "is_odd"), [("1677807332", True), ("1677807332000", False)])
def test_time_that_looks_like_seconds_is_questioned(time: str, is_odd: bool) -> None:
    result = run("dump", PLAIN / "java-none-0", "--from-time", time, "--limit", "1")
    question = (
        "--from-time 1677807332 is 1970-01-20T10:03:27.332Z in milliseconds; if it is in seconds, "
        "2023-03-03T01:35:32.000Z, append 000"
    )
    assert (question in result.stderr.splitlines()) == is_odd


def test_range_outside_the_log_is_reported() -> None:
    result = run("dump", PLAIN / "java-none-0", "--from-offset", 9999)
    assert "the log ends at offset" in result.stderr
    line = error_line("dump", PLAIN / "java-none-0", "--partition", 99)
    assert line == "Error: no partition 99; expected one of 0"


@pytest.mark.parametrize("options", [(), ("--decode", "auto")])
def test_dump_of_an_internal_topic_names_what_decodes_its_messages(
    options: tuple[str, ...],
) -> None:
    result = run("dump", TRANSACTIONS, "--topic", "__transaction_state", "--limit", 1, *options)
    assert (
        "__transaction_state: `magicbyte kafka-dump-log --transaction-log-decoder --files FILE` prints the fields of keys "
        "and values; what they add up to is in --table transactional_ids"
    ) in result.stderr.splitlines()
    others = run("dump", TRANSACTIONS, "--topic", "committed", "--limit", 1, *options)
    assert "kafka-dump-log" not in others.stderr


def test_tables_that_internal_topics_add_up_to_exist() -> None:
    assert set(TABLES_OF_TOPICS) <= set(INTERNAL_TOPICS)
    for tables in TABLES_OF_TOPICS.values():
        assert set(tables) <= set(INTERNAL_TABLES)


def test_skipped_internal_topics_are_reported_on_stderr() -> None:
    partitions = ("--table", "batches", "--quick", "--columns", "topic")
    result = run("dump", TRANSACTIONS, *partitions)
    assert "3 partitions of internal topics left out; --include-internal includes them" in (
        result.stderr.splitlines()
    )
    assert "__" not in result.stdout
    everything = run("dump", TRANSACTIONS, *partitions, "--include-internal")
    assert "__transaction_state" in everything.stdout
    assert "left out" not in everything.stderr
    named = run("dump", TRANSACTIONS, *partitions, "--topic", "__transaction_state")
    assert "__transaction_state" in named.stdout
    assert "left out" not in named.stderr


def test_offsets_are_half_open() -> None:
    bounds = ("--from-offset", 3, "--to-offset", 8, *UNCOMMITTED)
    rows = run_ndjson("dump", TRANSACTIONS / "aborted-0", *bounds)
    assert [row["offset"] for row in rows] == [3, 4, 5, 7]


@pytest.mark.parametrize(
    "time",
    [
        "2022-12-13T08:06:59.932Z",
        "2022-12-13T08:06:59.932",
        "2022-12-13T09:06:59.932+01:00",
        "1670918819932",
    ],
)
def test_a_time_is_iso_8601_or_milliseconds(time: str) -> None:
    bounds = ("--from-time", time, "--limit", 1, "--columns", "offset,timestamp", *UNCOMMITTED)
    rows = run_ndjson("dump", TRANSACTIONS / "aborted-0", *bounds)
    assert rows == [{"offset": 7, "timestamp": 1670918819932}]


def test_a_limit_of_bytes_is_named_where_an_entry_exceeds_it() -> None:
    result = run("dump", PLAIN / "broker-gzip-0", "--max-batch-bytes", "64B")
    assert result.exit_code == 1
    assert "max_batch_bytes" in result.stderr
    assert run("dump", PLAIN / "broker-gzip-0", "--max-batch-bytes", "16MiB").exit_code == 0


def test_quick_batches_leave_what_the_payload_tells_null() -> None:
    batches = ("dump", TRANSACTIONS / "aborted-0", "--table", "batches", "--quick")
    for row in run_ndjson(*batches):
        assert row["crc_valid"] is row["control_type"] is row["disposition"] is None
    assert "CRC not checked" in run(*batches).stderr


def test_problems_are_rows_and_only_counted_beside(damaged: Path) -> None:
    result = run("dump", damaged, "--table", "problems", "--format", "ndjson")
    assert result.exit_code == 1
    assert '"code":"checksum-mismatch"' in result.stdout
    assert "1 error" in result.stderr.splitlines()
    assert "checksum-mismatch" not in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--columns", "offset,nothing"],
        ["--columns", "offset,,key"],
        ["--columns", ""],
        ["--table", "nothing"],
        ["--disposition", "lost"],
        ["--table", "batches", "--disposition", "aborted"],
        ["--quick"],
        ["--limit", "0"],
        ["--from-offset", "-1"],
        ["--from-offset", str(1 << 63)],
        ["--from-offset", "9", "--to-offset", "3"],
        ["--from-time", "yesterday"],
        ["--max-batch-bytes", "16M"],
        ["--max-entry-bytes", "0"],
        ["--partition", "x"],
        ["--topic", "no-such-topic"],
        ["--isolation-level", "serializable"],
        ["--on-damage", "weep"],
        ["--replica", "/no/such/log-dir"],
        ["--nothing"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_status_2_and_writes_no_rows(options: list[str]) -> None:
    complaint = refusal("dump", TRANSACTIONS, *options)
    assert complaint.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in complaint


def test_latest_prints_the_last_record_of_each_key() -> None:
    path = DATA / "4.3" / "compacted" / "log-0"
    arguments = ("dump", path, "--topic", "compacted-gzip", "--columns", "offset,key", "--latest")
    rows = run_ndjson(*arguments)
    dataset = mb.open(str(path), topics=["compacted-gzip"])
    latest = dataset.latest(["offset", "key"]).to_pylist()
    assert [row["offset"] for row in rows] == [row["offset"] for row in latest]
    key = rows[3]["key"]
    assert run_ndjson(*arguments, "--where-key", f"={key}") == [rows[3]]
    assert len(run_ndjson(*arguments, "--to-offset", rows[5]["offset"])) >= 5


def test_latest_has_no_dispositions_and_no_tail() -> None:
    for option in ("--tail=1", "--follow", "--disposition=aborted"):
        assert "--latest cannot be combined" in refusal("dump", TRANSACTIONS, "--latest", option)
    assert "--latest applies to records" in refusal(
        "dump", TRANSACTIONS, "--latest", "--table", "batches"
    )
