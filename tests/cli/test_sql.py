"""Tests of `magicbyte sql`: formats of the output, exit status, and messages."""

import csv
import io
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from io_faults import counted_reads
from paths import SCRIPT_ENVIRONMENT
from scan_queries import LIMIT, NUM_RECORDS, bytes_from, write_large_log

from .conftest import COMMAND, TRANSACTIONS, error_line, refusal, run, run_ndjson

FENCED = "FROM records SELECT \"offset\", timestamp, key, headers WHERE topic = 'fenced'"
TYPES = """
    SELECT 1 AS i, 1.5::DOUBLE AS f, 'NaN'::DOUBLE AS n, 1.50::DECIMAL(5, 2) AS d, sum(2)::HUGEINT AS h,
        true AS b, NULL AS nothing, '' AS empty, 'a,"b' || chr(10) AS text, DATE '2024-02-29' AS day,
        TIMESTAMPTZ '2024-02-29 12:00:00+02' AS at, TIME '01:02:03' AS time, INTERVAL '1 month 90 minutes' AS took,
        [1, NULL] AS list, {'k': 'x', 'v': [DATE '2024-02-29']} AS struct, '\\x00\\xFF'::BLOB AS blob
"""
NDJSON = (
    '{"i":1,"f":1.5,"n":"NaN","d":"1.50","h":2,"b":true,"nothing":null,"empty":"","text":"a,\\"b\\n",'
    '"day":"2024-02-29","at":1709200800000,"time":"01:02:03","took":"P1MT5400S","list":[1,null],'
    '"struct":{"k":"x","v":["2024-02-29"]},"blob":"AP8=","blob_encoding":"base64"}\n'
)
FORMATS = ("text", "csv", "ndjson")
WAIT_S = 60


def test_text_has_aligned_columns_with_numbers_on_the_right() -> None:
    query = "SELECT topic, count(*) AS n, sum(\"offset\") AS s FROM records WHERE topic IN ('fenced', 'open') GROUP BY 1 ORDER BY 1"
    result = run("sql", query, TRANSACTIONS)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["topic", "n", "s"]
    assert [line.split()[0] for line in lines[1:]] == ["fenced", "open"]
    assert len({len(line) for line in lines}) == 1


def test_plan_is_printed_as_a_drawing() -> None:
    result = run("sql", "EXPLAIN SELECT key FROM records WHERE topic = 'fenced'", TRANSACTIONS)
    assert "Filters: \"topic\" = 'fenced'" in result.stdout
    assert "\\n" not in result.stdout and len(result.stdout.splitlines()) > 3


def test_records_that_another_table_is_made_from_are_not_mentioned() -> None:
    result = run("sql", "FROM group_offsets", TRANSACTIONS, "--isolation-level", "read_uncommitted")
    assert result.stdout
    assert "records" not in result.stderr
    assert "records" in run("sql", "SELECT count(*) FROM records", TRANSACTIONS).stderr


def test_ndjson_has_a_form_for_every_type() -> None:
    result = run("sql", TYPES, TRANSACTIONS, "--format", "ndjson")
    assert result.stdout == NDJSON
    json.loads(result.stdout)


def test_csv_tells_null_and_empty_apart() -> None:
    result = run("sql", TYPES, TRANSACTIONS, "--format", "csv")
    text = result.stdout_bytes.decode()
    header, row = list(csv.reader(io.StringIO(text, newline="")))
    values = dict(zip(header, row, strict=True))
    assert ',true,,"",' in text
    assert text.endswith("\r\n")
    assert values["text"] == 'a,"b\n'
    assert values["at"] == "2024-02-29T10:00:00.000Z"
    assert values["struct"] == '{"k":"x","v":["2024-02-29"]}'
    assert (values["n"], values["d"], values["h"]) == ("NaN", "1.50", "2")


@pytest.mark.parametrize(
    ("bytes_as", "text"), [("text", "\0\\xff"), ("hex", "00ff"), ("base64", "AP8=")]
)
def test_bytes_are_written_as_asked_for(bytes_as: str, text: str) -> None:
    result = run(
        "sql",
        "SELECT '\\x00\\xFF'::BLOB AS b",
        TRANSACTIONS,
        "--format",
        "csv",
        "--bytes",
        bytes_as,
    )
    assert result.stdout_bytes.decode() == f"b\r\n{text}\r\n"


