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
    assert segments == {f"{first:020}.log"}


def test_only_the_bytes_that_hold_the_range_are_read(folder: Any) -> None:
    batches = [build.batch([build.record(bytes(1 << 20))], n) for n in range(24)]
    path = folder.segment("t-0", b"".join(batches)).parent
    rows = mb.open(path, offsets=(20, 21)).records(["offset"])
    assert rows.to_pylist() == [{"offset": 20}]
    # A split of one batch: of the others no record is counted, and their bytes are.
    assert rows.report.records == {"delivered": 1}
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


# Logs whose segments contradict each other

OPEN, ENDED = (7, 0, 0, 0), (7, 0, 0, -1)
"""Producer 7 in a snapshot, after its transaction began at offset 0, and after that ended."""


def segments_of(folder: Any, *segments: bytes, snapshots: dict[int, tuple[Any, ...]]) -> Path:
    """Write *segments* of ten offsets each, and *snapshots* by number of segment."""
    for number, data in enumerate(segments):
        path: Path = folder.segment("t-0", data, 10 * number)
    for number, producers in snapshots.items():
        folder.segment("t-0", build.producer_snapshot(*producers), 10 * number, kind="snapshot")
    return path.parent


def ten(base: int) -> bytes:
    return build.batch(build.records(10), base)


def offsets_and_codes(path: Path, *offsets: int | None) -> tuple[list[int], list[str]]:
    dataset = mb.open(path, on_damage="skip", offsets=offsets or (None, None))
    rows = dataset.records(["offset"])
    return [row["offset"] for row in rows.to_pylist()], [f.code for f in rows.report.findings]


@pytest.mark.parametrize("later", [(ENDED,), ()])
def test_range_and_whole_agree_where_a_snapshot_does_not_know_an_open_transaction(
    folder: Any, later: tuple[Any, ...]
) -> None:
    """A broker that starts from the snapshot does not wait for the transaction either."""
    begin = build.transactional(0, 7) + build.batch(build.records(9), 1)
    path = segments_of(folder, begin, ten(10), ten(20), snapshots={1: later, 2: later})
    offsets, codes = offsets_and_codes(path)
    assert offsets == list(range(1, 30))
    assert "transaction-undecided" in codes and "snapshot-mismatch" in codes
    assert offsets_and_codes(path, 10, 20) == (list(range(10, 20)), ["range-unread"])


def test_an_open_transaction_that_all_snapshots_know_withholds_range_and_whole(folder: Any) -> None:
    begin = build.transactional(0, 7) + build.batch(build.records(9), 1)
    path = segments_of(folder, begin, ten(10), ten(20), snapshots={1: (OPEN,), 2: (OPEN,)})
    assert offsets_and_codes(path) == ([], ["transaction-open"])
    offsets, codes = offsets_and_codes(path, 10, 20)
    assert offsets == [] and "transaction-open" in codes


def test_a_transaction_that_begins_after_the_range_is_not_called_open(folder: Any) -> None:
    """It ends in the next segment, which the range does not need."""
    begin = build.batch(build.records(8)) + build.transactional(8, 7, count=2)
    after = build.control(build.COMMIT, 10, 7) + build.batch(build.records(9), 11)
    states = {1: ((7, 0, 9, 8),), 2: ((7, 0, 9, -1),)}
    path = segments_of(folder, begin, after, ten(20), snapshots=states)
    assert offsets_and_codes(path)[1] == []
    assert offsets_and_codes(path, 0, 8) == (list(range(8)), ["range-unread"])


def test_a_range_begins_earlier_where_a_later_snapshot_contradicts_the_first(folder: Any) -> None:
    begin = build.transactional(0, 7) + build.batch(build.records(9), 1)
    states = {1: (OPEN,), 2: (ENDED,)}
    path = segments_of(folder, begin, ten(10), ten(20), snapshots=states)
    whole, _ = offsets_and_codes(path)
    assert whole == list(range(1, 30))
    offsets, codes = offsets_and_codes(path, 10, None)
    assert offsets == list(range(10, 30))
    assert "range-unread" not in codes, "the whole log was read"


