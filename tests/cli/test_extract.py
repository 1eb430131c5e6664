"""`magicbyte extract`: the decompressed payload of one entry."""

import shutil
from pathlib import Path

import pytest

from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_records import KafkaRecords

from .conftest import Run, flip, only_line

SEGMENT = "00000000000000000000.log"


@pytest.fixture(scope="session")
def formats(logs: Path) -> Path:
    return logs / "2.8" / "formats" / "log-0"


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_batch_gives_records_that_their_format_opens(formats: Path, run: Run, codec: str) -> None:
    result = run("extract", f"{formats / f'v2-java-{codec}-0' / SEGMENT}@0")
    assert result.exit_code == 0
    assert len(KafkaRecords.from_bytes(result.stdout_bytes).records) > 0
    assert "kafka_records.ksy" in only_line(result.stderr)


@pytest.mark.parametrize("name", ["v0-java-gzip", "v0-java-lz4", "v1-java-snappy", "v1-java-lz4"])
def test_a_wrapper_gives_a_message_set_that_its_format_opens(
    formats: Path, run: Run, name: str
) -> None:
    result = run("extract", f"{formats / f'{name}-0' / SEGMENT}@0")
    assert result.exit_code == 0
    assert len(KafkaLog.from_bytes(result.stdout_bytes).entries) > 0
    assert "kafka_log.ksy" in only_line(result.stderr)


def test_a_message_that_is_not_compressed_has_no_payload(formats: Path, run: Run) -> None:
    result = run("extract", f"{formats / 'v1-java-none-0' / SEGMENT}@0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not compressed" in only_line(result.stderr)


def test_an_entry_in_the_middle_is_found_by_its_position(transactions: Path, run: Run) -> None:
    result = run("extract", f"{transactions / 'aborted-0' / '00000000000000000006.log'}@78")
    assert len(KafkaRecords.from_bytes(result.stdout_bytes).records) == 5


def test_a_wrong_crc_is_an_error_unless_told_otherwise(
    formats: Path, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / SEGMENT
    shutil.copy(formats / "v2-java-gzip-0" / SEGMENT, path)
    flip(path, 30)
    result = run("extract", f"{path}@0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert only_line(result.stderr).startswith(f"{path} byte 0: stored CRC-32C 0x")
    whole = run("extract", f"{formats / 'v2-java-gzip-0' / SEGMENT}@0")
    assert run("extract", f"{path}@0", "--no-check").stdout_bytes == whole.stdout_bytes


def test_bytes_that_are_no_entry_are_one_line_with_the_place(formats: Path, run: Run) -> None:
    path = formats / "v2-java-gzip-0" / SEGMENT
    result = run("extract", f"{path}@3")
    assert (result.exit_code, result.stdout) == (1, "")
    assert only_line(result.stderr).startswith(f"{path} byte 3: ")


def test_an_entry_that_the_file_cuts_is_one_line(formats: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    path.write_bytes((formats / "v2-java-gzip-0" / SEGMENT).read_bytes()[:100])
    result = run("extract", f"{path}@0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "100 bytes are left" in only_line(result.stderr)


@pytest.mark.parametrize(
    ("option", "setting"),
    [("--max-batch-bytes", "max_batch_bytes"), ("--max-entry-bytes", "max_entry_bytes")],
)
def test_an_entry_over_a_limit_names_it(formats: Path, run: Run, option: str, setting: str) -> None:
    result = run("extract", f"{formats / 'v2-java-gzip-0' / SEGMENT}@0", option, "16B")
    assert (result.exit_code, result.stdout) == (1, "")
    assert setting in only_line(result.stderr)


@pytest.mark.parametrize("place", ["", "@", "file", "file@", "@7", "file@-1", "file@x", "file@²"])
def test_a_place_that_is_none_is_status_2(run: Run, place: str) -> None:
    result = run("extract", place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "FILE@POSITION" in only_line(result.stderr)


def test_a_position_behind_the_file_and_a_missing_file_are_status_2(
    formats: Path, run: Run, tmp_path: Path
) -> None:
    for place in (
        f"{formats / 'v2-java-gzip-0' / SEGMENT}@{1 << 70}",
        f"{tmp_path / 'nothing.log'}@0",
        f"{tmp_path}@0",
    ):
        result = run("extract", place)
        assert (result.exit_code, result.stdout) == (2, "")
        only_line(result.stderr)


def test_the_output_is_whole_and_not_overwritten(formats: Path, run: Run, tmp_path: Path) -> None:
    place = f"{formats / 'v2-java-gzip-0' / SEGMENT}@0"
    out = tmp_path / "payload.bin"
    assert run("extract", place, "-o", out).exit_code == 0
    payload = run("extract", place).stdout_bytes
    assert out.read_bytes() == payload
    out.write_bytes(b"mine")
    result = run("extract", place, "-o", out)
    assert result.exit_code == 2 and "--overwrite" in only_line(result.stderr)
    assert out.read_bytes() == b"mine"
    assert run("extract", place, "-o", out, "--overwrite").exit_code == 0
    assert out.read_bytes() == payload
    assert list(tmp_path.iterdir()) == [out]


def test_a_failure_leaves_no_output(formats: Path, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "payload.bin"
    place = f"{formats / 'v2-java-gzip-0' / SEGMENT}@3"
    assert run("extract", place, "-o", out).exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_the_input_is_never_the_output(formats: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    shutil.copy(formats / "v2-java-gzip-0" / SEGMENT, path)
    before = path.read_bytes()
    assert run("extract", f"{path}@0", "-o", path, "--overwrite").exit_code == 2
    assert path.read_bytes() == before


def test_output_path_that_is_not_a_file_is_not_replaced(
    formats: Path, run: Run, tmp_path: Path
) -> None:
    place = f"{formats / 'v2-java-gzip-0' / SEGMENT}@0"
    for out in (tmp_path, tmp_path / "nothing" / "payload.bin"):
        result = run("extract", place, "-o", out, "--overwrite")
        assert result.exit_code == 2
        only_line(result.stderr)