def test_records_are_those_that_dump_prints() -> None:
    dumped = run_ndjson(
        "dump", TRANSACTIONS, "--topic", "fenced", "--columns", "offset,timestamp,key,headers"
    )
    assert run_ndjson("sql", FENCED, TRANSACTIONS) == dumped


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".ndjson", ".parquet"])
def test_output_file_has_the_format_of_its_suffix(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    result = run("sql", FENCED, TRANSACTIONS, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    if suffix == ".parquet":
        wanted = mb.sql(FENCED, TRANSACTIONS).to_table()
        assert pq.read_table(out).equals(wanted)
    else:
        name = "text" if suffix == ".txt" else suffix[1:]
        assert out.read_bytes() == run("sql", FENCED, TRANSACTIONS, "--format", name).stdout_bytes
    assert "already" in error_line("sql", FENCED, TRANSACTIONS, "-o", out)
    assert run("sql", FENCED, TRANSACTIONS, "-o", out, "--overwrite").exit_code == 0


def test_wrong_outputs_are_refused(tmp_path: Path) -> None:
    assert "expected -o OUT" in error_line("sql", FENCED, TRANSACTIONS, "--format", "parquet")
    assert "the suffix '.xyz'" in error_line("sql", FENCED, TRANSACTIONS, "-o", tmp_path / "a.xyz")
    assert "inside of the input" in error_line(
        "sql", FENCED, TRANSACTIONS, "-o", TRANSACTIONS / "a.csv"
    )
    assert not (TRANSACTIONS / "a.csv").exists()


def test_type_that_parquet_does_not_have_is_refused(tmp_path: Path) -> None:
    line = error_line(
        "sql", "SELECT INTERVAL '1 day' AS i", TRANSACTIONS, "-o", tmp_path / "o.parquet"
    )
    assert "interval" in line and "expected a cast of it, such as ::VARCHAR" in line
    assert not list(tmp_path.iterdir())


def test_result_without_rows_has_its_columns() -> None:
    query = "SELECT topic, value FROM records WHERE topic = 'nothing'"
    shown = {
        name: run("sql", query, TRANSACTIONS, "--format", name).stdout_bytes for name in FORMATS
    }
    assert shown == {"text": b"topic  value\n", "csv": b"topic,value\r\n", "ndjson": b""}


def test_file_is_absent_after_an_error(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    line = error_line("sql", "SELECT topic::INTEGER FROM records", TRANSACTIONS, "-o", out)
    assert line.startswith("Error: Conversion Error: Could not convert string")
    assert not list(tmp_path.iterdir())


def test_command_reads_no_more_of_the_log_than_the_range_of_offsets(tmp_path: Path) -> None:
    write_large_log(tmp_path)
    condition = f"topic = 'x' AND partition = 0 AND \"offset\" > {LIMIT}"
    query = f'SELECT count(*) AS n, max("offset") AS last FROM records WHERE {condition}'
    with counted_reads() as counts:
        result = run("sql", query, tmp_path, "--format", "csv")
    assert result.stdout_bytes == b"n,last\r\n%d,%d\r\n" % (
        NUM_RECORDS - 1 - LIMIT,
        NUM_RECORDS - 1,
    )
    size = bytes_from(tmp_path, "x-0", LIMIT)
    assert size // 2 < counts["log"] < size + 5 * (1 << 16)


def test_findings_and_records_that_were_left_out_are_reported(damaged: Path) -> None:
    result = run("sql", "SELECT count(*) AS n FROM records", damaged)
    assert result.exit_code == 1
    assert "1 error:" in result.stderr and "[checksum-mismatch]" in result.stderr
    assert "not in the result: " in result.stderr
    assert "aborted" in result.stderr
    other = run("sql", "SELECT count(*) AS n FROM records WHERE topic = 'timed-out'", damaged)
    assert other.exit_code == 0
    assert "checksum" not in other.stderr


def test_damage_with_fail_is_an_error(damaged: Path) -> None:
    result = run("sql", "SELECT count(*) FROM records", damaged, "--on-damage", "fail")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "stored CRC-32C" in result.stderr


def test_left_out_internal_topics_are_mentioned_if_all_was_asked_for() -> None:
    hint = "partitions of internal topics left out"
    assert hint in run("sql", "SELECT count(*) FROM records", TRANSACTIONS).stderr
    for query in (
        "SELECT 1",
        "SELECT count(*) FROM records WHERE topic = '__consumer_offsets'",
        "SELECT count(*) FROM topics.fenced",
    ):
        assert hint not in run("sql", query, TRANSACTIONS).stderr
    option = run("sql", "SELECT count(*) FROM records", TRANSACTIONS, "--include-internal")
    assert hint not in option.stderr


def test_selection_and_dispositions_hold() -> None:
    (row,) = run_ndjson(
        *("sql", "SELECT count(*) AS n, min(disposition) AS d FROM records", TRANSACTIONS),
        *("--topic", "fenced", "--disposition", "aborted", "--from-offset", "1"),
    )
    dumped = run_ndjson(
        "dump", TRANSACTIONS, "--topic", "fenced", "--disposition", "aborted", "--from-offset", "1"
    )
    assert row == {"n": len(dumped), "d": "aborted"}


def test_syntax_error_is_one_line() -> None:
    assert (
        error_line("sql", "SELEC 1", TRANSACTIONS)
        == 'Error: Parser Error: syntax error at or near "SELEC"'
    )


def test_interrupt_ends_a_long_query(tmp_path: Path) -> None:
    query = (
        "SELECT count(*) FROM range(1000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3"
    )
    environment = {**SCRIPT_ENVIRONMENT, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*COMMAND, "sql", query, str(TRANSACTIONS)], stderr=subprocess.PIPE, env=environment
    ) as process:
        deadline = time.monotonic() + WAIT_S
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        os.kill(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert stderr == b"interrupted\n"
    assert not list(tmp_path.iterdir())


def test_expanded_rows_are_blocks(tmp_path: Path) -> None:
    query = "SELECT topic, 1.5 AS n FROM records LIMIT 1"
    block = ["topic  timed-out", "n      1.5"]
    result = run(
        "sql", query, TRANSACTIONS / "timed-out-0", "-x", "--isolation-level", "read_uncommitted"
    )
    assert result.stdout.splitlines()[1:] == block
    refused = refusal("sql", query, TRANSACTIONS, "-x", "-o", tmp_path / "o.parquet")
    assert "--expanded applies to text, not to parquet" in refused
