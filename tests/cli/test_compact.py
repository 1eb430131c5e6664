"""Tests of `magicbyte compact`: estimates as text and NDJSON, settings, and the exit status."""

from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte.writing.compaction import CleanerSettings, dry_run
from paths import DATA

from .conftest import TRANSACTIONS, refusal, run, run_ndjson

COMPACTED = DATA / "4.3" / "compacted" / "log-0"


def test_ndjson_is_the_estimate_of_the_library() -> None:
    settings = CleanerSettings(
        now_ms=1_800_000_000_000, first_dirty_offset=0, delete_retention_ms=5, release="4.x"
    )
    dataset = mb.open(str(TRANSACTIONS))
    options = ("--now", "1800000000000", "--first-dirty-offset", 0, "--delete-retention-ms", 5)
    rows = run_ndjson("compact", "--dry-run", TRANSACTIONS, *options)
    assert rows == [estimate.row() for estimate in dry_run(dataset, settings)]


def test_text_has_a_line_for_each_partition() -> None:
    result = run("compact", "--dry-run", COMPACTED, "--topic", "compacted-gzip", "--now", 0)
    assert result.exit_code == 0
    heads, line = result.stdout.splitlines()
    assert heads.split()[:2] == ["due", "ratio"]
    assert line.split()[:3] == ["compacted-gzip-0", "no", "0.00"]
    assert line.split()[-1] == "yes"


def test_time_of_the_round_decides_about_tombstones() -> None:
    arguments = ("compact", "--dry-run", COMPACTED, "--topic", "compacted-gzip")
    early, late = (
        run_ndjson(*arguments, "--first-dirty-offset", 0, "--now", now)[0]
        for now in ("2001-01-01", "2200-01-01T00:00:00+01:00")
    )
    assert early["expired_tombstones"] == 0
    assert early["waiting_tombstones"] == late["expired_tombstones"] > 0


def test_partition_that_the_cleaner_cannot_clean_is_named_and_gives_status_1(damaged: Path) -> None:
    options = ("--include-active-segment", "--format", "ndjson")
    result = run("compact", "--dry-run", damaged, *options)
    assert result.exit_code == 1
    assert "append-time-0: the cleaner would stop: " in result.stderr
    assert len(result.stdout.splitlines()) == 3


def test_keys_that_do_not_fit_are_reported() -> None:
    options = ("--first-dirty-offset", 0, "--dedupe-buffer-bytes", 96, "--topic", "compacted-gzip")
    result = run("compact", "--dry-run", COMPACTED, *options)
    assert result.exit_code == 0
    assert "compacted-gzip-0: the keys do not fit into the dedupe buffer" in result.stderr


def test_either_a_folder_or_a_dry_run_is_needed(tmp_path: Path) -> None:
    assert "-o OUT" in refusal("compact", COMPACTED)
    assert "leave out -o OUT" in refusal("compact", COMPACTED, "--dry-run", "-o", tmp_path / "out")


def test_folder_has_what_a_round_leaves(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--include-active-segment", "--now", "2200-01-01", "--topic", "open", "-o", out)
    *rows, summary = run_ndjson("compact", TRANSACTIONS, *options)
    assert [row["outcome"] for row in rows] == ["written", "written"]
    assert summary["changed_records"] == {"aborted": 38}
    latest = [mb.open(str(path), topics=["open"]).latest() for path in (TRANSACTIONS, out)]
    assert latest[0].to_table() == latest[1].to_table()
    assert run("verify", out).exit_code == 0


@pytest.mark.parametrize("option", ["--min-cleanable-dirty-ratio", "--delete-retention-ms"])
def test_setting_below_zero_is_refused(option: str) -> None:
    assert option in refusal("compact", "--dry-run", COMPACTED, option, "-1")
