"""Tests of `magicbyte dump --tail` and `--follow`."""

import errno
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest

import log_builder as build
from io_faults import faulty_disk
from log_builder import Folder
from magicbyte.engines.entry import read_entry
from magicbyte_cli import tail

from .conftest import COMMAND, TRANSACTIONS, refusal, run, run_ndjson

LOG = TRANSACTIONS / "interleaved-0"


def offset(line: str) -> int:
    found: int = json.loads(line)["offset"]
    return found


def test_the_last_records_of_each_partition_are_shown() -> None:
    assert run_ndjson("dump", LOG, "--tail", 5) == run_ndjson("dump", LOG)[-5:]
    rows = run_ndjson("dump", TRANSACTIONS, "--tail", 1)
    partitions = [(row["topic"], row["partition"]) for row in rows]
    assert len(set(partitions)) == len(partitions) > 5
    assert run_ndjson("dump", LOG, "--tail", 0) == []


def test_the_last_records_are_of_those_that_are_wanted() -> None:
    where = ("--where-outcome", "aborted", "--disposition", "aborted,delivered")
    how = ("--isolation-level", "read_committed", *where)
    whole = run_ndjson("dump", LOG, *how)
    assert len(whole) > 4
    assert run_ndjson("dump", LOG, *how, "--tail", 4) == whole[-4:]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--table", "batches", "--tail", 3), "--follow apply to records, not to batches"),
        (("--table", "segments", "-F"), "--tail and --follow apply to records, not to segments"),
        (("-F", "--to-offset", 9), "--follow cannot be combined with --to-offset or --to-time"),
        (("-F", "--to-time", 9), "--follow cannot be combined with --to-offset or --to-time"),
    ],
)
def test_options_that_exclude_tail_and_follow_are_refused(
    options: tuple[object, ...], message: str
) -> None:
    assert message in refusal("dump", TRANSACTIONS, *options)


def test_following_ends_at_the_limit() -> None:
    rows = run_ndjson("dump", LOG, "--follow", "--tail", 9, "--limit", 3)
    assert rows == run_ndjson("dump", LOG, "--tail", 9)[:3]


def test_each_finding_is_said_once(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = damaged / "append-time-0"
    looks = []

    def sleep(_: float) -> None:
        looks.append(None)
        if len(looks) == 3:
            raise KeyboardInterrupt
        with (log / "00000000000000000000.log").open("ab") as file:
            file.write(b"\0" * 7)

    monkeypatch.setattr(tail, "sleep", sleep)
    result = run("dump", log, "--follow")
    assert len(looks) == 3
    assert result.exit_code == 1
    assert result.stderr.count("checksum-mismatch") == 1


def test_what_cannot_be_read_is_said_once_and_followed_past(
    damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = damaged / "timed-out-0"
    looks = []

    def sleep(_: float) -> None:
        looks.append(None)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(tail, "sleep", sleep)
    with faulty_disk() as disk:
        disk.blocks[str(log / "partition.metadata")] = {0}
        result = run("dump", log, "--follow")
    assert result.exit_code == 2 and len(looks) == 3
    assert result.stderr.count("partition.metadata cannot be read") == 1


def log_with_unreadable_end(folder: Folder) -> Path:
    """Write a log of two segments; return the second one."""
    folder.segment("t-0", b"".join(build.batch_of(offset, b"x") for offset in range(9)))
    data = b"".join(build.batch_of(offset, b"x") for offset in range(9, 20))
    return folder.segment("t-0", data, 9)


@pytest.mark.parametrize("number", [0, 3, 50])
def test_an_end_that_cannot_be_read_is_reported(folder: Folder, number: int) -> None:
    last = log_with_unreadable_end(folder)
    with faulty_disk() as disk:
        disk.unopened[str(last)] = errno.EIO
        result = run("dump", folder, "--tail", number, "--format", "ndjson")
        assert [offset(line) for line in result.stdout.splitlines()] == [*range(9)][9 - number :][
            :number
        ]
        assert result.exit_code == 2 and result.stderr.count("[unreadable]") == 1
        assert f"not shown: {last.stat().st_size:,} unreadable bytes" in result.stderr
        result = run("dump", folder, "--tail", number, "--on-damage", "fail")
        assert result.exit_code == 2 and "cannot be read" in result.stderr
        result = run("dump", folder, "--tail", 3, "--to-offset", 9, "--on-damage", "fail")
        assert result.exit_code == 0, result.stderr  # what is lost was not asked for


def test_an_end_that_cannot_be_read_is_reported_once_while_it_is_followed(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = log_with_unreadable_end(folder)
    sleep = Mock(side_effect=[None, None, KeyboardInterrupt])
    monkeypatch.setattr(tail, "sleep", sleep)
    with faulty_disk() as disk:
        disk.unopened[str(last)] = errno.EIO
        result = run("dump", folder, "--follow", "--tail", 2, "--format", "ndjson")
        assert [offset(line) for line in result.stdout.splitlines()] == [7, 8]
        assert result.exit_code == 2 and result.stderr.count("[unreadable]") == 1
        result = run("dump", folder, "--follow", "--on-damage", "fail")
        assert result.exit_code == 2 and "cannot be read" in result.stderr


def test_follow_prints_appended_records_until_interrupted(tmp_path: Path) -> None:
    log = Path(shutil.copytree(LOG, tmp_path / LOG.name))
    last = sorted(log.glob("*.log"))[-1]
    data = last.read_bytes()
    ends = [0]
    while ends[-1] < len(data):
        ends.append(read_entry(data, ends[-1]).end)
    assert len(ends) > 3
    last.write_bytes(data[: ends[-2]])
    arguments = ["dump", str(log), "-F", "--tail", "1", "--format", "ndjson"]
    arguments += ["--isolation-level", "read_uncommitted"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--disposition", "delivered,control"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        # A shell's background job ignores an interrupt, and its child processes inherit this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    try:
        first = offset(process.stdout.readline())
        with last.open("ab") as file:
            file.write(data[ends[-2] :])
        second = offset(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert second == first + 1 == read_entry(data, ends[-2]).base_offset
    assert "interrupted" not in said and "Traceback" not in said


def test_text_shows_a_header_once_and_rows_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "sleep", Mock(side_effect=[None, KeyboardInterrupt]))
    result = run("dump", LOG, "--follow", "--tail", 2, "--columns", "offset")
    header, *rows = result.stdout.splitlines()
    assert header == "offset" and len(rows) == 2 and result.exit_code == 0
