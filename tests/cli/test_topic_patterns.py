"""Tests of globs and regular expressions of `--topic`, and of errors about topics that are not there."""

import json
from pathlib import Path

import pytest

import log_builder as build
from log_builder import Folder
from magicbyte_cli.topic_patterns import matching_topics

from .conftest import TRANSACTIONS, error_line, refusal, run, run_ndjson

NAMES = ("orders", "orders-eu", "payments", "__consumer_offsets", "__orders_internal")


@pytest.fixture
def log_dir(folder: Folder) -> Path:
    log_dir = folder.log_dir()
    for name in NAMES:
        log_dir.segment(f"{name}-0", build.batch(build.records(1), 0))
    return Path(log_dir.path)


def topics(*arguments: object) -> list[str]:
    rows = run_ndjson("dump", *arguments, "--table", "batches", "--columns", "topic")
    return sorted({row["topic"] for row in rows})


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["orders"], ["orders"]),
        (["orders*"], ["orders", "orders-eu"]),
        (["*"], ["__orders_internal", "orders", "orders-eu", "payments"]),
        (["orders?*"], ["orders-eu"]),
        (["[po]*s"], ["orders", "payments"]),
        (["__*"], ["__consumer_offsets", "__orders_internal"]),
        (["/ORDERS/", "payments"], None),
        (["/^orders/"], ["orders", "orders-eu"]),
        (["/orders$/", "payments"], ["orders", "payments"]),
        (["/^__con/"], ["__consumer_offsets"]),
        (["*s", "orders*"], ["orders", "orders-eu", "payments"]),
    ],
)
def test_patterns_select_topics(
    patterns: list[str], expected: list[str] | None, log_dir: Path
) -> None:
    options = [part for pattern in patterns for part in ("--topic", pattern)]
    if expected is None:
        assert "no topic matches '/ORDERS/'" in error_line("dump", log_dir, *options)
    else:
        assert topics(log_dir, *options) == expected


def test_a_pattern_has_internal_topics_where_they_are_included(log_dir: Path) -> None:
    assert topics(log_dir, "--topic", "*", "--include-internal") == sorted(NAMES)


def test_a_topic_of_exactly_this_name_comes_first() -> None:
    assert matching_topics("a*", ["a*", "ab"]) == ["a*"]
    assert matching_topics("a?", ["a*", "ab"]) == ["a*", "ab"]
    assert matching_topics("absent", ["a*", "ab"]) == ["absent"]


@pytest.mark.parametrize("command", ["verify", "stats", "topics"])
def test_other_commands_take_patterns_too(command: str, log_dir: Path) -> None:
    result = run(command, log_dir, "--topic", "orders*", "--format", "ndjson")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    found = {row["topic"] for row in rows if row.get("topic") and row.get("kind") != "problem"}
    assert found == {"orders", "orders-eu"}


def test_files_have_the_topics_of_a_pattern(
    log_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("out")
    for command, path in (("export", out / "x.ndjson"), ("rewrite", out / "log")):
        assert run(command, log_dir, "--topic", "orders*", "-o", path).exit_code == 0
    rows = map(json.loads, (out / "x.ndjson").read_text().splitlines())
    assert {row["topic"] for row in rows} == {"orders", "orders-eu"}
    folders = {path.name for path in (out / "log").iterdir() if path.is_dir()}
    assert folders == {"orders-0", "orders-eu-0"}


def test_a_wrong_regular_expression_is_named(log_dir: Path) -> None:
    assert "'/(/' is not a regular expression" in refusal("dump", log_dir, "--topic", "/(/")


def test_an_unknown_topic_is_compared_with_five_at_most() -> None:
    line = error_line("dump", TRANSACTIONS, "--topic", "commited")
    assert line == (
        "Error: no topic 'commited'; expected one of committed, large-committed, __cluster_metadata, "
        "__consumer_offsets, __transaction_state and 12 more (did you mean committed or large-committed?)"
    )
    assert error_line("dump", TRANSACTIONS / "open-0", "--topic", "zzz") == (
        "Error: no topic 'zzz'; expected one of open"
    )
