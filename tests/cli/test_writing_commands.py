"""Tests of the commands that write logs: options, reports and exit statuses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import log_builder as build
import magicbyte as mb
from magicbyte_cli import main
from paths import DATA

SOURCE = str(DATA / "4.3" / "transactions" / "log-0")


def run(*arguments: str | Path, status: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.stdout, result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("rewrite",),
        ("convert", "--codec", "zstd:3"),
        ("salvage",),
        ("erase", "--key-pattern", "^k"),
        ("restore",),
    ],
    ids=lambda command: command[0],
)
def test_dry_run_prints_sizes_and_writes_nothing(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *options = command
    stdout, _ = run(name, SOURCE, "--topic", "open", *options, "--dry-run")
    assert stdout.splitlines()[-1].endswith("nothing was written")
    assert list(tmp_path.iterdir()) == []
    run(name, SOURCE, "--topic", "open", *options, "-o", tmp_path / "out")
    assert mb.verify(tmp_path / "out").is_sound


@pytest.mark.parametrize("command", ["rewrite", "salvage", "restore"])
def test_neither_output_nor_dry_run_is_a_usage_error(command: str) -> None:
    _, stderr = run(command, SOURCE, status=2)
    assert "name the folder to write: -o OUT" in stderr


def test_ndjson_report_has_a_line_per_partition_and_a_summary(tmp_path: Path) -> None:
    stdout, _ = run(
        "convert", SOURCE, "--topic", "open", "--codec", "lz4:9", "-o", tmp_path / "out",
        "--format", "ndjson",
    )  # fmt: skip
    rows = [json.loads(line) for line in stdout.splitlines()]
    assert [row["kind"] for row in rows] == ["partition", "partition", "summary"]
    assert rows[0]["comparison"]["compared"] == "payloads"
    assert rows[-1]["partitions"] == 2


def test_partition_that_cannot_be_written_has_status_1_and_a_reason(tmp_path: Path) -> None:
    build.Folder(tmp_path / "in").segment("t-0", build.message(b"v"))
    stdout, stderr = run(
        "convert", tmp_path / "in", "--codec", "zstd", "-o", tmp_path / "out", status=1
    )
    assert "t-0 was not written: zstd in format v1" in stderr
    assert "1 failed" in stdout


@pytest.mark.parametrize("codec", ["brotli", "zstd:high"])
def test_codec_that_does_not_exist_is_a_usage_error(codec: str) -> None:
    run("convert", SOURCE, "--codec", codec, "--dry-run", status=2)


def test_search_for_erased_records_has_status_1_if_there_is_one(tmp_path: Path) -> None:
    build.Folder(tmp_path / "in").segment("t-0", build.batch_of(0, b"v", key=b"user-1"))
    stdout, _ = run("erase", tmp_path / "in", "--key", "user-1", "--prove-absent", status=1)
    assert stdout == f"{tmp_path}/in/t-0: 1 record to erase, the first at offset 0\n"
    keys = tmp_path / "keys.txt"
    keys.write_text("user-2\nuser-3\n")
    _, stderr = run("erase", tmp_path / "in", "--keys-file", keys, "--prove-absent")
    assert stderr == "no record to erase in 1 log that could be searched\n"


def test_erasure_of_no_record_is_reported(tmp_path: Path) -> None:
    build.Folder(tmp_path / "in").segment("t-0", build.batch_of(0, b"v", key=b"user-1"))
    stdout, stderr = run("erase", tmp_path / "in", "--key", "User-1", "-o", tmp_path / "none")
    assert stdout.startswith("t-0: 75 B -> 75 B in 1 segment; every batch is copied\n")
    assert stderr == "no record was erased: in 1 partition, none is one of those to erase\n"
    for _ in range(2):  # the second run finds the partition written
        arguments = ("erase", tmp_path / "in", "--key", "user-1", "-o", tmp_path / "out")
        stdout, stderr = run(*arguments)
        assert "records erased: 1" in stdout and stderr == ""


def test_search_for_erased_records_has_status_2_if_something_cannot_be_searched(
    tmp_path: Path,
) -> None:
    log_dir = build.Folder(tmp_path / "in").log_dir()
    log_dir.segment("t-0", build.batch_of(0, b"v", key=b"user-1"))
    archive = tmp_path / "in" / "backup.tar.gz"
    archive.write_bytes(b"\x1f\x8b\x08" + bytes(30))
    arguments = ("erase", tmp_path / "in", "--prove-absent", "--format", "ndjson", "--key")
    stdout, stderr = run(*arguments, "user-2", status=2)
    (row,) = map(json.loads, stdout.splitlines())
    assert (row["kind"], row["path"]) == ("unsearched", str(archive))
    assert f"not searched: {archive}: " in stderr
    stdout, _ = run(*arguments, "user-1", status=1)  # it is certain that there is one
    assert [json.loads(line)["kind"] for line in stdout.splitlines()] == ["present", "unsearched"]


def test_commands_follow_the_report_of_a_restore(tmp_path: Path) -> None:
    stdout, _ = run("restore", SOURCE, "--topic", "offsets-only", "-o", tmp_path / "out")
    assert f"mv {tmp_path}/out/offsets-only-0 LOG_DIR/" in stdout
    assert (tmp_path / "out" / "group-offsets-1.csv").read_text() == "offsets-only,0,7\n"


def test_folder_that_the_target_has_already_is_an_error_after_a_restore(tmp_path: Path) -> None:
    _, stderr = run(
        "restore", SOURCE, "--topic", "offsets-only", "-o", tmp_path / "out",
        "--target-log-dir", SOURCE, status=1,
    )  # fmt: skip
    assert "[restore-folder-exists]" in stderr


def test_producer_ids_that_are_to_stay_are_no_error(tmp_path: Path) -> None:
    _, stderr = run(
        "restore",
        SOURCE,
        "--topic",
        "offsets-only",
        "-o",
        tmp_path / "out",
        "--producer-ids",
        "keep",
    )
    assert stderr == ""
