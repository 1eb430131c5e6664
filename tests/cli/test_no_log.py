"""Paths that are no log: one line, status 2, nothing on stdout."""

import os
from pathlib import Path

import pytest

from .conftest import Run, only_line

IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


def empty_folder(place: Path) -> Path:
    return place


def folder_of_others(place: Path) -> Path:
    (place / "notes").mkdir()
    (place / "notes" / "a.txt").write_text("a\n")
    return place


def text_file(place: Path) -> Path:
    (place / "a.txt").write_text("topic,partition,offset\n" * 20)
    return place / "a.txt"


def image(place: Path) -> Path:
    (place / "a.png").write_bytes(IMAGE)
    return place / "a.png"


def empty_file(place: Path) -> Path:
    (place / "a.bin").touch()
    return place / "a.bin"


def missing_path(place: Path) -> Path:
    return place / "nothing"


def missing_path_with_a_newline(place: Path) -> Path:
    return place / "no\nthing\x1b[31m"


def device(place: Path) -> Path:
    return Path("/dev/null")


@pytest.mark.parametrize("verb", ["dump", "verify"])
@pytest.mark.parametrize(
    "made",
    [
        empty_folder,
        folder_of_others,
        text_file,
        image,
        empty_file,
        missing_path,
        missing_path_with_a_newline,
        device,
    ],
)
def test_a_path_that_is_no_log_is_one_line_and_status_2(
    run: Run, tmp_path: Path, verb: str, made: object
) -> None:
    assert callable(made)
    path = made(tmp_path)
    result = run(verb, path, "--format", "ndjson")
    assert (result.exit_code, result.stdout) == (2, "")
    line = only_line(result.stderr)
    assert line.startswith(f"Error: {str(path).encode('unicode_escape').decode()}: ")
    assert "; expected " in line


@pytest.mark.parametrize("verb", ["dump", "verify"])
def test_a_log_that_may_not_be_read_is_one_line_and_status_2(
    run: Run, tmp_path: Path, verb: str
) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bytes(100))
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read any file")
    result = run(verb, path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Permission denied" in only_line(result.stderr)


def test_a_wrong_path_beside_a_right_one_writes_nothing(
    run: Run, transactions: Path, tmp_path: Path
) -> None:
    result = run("dump", transactions / "aborted-0", tmp_path / "nothing")
    assert (result.exit_code, result.stdout) == (2, "")


def test_two_replicas_need_a_choice_to_be_dumped(run: Run, damaged: Path, tmp_path: Path) -> None:
    other = tmp_path / "log-1"
    other.mkdir()
    for file in damaged.iterdir():
        if file.is_file():
            (other / file.name).write_bytes(file.read_bytes())
    (other / "aborted-0").mkdir()
    for file in (damaged / "aborted-0").iterdir():
        (other / "aborted-0" / file.name).write_bytes(file.read_bytes())
    both = ("dump", damaged, other, "--topic", "aborted", "--format", "ndjson")
    result = run(*both)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "2 replicas of aborted-0" in only_line(result.stderr)
    assert run(*both, "--replica", other).exit_code == 0
    assert run("verify", damaged, other, "--topic", "aborted").exit_code == 0
