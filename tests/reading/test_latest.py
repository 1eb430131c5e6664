"""Tests of `Dataset.latest`: the last record of each key, at an offset or at a time."""

import errno
import random
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from log_builder import Folder
from magicbyte.reading import _latest_offsets
from memory_growth import measured
from paths import DATA

COLUMNS = ("topic", "partition", "offset", "key", "value")


def naive_latest(dataset: mb.Dataset, *, tombstones: bool = False) -> list[dict[str, Any]]:
    """Return the same as `latest`, by a dict of all records."""
    by_key = {
        (row["topic"], row["partition"], row["key"]): row
        for row in dataset.records(COLUMNS).to_pylist()
        if row["key"] is not None
    }
    rows = [row for row in by_key.values() if tombstones or row["value"] is not None]
    return sorted(rows, key=lambda row: (row["topic"], row["partition"], row["offset"]))


def keyed(base: int, *records: tuple[bytes | None, bytes | None], **fields: Any) -> bytes:
    content = [build.record(value, key, delta=delta) for delta, (key, value) in enumerate(records)]
    return build.batch(content, base, **fields)


@pytest.mark.parametrize("cluster", ["4.3/compacted", "3.9/transactions", "2.8/formats"])
@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_latest_is_the_last_delivered_record_of_each_key(cluster: str, level: str) -> None:
    path = str(DATA / cluster / "log-0")
    dataset = mb.open(path, isolation_level=level, include_internal=True)
    assert dataset.latest(COLUMNS).to_pylist() == naive_latest(dataset)
    with_tombstones = dataset.latest(COLUMNS, tombstones=True).to_pylist()
    assert with_tombstones == naive_latest(dataset, tombstones=True)


def test_latest_at_an_offset_is_the_state_before_it(folder: Folder) -> None:
    content = keyed(0, (b"a", b"1"), (b"b", b"1"), (None, b"x"), (b"a", b"2"), (b"b", None))
    folder.segment("t-0", content)
    dataset = mb.open(str(folder))

    def state(offset: int | None, **options: Any) -> dict[bytes, Any]:
        rows = dataset.latest(["key", "value"], offset=offset, **options).to_pylist()
        return {row["key"]: row["value"] for row in rows}

    assert state(0) == {}
    assert state(1) == {b"a": b"1"}
    assert state(3) == {b"a": b"1", b"b": b"1"}
    assert state(4) == {b"a": b"2", b"b": b"1"}
    assert state(None) == state(99) == {b"a": b"2"}
    assert state(5, tombstones=True) == {b"a": b"2", b"b": None}


def test_latest_at_a_time_is_the_state_before_its_first_record(folder: Folder) -> None:
    content = keyed(0, (b"a", b"1")) + keyed(1, (b"a", b"2"), time=build.TIME + 10)
    folder.segment("t-0", content)
    dataset = mb.open(str(folder))
    for time, values in (
        (build.TIME, []),
        (build.TIME + 10, [b"1"]),
        (datetime.fromtimestamp(build.TIME / 1000 + 60, UTC), [b"2"]),
    ):
        assert [row["value"] for row in dataset.latest(["value"], time=time).to_pylist()] == values


def test_latest_never_reads_after_the_end_of_the_dataset(folder: Folder) -> None:
    folder.segment("t-0", keyed(0, (b"a", b"1"), (b"a", b"2"), (b"a", b"3")))
    dataset = mb.open(str(folder), offsets=(1, 2))
    for offset, offsets in ((None, [1]), (3, [1]), (1, []), (0, [])):
        rows = dataset.latest(["offset"], offset=offset).to_pylist()
        assert [row["offset"] for row in rows] == offsets


def test_same_keys_of_several_partitions_are_different_keys(folder: Folder) -> None:
    for partition in ("t-0", "t-1"):
        folder.segment(partition, keyed(0, (b"a", b"1"), (b"a", b"2")))
    assert mb.open(str(folder)).latest(["partition", "offset"]).to_pylist() == [
        {"partition": 0, "offset": 1},
        {"partition": 1, "offset": 1},
    ]


def test_latest_of_bytes_in_memory(tmp_path: Path) -> None:
    dataset = mb.from_bytes(keyed(0, (b"a", b"1"), (b"b" * 40, b"2"), (b"b" * 40, b"3")))
    rows = dataset.latest(["value"], offset=2).to_pylist()
    assert rows == [{"value": b"1"}, {"value": b"2"}]


def test_latest_reports_what_a_read_reports(folder: Folder) -> None:
    data = keyed(0, (b"a", b"1")) + keyed(1, (b"a", b"2"))
    folder.segment("t-0", data[:-1] + b"\xff" + keyed(2, (b"b", b"1")))
    rows = mb.open(str(folder), on_damage="skip").latest(["offset"])
    assert [row["offset"] for row in rows.to_pylist()] == [0, 2]
    assert [finding.code for finding in rows.report.findings] == ["checksum-mismatch"]


def drawn_keys(rng: random.Random, count: int) -> list[tuple[bytes | None, bytes | None]]:
    keys: list[bytes | None] = [None, b"", *(b"%d" % number for number in range(150)), b"k" * 40]
    values: list[bytes | None] = [None, b"", b"v"]
    return [(rng.choice(keys), rng.choice(values)) for _ in range(count)]


@pytest.mark.parametrize("memory_bytes", [0, 1_000, 10_000, 100_000])
def test_latest_is_the_same_in_little_memory(
    memory_bytes: int, folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rng, content, base = random.Random(memory_bytes), b"", 0
    for _ in range(40):
        drawn = drawn_keys(rng, rng.randrange(1, 20))
        content += keyed(base, *drawn)
        base += len(drawn) + rng.randrange(100)
    folder.segment("t-0", content)
    dataset = mb.open(str(folder))
    rows = dataset.latest(COLUMNS, memory_bytes=memory_bytes)
    assert rows.to_pylist() == rows.to_pylist() == naive_latest(dataset)
    next(iter(rows))  # a read that ends early leaves no files either
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("magicbyte-latest")]


def test_latest_says_that_the_temporary_folder_is_full(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(_latest_offsets.LatestOffsets, "_append", no_space)
    folder.segment("t-0", keyed(0, (b"a", b"1"), (b"b", b"2")))
    rows = mb.open(str(folder)).latest(["offset"], memory_bytes=0)
    with pytest.raises(mb.InputError, match=r"cannot be spilled: No space left.*TMPDIR"):
        rows.to_pylist()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
def test_memory_of_the_map_does_not_grow_with_the_number_of_keys() -> None:
    """A million different keys take 24 MB, and 150 MB while they are entered."""

    def enter(memory_bytes: int) -> int:
        with _latest_offsets.LatestOffsets(memory_bytes) as latest_offsets:
            for first in range(0, 1_000_000, 10_000):
                keys = pa.array([b"key-%d" % number for number in range(first, first + 10_000)])
                latest_offsets.put(keys, np.arange(first, first + 10_000))
            return int(latest_offsets.contain(np.arange(1_000_000)).sum())

    enter(1 << 20)  # imports and pools
    found, spent = measured(lambda: enter(8 << 20))
    assert found == 1_000_000
    assert spent["grown_bytes"] < 64 << 20
