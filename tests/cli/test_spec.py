"""Tests of `magicbyte spec`, which lists, prints and writes the format specifications."""

import shutil
from pathlib import Path

import pytest

from magicbyte import spec_files

from .conftest import TRANSACTIONS, error_line, run


def paths() -> list[str]:
    """Return the paths of all format specifications: Kaitai's `.ksy` first, then `messages/`."""
    messages = [f"messages/{file.name}" for file in (spec_files() / "messages").iterdir()]
    names = [*(file.name for file in spec_files().iterdir()), *messages]
    return sorted(name for name in names if name.endswith((".ksy", ".yaml")))


def test_every_format_is_listed_with_its_title() -> None:
    result = run("spec")
    assert result.exit_code == 0
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert [name for name, _ in lines] == [Path(path).stem for path in paths()]
    assert dict(lines)["kafka_log"] == "Apache Kafka log segment"
    assert dict(lines)["consumer_offsets"] == "Records of __consumer_offsets"


@pytest.mark.parametrize("path", ["kafka_record_batch.ksy", "messages/consumer_offsets.yaml"])
def test_a_format_is_printed_as_it_is(path: str) -> None:
    for name in (Path(path).stem, Path(path).name):
        assert run("spec", name).stdout_bytes == (spec_files() / path).read_bytes()


def test_an_unknown_format_is_status_2() -> None:
    for name in ("kafka_novel", "kafka_log.yaml", "README", "messages/README.md"):
        assert "kafka_record_batch" in error_line("spec", name)


def test_all_formats_are_written_and_again_without_complaint(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert run("spec", "-o", folder).exit_code == 0
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.relative_to(folder).as_posix() for path in written) == sorted(paths())
    for name in paths():
        assert (folder / name).read_bytes() == spec_files().joinpath(*name.split("/")).read_bytes()
    again = run("spec", "-o", folder)
    assert (again.exit_code, again.stdout) == (0, "")


def test_a_file_that_differs_is_not_overwritten_and_nothing_is_written(tmp_path: Path) -> None:
    other = tmp_path / "kafka_varint.ksy"
    other.write_text("mine\n")
    assert "--overwrite" in error_line("spec", "-o", tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine\n"]
    assert run("spec", "-o", tmp_path, "--overwrite").exit_code == 0
    assert other.read_bytes() == (spec_files() / other.name).read_bytes()


def test_where_messages_have_no_folder_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "messages").touch()
    assert error_line("spec", "-o", tmp_path).startswith("Error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["messages"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    line = error_line("spec", "-o", tmp_path / "file" / "folder")
    assert line.startswith("Error: ")


def test_formats_are_not_written_into_a_log_dir_or_over_themselves(tmp_path: Path) -> None:
    log_dir = Path(shutil.copytree(TRANSACTIONS, tmp_path / "log-0"))
    (tmp_path / "messages").symlink_to(log_dir)
    for folder in (log_dir, log_dir / "aborted-0" / "x", tmp_path):
        assert "inside of the" in error_line("spec", "-o", folder)
    assert not list(tmp_path.rglob("*.ksy"))
    assert "the specification is read there" in error_line("spec", "-o", spec_files())
