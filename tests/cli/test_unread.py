"""Tests of commands on paths of which some are not read: the rest is shown, and what is missing is said."""

from pathlib import Path

import pytest

import log_builder as build
from log_builder import Folder

from .conftest import error_line, run, run_ndjson

ID = "0123456789abcdef" * 2
VERBS = ("dump", "transactions", "stats", "verify")


@pytest.fixture
def log_dir(tmp_path: Path) -> Folder:
    log_dir = Folder(tmp_path / "data").log_dir()
    log_dir.segment("t-0", build.batch())
    return log_dir


def test_topic_of_a_deleted_folder_is_an_error_that_names_the_folder(log_dir: Folder) -> None:
    log_dir.segment(f"gone-0.{ID}-delete", build.batch())
    line = error_line("dump", log_dir, "--topic", "gone")
    assert f"gone-0.{ID}-delete" in line and "no broker serves" in line
    named = run_ndjson("dump", log_dir.path / f"gone-0.{ID}-delete")
    assert [row["topic"] for row in named] == ["gone"]


@pytest.mark.parametrize("verb", VERBS[:3])
def test_what_may_hold_records_is_said_on_stderr(verb: str, log_dir: Folder) -> None:
    path = log_dir.segment(f"gone-0.{ID}-stray", build.batch())
    (log_dir.path / "notes.txt").write_text("a")
    result = run(verb, log_dir)
    assert result.exit_code == 0
    assert f"not read: {path.parent}: " in result.stderr and "[stray]" in result.stderr
    assert "1 more path (1 foreign-file); magicbyte verify lists them" in result.stderr


def test_verify_has_an_object_for_each_unread_path(log_dir: Folder) -> None:
    path = log_dir.segment(f"gone-0.{ID}-stray", build.batch())
    (log_dir.path / "lost+found").mkdir()
    found = [row for row in run_ndjson("verify", log_dir, status=1) if row["kind"] == "unread"]
    assert [(row["path"], row["why"]) for row in found] == [
        (str(path.parent), "stray"),
        (str(log_dir.path / "lost+found"), "foreign-folder"),
    ]
    assert found[0]["size_bytes"] == path.stat().st_size
    assert all(row["reason"] for row in found)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["absent", "notes.txt", "empty"])
def test_wrong_path_beside_a_right_one_does_not_stop_the_right_one(
    verb: str, name: str, log_dir: Folder, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("a")
    alone = run(verb, log_dir, "--format", "ndjson").stdout
    both = run(verb, log_dir, tmp_path / name, "--format", "ndjson")
    assert both.exit_code == 2
    assert _without_brokers(both.stdout) == _without_brokers(alone)
    assert str(tmp_path / name) in both.stderr + both.stdout


def _without_brokers(stdout: str) -> list[str]:
    """Return the lines of NDJSON about files and partitions: a wrong path may be a broker's failed disk."""
    marks = tuple(f'{{"kind":"{kind}"' for kind in ("unread", "broker", "problem", "summary"))
    return [line for line in stdout.splitlines() if not line.startswith(marks)]


def test_wrong_path_raises_where_damage_does(log_dir: Folder, tmp_path: Path) -> None:
    result = run("dump", log_dir, tmp_path / "absent", "--on-damage", "fail")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("verb", VERBS)
def test_empty_path_is_an_error(verb: str) -> None:
    assert "empty path" in error_line(verb, "")


def test_search_prints_the_records_of_a_disk_image(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    path.write_bytes(bytes(3000) + build.batch() + b"\1" * 99 + build.batch(base=7))
    rows = run_ndjson("dump", path, "--search", "--columns", "offset,file,position")
    assert sorted(row["offset"] for row in rows) == [0, 7]
    assert {row["file"].partition("@")[0] for row in rows} == {"disk.img"}
    assert "byte 3000" in run("dump", path, "--search").stderr
