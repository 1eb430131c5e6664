"""`magicbyte spec`: the formats, listed, printed, written."""

from pathlib import Path

from magicbyte import spec_files

from .conftest import Run, only_line


def paths() -> list[str]:
    """Return the files of all formats: those for Kaitai, then those of messages."""
    files = sorted(file.name for file in spec_files().iterdir())
    messages = sorted(file.name for file in (spec_files() / "messages").iterdir())
    return [name for name in files if name.endswith(".ksy")] + [
        f"messages/{name}" for name in messages if name.endswith(".yaml")
    ]


def test_every_format_is_listed_with_its_title(run: Run) -> None:
    result = run("spec")
    assert result.exit_code == 0
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert [name for name, _ in lines] == [Path(path).stem for path in paths()]
    assert dict(lines)["kafka_log"] == "Apache Kafka log segment"
    assert dict(lines)["consumer_offsets"] == "Records of __consumer_offsets"


def test_a_format_is_printed_as_it_is(run: Run) -> None:
    text = (spec_files() / "kafka_record_batch.ksy").read_bytes()
    for name in ("kafka_record_batch", "kafka_record_batch.ksy"):
        assert run("spec", name).stdout_bytes == text


def test_messages_are_printed_as_they_are(run: Run) -> None:
    text = (spec_files() / "messages" / "consumer_offsets.yaml").read_bytes()
    for name in ("consumer_offsets", "consumer_offsets.yaml"):
        assert run("spec", name).stdout_bytes == text


def test_an_unknown_format_is_status_2(run: Run) -> None:
    for name in ("kafka_novel", "kafka_log.yaml", "README", "messages/README.md"):
        result = run("spec", name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "kafka_record_batch" in only_line(result.stderr)


def test_all_formats_are_written_and_again_without_complaint(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert run("spec", "-o", folder).exit_code == 0
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.relative_to(folder).as_posix() for path in written) == sorted(paths())
    for name in paths():
        assert (folder / name).read_bytes() == spec_files().joinpath(*name.split("/")).read_bytes()
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


def test_where_messages_have_no_folder_nothing_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "messages").touch()
    result = run("spec", "-o", tmp_path)
    assert result.exit_code == 2
    assert only_line(result.stderr).startswith("Error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["messages"]


def test_a_folder_that_cannot_be_made_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("spec", "-o", tmp_path / "file" / "folder")
    assert result.exit_code == 2
    assert only_line(result.stderr).startswith("Error: ")
