"""Tests of `verify` on offset and time indexes."""

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import magicbyte as mb
from magicbyte import Finding
from magicbyte.checksum import crc32c
from magicbyte.logdir.indexes import position_of, whole_rows
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading._index_check import _OffsetIndex
from magicbyte_formats.wire import OffsetIndexEntry
from paths import DATA

# Of 4.3's busy-0: a batch each 4 KiB or so has an entry in both indexes.
SOURCE = DATA / "4.3" / "killed" / "log-0"
TOPIC = "busy-0"

SIZES = {"index": 8, "timeindex": 12}
"""Bytes of an entry, by kind of index."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log_dir = tmp_path / "log-0"
    shutil.copytree(SOURCE / TOPIC, log_dir / TOPIC)
    shutil.copy(SOURCE / "meta.properties", log_dir)
    return log_dir / TOPIC


def said(folder: Path) -> list[Finding]:
    return [
        finding
        for finding in mb.verify(folder).findings
        if finding.code.startswith(("index-", "timeindex-"))
    ]


def index_of(folder: Path, kind: str) -> tuple[Path, bytearray]:
    """Return path and content of the first index of *kind* with at least four entries."""
    paths = sorted(folder.glob(f"*.{kind}"))
    path = next(path for path in paths if path.stat().st_size >= 4 * SIZES[kind])
    return path, bytearray(path.read_bytes())


def test_sound_indexes_are_sound(folder: Path) -> None:
    assert said(folder) == []


@pytest.mark.parametrize(
    ("kind", "at", "form", "change"),
    [
        ("index", 8, ">i", lambda offset: offset - 120),
        ("index", 12, ">i", lambda position: position + 1),
        ("index", 12, ">i", lambda position: position - 1),
        ("timeindex", 12, ">q", lambda time: time + 1),
        ("timeindex", 12, ">q", lambda time: time - 1),
    ],
)
def test_an_entry_that_is_wrong_is_found_at_its_byte(
    folder: Path, kind: str, at: int, form: str, change: Callable[[int], int]
) -> None:
    path, data = index_of(folder, kind)
    struct.pack_into(form, data, at, change(struct.unpack_from(form, data, at)[0]))
    path.write_bytes(data)
    (finding,) = said(folder)
    size = SIZES[kind]
    assert (finding.code, finding.severity) == (f"{kind}-mismatch", "warning")
    assert (finding.file, finding.position, finding.length) == (path.name, size, size)


def test_a_time_below_that_of_an_earlier_batch_is_wrong(folder: Path) -> None:
    """A batch has this time, but a search for a time between the two would miss the first batch."""
    path, _ = index_of(folder, "timeindex")
    log = path.with_suffix(".log")
    rows = mb.open(log).batches(["position", "last_offset", "max_timestamp"])
    first, second, *_ = rows.to_pylist()
    time = int(first["max_timestamp"].timestamp() * 1000)
    content = bytearray(log.read_bytes())
    struct.pack_into(">q", content, second["position"] + 35, time - 1)
    size = 12 + struct.unpack_from(">i", content, second["position"] + 8)[0]
    begin = second["position"] + 21
    checksum = crc32c(content[begin : second["position"] + size])
    struct.pack_into(">I", content, second["position"] + 17, checksum)
    log.write_bytes(content)
    path.write_bytes(struct.pack(">qi", time - 1, second["last_offset"] - int(path.stem)))
    (finding,) = said(folder)
    assert (finding.code, finding.position) == ("timeindex-mismatch", 0)


def test_entries_that_come_in_parts() -> None:
    numbers = np.array([10, 20, 30])
    for cut in range(1, 3):
        file = LogFile("", "", "index", 0, 16)
        index = _OffsetIndex(file, np.array([0, 200]), np.array([10, 10]))
        for part in (slice(0, cut), slice(cut, 3)):
            index.add(numbers[part] * 10 - 100, numbers[part])
        assert index.wrong == [1]


def test_an_entry_may_hold_the_offset_of_any_record_behind(folder: Path) -> None:
    """Kafka writes such an entry after an append of several batches; there is no finding."""
    path, data = index_of(folder, "index")
    first, second = (struct.unpack_from(">i", data, at)[0] for at in (0, 8))
    struct.pack_into(">i", data, 0, min(first + 1, second - 1))
    path.write_bytes(data)
    assert said(folder) == []


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_entries_beyond_the_log(folder: Path, kind: str) -> None:
    path, data = index_of(folder, kind)
    form, number = {"index": (">ii", 1 << 30), "timeindex": (">qi", 1 << 50)}[kind]
    path.write_bytes(trimmed(data, kind) + struct.pack(form, number, 1 << 30))
    (finding,) = said(folder)
    assert (finding.code, finding.position) == (f"{kind}-mismatch", len(trimmed(data, kind)))


def trimmed(data: bytearray, kind: str) -> bytes:
    """Return the index *data* without the zero entries at the end of a preallocated file."""
    size = SIZES[kind]
    entries = [bytes(data[at : at + size]) for at in range(0, len(data), size)]
    while entries and not any(entries[-1]):
        entries.pop()
    return b"".join(entries)


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_invalid_index_file_is_one_finding(folder: Path, kind: str) -> None:
    path, data = index_of(folder, kind)
    size = SIZES[kind]
    entries = trimmed(data, kind)
    path.write_bytes(entries[size : 2 * size] + entries[:size])
    (finding,) = said(folder)
    assert (finding.code, finding.file, finding.position) == (f"{kind}-invalid", path.name, size)
    path.write_bytes(entries + b"\1")
    (finding,) = said(folder)
    assert (finding.code, finding.position) == (f"{kind}-invalid", len(entries))


def test_index_entry_that_leads_into_damage_is_not_judged(folder: Path) -> None:
    path, data = index_of(folder, "index")
    position = struct.unpack_from(">i", data, 12)[0]
    log = path.with_suffix(".log")
    content = bytearray(log.read_bytes())
    content[position + 70] ^= 0xFF
    log.write_bytes(content)
    assert said(folder) == []


def test_a_partition_without_indexes(folder: Path) -> None:
    for path in [*folder.glob("*.index"), *folder.glob("*.timeindex")]:
        path.unlink()
    assert said(folder) == []


def offset_index(*entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(">ii", *entry) for entry in entries)


@pytest.mark.parametrize("num_entries", [1, 2, 1023, 1024, 1025, 1026, 5000])
def test_a_position_is_looked_up_below_the_offset(num_entries: int) -> None:
    entries = [(10 * n + 3, 100 * n + 7) for n in range(num_entries)]
    table = whole_rows(offset_index(*entries), OffsetIndexEntry)
    assert position_of(table, 2) == 0
    for n in {0, 1, num_entries // 2, num_entries - 1} - {num_entries}:
        at = 10 * n + 3
        found = [position_of(table, relative) for relative in (at, at + 1, at + 9)]
        assert found == [100 * n + 7] * 3


def test_a_position_is_looked_up_as_kafka_searches_where_offsets_go_back() -> None:
    # All before the last entries is searched only for an offset that is not above the first of them.
    table = whole_rows(offset_index((5, 50), (2, 20), (9, 90)) + b"half", OffsetIndexEntry)
    assert [position_of(table, relative) for relative in (4, 5, 6, 9)] == [0, 50, 20, 90]
    assert position_of(table[:0], 5) == 0
