"""Tests of `magicbyte dump --where-...`: only records with a matching field are printed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb

from .conftest import PLAIN, TRANSACTIONS, refusal, run_ndjson

Row = dict[str, Any]

COLUMNS = ("offset", "key", "value", "headers", "producer_id", "leader_epoch", "outcome")

LOG = PLAIN / "headers-0"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found: list[Row] = mb.open(LOG).records(COLUMNS).to_table().to_pylist()
    return found


def offsets(path: Path, *arguments: object) -> list[int]:
    rows = run_ndjson("dump", path, "--columns", "offset", *arguments)
    return [row["offset"] for row in rows]


def has(row: Row, name: str, value: bytes | None = None) -> bool:
    return any(
        header["key"] == name and (value is None or value in (header["value"] or b""))
        for header in row["headers"]
    )


def test_keys_and_values(rows: list[Row]) -> None:
    key = next(row["key"] for row in rows if row["key"])
    value = next(row["value"] for row in rows if row["value"] and len(row["value"]) > 8)
    part = value[2:6].decode("ascii", "ignore")
    cases: list[tuple[tuple[str, ...], Callable[[Row], bool]]] = [
        (("--where-key", f"0x{key.hex()}"), lambda row: row["key"] == key),
        (("--where-key", f"={key.decode()}"), lambda row: row["key"] == key),
        (("--where-key", "0x"), lambda row: row["key"] == b""),
        (("--where-value", part), lambda row: part.encode() in (row["value"] or b"")),
        (("--where-value", "/^$/"), lambda row: row["value"] == b""),
        (("--where-value", "/^[a-m]/"), lambda row: b"a" <= (row["value"] or b"")[:1] <= b"m"),
        (
            ("--where-key", f"0x{key.hex()}", "--where-value", "/./"),
            lambda row: row["key"] == key and bool(row["value"]),
        ),
    ]
    for arguments, holds in cases:
        assert offsets(LOG, *arguments) == [row["offset"] for row in rows if holds(row)]


def test_headers(rows: list[Row]) -> None:
    headers = [(header["key"], header["value"]) for row in rows for header in row["headers"]]
    names = {name for name, _ in headers}
    assert len(names) > 1
    for name in sorted(name for name in names if name and "=" not in name):
        expected = [row["offset"] for row in rows if has(row, name)]
        assert offsets(LOG, "--where-header", name) == expected
    name, value = next((name, value) for name, value in headers if name and value)
    expected = [row["offset"] for row in rows if has(row, name, value)]
    found = offsets(LOG, "--where-header", f"{name}=0x{value.hex()}")
    assert set(found) <= set(expected) and found
    assert offsets(LOG, "--where-header", "no such header") == []


def test_records_are_selected_by_producer_leader_epoch_and_outcome() -> None:
    path = TRANSACTIONS / "interleaved-0"
    rows = mb.open(path, isolation_level="read_uncommitted").records(COLUMNS).to_table().to_pylist()
    assert {"committed", "aborted"} <= {row["outcome"] for row in rows}
    for column in ("producer_id", "leader_epoch", "outcome"):
        for value in {row[column] for row in rows} - {None}:
            expected = [row["offset"] for row in rows if row[column] == value]
            where = f"--where-{column.replace('_', '-')}", value
            assert offsets(path, *where, "--isolation-level", "read_uncommitted") == expected


def test_the_limit_counts_what_is_found() -> None:
    path = TRANSACTIONS / "interleaved-0"
    all_ = offsets(path, "--where-outcome", "aborted")
    assert offsets(path, "--where-outcome", "aborted", "--limit", 3) == all_[:3]


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
def test_invalid_condition_is_a_usage_error(arguments: tuple[str, ...], message: str) -> None:
    assert message in refusal("dump", LOG, *arguments)
