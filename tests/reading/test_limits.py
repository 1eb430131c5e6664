"""Tests of limits in a whole read: memory, finding, and the rows around a batch over a limit."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
import read_bombs
import spend_on_bombs
from extent import WIDE
from magicbyte_tools.bench.bombs import BOMBS as BOMBS_OF_RECORDS
from paths import SCRIPT_ENVIRONMENT
from spend_on_bombs import BOMBS, LARGE, MAX_BATCH_BYTES

CODES_OF_BOMBS = {
    "records-count-too-high": ["bad-record-count"],
    "records-count-too-low": ["bytes-left-over"],
    "records-count-huge": ["bad-record-count"],
    "records-last-invalid": ["bad-record"],
    "uncompressed-last-invalid": ["bad-record"],
    "negative-lengths": ["negative-length"],
    "record-attributes": ["record-attributes"],
    "headers-count-too-high": ["bad-record"],
    "headers-count-too-low": ["bad-record"],
    "messages-last-wrong": ["record-checksum-mismatch"],
}
"""Codes of the findings about a bomb of many records or headers."""


def grown_bytes(name: str, folder: Path, limit: str, engine: str = "reference") -> tuple[int, int]:
    """Read a log with an entry over a limit; return (growth of memory, entry's size) in bytes.

    *limit* is ``"batch"`` or ``"entry"``. All other records are delivered.
    """
    done = subprocess.run(
        [sys.executable, spend_on_bombs.__file__, name, folder, engine],
        capture_output=True,
        timeout=100,
        env=SCRIPT_ENVIRONMENT,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    (finding,) = found["findings"]
    position, size = found["entry_position"], found["entry_bytes"]
    assert finding[:4] == [f"{limit}-over-limit", position, size, "error"]
    assert f"max_{limit}_bytes" in finding[4]
    assert found["offsets"] == [0, 1, 3, 4]
    assert found["bytes"]["over_limit"] == size
    return found["grown_bytes"], size


measured = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="measured by Linux's /proc"
)


@measured
@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize("name", BOMBS)
def test_bomb_in_a_log_ends_at_the_limit_in_little_memory(
    name: str, engine: str, tmp_path: Path
) -> None:
    grown, size = grown_bytes(name, tmp_path / "log", "batch", engine)
    assert grown <= 1.5 * MAX_BATCH_BYTES + size


MAX_BYTES_PER_PAYLOAD_BYTE = 64
"""What a batch within the limits may take, as docs/reading.md says."""

SLOW_BOMBS = ("records", "records-last-invalid", "headers", "headers-count-too-high", "messages")
"""Bombs that the reference engine reads in the tests, too."""


@measured
@pytest.mark.parametrize(
    ("engine", "kib", "names"),
    [
        ("auto", 4096 if WIDE else 1024, BOMBS_OF_RECORDS),
        ("columnar", 4096 if WIDE else 1024, SLOW_BOMBS),
        ("reference", 128, SLOW_BOMBS),
    ],
)
def test_a_batch_of_many_records_or_headers_takes_little_memory(
    engine: str, kib: int, names: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, read_bombs.__file__, engine, str(kib), *names],
        capture_output=True,
        timeout=300,
        env=SCRIPT_ENVIRONMENT,
        check=True,
    )
    growth: dict[str, Any] = json.loads(done.stdout)
    assert list(growth) == list(names)
    for name, (count, codes, bytes_per_byte) in growth.items():
        assert bytes_per_byte <= MAX_BYTES_PER_PAYLOAD_BYTE, name
        assert codes == CODES_OF_BOMBS.get(name, []), name
        is_sound = codes in ([], ["negative-length"], ["record-attributes"])
        assert (count > 0) == (is_sound and name != "control-records"), name


@measured
@pytest.mark.parametrize("name", LARGE)
def test_entry_over_the_limit_is_not_read_into_memory(name: str, tmp_path: Path) -> None:
    grown, _ = grown_bytes(name, tmp_path / "log", "entry")
    assert grown <= 1.5 * MAX_BATCH_BYTES


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_payload_of_the_limit_is_read_and_one_byte_more_is_not(codec: int, read: Any) -> None:
    content = build.record(bytes(1000))
    data = build.batch([build.record(b"a")]) + build.batch([content], 1, codec=codec)
    data += build.batch([build.record(b"z")], 2)
    got = read(data, limits=mb.Limits(max_batch_bytes=len(content)))
    assert len(got.values) == 3 and got.findings == []
    got = read(data, limits=mb.Limits(max_batch_bytes=len(content) - 1))
    assert got.values == [b"a", b"z"] and [code for code, _ in got.errors] == ["batch-over-limit"]
    (finding,) = (f for f in got.findings if f.code == "batch-over-limit")
    assert finding.expected == str(len(content) - 1)
    assert got.report.bytes["damaged"] == 0


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_wrapper_over_the_limit_costs_no_other_row(codec: int, read: Any) -> None:
    inner = build.message(bytes(1000))
    data = build.message(b"a") + build.wrapper([inner], 1, codec=codec) + build.message(b"z", 2)
    got = read(data, limits=mb.Limits(max_batch_bytes=len(inner) - 1))
    assert got.values == [b"a", b"z"] and [code for code, _ in got.errors] == ["batch-over-limit"]
    assert len(read(data, limits=mb.Limits(max_batch_bytes=len(inner))).values) == 3


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_entry_over_the_limit_costs_no_other_row(magic: int, read: Any) -> None:
    large = bytes(5000)
    batch = build.batch([build.record(large)], 1)
    entry = batch if magic == 2 else build.message(large, 1, magic=magic)
    first = build.batch([build.record(b"a")])
    data = first + entry + build.batch([build.record(b"z")], 2)
    assert len(read(data, limits=mb.Limits(max_entry_bytes=len(entry))).values) == 3
    got = read(data, limits=mb.Limits(max_entry_bytes=len(entry) - 1))
    assert got.values == [b"a", b"z"]
    assert got.errors == [("entry-over-limit", len(first))]
    assert got.report.bytes["over_limit"] == len(entry)
    rows = got.dataset.batches(["disposition", "crc_valid"]).to_pylist()
    assert [row["disposition"] for row in rows] == ["delivered", "over_limit", "delivered"]
    assert [row["crc_valid"] for row in rows] == [True, None, True]  # a large entry is not read


@pytest.mark.parametrize("setting", ["max_batch_bytes", "max_entry_bytes"])
def test_limit_error_names_its_setting(setting: str) -> None:
    entry = build.batch([build.record(bytes(5000))], codec=0 if "entry" in setting else 1)
    data = entry + build.batch(base=1)
    with pytest.raises(mb.LimitError) as caught:
        mb.from_bytes(data, limits=mb.Limits(**{setting: 1000})).records().to_table()
    error = caught.value
    assert (error.setting, error.limit, error.position) == (setting, 1000, 0)
    assert error.claimed > 1000 and setting in str(error)


def test_last_entry_over_the_limit_is_no_tail(read: Any) -> None:
    first = build.batch()
    got = read(
        first + build.batch([build.record(bytes(5000))], 1),
        limits=mb.Limits(max_entry_bytes=1000),
    )
    assert got.errors == [("entry-over-limit", len(first))]
    assert got.report.bytes["tail"] == 0


@pytest.mark.parametrize("value", [0, -1])
@pytest.mark.parametrize("setting", ["max_batch_bytes", "max_entry_bytes"])
def test_limit_below_one_is_refused(setting: str, value: int) -> None:
    with pytest.raises(ValueError, match=setting):
        mb.Limits(**{setting: value})