def test_a_snapshot_with_offsets_above_its_base_does_not_begin_a_range(
    folder: Any, names_opened: list[str]
) -> None:
    path = segments_of(folder, ten(0), ten(10), ten(20), snapshots={1: ((7, 0, 15, -1),)})
    names_opened.clear()
    offsets_and_codes(path, 10, 20)
    assert f"{0:020}.log" in names_opened


def test_a_transaction_that_damage_in_the_range_leaves_uncertain_is_decided_by_the_whole_log(
    folder: Any,
) -> None:
    """Markers of an earlier segment show that producers keep their epochs: so nothing is proven."""
    equal = build.transactional(0, 9) + build.control(build.COMMIT, 1, 9)
    middle = (
        build.transactional(10, 7)
        + build.batch(base=11, crc=1)
        + build.control(build.COMMIT, 12, 7, epoch=1)
        + build.batch(build.records(7), 13)
    )
    states = {1: ((9, 0, 0, -1),), 2: ((9, 0, 0, -1), (7, 1, 10, -1))}
    begin = equal + build.batch(build.records(8), 2)
    path = segments_of(folder, begin, middle, ten(20), snapshots=states)
    whole, codes = offsets_and_codes(path)
    assert 10 not in whole and "transaction-undecided" in codes
    offsets, codes = offsets_and_codes(path, 10, 20)
    assert offsets == list(range(13, 20)) and "transaction-undecided" in codes


def test_an_entry_in_the_wrong_segment_is_missing_from_a_range_with_a_finding(folder: Any) -> None:
    path = segments_of(folder, build.batch(base=25), ten(10), ten(20), snapshots={1: (), 2: ()})
    assert offsets_and_codes(path)[0].count(25) == 2
    offsets, codes = offsets_and_codes(path, 20, None)
    assert offsets == list(range(20, 30))
    assert codes == ["range-unread"]


def test_an_entry_above_the_end_of_the_last_segment_is_missing_from_a_range_with_findings(
    folder: Any,
) -> None:
    path = segments_of(folder, build.batch(base=35), ten(10), ten(20), snapshots={1: (), 2: ()})
    assert 35 in offsets_and_codes(path)[0]
    offsets, codes = offsets_and_codes(path, 35, 36)
    assert offsets == [] and sorted(codes) == ["range-outside-log", "range-unread"]


def test_damage_at_the_end_of_a_segment_is_no_tail_if_the_range_ends_there(folder: Any) -> None:
    cut = build.batch(build.records(5)) + build.batch(build.records(5), 5)[:-3]
    path = segments_of(folder, cut, ten(10), snapshots={})
    assert offsets_and_codes(path)[1] == ["incomplete-entry"]
    offsets, codes = offsets_and_codes(path, 0, 8)
    assert offsets == list(range(5))
    assert codes == ["incomplete-entry", "range-unread"]


def test_a_range_of_times_means_the_same_offsets_in_reads_of_ranges_and_of_all(folder: Any) -> None:
    """The time index of a damaged segment ends too early."""
    late = build.batch(time=build.TIME + 50) + build.batch(base=1, crc=1)
    path = segments_of(folder, late, ten(10), snapshots={})
    folder.segment("t-0", bytes(12), 0, kind="timeindex")
    times = (build.TIME + 50, None)
    dataset = mb.open(path, on_damage="skip", times=times)
    of_range = dataset.records(["offset"]).to_pylist()
    columns = ["offset", "disposition"]
    whole = dataset.records(columns, dispositions=("delivered", "outside_range")).to_pylist()
    assert of_range == [
        {"offset": row["offset"]} for row in whole if row["disposition"] == "delivered"
    ]


def test_offsets_that_begin_after_the_times_end_are_an_empty_range() -> None:
    path = DATA / "4.3" / "transactions" / "log-0"
    dataset = mb.open(path, topics=["fenced"], offsets=(3, None), times=(None, 0))
    assert dataset.records(["offset"]).to_pylist() == []
