"""Tests of the programs in the parsers' folders that print records, run as a user runs them.

Python's runs on what is installed here. Those of other languages are tested where `make parsers-check` built
them before: to build them, libraries have to be downloaded.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest

import magicbyte as mb
from extent import WIDE
from log_builder import message
from magicbyte_tools.parsers import ToolchainUnavailable, check
from magicbyte_tools.parsers.examples import EXAMPLES, example
from paths import DATA

Row = dict[str, Any]

REAL = {
    "v2": DATA / "3.9/transactions/log-0/open-1/00000000000000000073.log",
    "markers": DATA / "3.9/transactions/log-0/open-1/00000000000000000076.log",
    "zstd": DATA / "2.8/formats/log-0/v2-java-zstd-0/00000000000000000000.log",
    "wrapped": DATA / "2.8/formats/log-0/v1-java-gzip-0/00000000000000000000.log",
    "lz4 of v0": DATA / "2.8/formats/log-0/v0-java-lz4-0/00000000000000000000.log",
}


@pytest.fixture(params=sorted(EXAMPLES))
def command(request: pytest.FixtureRequest) -> list[str]:
    """Provide the command of a language's program; skip where it is not built."""
    try:
        return example(request.param, offline=True)
    except ToolchainUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder for segments that a test builds."""
    return tmp_path_factory.mktemp("segments")


def ours(data: bytes) -> list[Row]:
    return check.rows(pa.table(mb.from_bytes(data).records(columns=[*check.COLUMNS])))


def printed(command: list[str], path: Path, status: int = 0) -> tuple[list[Row], str]:
    """Return the lines that the program prints of the file *path*, and what it prints on stderr."""
    done = subprocess.run([*command, str(path)], capture_output=True)
    errors = done.stderr.decode()
    assert done.returncode == status, errors
    return [json.loads(line) for line in done.stdout.decode().splitlines()], errors


def test_records_of_vectors_are_right_and_faults_are_found(command: list[str]) -> None:
    samples = list(check.vectors())
    assert len(samples) > 350
    answers = check.answers(command, samples)
    faults = [check.fault(sample, answer) for sample, answer in zip(samples, answers, strict=True)]
    assert [fault for fault in faults if fault] == []


@pytest.mark.skipif(not WIDE, reason="MAGICBYTE_WIDE=1 reads all test data")
def test_records_of_real_segments_are_right(command: list[str]) -> None:
    samples = list(check.segments([DATA]))
    assert sum(len(sample.records) for sample in samples) > 10_000
    answers = check.answers(command, samples)
    faults = [check.fault(sample, answer) for sample, answer in zip(samples, answers, strict=True)]
    assert [fault for fault in faults if fault] == []


def test_segments_of_brokers_print_a_line_per_record(command: list[str]) -> None:
    for path in REAL.values():
        rows, _ = printed(command, path)
        assert [row for row in rows if "control_type" not in row] == ours(path.read_bytes())


def test_control_records_are_printed_with_their_type(command: list[str]) -> None:
    rows, _ = printed(command, REAL["markers"])
    batches = pa.table(mb.open(REAL["markers"]).batches(columns=["is_control", "record_count"]))
    markers = sum(row["record_count"] for row in batches.to_pylist() if row["is_control"])
    types = [row["control_type"] for row in rows if "control_type" in row]
    assert len(types) == markers > 0 and {*types} <= {0, 1}


def test_the_end_of_a_file_is_no_problem(command: list[str], folder: Path) -> None:
    data = REAL["v2"].read_bytes()
    for name, end in {
        "cut": message(b"k", 3)[:-1],
        "zeros": bytes(100),
        "short": b"\0" * 5,
    }.items():
        (folder / name).write_bytes(data + end)
        rows, errors = printed(command, folder / name)
        assert rows == printed(command, REAL["v2"])[0] and not errors


def test_entries_after_a_damaged_one_are_read(command: list[str], folder: Path) -> None:
    entries = [message(b"value %d" % offset, offset, magic=1) for offset in range(4)]
    entries[1] = entries[1][:-1] + b"\xff"  # wrong checksum
    entries[2] = entries[2][:16] + b"\x25" + entries[2][17:]  # magic 37
    (folder / "damaged").write_bytes(b"".join(entries))
    rows, errors = printed(command, folder / "damaged", status=1)
    assert [row["offset"] for row in rows] == ["0", "3"]
    first, second = errors.splitlines()
    assert f"at byte {len(entries[0])}: " in first and "checksum" in first
    assert f"at byte {len(entries[0] + entries[1])}: " in second and "magic 37" in second


@pytest.mark.skipif(not shutil.which("prlimit"), reason="prlimit is on Linux alone")
@pytest.mark.parametrize("command", ["cpp_stl", "php", "python", "rust"], indirect=True)
def test_what_bytes_state_reserves_no_memory(command: list[str], folder: Path) -> None:
    """A key of 2 GiB, a payload of 4 GiB and 2 billion records, in a few bytes with right checksums.

    The runtimes of the other languages reserve more addresses than this when they start.
    """
    key = bytearray(message(b"value", 0, magic=1))
    key[26:30] = b"\x7f\xff\xff\xff"
    key[12:16] = crc32(key[16:]).to_bytes(4, "big")
    (folder / "key").write_bytes(key)
    names = ["v2-snappy-raw-claims-4-gib", "v2-record-count-largest-int32"]
    paths = [check.VECTORS / "invalid" / "kafka_log" / f"{name}.bin" for name in names]
    for path in [folder / "key", *paths]:
        limited = ["prlimit", f"--as={1 << 30}", *command]
        _, errors = printed(limited, path, status=1)
        assert "memory" not in errors.lower() and "alloc" not in errors.lower(), path


def test_python_takes_other_functions_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    script = example("python")[1]
    monkeypatch.syspath_prepend(str(Path(script).parent))
    from kafka_formats.codecs import CODECS  # type: ignore[import-not-found]
    from kafka_formats.reader import read_log  # type: ignore[import-not-found]

    with REAL["zstd"].open("rb") as file:
        asked = []

        def zstd(data: bytes, magic: int, limit: int) -> bytes:
            asked.append((magic, limit))
            return bytes(CODECS[4](data, magic, limit))

        entries = list(read_log(file, decompress={4: zstd}, max_batch_bytes=5000))
        assert asked and {*asked} == {(2, 5000)} and entries[0].records
        for options, problem in (
            ({"max_batch_bytes": 10}, "more than 10 bytes"),
            ({"max_entry_bytes": 10}, "the limit is 10"),
            ({"decompress": {}}, "codec 4 in magic 2"),
        ):
            entry = next(read_log(file, **options))
            assert (entry.kind, entry.records) == ("damaged", []) and problem in entry.problem


def test_check_ends_with_a_table_of_logs_and_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged log is counted and not compared, one about to be deleted is; a difference is named."""
    for name, data in {
        "00000000000000000000.log": REAL["zstd"].read_bytes(),
        "00000000000000000073.log.deleted": REAL["v2"].read_bytes(),
        "00000000000000000099.log": REAL["v2"].read_bytes()[:-1] + b"\xff",
        "leader-epoch-checkpoint": b"0\n0\n",
    }.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(check, "vectors", lambda: iter([check.Sample(REAL["v2"], [], True)]))
    expected = len(ours(REAL["zstd"].read_bytes())) + len(ours(REAL["v2"].read_bytes()))
    assert check.main(["python", "--logs", str(tmp_path)]) == 1
    difference, headings, line, left_out = capsys.readouterr().out.splitlines()
    assert difference.startswith(f"python: {REAL['v2']}: ")
    assert headings.split() == [*check.HEADINGS]
    target, logs, records, _, vectors, of_vectors, _, differ = line.split()
    assert (target, logs, records, differ) == ("python", "2", f"{expected:,}", "1")
    assert (vectors, of_vectors) == ("1", "0") and left_out.startswith("1 more file ")


def test_other_languages_are_not_built_by_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("magicbyte_tools.parsers.examples.BUILDS", tmp_path)
    with pytest.raises(ToolchainUnavailable, match="make parsers-check TARGET=go"):
        example("go", offline=True)
