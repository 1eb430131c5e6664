"""Tests of `magicbyte kafka-dump-log` against the output of Kafka's own tool of six releases."""

import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from file_damage import flip
from log_builder import GZIP, TIME, batch, records
from magicbyte.kafka_release import NEWEST
from paths import DATA, shared

from .conftest import TRANSACTIONS, only_line, refusal, run

ORACLE = shared() / "dump-log"
WHERE = "no answers of kafka-dump-log beside the checkout (MAGICBYTE_SHARED)"

JAVA = "Snapshot failed schema validation", "Snapshot contained an unknown file version"
"""Messages of the tool that end with the text of a Java exception."""

SEGMENT = "00000000000000000010"

TOO_SMALL = "Error: Found record size 0 smaller than minimum record overhead (14) in file"


def dump_log(files: Path | str, *options: object) -> Result:
    return run("kafka-dump-log", *options, "--files", files)


def cases() -> Iterator[Any]:
    for path in sorted(ORACLE.glob("*/*/cmd.json")):
        case = json.loads(path.read_text())
        yield pytest.param(path.parent, case, id=f"{path.parent.parent.name}-{path.parent.name}")


@pytest.mark.skipif(not ORACLE.is_dir(), reason=WHERE)
@pytest.mark.parametrize(("folder", "case"), list(cases()))
def test_lines_and_status_are_the_tools(
    folder: Path, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = (ORACLE / "inputs" / case["input"]).resolve()
    monkeypatch.chdir(inputs)
    result = dump_log(case["files"], "--kafka-version", case["release"], *case["flags"])
    assert result.stdout_bytes == (folder / "stdout.txt").read_bytes()
    assert result.exit_code == case["exit"]
    complaint = folder / "stderr.txt"
    expected = complaint.read_text() if complaint.exists() else ""
    if case["exit"] or expected.startswith(JAVA):
        assert result.stderr
    else:
        assert result.stderr.replace(f"{inputs}/", "") == expected


@pytest.mark.skipif(not ORACLE.is_dir(), reason=WHERE)
def test_recorded_answers_include_both_exit_statuses() -> None:
    found = list(cases())
    assert len(found) > 500
    assert {case.values[1]["exit"] for case in found} == {0, 1}


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """Provide a copy of a segment and its indexes; the second batch begins at byte 78."""
    for path in (TRANSACTIONS / "open-1").glob(f"{SEGMENT}.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / f"{SEGMENT}.log"


def test_damage_ends_the_lines_where_the_tool_ends(segment: Path) -> None:
    size_to(segment, 0)
    result = dump_log(f"{segment},{segment.with_suffix('.txnindex')}")
    words = [line.split()[0] for line in result.stdout.splitlines()]
    assert words == ["Dumping", "Log", "baseOffset:"]
    assert result.exit_code == 1
    assert only_line(result.stderr) == f"{TOO_SMALL} {segment.name}"


def test_lines_go_on_behind_damage_if_asked_to(segment: Path) -> None:
    whole = dump_log(segment, "--deep-iteration").stdout.splitlines()
    size_to(segment, 0)
    index = segment.with_suffix(".txnindex")
    result = dump_log(f"{segment},{index}", "--deep-iteration", "--go-on")
    lines = result.stdout.splitlines()
    begin = next(number for number, line in enumerate(whole) if " lastOffset: 18 " in line)
    rest = next(number for number, line in enumerate(whole) if "baseOffset: 19 " in line)
    assert begin < rest
    told = lines.index(f"Dumping {index}")
    assert lines[:told] == whole[:begin] + whole[rest:]
    assert len(lines[told:]) == 4
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"{TOO_SMALL} {segment.name}",
        f"Non-consecutive offsets in {segment}",
        "  -1 is followed by 10",
        "  10 is followed by 19",
    ]


def test_damage_to_the_end_leaves_nothing_to_go_on_with(segment: Path) -> None:
    segment.write_bytes(segment.read_bytes()[:78] + bytes(100))
    result = dump_log(segment, "--go-on")
    assert len(result.stdout.splitlines()) == 3
    assert result.exit_code == 1


def size_to(path: Path, size: int) -> None:
    """Write *size* into the length field of the second batch of *path*."""
    with path.open("r+b") as file:
        file.seek(78 + 8)
        file.write(struct.pack(">i", size))


@pytest.mark.parametrize("package", ["kafka.serializer", "org.apache.kafka.tools.api"])
def test_keys_are_shown_as_asked(segment: Path, package: str) -> None:
    for name, form in (("StringDecoder", None), ("IntegerDecoder", ">i"), ("LongDecoder", ">q")):
        options = ("--max-bytes", 465, "--key-decoder-class", f"{package}.{name}")
        lines = dump_log(segment, "--print-data-log", *options).stdout.splitlines()
        (line,) = (line for line in lines if line.startswith("| offset: 17 "))
        shown = line.split(" key: ")[1].split(" payload: ")[0]
        text = "key-684974"
        assert shown == (str(*struct.unpack_from(form, text.encode())) if form else text)


def test_a_value_too_short_for_a_number_ends_the_lines(segment: Path) -> None:
    decoder = ("--value-decoder-class", "kafka.serializer.LongDecoder")
    result = dump_log(segment, "--print-data-log", *decoder)
    assert result.exit_code == 1
    assert only_line(result.stderr) == (
        "Error: byte 465: a key or value has 2 bytes; expected 8 for a number"
    )
    assert result.stdout.splitlines()[-1].endswith("headerKeys: []")  # the line ends before the key


def test_a_wrong_checksum_is_no_end(segment: Path) -> None:
    flip(segment, 78 + 17)
    result = dump_log(segment, "--deep-iteration")
    assert result.exit_code == 0
    words = [line.rsplit(" ", 1)[1] for line in result.stdout.splitlines() if "isvalid" in line]
    assert words.count("false") == 1
    assert words[1] == "false"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--kafka-version", "2.7", "Kafka release '2.7'; expected one of 2.8, 3.0, 3.1, "),
        ("--kafka-version", "4.5", "Kafka release '4.5'; expected one of 2.8, 3.0, 3.1, "),
        ("--kafka-version", "new", "Kafka release 'new'; expected one of 2.8, 3.0, 3.1, "),
        ("--value-decoder-class", "my.Decoder", "expected one of org.apache.kafka.tools.api."),
    ],
)
def test_unsupported_arguments_are_usage_errors(option: str, value: str, message: str) -> None:
    assert message in refusal("kafka-dump-log", "--files", "x.log", option, value)


