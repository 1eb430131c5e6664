"""Tests of `magicbyte dump` of a log's companion files: one row per entry."""

from pathlib import Path

import pytest

from .conftest import TRANSACTIONS, error_line, refusal, run, run_ndjson

ABORTED = TRANSACTIONS / "open-1" / "00000000000000000010.txnindex"


def test_an_index_is_shown_as_text_and_as_ndjson() -> None:
    result = run("dump", ABORTED)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "version  producer_id  first_offset  last_offset  last_stable_offset",
        "      0         1002            11           33                  34",
        "      0         1002            34           46                  38",
        "      0         1001            48           60                  61",
    ]
    row = {"version": 0, "producer_id": 1002, "first_offset": 11, "last_offset": 33}
    rows = run_ndjson("dump", ABORTED, "--limit", 1)
    assert rows == [{**row, "last_stable_offset": 34}]
    result = run("dump", ABORTED, "--columns", "last_offset,producer_id", "--limit", 1)
    assert result.stdout.split() == ["producer_id", "last_offset", "1002", "33"]


def test_several_files_of_a_kind_say_which() -> None:
    first, second = (
        TRANSACTIONS / topic / "leader-epoch-checkpoint" for topic in ("open-1", "aborted-0")
    )
    rows = run_ndjson("dump", first, second)
    assert all(list(row) == ["file", "leader_epoch", "start_offset"] for row in rows)
    assert list(dict.fromkeys(row["file"] for row in rows)) == [str(first), str(second)]
    line = error_line("dump", first, ABORTED)
    assert "leader epochs, txnindex; expected files of one kind" in line


def test_damage_is_said_behind_what_is_whole(tmp_path: Path) -> None:
    (path := tmp_path / ABORTED.name).write_bytes(ABORTED.read_bytes()[:40])
    result = run("dump", path)
    assert result.exit_code == 0  # no row of the log depends on it
    assert len(result.stdout.splitlines()) == 2
    assert result.stderr.splitlines() == [
        "1 warning:",
        f"  {ABORTED.name} byte 34: 6 bytes follow the last whole entry [txnindex-invalid]",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--table", "batches"), "--table applies to logs, not to companion files"),
        (("--topic", "x"), "--topic applies to logs"),
        ((TRANSACTIONS / "open-1",), "expected logs only, or companion files only"),
        (("--where-key", "k"), "--where-key"),
    ],
)
def test_options_of_logs_are_refused_for_companion_files(
    options: tuple[object, ...], message: str
) -> None:
    assert message in refusal("dump", ABORTED, *options)


def test_columns_of_logs_are_unknown_in_companion_files() -> None:
    line = error_line("dump", ABORTED, "--columns", "offset")
    assert "no column 'offset'; expected one of version" in line
