"""Tests of offset ranges: the whole log's rows in them, planned from the files that hold these."""

import json
import random
import shutil
from bisect import bisect_left
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from data_source import places, planned, rows
from extent import WIDE
from file_damage import flip
from magicbyte.errors import InputError
from magicbyte.logdir.indexes import read_times
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import offset_at, readable_range
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ISOLATION_LEVELS
from paths import DATA, shared

OURS = sorted(path for path in DATA.glob("*/*/log-*") if path.is_dir())
SOUND = OURS + (sorted((shared() / "logs").glob("*/*/log-*")) if WIDE else [])


def log_dirs_of(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id="-".join(path.parts[-3:])) for path in paths]


def whole(path: Path, level: str) -> Dataset:
    return mb.open(path, isolation_level=level, on_damage="skip", include_internal=True)


def column(dataset: Dataset, name: str) -> list[Any]:
    values: list[Any] = dataset.records([name]).to_table().column(0).to_pylist()
    return values


def offset_option(first: int, topic: str = "interleaved", partition: int = 0) -> str:
    """Return the JSON of an option that sets the offset of one partition."""
    return json.dumps({topic: {str(partition): first}})


@pytest.mark.parametrize("level", ISOLATION_LEVELS)
@pytest.mark.parametrize("path", log_dirs_of(SOUND))
def test_offsets_give_the_same_rows_as_the_whole_log(path: Path, level: str) -> None:
    """Each read takes a range of every partition: planning reads the folders of the whole log.dir."""
    rng = random.Random(f"{path.parts[-3:]}{level}")
    dataset = whole(path, level)
    planner = Planner(dataset.options)
    readable = {log.name: readable_range(planner.survey(log), level) for log in dataset.logs}
    offsets = {log.name: column(Dataset([log], dataset.options), "offset") for log in dataset.logs}
    partitions: dict[str, list[int]] = {}
    for log in dataset.logs:
        partitions.setdefault(log.topic, []).append(log.partition)
    sizes = (1, 1000, 1 << 20)
    for max_bytes in sizes if WIDE else rng.choices(sizes):
        starts: dict[str, dict[str, int]] = {}
        ends: dict[str, dict[str, int]] = {}
        expected: dict[str, list[int]] = {}
        for log in dataset.logs:
            there = readable[log.name]
            first, end = sorted(rng.randint(there[0] - 1, there[1] + 1) for _ in range(2))
            first, end = max(first, 0), max(end, 0)
            starts.setdefault(log.topic, {})[str(log.partition)] = first
            ends.setdefault(log.topic, {})[str(log.partition)] = end
            all_of_log = offsets[log.name]
            rows_in_range = all_of_log[
                bisect_left(all_of_log, first) : bisect_left(all_of_log, end)
            ]
            if rows_in_range:
                expected[log.name] = rows_in_range
        given = places(
            str(path),
            assign=json.dumps(partitions),
            startingOffsets=json.dumps(starts),
            endingOffsets=json.dumps(ends),
            isolationLevel=level,
            onDamage="skip",
            failOnDataLoss="false",
            maxPartitionBytes=str(max_bytes),
        )
        assert given == expected, (max_bytes, starts, ends)


@pytest.mark.parametrize("path", log_dirs_of(SOUND))
def test_a_time_is_looked_up_as_in_the_whole_log(path: Path) -> None:
    rng = random.Random(f"{path.parts[-3:]}")
    dataset = whole(path, "read_uncommitted")
    for log in dataset.logs:
        planner = Planner(dataset.options)
        found = planner.survey(log)
        table = Dataset([log], dataset.options).records(["timestamp"]).to_table()
        times = table.column(0).drop_null().cast(pa.int64()).to_pylist() or [0]
        for time in [*rng.sample(times, min(3, len(times))), min(times) - 1, max(times) + 1]:
            assert offset_at(planner, log, time) == planner.offset_at(found, time), (log.name, time)


# Files that are read


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """A copy of a partition with several segments."""
    folder = tmp_path / "interleaved-0"
    return Path(shutil.copytree(DATA / "4.3" / "transactions" / "log-0" / "interleaved-0", folder))


def bases_of(partition: Path) -> list[int]:
    return [int(file.stem) for file in sorted(partition.glob("*.log"))]


def segments_in(names: list[str]) -> set[int]:
    """Return the base offsets of the segments among the files *names*."""
    return {int(name[:20]) for name in names if name.endswith(".log")}


def test_a_plan_opens_the_segments_of_the_range_and_the_last(
    partition: Path, names_opened: list[str]
) -> None:
    bases = bases_of(partition)
    assert len(bases) > 4
    _, tasks = planned(
        str(partition),
        startingOffsets=offset_option(bases[1]),
        endingOffsets=offset_option(bases[1] + 5),
        isolationLevel="read_uncommitted",
    )
    assert tasks
    assert segments_in(names_opened) == {bases[1], bases[-1]}


def test_segments_before_the_range_by_their_time_index_are_not_read(
    partition: Path, names_opened: list[str]
) -> None:
    dataset = mb.open(partition)
    (log,) = dataset.logs
    behind_first = int(read_times(log, log.logs[0])["timestamp"][-1]) + 1
    planner = Planner(dataset.options)
    expected = planner.offset_at(planner.survey(log), behind_first)
    names_opened.clear()
    assert offset_at(planner, log, behind_first) == expected
    assert segments_in(names_opened) == {log.logs[1].base_offset}


def test_without_snapshots_a_range_begins_where_the_log_does(
    partition: Path, names_opened: list[str]
) -> None:
    for file in partition.glob("*.snapshot"):
        file.unlink()
    offsets = column(mb.open(partition), "offset")
    first = offsets[len(offsets) // 2]
    names_opened.clear()
    given = places(str(partition), startingOffsets=offset_option(first))
    assert given["interleaved-0"] == offsets[offsets.index(first) :]
    assert bases_of(partition)[0] in segments_in(names_opened)


def test_damage_before_the_range_ends_a_log_that_is_to_stop_at_it(partition: Path) -> None:
    starts = bases_of(partition)
    flip(min(partition.glob("*.log")), 70, 1)
    options = {"startingOffsets": offset_option(starts[-2]), "failOnDataLoss": "false"}
    assert rows(str(partition), onDamage="skip", **options)
    with pytest.raises(InputError, match=f"from {starts[-2]} to {starts[0]}; expected the lower"):
        rows(str(partition), onDamage="stop", **options)
