"""Tests of offset and time ranges: the whole log's rows in them, read from few bytes."""

import random
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.reading._times import milliseconds
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ISOLATION_LEVELS
from paths import DATA

LOGS = sorted(path for path in DATA.glob("*/*/log-*") if path.is_dir())
SEGMENTED = DATA / "2.8/lives/log-0/v2-segments-0"
TRANSACTIONS = DATA / "4.3/transactions/log-0/interleaved-0"


def opened(path: Path, level: str = "read_uncommitted", **how: Any) -> Dataset:
    return mb.open(path, isolation_level=level, on_damage="skip", include_internal=True, **how)


Rows = list[dict[str, Any]]


def rows_of(dataset: Dataset) -> Rows:
    rows: Rows = dataset.records(["topic", "partition", "offset", "timestamp", "value"]).to_pylist()
    return rows


@pytest.mark.parametrize("level", ISOLATION_LEVELS)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join(path.parts[-3:]))
def test_a_range_of_offsets_gives_the_rows_of_the_whole_log(path: Path, level: str) -> None:
    rng = random.Random(f"{path.parts[-3:]}{level}")
    for log in opened(path, level).logs:
        whole = rows_of(opened(Path(log.folder), level))
        end = max((row["offset"] for row in whole), default=0) + 1
        for _ in range(3):
            first, last = sorted(rng.randint(-1, end) for _ in range(2))
            bounds = rng.choice([(first, last), (first, None), (None, last)])
            some = rows_of(opened(Path(log.folder), level, offsets=bounds))
            low, high = bounds[0] or 0, end if bounds[1] is None else bounds[1]
            expected = [row for row in whole if low <= row["offset"] < high]
            assert some == expected, (log.name, bounds)


@pytest.mark.parametrize("level", ISOLATION_LEVELS)
def test_a_range_of_times_gives_the_rows_that_kafka_finds(level: str) -> None:
    for log in opened(TRANSACTIONS.parent, level).logs:
        dataset = opened(Path(log.folder), level)
        planner, (log,) = Planner(dataset.options), dataset.logs
        found = planner.survey(log)
        whole = rows_of(dataset)
        times = sorted({milliseconds(row["timestamp"]) for row in whole})
        if not times:
            continue  # all of it was aborted
        for begin, end in [(times[len(times) // 3], times[-1]), (times[0], times[len(times) // 2])]:
            first, last = planner.offset_at(found, begin), planner.offset_at(found, end)
            assert first is not None and last is not None
            some = rows_of(opened(Path(log.folder), level, times=(begin, end)))
            assert some == [row for row in whole if first <= row["offset"] < last], log.name
        assert rows_of(opened(Path(log.folder), level, times=(1 << 50, None))) == []


def test_only_the_segments_that_hold_the_range_are_opened(names_opened: list[str]) -> None:
    bases = [log.base_offset for log in opened(SEGMENTED).logs[0].logs]
    assert len(bases) >= 4 and None not in bases
    first, behind = bases[1], bases[2]
    names_opened.clear()
    rows = rows_of(opened(SEGMENTED, offsets=(first, behind)))
    assert rows[0]["offset"] >= first and rows[-1]["offset"] < behind
    segments = {name for name in names_opened if name.endswith(".log")}
    assert segments == {f"{first:020}.log", f"{behind:020}.log"}, "the next tells where it ends"


def test_only_the_bytes_that_hold_the_range_are_read(folder: Any) -> None:
    batches = [build.batch([build.record(bytes(1 << 20))], n) for n in range(24)]
    path = folder.segment("t-0", b"".join(batches)).parent
    rows = mb.open(path, offsets=(20, 21)).records(["offset"])
    assert rows.to_pylist() == [{"offset": 20}]
    # Four batches to a split: of the others no record is counted, and their bytes are.
    assert rows.report.records == {"delivered": 1, "outside_range": rows.report.records.total() - 1}
    assert rows.report.records.total() < 8
    assert rows.report.bytes.total() == sum(map(len, batches))


def test_damage_outside_of_the_range_is_not_met(folder: Any) -> None:
    path = folder.segment("t-0", build.batch(crc=1)).parent
    for base in (1, 2, 3):
        folder.segment("t-0", build.batch(base=base), base)
        folder.segment("t-0", build.producer_snapshot(), base, kind="snapshot")
    assert rows_of(mb.open(path, offsets=(2, None)))[0]["offset"] == 2
    with pytest.raises(mb.ChecksumError):
        rows_of(mb.open(path, offsets=(0, None)))
    assert rows_of(mb.open(path, offsets=(2, None), on_damage="stop")) == [], "it ends the log"


def test_without_snapshots_what_was_open_is_looked_for_from_the_beginning(folder: Any) -> None:
    path = folder.segment("t-0", build.transactional(0, 7)).parent
    folder.segment("t-0", build.transactional(1, 7) + build.control(build.ABORT, 2, 7), 1)
    folder.segment("t-0", build.batch(base=3), 3)
    read = {"offsets": (1, None), "isolation_level": "read_committed"}
    assert [row["offset"] for row in rows_of(mb.open(path, **read))] == [3]
    folder.segment("t-0", b"", 1, kind="snapshot")
    assert [row["offset"] for row in rows_of(mb.open(path, **read))] == [3], "nor with a broken one"
    (found,) = mb.open(path, **read).transactions().to_pylist()
    assert found["first_offset"] == 0


def test_records_outside_the_range_are_read_on_request(folder: Any) -> None:
    for base in range(4):
        path = folder.segment("t-0", build.batch(base=base), base).parent
    dataset = mb.open(path, offsets=(2, 3))
    rows = dataset.records(["offset"], dispositions=("outside_range",)).to_pylist()
    assert [row["offset"] for row in rows] == [0, 1, 3]


def test_a_time_is_looked_up_in_a_file_without_a_base_offset(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(build.batch(time=10) + build.batch(base=1, time=20))
    assert [row["offset"] for row in rows_of(mb.open(path, times=(15, None)))] == [1]
    assert rows_of(mb.open(path, times=(30, None))) == []
