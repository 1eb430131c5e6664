"""`magicbyte dump --where-...`: the records in which something stands."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb

from .conftest import Run, only_line

Row = dict[str, Any]

COLUMNS = ("offset", "key", "value", "headers", "producer_id", "leader_epoch", "outcome")


@pytest.fixture(scope="module")
def rows(logs: Path) -> list[Row]:
    data = mb.open(logs / "4.3" / "plain" / "log-0" / "headers-0")
    found: list[Row] = data.records(COLUMNS).to_table().to_pylist()
    return found


def offsets(run: Run, path: Path, *arguments: object) -> list[int]:
    result = run("dump", path, "--format", "ndjson", "--columns", "offset", *arguments)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line)["offset"] for line in result.stdout.splitlines()]


def has(row: Row, name: str, value: bytes | None = None) -> bool:
    return any(
        header["key"] == name and (value is None or value in (header["value"] or b""))
        for header in row["headers"]
    )


def test_keys_and_values(run: Run, plain: Path, rows: list[Row]) -> None:
    path = plain / "headers-0"
    key = next(row["key"] for row in rows if row["key"])
    value = next(row["value"] for row in rows if row["value"] and len(row["value"]) > 8)
    part = value[2:6].decode("ascii", "ignore")
    cases: list[tuple[tuple[str, str], Callable[[Row], bool]]] = [
        (("--where-key", f"0x{key.hex()}"), lambda row: row["key"] == key),
        (("--where-key", f"={key.decode()}"), lambda row: row["key"] == key),
        (("--where-key", "0x"), lambda row: row["key"] == b""),
        (("--where-value", part), lambda row: part.encode() in (row["value"] or b"")),
        (("--where-value", "/^$/"), lambda row: row["value"] == b""),
        (
            ("--where-value", "/^[a-m]/"),
            lambda row: (row["value"] or b"")[:1] in [bytes([c]) for c in b"abcdefghijklm"],
        ),
    ]
    for arguments, holds in cases:
        assert offsets(run, path, *arguments) == [row["offset"] for row in rows if holds(row)]
    both = ("--where-key", f"0x{key.hex()}", "--where-value", "/./")
    assert offsets(run, path, *both) == [
        row["offset"] for row in rows if row["key"] == key and row["value"]
    ]


def test_headers(run: Run, plain: Path, rows: list[Row]) -> None:
    path = plain / "headers-0"
    names = {header["key"] for row in rows for header in row["headers"]}
    assert len(names) > 1
    for name in sorted(name for name in names if name and "=" not in name):
        wanted = [row["offset"] for row in rows if has(row, name)]
        assert offsets(run, path, "--where-header", name) == wanted
    name, value = next(
        (header["key"], header["value"])
        for row in rows
        for header in row["headers"]
        if header["value"] and header["key"]
    )
    wanted = [row["offset"] for row in rows if has(row, name, value)]
    found = offsets(run, path, "--where-header", f"{name}=0x{value.hex()}")
    assert set(found) <= set(wanted) and found
    assert offsets(run, path, "--where-header", "no such header") == []


def test_records_are_selected_by_producer_leader_epoch_and_outcome(
    run: Run, transactions: Path
) -> None:
    path = transactions / "interleaved-0"
    found = (
        mb.open(path, isolation_level="read_uncommitted").records(COLUMNS).to_table().to_pylist()
    )
    for column, option in (("producer_id", "producer-id"), ("leader_epoch", "leader-epoch")):
        for number in {row[column] for row in found if row[column] is not None}:
            wanted = [row["offset"] for row in found if row[column] == number]
            assert offsets(run, path, f"--where-{option}", number) == wanted
    for outcome in ("committed", "aborted"):
        wanted = [row["offset"] for row in found if row["outcome"] == outcome]
        assert wanted
        assert offsets(run, path, "--where-outcome", outcome) == wanted


def test_the_limit_counts_what_is_found(run: Run, transactions: Path) -> None:
    path = transactions / "interleaved-0"
    all_ = offsets(run, path, "--where-outcome", "aborted")
    assert offsets(run, path, "--where-outcome", "aborted", "--limit", 3) == all_[:3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--where-key", "0xabc"), "expected 0x and pairs of hexadecimal digits"),
        (("--where-value", "/(/"), "is not a regular expression"),
        (("--where-producer-id", "-1"), "expected a number from 0"),
        (("--where-outcome", "lost"), "is not one of"),
        (("--where-key", "k", "--table", "batches"), "applies to records, not to batches"),
    ],
)
def test_invalid_condition_is_a_usage_error(
    run: Run, plain: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("dump", plain / "headers-0", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_companion_has_no_records(run: Run, transactions: Path) -> None:
    path = transactions / "open-1" / "00000000000000000010.txnindex"
    result = run("dump", path, "--where-key", "k")
    assert result.exit_code == 2
    assert "--where-key" in only_line(result.stderr.strip().splitlines()[-1])
