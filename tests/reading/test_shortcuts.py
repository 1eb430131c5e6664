"""Splits and entries that are read in as few passes as possible."""

import random
import struct
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte import storage
from magicbyte.reading import resynchronize, split, walk
from magicbyte.tables import schemas
from random_log import write_random_log


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("isolation_level", ["read_committed", "read_uncommitted"])
def test_a_split_that_is_read_once_gives_the_same(
    seed: int, isolation_level: str, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_random_log(random.Random(seed), folder.log_dir())

    def read() -> tuple[list[Any], mb.Report]:
        dataset = mb.open(folder.path, on_damage="skip", isolation_level=isolation_level)
        rows = dataset.records(schemas.RECORDS.names, dispositions=schemas.DISPOSITIONS)
        return rows.to_pylist(), rows.report

    found = read()
    monkeypatch.setattr(split, "CHUNK", 0)
    assert found == read()


def test_a_split_with_transactions_is_read_once(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = build.transactional(0, 7, count=9) + build.control(build.ABORT, 9, 7)
    folder.log_dir().segment("t-0", data)
    dataset, asked = mb.open(folder.path, isolation_level="read_uncommitted"), []
    assert dataset.plan()[0].is_verified
    assert dataset.records(["outcome"]).to_table().num_rows == 9
    read_at = storage.LocalFile.read_at
    monkeypatch.setattr(
        storage.LocalFile,
        "read_at",
        lambda file, at, length: asked.append((at, length)) or read_at(file, at, length),
    )
    assert dataset.records(["outcome"]).to_table().to_pydict() == {"outcome": ["aborted"] * 9}
    assert [one for one in asked if one[1] == len(data)] == [(0, len(data))]


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("is_first", [True, False])
def test_where_a_damaged_size_leads_far_the_right_one_is_found_without_reading_that_far(
    is_first: bool, magic: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entry(offset: int) -> bytes:
        value = b"%099d" % offset
        if magic == 2:
            return bytes(build.batch([build.record(value)], offset))
        return bytes(build.message(value, offset, magic=magic))

    count = 200
    entries = [entry(offset) for offset in range(count)]
    damaged = 0 if is_first else 5
    far = 24_001  # in the middle of an entry
    entries[damaged] = entries[damaged][:8] + struct.pack(">i", far) + entries[damaged][12:]
    path = tmp_path / "t.log"
    path.write_bytes(b"".join(entries))

    def read() -> Any:
        rows = mb.open(path, on_damage="skip").records(["offset"])
        return rows.to_table().column("offset").to_pylist(), rows.report

    whole = read()
    position = sum(map(len, entries[:damaged]))
    told = [
        (one.position, one.field, one.found, one.expected)
        for one in whole[1].findings
        if one.code == "bad-size"
    ]
    assert told == [(position, "size", str(far), str(len(entries[damaged]) - 12))]
    monkeypatch.setattr(walk, "CHUNK", 1000)
    monkeypatch.setattr(resynchronize, "MAX_STEP", 700)
    monkeypatch.setattr(walk, "BLOCK_BYTES", 700)
    lengths = []
    read_at = storage.LocalFile.read_at

    def watched(file: storage.LocalFile, at: int, length: int) -> bytes:
        lengths.append(length)
        return read_at(file, at, length)

    monkeypatch.setattr(storage.LocalFile, "read_at", watched)
    assert read() == whole
    assert whole[0] == [offset for offset in range(count) if offset != damaged]
    assert max(lengths) < 5000, "more than a search asks for at first"
    assert sum(lengths) < 2.8 * path.stat().st_size, "two passes and a search"


@pytest.mark.parametrize("is_sound", [True, False])
def test_a_large_entry_in_front_of_garbage_is_judged_by_all_of_its_bytes(
    is_sound: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = build.batch([build.record(bytes(9000))], 1)
    entries = [build.batch(base=0), large, bytes(range(1, 99)), build.batch(base=2)]
    if not is_sound:
        entries[1] = large[:-1] + b"\1"
    path = tmp_path / "t.log"
    path.write_bytes(b"".join(entries))
    monkeypatch.setattr(walk, "CHUNK", 1000)
    rows = mb.open(path, on_damage="skip").records(["offset"])
    offsets = rows.to_table().column("offset").to_pylist()
    assert offsets == ([0, 1, 2] if is_sound else [0, 2])
    codes = [one.code for one in rows.report.findings if one.severity == "error"]
    assert ("checksum-mismatch" in codes) != is_sound
