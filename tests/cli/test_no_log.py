"""Tests of commands on paths without a log: one error line, status 2, nothing on stdout."""

import os
import shutil
from pathlib import Path

import pytest

from .conftest import error_line, refusal, run

IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Provide a folder of subfolders and files, none of which is a log."""
    for name in ("empty", "others/notes"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "others" / "notes" / "a.txt").write_text("a\n")
    (tmp_path / "a.txt").write_text("topic,partition,offset\n" * 20)
    (tmp_path / "a.png").write_bytes(IMAGE)
    (tmp_path / "a.bin").touch()
    return tmp_path


@pytest.mark.parametrize("verb", ["dump", "verify"])
@pytest.mark.parametrize(
    "name",
    ["empty", "others", "a.txt", "a.png", "a.bin", "absent", "no\nthing\x1b[31m", "/dev/null"],
)
def test_a_path_that_is_no_log_is_one_line_and_status_2(folder: Path, verb: str, name: str) -> None:
    path = folder / name
    line = error_line(verb, path, "--format", "ndjson")
    assert line.startswith(f"Error: {str(path).encode('unicode_escape').decode()}: ")
    assert "; expected " in line


@pytest.mark.parametrize("verb", ["dump", "verify"])
def test_a_log_that_may_not_be_read_is_one_line_and_status_2(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bytes(100))
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read any file")
    assert "Permission denied" in error_line(verb, path)


def test_wrong_paths_alone_write_nothing(tmp_path: Path) -> None:
    refusal("dump", tmp_path / "nothing", tmp_path / "nothing else")


def test_two_replicas_are_dumped_as_one(damaged: Path, tmp_path: Path) -> None:
    other = shutil.copytree(damaged, tmp_path / "log-1")
    both = ("dump", damaged, other, "--topic", "aborted", "--format", "ndjson")
    whole = run("dump", other, "--topic", "aborted", "--format", "ndjson").stdout
    assert run(*both).stdout == whole
    assert run(*both, "--replica", other, "--replica", damaged, "--no-fill").stdout == whole
    assert run("verify", damaged, other, "--topic", "aborted").exit_code == 0
