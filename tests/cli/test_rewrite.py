"""Tests of `magicbyte rewrite --companions-only`."""

import os
from pathlib import Path

from .conftest import TRANSACTIONS, refusal, run, run_ndjson


def test_companion_files_are_written_without_the_segments(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run("rewrite", TRANSACTIONS / "aborted-0", "--companions-only", "-o", out)
    assert result.exit_code == 0
    line, summary = result.stdout.splitlines()
    assert line == "aborted-0: 8 companion files, 348 B, for 2 segments"
    assert summary.startswith("1 partition, ") and summary.endswith(f"in {out}")
    names = os.listdir(out / "aborted-0")
    assert len(names) == 8 and not any(name.endswith(".log") for name in names)


def test_report_about_companion_files_is_an_object_per_partition() -> None:
    row, summary = run_ndjson(
        "rewrite", TRANSACTIONS / "open-0", "--companions-only", "--dry-run", status=0
    )
    assert (row["kind"], row["files"], row["last_stable_offset"]) == ("partition", 11, 33)
    assert summary["kind"] == "summary"


def test_segments_are_not_divided_without_being_copied(tmp_path: Path) -> None:
    command = ["rewrite", TRANSACTIONS / "open-0", "--companions-only", "-o", tmp_path / "out"]
    message = refusal(*command, "--segment-bytes", "1000")
    assert "--companions-only keeps" in message
