"""Tests of the simulated store: any range of its files is right, and they are what a broker writes."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.limits import MIB
from magicbyte_tools.bench import scale, simulated_store
from magicbyte_tools.bench.simulated_store import ROOT, SimulatedFileSystem
from paths import CHECKOUT


@pytest.fixture(scope="module")
def system() -> SimulatedFileSystem:
    return SimulatedFileSystem(num_partitions=2, num_segments=3, segment_bytes=200_000)


@pytest.fixture(scope="module")
def log_dir(system: SimulatedFileSystem, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of the store, on a disk."""
    folder = tmp_path_factory.mktemp("disk")
    for path in files(system):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(system.open(path).read())
    return folder / ROOT


def files(system: SimulatedFileSystem) -> Iterator[str]:
    for path, item in system.find("logs").items():
        if item["type"] == "file":
            yield path


def test_any_range_is_that_of_the_whole_file(system: SimulatedFileSystem) -> None:
    chance = random.Random(3)
    for path in files(system):
        whole = system.open(path).read()
        assert len(whole) == system.info(path)["size"], path
        for _ in range(20):
            start, end = sorted(chance.randrange(len(whole) + 1) for _ in range(2))
            file = system.open(path)
            file.seek(start)
            assert file.read(end - start) == whole[start:end], path


def test_a_listing_of_everything_has_the_items_of_each_folder(system: SimulatedFileSystem) -> None:
    below: dict[str, Any] = {}
    folders = ["logs"]
    for folder in folders:
        items = system.find(folder, maxdepth=1)
        folders += [path for path, item in items.items() if item["type"] == "directory"]
        below |= items
    assert below == system.find("logs")
    assert len(below) == 1 + len(system.log_dir) + 2 * (1 + 4 * 3 + 2)


def test_its_files_are_a_log_dir_without_a_finding(log_dir: Path) -> None:
    verification = mb.verify(log_dir)
    assert [finding for finding in verification.findings if finding.severity != "note"] == []
    assert {row["verdict"] for row in verification.partitions} == {"intact"}


def test_records_are_computed_as_they_are_read(system: SimulatedFileSystem, log_dir: Path) -> None:
    found = mb.open(log_dir).records(["partition", "offset", "timestamp", "value"]).to_table()
    times = found["timestamp"].cast("int64").to_pylist()
    rows = zip(found["partition"].to_pylist(), found["offset"].to_pylist(), times, strict=True)
    expected = [
        (partition, offset, timestamp, value)
        for partition in range(2)
        for segment in range(3)
        for offset, timestamp, value in system.logs.records(partition, segment)
    ]
    values = found["value"].to_pylist()
    assert [(*row, value) for row, value in zip(rows, values, strict=True)] == expected
    assert len(set(values)) > 100


def test_both_plans_are_measured_and_their_rows_compared() -> None:
    for way in scale.WAYS:
        figures = scale.measured(way, 40, 0)
        assert figures["rows"] == simulated_store.LogGenerator(1, 1, 10 * MIB).offsets_per_segment
        assert figures["requests"] > 10 and figures["cpu_s"] > 0
    assert figures["tasks"] == 40
    assert 100 < figures["split_bytes"] < 400, "of a task of a single split"


def test_wrong_rows_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated_store.register()
    dataset = mb.open(
        simulated_store.URL, storage_options={"num_partitions": 3, "num_segments": 20}
    )
    split = dataset.plan()[-1]
    assert scale.num_compared_rows(split) > 1000
    monkeypatch.setattr(simulated_store, "NUM_TEMPLATES", 15)
    with pytest.raises(ValueError, match=f"{split.file.path}: the rows are not those"):
        scale.num_compared_rows(split)


def test_the_store_does_not_ship() -> None:
    assert not any((CHECKOUT / "runtime").rglob("simulated*"))
