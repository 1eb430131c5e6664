"""Tests of commands that get several replicas of a partition."""

import shutil
from pathlib import Path

import pytest

from file_damage import flip

from .conftest import TRANSACTIONS, run, run_ndjson

SEGMENT = f"{0:020}.log"


@pytest.fixture
def brokers(tmp_path: Path) -> list[Path]:
    """Copies of a log.dir with a partition each in two; in each, a batch of another one is damaged."""
    copies = []
    for number, damaged in enumerate(["append-time-0", "timed-out-0"]):
        log_dir = tmp_path / f"broker-{number}"
        for name in ("append-time-0", "timed-out-0"):
            shutil.copytree(TRANSACTIONS / name, log_dir / name)
        shutil.copy(TRANSACTIONS / "meta.properties", log_dir)
        flip(sorted((log_dir / damaged).glob("*.log"))[0], 70)
        copies.append(log_dir)
    return copies


def test_replicas_are_dumped_and_exported_as_one_log(brokers: list[Path], tmp_path: Path) -> None:
    topics = ("--topic", "append-time", "--topic", "timed-out")
    whole = run("dump", TRANSACTIONS, *topics)
    result = run("dump", *brokers, *topics)
    assert (result.stdout, result.exit_code) == (whole.stdout, 0)
    assert "[range-filled]" in result.stderr and " damaged)" not in result.stderr
    for verb in ("stats", "transactions"):
        assert run(verb, *brokers).exit_code in (0, 1)
    out = tmp_path / "out.parquet"
    assert run("export", *brokers, "-o", out, "--on-damage", "fail").exit_code == 0


def test_a_replica_can_be_read_as_it_is(brokers: list[Path]) -> None:
    for number, topic in enumerate(["append-time", "timed-out"]):
        how = ("--topic", topic, "--replica", brokers[number], "--replica", brokers[1 - number])
        result = run("dump", *brokers, *how, "--no-fill")
        assert result.exit_code == 1
        assert f"{brokers[number]}/{topic}-0/" in result.stderr
        assert run("dump", *brokers, *how).exit_code == 0


def test_the_table_of_replicas_says_what_is_read_from_each(brokers: list[Path]) -> None:
    rows = run_ndjson("dump", *brokers, "--table", "replicas", "--replica", brokers[0])
    found = [(row["topic"], row["rank"], row["log_dir"], row["filled_ranges"]) for row in rows]
    first, second = map(str, brokers)
    assert found == [
        ("append-time", 1, first, 0),
        ("append-time", 2, second, 1),
        ("timed-out", 1, first, 0),
        ("timed-out", 2, second, 0),
    ]


def test_verify_says_what_a_read_would_fill(brokers: list[Path]) -> None:
    objects = run_ndjson("verify", *brokers, status=1)
    codes = [one["code"] for one in objects if one["kind"] == "problem"]
    assert codes.count("replica-chosen") == 2 and codes.count("checksum-mismatch") == 2
    assert all(one["replica"] in map(str, brokers) for one in objects if one["kind"] == "problem")
    assert [one["rank"] for one in objects if one["kind"] == "replica"] == [1, 2, 1, 2]
    verdicts = {
        (one["topic"], one["log_dir"]): one["verdict"]
        for one in objects
        if one["kind"] == "partition"
    }
    first, second = map(str, brokers)
    assert verdicts["append-time", second] == verdicts["timed-out", first] == "intact"
    assert verdicts["append-time", first] != "intact" != verdicts["timed-out", second]


def test_an_end_that_another_replica_has_lost_is_an_error_of_every_command(
    tmp_path: Path,
) -> None:
    log_dirs = [tmp_path / name for name in ("broker-0", "broker-1")]
    last = sorted((TRANSACTIONS / "append-time-0").glob("*.log"))[-1]
    for log_dir in log_dirs:
        shutil.copytree(TRANSACTIONS / "append-time-0", log_dir / "append-time-0")
    with (log_dirs[1] / "append-time-0" / last.name).open("ab") as file:
        file.write(b"\x55" * 100)
    for command in (("dump",), ("export", "-o", tmp_path / "out.parquet"), ("verify",)):
        verb, *options = command
        result = run(verb, *log_dirs, *options)
        assert result.exit_code == 1
        lines = [line for line in result.output.splitlines() if "which no replica gives" in line]
        assert len(lines) == 1 and "offsets from 97 on" in lines[0]
        assert f"{last.name} byte {last.stat().st_size}" in lines[0]