def test_the_newest_known_release_is_the_default(segment: Path) -> None:
    newest = dump_log(segment, "--kafka-version", str(NEWEST)).stdout
    assert dump_log(segment).stdout == newest != ""


@pytest.mark.parametrize("codec", [0, GZIP])
@pytest.mark.parametrize(
    ("count", "printed", "status"),
    [(0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 3, 0), (4, 3, 1), (-1, 0, 1)],
)
def test_records_before_a_wrong_count_are_those_that_kafkas_iterator_returns(
    codec: int, count: int, printed: int, status: int, tmp_path: Path
) -> None:
    # With a count below 3 the iterator finds bytes left over before it returns the last counted
    # record. It reads all records of a compressed batch before it returns the first.
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(batch(records(3), count=count, last_delta=2, codec=codec) + batch(base=3))
    result = dump_log(path, "--deep-iteration")
    lines = [line for line in result.stdout.splitlines() if line.startswith("|")]
    expected = printed if codec == 0 or status == 0 else 0
    assert (len(lines), result.exit_code) == (expected + (status == 0), status)


def test_a_time_index_ends_at_the_entry_whose_batch_cannot_be_read(tmp_path: Path) -> None:
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(batch(records(3)) + batch(records(3), base=3, count=2, last_delta=2))
    log.with_suffix(".index").write_bytes(b"")
    times = log.with_suffix(".timeindex")
    times.write_bytes(struct.pack(">qiqi", TIME, 2, TIME + 1, 5))
    result = dump_log(times)
    assert result.stdout.splitlines()[1:] == [f"timestamp: {TIME} offset: 2"]
    assert result.exit_code == 1
    assert "bytes follow the last of 2 records" in only_line(result.stderr)


def test_zeros_of_a_preallocated_index_lead_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "busy-0"
    shutil.copytree(DATA / "4.3" / "killed" / "log-0" / "busy-0", folder)
    times = max(folder.glob("*.timeindex"), key=lambda path: path.stat().st_size)
    before = dump_log(times)
    assert before.stdout.count("\ntimestamp: ") == 3
    with times.with_suffix(".index").open("ab") as index:
        index.write(bytes(8 * 2000))
    after = dump_log(times)
    assert (after.stdout_bytes, after.exit_code) == (before.stdout_bytes, before.exit_code)
