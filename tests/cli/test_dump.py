"""`magicbyte dump`: rows on stdout, the rest on stderr."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from magicbyte.tables.schemas import TABLES

from .conftest import Run, flip


def rows_of(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def of_oracle(cluster: Path, name: str) -> list[dict]:
    with gzip.open(cluster / "oracle" / "records" / f"{name}.ndjson.gz", "rt") as file:
        return [json.loads(line) for line in file]


def short(data: str | None) -> str | None:
    """Return hex as the oracle keeps it."""
    if data is None or len(data) <= 512:
        return data
    raw = bytes.fromhex(data)
    return f"sha256:{hashlib.sha256(raw).hexdigest()}:{len(raw)}"


@pytest.mark.parametrize("level", ["read_uncommitted", "read_committed"])
def test_records_are_those_the_java_consumer_got(transactions: Path, run: Run, level: str) -> None:
    expected = of_oracle(transactions.parent, f"interleaved-0.{level}")
    result = run(
        *("dump", transactions, "--topic", "interleaved", "--partition", 0),
        *("--isolation-level", level, "--format", "ndjson", "--bytes", "hex"),
    )
    assert result.exit_code == 0
    assert [
        (row["offset"], row["timestamp"], short(row["key"]), short(row["value"]))
        for row in rows_of(result.stdout)
    ] == [(row["offset"], row["timestamp"], row["key"], row["value"]) for row in expected]


@pytest.mark.parametrize("table", TABLES)
def test_ndjson_has_the_tables_columns_in_order(plain: Path, run: Run, table: str) -> None:
    names = list(TABLES[table].names)
    if table == "records":
        names = [name for name in names if name not in ("file", "position")]
    result = run("dump", plain / "headers-0", "--table", table, "--format", "ndjson")
    assert result.exit_code == 0
    for row in rows_of(result.stdout)[:1]:
        assert [name.removesuffix("_base64") for name in row] == names


@pytest.mark.parametrize("table", TABLES)
def test_text_begins_with_the_names_of_the_columns(plain: Path, run: Run, table: str) -> None:
    result = run("dump", plain / "headers-0", "--table", table)
    assert result.exit_code == 0
    names = result.stdout.splitlines()[0].split()
    assert set(names) <= set(TABLES[table].names)
    assert "\t" not in result.stdout


def test_columns_come_in_the_tables_order_however_they_are_asked_for(
    transactions: Path, run: Run
) -> None:
    result = run(
        *("dump", transactions / "aborted-0", "--format", "ndjson", "--limit", 1),
        *("--columns", "position,value,offset"),
    )
    assert list(rows_of(result.stdout)[0]) == ["offset", "value", "position"]


def test_text_is_what_it_says(transactions: Path, run: Run) -> None:
    result = run("dump", transactions, "--topic", "aborted", "--limit", 2)
    assert result.exit_code == 0
    assert result.stdout == (
        "topic    partition  offset  timestamp                 key         value"
        "                                     headers\n"
        "aborted          0       0  2022-12-13T08:06:59.864Z  key-469374"
        "  naïve façade rho iota façade λάμδα naïve  []\n"
        "aborted          0       1  2022-12-13T08:06:59.870Z  key-465803"
        "  mu rho ключ sigma ключ                    []\n"
    )


def test_a_limit_ends_the_read_before_damage_behind_it(damaged: Path, run: Run) -> None:
    part = run("dump", damaged, "--limit", 3, "--format", "ndjson")
    assert part.exit_code == 0
    assert len(part.stdout.splitlines()) == 3
    assert run("dump", damaged).exit_code == 1


def test_a_limit_does_not_hide_damage_before_it(damaged: Path, run: Run) -> None:
    result = run("dump", damaged, "--topic", "append-time", "--limit", 3)
    assert result.exit_code == 1
    assert "checksum-mismatch" in result.stderr


def test_records_around_damage_are_printed_and_the_damage_is_reported(
    damaged: Path, transactions: Path, run: Run
) -> None:
    whole = rows_of(run("dump", transactions / "append-time-0", "--format", "ndjson").stdout)
    result = run("dump", damaged / "append-time-0", "--format", "ndjson")
    assert result.exit_code == 1
    found = rows_of(result.stdout)
    assert found == whole[-len(found) :] and 0 < len(found) < len(whole)
    lines = result.stderr.splitlines()
    assert any(line.startswith("not shown: ") and "damaged" in line for line in lines)
    at = lines.index("1 error:")
    assert lines[at + 1].startswith(
        "  append-time-0/00000000000000000000.log byte 0: stored CRC-32C 0x"
    )
    assert lines[at + 1].endswith("[checksum-mismatch]")


def test_a_partition_ends_at_its_damage_where_that_is_asked_for(damaged: Path, run: Run) -> None:
    result = run("dump", damaged / "append-time-0", "--on-damage", "stop", "--format", "ndjson")
    assert (result.exit_code, result.stdout) == (1, "")


def test_the_first_damage_is_a_line_where_it_is_not_to_be_skipped(damaged: Path, run: Run) -> None:
    result = run("dump", damaged / "append-time-0", "--on-damage", "fail", "--format", "ndjson")
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert "CRC-32C" in result.stderr


def test_at_most_ten_findings_are_printed(transactions: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "append-time-0"
    shutil.copytree(transactions / "append-time-0", folder)
    batches = rows_of(run("dump", folder, "--table", "batches", "--format", "ndjson").stdout)
    for batch in batches[1:15]:
        flip(folder / batch["file"], batch["position"] + batch["size_bytes"] - 1)
    result = run("dump", folder)
    problems = rows_of(run("dump", folder, "--table", "problems", "--format", "ndjson").stdout)
    assert result.exit_code == 1 and len(problems) > 10
    told = [line for line in result.stderr.splitlines() if line.startswith("  ")]
    assert len(told) == 10
    assert f"and {len(problems) - 10} more: see --table problems" in result.stderr.splitlines()


def test_records_withheld_by_read_committed_are_reported_and_printed_on_request(
    transactions: Path, run: Run
) -> None:
    read = ("dump", transactions / "open-0", "--isolation-level", "read_committed")
    result = run(*read)
    assert result.exit_code == 0
    said = next(line for line in result.stderr.splitlines() if line.startswith("not shown: "))
    assert "aborted" in said and "withheld" in said
    shown = run(*read, "--disposition", "aborted,withheld", "--format", "ndjson")
    assert {row["disposition"] for row in rows_of(shown.stdout)} == {"aborted", "withheld"}
    assert "aborted" not in shown.stderr


def test_skipped_internal_topics_are_reported_on_stderr(transactions: Path, run: Run) -> None:
    partitions = ("--table", "batches", "--quick", "--columns", "topic")
    result = run("dump", transactions, *partitions)
    assert "3 partitions of internal topics left out; --include-internal includes them" in (
        result.stderr.splitlines()
    )
    assert "__" not in result.stdout
    everything = run("dump", transactions, *partitions, "--include-internal")
    assert "__transaction_state" in everything.stdout
    assert "left out" not in everything.stderr
    named = run("dump", transactions, *partitions, "--topic", "__transaction_state")
    assert "__transaction_state" in named.stdout
    assert "left out" not in named.stderr


def test_offsets_are_half_open(transactions: Path, run: Run) -> None:
    result = run(
        *("dump", transactions / "aborted-0", "--from-offset", 3, "--to-offset", 8),
        *("--format", "ndjson", "--columns", "offset"),
    )
    assert [row["offset"] for row in rows_of(result.stdout)] == [3, 4, 5, 7]


@pytest.mark.parametrize(
    "time",
    [
        "2022-12-13T08:06:59.932Z",
        "2022-12-13T08:06:59.932",
        "2022-12-13T09:06:59.932+01:00",
        "1670918819932",
    ],
)
def test_a_time_is_iso_8601_or_milliseconds(transactions: Path, run: Run, time: str) -> None:
    result = run(
        *("dump", transactions / "aborted-0", "--from-time", time, "--limit", 1),
        *("--format", "ndjson", "--columns", "offset,timestamp"),
    )
    assert rows_of(result.stdout) == [{"offset": 7, "timestamp": 1670918819932}]


def test_a_limit_of_bytes_is_named_where_an_entry_exceeds_it(plain: Path, run: Run) -> None:
    result = run("dump", plain / "broker-gzip-0", "--max-batch-bytes", "64B")
    assert result.exit_code == 1
    assert "max_batch_bytes" in result.stderr
    assert run("dump", plain / "broker-gzip-0", "--max-batch-bytes", "16MiB").exit_code == 0


def test_quick_batches_leave_what_the_payload_tells_null(transactions: Path, run: Run) -> None:
    result = run(
        "dump", transactions / "aborted-0", "--table", "batches", "--quick", "--format", "ndjson"
    )
    assert result.exit_code == 0
    for row in rows_of(result.stdout):
        assert row["crc_valid"] is row["control_type"] is row["disposition"] is None
    assert "CRC not checked" in result.stderr


def test_problems_are_rows_and_only_counted_beside(damaged: Path, run: Run) -> None:
    result = run("dump", damaged, "--table", "problems", "--format", "ndjson")
    assert result.exit_code == 1
    assert "checksum-mismatch" in {row["code"] for row in rows_of(result.stdout)}
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
def test_a_wrong_call_is_status_2_and_writes_no_rows(
    transactions: Path, run: Run, options: list[str]
) -> None:
    result = run("dump", transactions, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in result.stderr
