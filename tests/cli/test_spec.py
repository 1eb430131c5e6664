"""`magicbyte spec`: the formats, listed, printed, written."""

from pathlib import Path

from magicbyte import spec_files

from .conftest import Run, only_line


def names() -> list[str]:
    files = (file.name for file in spec_files().iterdir())
    return sorted(name.removesuffix(".ksy") for name in files if name.endswith(".ksy"))


def test_every_format_is_listed_with_its_title(run: Run) -> None:
    result = run("spec")
    assert result.exit_code == 0
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert [name for name, _ in lines] == names()
    assert dict(lines)["kafka_log"] == "Apache Kafka log segment"


def test_a_format_is_printed_as_it_is(run: Run) -> None:
    text = (spec_files() / "kafka_record_batch.ksy").read_bytes()
    for name in ("kafka_record_batch", "kafka_record_batch.ksy"):
        assert run("spec", name).stdout_bytes == text


def test_an_unknown_format_is_status_2(run: Run) -> None:
    result = run("spec", "kafka_novel")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "kafka_record_batch" in only_line(result.stderr)


def test_all_formats_are_written_and_again_without_complaint(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert run("spec", "-o", folder).exit_code == 0
    assert sorted(path.stem for path in folder.iterdir()) == names()
    for path in folder.iterdir():
        assert path.read_bytes() == (spec_files() / path.name).read_bytes()
    again = run("spec", "-o", folder)
    assert (again.exit_code, again.stdout) == (0, "")


def test_a_file_that_differs_is_not_overwritten_and_nothing_is_written(
    run: Run, tmp_path: Path
) -> None:
    other = tmp_path / "kafka_varint.ksy"
    other.write_text("mine\n")
    result = run("spec", "-o", tmp_path)
    assert result.exit_code == 2
    assert "--overwrite" in only_line(result.stderr)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine\n"]
    assert run("spec", "-o", tmp_path, "--overwrite").exit_code == 0
    assert other.read_bytes() == (spec_files() / other.name).read_bytes()


def test_a_folder_that_cannot_be_made_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("spec", "-o", tmp_path / "file" / "folder")
    assert result.exit_code == 2
    assert only_line(result.stderr).startswith("Error: ")
