"""`magicbyte transactions`: outcomes of each partition, and what is open."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import magicbyte as mb

from .conftest import Run

ABORT = "kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic open --partition 0"


def objects(run: Run, *arguments: object) -> list[dict[str, Any]]:
    result = run("transactions", *arguments, "--format", "ndjson")
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_outcomes_are_those_of_the_table(run: Run, transactions: Path) -> None:
    rows = mb.open(transactions).transactions().to_table().to_pylist()
    found = [row for row in objects(run, transactions) if row["kind"] == "outcome"]
    counts = Counter((row["topic"], row["partition"], row["outcome"]) for row in rows)
    records: Counter[Any] = Counter()
    for row in rows:
        records[row["topic"], row["partition"], row["outcome"]] += row["record_count"]
    keys = [(row["topic"], row["partition"], row["outcome"]) for row in found]
    assert {key: row["transactions"] for key, row in zip(keys, found, strict=True)} == counts
    assert {key: row["records"] for key, row in zip(keys, found, strict=True)} == records
    for key, row in zip(keys, found, strict=True):
        taken = sorted(
            round((one["marker_timestamp"] - one["first_timestamp"]).total_seconds() * 1000)
            for one in rows
            if (one["topic"], one["partition"], one["outcome"]) == key and one["marker_timestamp"]
        )
        longest = taken[-1] if taken else None
        assert row["longest_ms"] == longest
        assert row["median_ms"] == (taken[(len(taken) - 1) // 2] if taken else None)


def test_what_is_open_can_be_ended(run: Run, transactions: Path) -> None:
    path = transactions / "open-0"
    open_ = [row for row in objects(run, path) if row["kind"] == "open"]
    assert [(row["producer_id"], row["first_offset"], row["abort"]) for row in open_] == [
        (1001, 33, f"{ABORT} --start-offset 33"),
        (1002, 61, f"{ABORT} --start-offset 61"),
    ]
    result = run("transactions", path)
    lines = result.stdout.splitlines()
    assert lines[-3:] == [
        "what ends them:",
        f"  {ABORT} --start-offset 33",
        f"  {ABORT} --start-offset 61",
    ]
    assert "open, the oldest of each partition first:" in lines
    assert result.stderr == ""


def test_where_none_is_open_nothing_is_to_be_ended(run: Run, transactions: Path) -> None:
    result = run("transactions", transactions / "committed-0")
    assert result.exit_code == 0
    assert [line.split()[2:6] for line in result.stdout.splitlines()] == [
        ["outcome", "transactions", "records", "size_bytes"],
        ["committed", "6", "80", "2661"],
    ]


def test_a_segment_alone_has_no_name_for_a_command(
    run: Run, transactions: Path, tmp_path: Path
) -> None:
    path = tmp_path / "00000000000000000001.log"
    path.write_bytes((transactions / "open-0" / path.name).read_bytes())
    open_ = [row for row in objects(run, path) if row["kind"] == "open"]
    assert open_ and {row["abort"] for row in open_} == {None}
    assert "what ends them" not in run("transactions", path).stdout


def test_logs_without_transactions(run: Run, plain: Path) -> None:
    result = run("transactions", plain / "java-none-0")
    assert (result.exit_code, result.stdout) == (0, "no transactions\n")
