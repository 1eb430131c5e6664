"""Tests of `magicbyte extract`: the decompressed payload of one log entry."""

import shutil
from pathlib import Path

import pytest

from file_damage import flip
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_records import KafkaRecords
from paths import DATA

from .conftest import TRANSACTIONS, error_line, only_line, run

SEGMENT = "00000000000000000000.log"
FORMATS = DATA / "2.8" / "formats" / "log-0"
GZIP = FORMATS / "v2-java-gzip-0" / SEGMENT


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_batch_gives_records_that_their_format_opens(codec: str) -> None:
    result = run("extract", f"{FORMATS / f'v2-java-{codec}-0' / SEGMENT}@0")
    assert result.exit_code == 0
    assert KafkaRecords.from_bytes(result.stdout_bytes).records
    assert "kafka_records.ksy" in only_line(result.stderr)


@pytest.mark.parametrize("name", ["v0-java-gzip", "v0-java-lz4", "v1-java-snappy", "v1-java-lz4"])
def test_a_wrapper_gives_a_message_set_that_its_format_opens(name: str) -> None:
    result = run("extract", f"{FORMATS / f'{name}-0' / SEGMENT}@0")
    assert result.exit_code == 0
    assert KafkaLog.from_bytes(result.stdout_bytes).entries
    assert "kafka_log.ksy" in only_line(result.stderr)


def test_a_message_that_is_not_compressed_has_no_payload() -> None:
    assert "not compressed" in error_line("extract", f"{FORMATS / 'v1-java-none-0' / SEGMENT}@0")


def test_an_entry_in_the_middle_is_found_by_its_position() -> None:
    result = run("extract", f"{TRANSACTIONS / 'aborted-0' / '00000000000000000006.log'}@78")
    assert len(KafkaRecords.from_bytes(result.stdout_bytes).records) == 5


def test_a_wrong_crc_is_an_error_unless_told_otherwise(tmp_path: Path) -> None:
    path = Path(shutil.copy(GZIP, tmp_path))
    flip(path, 30)
    line = error_line("extract", f"{path}@0", status=1)
    assert line.startswith(f"Error: {path} byte 0: stored CRC-32C 0x")
    whole = run("extract", f"{GZIP}@0")
    assert run("extract", f"{path}@0", "--no-check").stdout_bytes == whole.stdout_bytes


def test_bytes_that_are_no_entry_are_one_line_with_the_place() -> None:
    line = error_line("extract", f"{GZIP}@3", status=1)
    assert (
        "`magicbyte dump --table batches --columns file,position` prints where batches begin"
        in line
    )
    assert line.startswith(f"Error: {GZIP} byte 3: ")


def test_an_entry_that_the_file_cuts_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    path.write_bytes(GZIP.read_bytes()[:100])
    assert "100 bytes are left" in error_line("extract", f"{path}@0", status=1)


@pytest.mark.parametrize(
    ("option", "setting"),
    [("--max-batch-bytes", "max_batch_bytes"), ("--max-entry-bytes", "max_entry_bytes")],
)
def test_an_entry_over_a_limit_names_it(option: str, setting: str) -> None:
    assert setting in error_line("extract", f"{GZIP}@0", option, "16B", status=1)


@pytest.mark.parametrize(
    "place", ["", "@", "file", "file@", "@7", "file@-1", "file@x", "file@²", "file@" + "9" * 5000]
)
def test_a_place_that_is_none_is_status_2(place: str) -> None:
    assert "FILE@POSITION" in error_line("extract", place)


def test_a_position_behind_the_file_and_a_missing_file_are_status_2(tmp_path: Path) -> None:
    for place in (f"{GZIP}@{1 << 70}", f"{tmp_path / 'nothing.log'}@0", f"{tmp_path}@0"):
        assert error_line("extract", place)


def test_the_output_is_whole_and_not_overwritten(tmp_path: Path) -> None:
    place = f"{GZIP}@0"
    out = tmp_path / "payload.bin"
    assert run("extract", place, "-o", out).exit_code == 0
    payload = run("extract", place).stdout_bytes
    assert out.read_bytes() == payload
    out.write_bytes(b"mine")
    assert "--overwrite" in error_line("extract", place, "-o", out)
    assert out.read_bytes() == b"mine"
    assert run("extract", place, "-o", out, "--overwrite").exit_code == 0
    assert out.read_bytes() == payload
    assert list(tmp_path.iterdir()) == [out]


def test_a_failure_leaves_no_output(tmp_path: Path) -> None:
    assert run("extract", f"{GZIP}@3", "-o", tmp_path / "payload.bin").exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    path = Path(shutil.copy(GZIP, tmp_path))
    assert run("extract", f"{path}@0", "-o", path, "--overwrite").exit_code == 2
    assert path.read_bytes() == GZIP.read_bytes()


def test_output_path_that_is_not_a_file_is_not_replaced(tmp_path: Path) -> None:
    for out in (tmp_path, tmp_path / "nothing" / "payload.bin"):
        assert error_line("extract", f"{GZIP}@0", "-o", out, "--overwrite")


def test_nothing_is_written_beside_what_is_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TRANSACTIONS, tmp_path / "log-0")) / "aborted-0"
    target = f"{folder / SEGMENT}@0"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "link").symlink_to(folder)
    for out in (
        folder / "00000000000000000000.index",
        folder / "payload.bin",
        folder.parent / "payload.bin",
        tmp_path / "link" / "payload.bin",
    ):
        assert "inside of the" in error_line("extract", target, "-o", out, "--overwrite")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_position_with_thousands_of_digits_is_no_position() -> None:
    assert "FILE@POSITION" in error_line("extract", f"f@{'9' * 5000}")
