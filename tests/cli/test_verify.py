"""Tests of `magicbyte verify`: it prints findings, then partitions, then a summary."""

import os
import re
import shutil
from pathlib import Path

import pytest

from magicbyte.tables.schemas import TABLES

from .conftest import TRANSACTIONS, only_line, refusal, run, run_ndjson


def test_a_sound_partition_is_a_summary_and_status_0() -> None:
    result = run("verify", TRANSACTIONS / "aborted-0")
    assert result.exit_code == 0
    summary = "1 partition, 2 segments, 2,543 bytes, 49 records, 6 control records: no findings"
    assert (only_line(result.stdout), result.stderr) == (summary, "")


def test_a_flipped_byte_is_a_line_with_its_place_and_status_1(damaged: Path) -> None:
    result = run("verify", damaged)
    assert result.exit_code == 1
    printed = result.stdout.splitlines()
    number = next(n for n, line in enumerate(printed) if line.startswith("append-time-0 ["))
    head, problem = printed[number : number + 2]
    assert head.startswith("append-time-0 [unchanged-damaged]: ")
    assert re.fullmatch(
        r"  error checksum-mismatch: 00000000000000000000\.log byte 0: "
        r"stored CRC-32C 0x[0-9a-f]{8}, computed 0x[0-9a-f]{8}",
        problem,
    )
    summary = result.stdout.splitlines()[-2]
    assert summary.startswith("3 partitions, ") and "bytes damaged: 1 error" in summary


def test_ndjson_is_an_object_per_segment_partition_problem_and_a_summary(damaged: Path) -> None:
    objects = run_ndjson("verify", damaged, status=1)
    kinds = [item["kind"] for item in objects]
    assert list(dict.fromkeys(kinds)) == ["broker", "segment", "partition", "problem", "summary"]
    assert kinds.count("partition") == 3 and kinds.count("summary") == 1
    extra = {
        "segment": ["bytes_after_recovery"],
        "partition": [
            "log_end_offset_after_recovery",
            "offsets_lost",
            "lost_ranges",
            "recovery",
            "damaged_ranges",
        ],
    }
    for item in objects[:-1]:
        kind = item.pop("kind")
        if kind == "broker":
            assert (item["verdict"], item["reasons"]) == ("unknown", ["metadata-log-not-given"])
            continue
        names = [*TABLES[f"{kind}s"].names, *extra.get(kind, [])]
        assert set(item) == set(names)
    assert objects[-1]["errors"] == 1


def partition_lines(stdout: str) -> list[str]:
    """Return the printed lines after those about brokers."""
    printed = stdout.splitlines()
    return printed[printed.index("") + 1 :]


def test_predicted_startup_is_printed(tmp_path: Path) -> None:
    shutil.copytree(TRANSACTIONS / "aborted-0", tmp_path / "log-0" / "aborted-0")
    shutil.copy(TRANSACTIONS / "meta.properties", tmp_path / "log-0")
    name = f"{6:020}.log"
    with (tmp_path / "log-0" / "aborted-0" / name).open("r+b") as file:
        file.truncate(2000)
    result = run("verify", tmp_path)
    assert result.exit_code == 0
    assert partition_lines(result.stdout)[:2] == [
        "aborted-0 [recovered]: on startup the broker would recover this partition; no valid record is lost",
        f"  the broker would truncate {name} from 2000 to 1926 bytes: "
        "byte 1926: 74 bytes of a partial entry",
    ]
    result = run("verify", tmp_path, "--clean-shutdown")
    assert result.exit_code == 1
    assert partition_lines(result.stdout)[:2] == [
        "aborted-0 [unchanged-damaged]: on startup the broker would serve this partition as it is, "
        "although something in it is damaged or missing",
        f"  74 bytes of a partial batch would stay at the end of {name}: consumers get stuck there "
        "and cannot read records that are appended later",
    ]


def test_damaged_end_that_a_startup_removes_is_named_beside_the_verdict(tmp_path: Path) -> None:
    shutil.copytree(TRANSACTIONS / "aborted-0", tmp_path / "log-0" / "aborted-0")
    with (tmp_path / "log-0" / "aborted-0" / f"{6:020}.log").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    assert (
        "aborted-0 [recovered]: on startup the broker would recover this partition; no valid record is "
        "lost, and damaged bytes that held offsets 54 and later are removed"
    ) in run("verify", tmp_path).stdout.splitlines()


def test_quick_says_that_no_crc_was_checked(damaged: Path) -> None:
    result = run("verify", damaged, "--quick")
    assert result.exit_code == 0
    assert only_line(result.stdout).endswith("CRC not checked")


def test_only_the_wanted_topics_are_checked(damaged: Path) -> None:
    result = run("verify", damaged, "--topic", "aborted", "--topic", "timed-out")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith("2 partitions, ")


@pytest.mark.parametrize("form", ["text", "ndjson"])
def test_output_does_not_depend_on_the_number_of_processes(damaged: Path, form: str) -> None:
    read = ("verify", damaged, "--format", form, "--processes")
    one, other = (run(*read, number) for number in (1, 3))
    assert (other.stdout, other.stderr, other.exit_code) == (one.stdout, "", 1)


def test_a_call_without_a_path_is_wrong() -> None:
    refusal("verify")


def test_check_for_a_restore_says_first_how_many_partitions_a_cluster_takes() -> None:
    result = run("verify", TRANSACTIONS / "open-0", "--for-restore", "--retention-ms", "-1")
    assert result.exit_code == 1
    printed = result.stdout.splitlines()
    assert printed[0].startswith("a cluster would take 0 of 1 folder unchanged; ")
    assert any(
        line.startswith("  error restore-open-transaction: the transaction of producer 1001")
        for line in printed
    )
    assert any(line.startswith("  restore-leader-epoch: Set the leader epoch") for line in printed)


def test_check_for_a_restore_is_an_object_per_partition() -> None:
    objects = run_ndjson("verify", TRANSACTIONS / "open-0", "--for-restore", status=1)
    (row,) = [item for item in objects if item["kind"] == "restore"]
    assert (row["topic"], row["partition"], row["is_taken"]) == ("open", 0, False)
    assert row["open_transactions"] == 2


def test_target_of_a_restore_needs_the_check_for_one(tmp_path: Path) -> None:
    message = refusal("verify", TRANSACTIONS / "open-0", "--target-log-dir", tmp_path)
    assert "--target-log-dir needs --for-restore" in message
