"""`magicbyte dump --tail` and `--follow`."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from magicbyte_cli import tail

from .conftest import Run


def offsets(text: str) -> list[int]:
    return [json.loads(line)["offset"] for line in text.splitlines()]


def test_the_last_records_of_each_partition_are_shown(transactions: Path, run: Run) -> None:
    whole = run("dump", transactions / "interleaved-0", "--format", "ndjson")
    last = run("dump", transactions / "interleaved-0", "--format", "ndjson", "--tail", 5)
    assert last.exit_code == 0 and last.stdout == "".join(whole.stdout.splitlines(True)[-5:])
    several = run("dump", transactions, "--format", "ndjson", "--tail", 1)
    rows = [json.loads(line) for line in several.stdout.splitlines()]
    partitions = [(row["topic"], row["partition"]) for row in rows]
    assert len(set(partitions)) == len(partitions) > 5
    none = run("dump", transactions / "interleaved-0", "--format", "ndjson", "--tail", 0)
    assert (none.exit_code, none.stdout) == (0, "")


def test_the_last_records_are_of_those_that_are_wanted(transactions: Path, run: Run) -> None:
    log = transactions / "interleaved-0"
    where = ("--where-outcome", "aborted", "--disposition", "aborted,delivered")
    how = ("--isolation-level", "read_committed", "--format", "ndjson", *where)
    whole, last = run("dump", log, *how), run("dump", log, *how, "--tail", 4)
    assert len(whole.stdout.splitlines()) > 4
    assert last.stdout == "".join(whole.stdout.splitlines(True)[-4:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--table", "batches", "--tail", 3),
            "--tail and --follow apply to records, not to batches",
        ),
        (("--table", "segments", "-f"), "--tail and --follow apply to records, not to segments"),
        (("-f", "--to-offset", 9), "--follow cannot be combined with --to-offset or --to-time"),
        (("-f", "--to-time", 9), "--follow cannot be combined with --to-offset or --to-time"),
    ],
)
def test_options_that_exclude_tail_and_follow_are_refused(
    options: tuple[object, ...], message: str, transactions: Path, run: Run
) -> None:
    result = run("dump", transactions, *options)
    assert result.exit_code == 2 and message in result.stderr


def test_following_ends_at_the_limit(transactions: Path, run: Run) -> None:
    log = transactions / "interleaved-0"
    result = run("dump", log, "--follow", "--tail", 9, "--limit", 3, "--format", "ndjson")
    whole = run("dump", log, "--format", "ndjson", "--tail", 9)
    assert result.exit_code == 0
    assert result.stdout == "".join(whole.stdout.splitlines(True)[:3])


def test_each_finding_is_said_once(
    damaged: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = damaged / "append-time-0"
    looks = []

    def sleep(_: float) -> None:
        looks.append(None)
        if len(looks) == 3:
            raise KeyboardInterrupt
        with (log / "00000000000000000000.log").open("ab") as file:
            file.write(b"\0" * 7)

    monkeypatch.setattr(tail.time, "sleep", sleep)
    result = run("dump", log, "--follow")
    assert len(looks) == 3
    assert result.exit_code == 1
    assert result.stderr.count("checksum-mismatch") == 1


def test_follow_prints_appended_records_until_interrupted(
    transactions: Path, tmp_path: Path, command: list[str]
) -> None:
    log = Path(shutil.copytree(transactions / "interleaved-0", tmp_path / "interleaved-0"))
    last = sorted(log.glob("*.log"))[-1]
    data = last.read_bytes()
    ends = [0]
    while ends[-1] < len(data):
        size = int.from_bytes(data[ends[-1] + 8 : ends[-1] + 12], "big")
        ends.append(ends[-1] + 12 + size)
    assert len(ends) > 3
    last.write_bytes(data[: ends[-2]])
    arguments = ["dump", str(log), "-f", "--tail", "1", "--format", "ndjson"]
    process = subprocess.Popen(
        [*command, *arguments, "--disposition", "delivered,control"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        first = offsets(process.stdout.readline())
        with last.open("ab") as file:
            file.write(data[ends[-2] :])
        second = offsets(process.stdout.readline())
        assert second == [first[0] + 1]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    base = int.from_bytes(data[ends[-2] : ends[-2] + 8], "big")
    assert second == [base] and "interrupted" not in said and "Traceback" not in said


def test_text_shows_a_header_once_and_rows_as_they_come(
    transactions: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def sleep(_: float) -> None:
        looks.append(None)
        if len(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(tail.time, "sleep", sleep)
    log = transactions / "interleaved-0"
    result = run("dump", log, "--follow", "--tail", 2, "--columns", "offset")
    header, *rows = result.stdout.splitlines()
    assert header == "offset" and len(rows) == 2 and result.exit_code == 0
