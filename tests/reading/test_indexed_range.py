"""Tests of ranges that offset indexes locate: the whole log's rows, from few bytes."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from extent import WIDE, part
from indexed_log import batches, write_segment, write_snapshot
from io_faults import counted_reads
from magicbyte.logdir import indexes
from magicbyte.reading import segment_range
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import offset_at, wanted_offsets
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import BEYOND_ALL_OFFSETS, ISOLATION_LEVELS
from magicbyte_tools.vectors.companion_cases import offset_index, time_index
from paths import DATA

LOGS = sorted(path for path in DATA.glob("*/*/log-*") if path.is_dir())
COUNT = 4000
"""Offsets of a segment of two MiB."""

PRODUCER = 7


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return tmp_path / "t-0"


def read(path: Path, *offsets: int | None, **options: Any) -> tuple[list[int], list[str]]:
    """Return the offsets of the records within *offsets*, and the codes of the findings."""
    dataset = mb.open(path, on_damage="skip", offsets=offsets or (None, None), **options)
    rows = dataset.records(["offset"])
    found = [row["offset"] for row in rows.to_pylist()]
    return found, [f"{f.code} {'bytes' in f.message}" for f in rows.report.findings]


BY_INDEX = "range-unread True"


@pytest.mark.parametrize("level", ISOLATION_LEVELS)
def test_ten_offsets_in_the_middle_of_a_segment_take_few_bytes(partition: Path, level: str) -> None:
    write_segment(partition, batches(0, COUNT))
    write_segment(partition, batches(COUNT, COUNT + 8), COUNT)
    write_snapshot(partition, COUNT)
    with counted_reads() as counts:
        offsets, codes = read(partition, 2000, 2010, isolation_level=level)
    assert offsets == list(range(2000, 2010)) and codes == [BY_INDEX]
    assert 0 < counts["log"] < 4 * 20_000, "a plan, a check and a read of 20 kB"


def test_bytes_of_a_range_by_index_add_up_to_the_log(partition: Path) -> None:
    size = write_segment(partition, batches(0, COUNT)).stat().st_size
    dataset = mb.open(partition, offsets=(2000, 2010), isolation_level="read_uncommitted")
    rows = dataset.records(["offset"])
    assert rows.to_table().num_rows == 10
    assert rows.report.bytes.total() == size
    assert rows.report.bytes["outside_range"] > size - 20_000
    (finding,) = rows.report.findings
    assert finding.expected == str(size) and int(finding.found or 0) < 20_000
    assert finding.message.startswith(f"{int(finding.found or 0):,} of {size:,} bytes were read")


def test_first_and_last_offsets_take_few_bytes(partition: Path) -> None:
    write_segment(partition, batches(0, COUNT))
    for bounds in ((None, 10), (COUNT - 10, None), (COUNT - 10, COUNT + 10), (COUNT + 5, None)):
        with counted_reads() as counts:
            offsets, codes = read(partition, *bounds, isolation_level="read_uncommitted")
        low, high = bounds[0] or 0, COUNT if bounds[1] is None else min(bounds[1], COUNT)
        assert offsets == list(range(low, high))
        assert BY_INDEX in codes
        assert counts["log"] < 4 * 20_000


def test_range_across_segments_leaves_out_their_other_bytes(partition: Path) -> None:
    for base in range(0, 3 * COUNT, COUNT):
        write_segment(partition, batches(base, base + COUNT), base)
    with counted_reads() as counts:
        offsets, codes = read(partition, COUNT - 5, COUNT + 5, isolation_level="read_uncommitted")
    assert offsets == list(range(COUNT - 5, COUNT + 5)) and codes == [BY_INDEX]
    assert counts["log"] < 8 * 20_000


def test_a_range_of_most_of_a_log_and_of_a_small_log_is_planned_by_segments(
    partition: Path,
) -> None:
    write_segment(partition, batches(0, COUNT))
    assert BY_INDEX not in read(partition, 100, COUNT, isolation_level="read_uncommitted")[1]
    write_segment(partition, batches(0, 800))
    assert BY_INDEX not in read(partition, 400, 410, isolation_level="read_uncommitted")[1]


# The check of the index


@pytest.mark.parametrize(("offset", "is_believed"), [(2000, True), (1960, True), (2040, False)])
def test_an_index_that_leads_past_its_offset_is_not_believed(
    partition: Path, offset: int, is_believed: bool
) -> None:
    data = batches(0, COUNT)
    path = write_segment(partition, data)
    ends = ((1903, 1900), (2003, offset), (2103, 2100), (2203, 2200))
    entries = [(end, len(b"".join(data[: at // 4]))) for end, at in ends]
    path.with_suffix(".index").write_bytes(offset_index(*entries))
    offsets, codes = read(partition, 2003, 2013, isolation_level="read_uncommitted")
    assert offsets == list(range(2003, 2013))
    assert (BY_INDEX in codes) == is_believed


def test_an_index_that_leads_into_a_value_is_not_believed(partition: Path) -> None:
    """The value holds a batch with a right checksum, of an offset that the range may have."""
    data = batches(0, COUNT)
    decoy = build.batch_of(2000, b"decoy")
    data[500] = build.batch_of(2000, decoy, b"1", b"2", b"3" * 2000)
    path = write_segment(partition, data)
    position = len(b"".join(data[:500])) + data[500].index(decoy)
    path.with_suffix(".index").write_bytes(offset_index((2000, position)))
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_uncommitted")
    assert offsets == list(range(2000, 2010)) and BY_INDEX not in codes
    values = mb.open(partition, offsets=(2000, 2001), isolation_level="read_uncommitted")
    assert [row["value"] for row in values.records(["value"]).to_pylist()] == [decoy]


def test_damage_in_the_range_is_judged_by_the_whole_segment(partition: Path) -> None:
    data = batches(0, COUNT)
    path = write_segment(partition, data)
    damaged = bytearray(path.read_bytes())
    damaged[len(b"".join(data[:501])) + 30] ^= 1
    path.write_bytes(damaged)
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_uncommitted")
    assert offsets == [*range(2000, 2004), *range(2008, 2010)]
    assert codes == ["checksum-mismatch False"]


def test_damage_at_the_position_of_the_index_is_judged_by_the_whole_segment(
    partition: Path,
) -> None:
    data = batches(0, COUNT)
    path = write_segment(partition, data)
    damaged = bytearray(path.read_bytes())
    start = len(b"".join(data[:495]))
    damaged[start : start + 20_000] = bytes(20_000)
    path.write_bytes(damaged)
    offsets, codes = read(partition, 2000, 2060, isolation_level="read_uncommitted")
    assert offsets == [row for row in read(partition)[0] if 2000 <= row < 2060]
    assert BY_INDEX not in codes


@pytest.mark.parametrize(
    "bounds", [(1000, 1010), (0, 10), (4, 12), (COUNT - 10, COUNT - 2), (COUNT - 4, COUNT + 4)]
)
def test_few_entries_of_a_large_index_are_read(
    partition: Path, bounds: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "AROUND_ROWS", 8)
    path = write_segment(partition, batches(0, COUNT))
    write_segment(partition, batches(COUNT, COUNT + 8), COUNT)
    size = path.with_suffix(".index").stat().st_size
    with counted_reads() as counts:
        offsets, codes = read(partition, *bounds, isolation_level="read_uncommitted")
    assert offsets == list(range(*bounds)) and codes == [BY_INDEX]
    assert 0 < counts["index"] <= 20 * 8 < size


@pytest.mark.parametrize("small", [(0, 800), (3200, COUNT), (1600, 2400)])
def test_index_of_uneven_batches_is_read_as_a_whole(
    partition: Path, small: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where entries are more frequent than elsewhere, the offset is not where it is expected."""
    monkeypatch.setattr(indexes, "AROUND_ROWS", 8)
    data = batches(0, COUNT)
    for base in range(*small, 4):
        data[base // 4] = build.batch_of(base, *[b"x" * 9000] * 4)
    write_segment(partition, data)
    write_segment(partition, batches(COUNT, COUNT + 8), COUNT)
    for first in range(0, COUNT, 397):
        offsets, codes = read(partition, first, first + 3, isolation_level="read_uncommitted")
        assert offsets == list(range(first, first + 3)) and codes == [BY_INDEX]


def test_markers_beyond_the_entries_that_were_read_are_found(
    partition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "AROUND_ROWS", 16)
    data = batches(0, COUNT)
    data[500] = build.batch_of(2000, *[b"x" * 500] * 4, producer=PRODUCER)
    data[600] = build.control(build.ABORT, 2400, PRODUCER) + build.batch_of(2401, *[b"y"] * 3)
    write_segment(partition, data)
    write_segment(partition, batches(COUNT, COUNT + 8), COUNT)
    write_snapshot(partition, COUNT, (PRODUCER, 0, 2003, -1))
    with counted_reads() as counts:
        offsets, codes = read(partition, 2000, 2010, isolation_level="read_committed")
    assert offsets == list(range(2004, 2010)) and BY_INDEX in codes
    assert counts["log"] < 1_500_000, "passes of up to half a megabyte, not of a whole one"


@pytest.mark.parametrize("content", [b"", b"\0" * 7, offset_index((50, 1 << 30)), None])
def test_without_a_sound_index_the_whole_segment_is_read(
    partition: Path, content: bytes | None
) -> None:
    path = write_segment(partition, batches(0, COUNT)).with_suffix(".index")
    path.unlink() if content is None else path.write_bytes(content)
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_uncommitted")
    assert offsets == list(range(2000, 2010)) and BY_INDEX not in codes


# Transactions


def with_transactions(first: int, end: int, *marks: int, kind: int = build.ABORT) -> list[bytes]:
    """Return batches of four offsets, where PRODUCER writes the batch before each of *marks*, which are its markers."""
    data = batches(first, end)
    for mark in marks:
        number = (mark - first) // 4
        base = mark - 4
        data[number - 1] = build.batch_of(base, *[b"x" * 500] * 4, producer=PRODUCER)
        data[number] = build.control(kind, mark, PRODUCER) + build.batch_of(mark + 1, *[b"y"] * 3)
    return data


def logs_with_transactions(partition: Path, kind: int) -> None:
    write_segment(partition, with_transactions(0, COUNT, 2008, 3000, kind=kind))
    write_segment(partition, batches(COUNT, COUNT + 8), COUNT)
    write_snapshot(partition, COUNT, (PRODUCER, 0, 2999, -1))


@pytest.mark.parametrize("kind", [build.ABORT, build.COMMIT])
@pytest.mark.parametrize("level", ISOLATION_LEVELS)
def test_markers_after_a_range_decide_its_transactions(
    partition: Path, kind: int, level: str
) -> None:
    logs_with_transactions(partition, kind)
    whole = read(partition, isolation_level=level)[0]
    with counted_reads() as counts:
        offsets, codes = read(partition, 2000, 2006, isolation_level=level)
    assert offsets == [offset for offset in whole if 2000 <= offset < 2006]
    assert (2004 in offsets) == (level == "read_uncommitted" or kind == build.COMMIT)
    assert codes == [BY_INDEX]
    assert counts["log"] < 1 << 20
    dataset = mb.open(partition, offsets=(2000, 2006), isolation_level="read_uncommitted")
    rows = dataset.records(["outcome"])
    outcome = {build.ABORT: "aborted", build.COMMIT: "committed"}[kind]
    assert [row["outcome"] for row in rows.to_pylist()] == [None] * 4 + [outcome] * 2
    assert rows.report.aborted_delivered == (2 if kind == build.ABORT else 0)


def test_marker_in_a_later_segment_decides_a_transaction(partition: Path) -> None:
    data = batches(0, COUNT)
    data[501] = build.batch_of(2004, *[b"x" * 500] * 4, producer=PRODUCER)
    write_segment(partition, data)
    later = batches(COUNT, 2 * COUNT)
    later[400] = build.control(build.COMMIT, COUNT + 1600, PRODUCER)
    later[400] += build.batch_of(COUNT + 1601, *[b"y"] * 3)
    write_segment(partition, later, COUNT)
    write_snapshot(partition, COUNT, (PRODUCER, 0, 2007, 2004))
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_committed")
    assert offsets == list(range(2000, 2010)) and codes == [BY_INDEX]


@pytest.mark.parametrize("stated", [(PRODUCER, 0, 403, 400), None])
def test_transaction_that_may_be_open_since_before_the_range_is_looked_for_in_whole_segments(
    partition: Path, stated: tuple[int, int, int, int] | None
) -> None:
    """It is open: with read_committed, a consumer gets no record after it."""
    data = batches(0, COUNT)
    data[100] = build.batch_of(400, *[b"x" * 500] * 4, producer=PRODUCER)
    write_segment(partition, data)
    write_segment(partition, batches(COUNT, COUNT + 8), COUNT)
    if stated is not None:
        write_snapshot(partition, COUNT, stated)
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_committed")
    assert offsets == [] and BY_INDEX not in codes
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_uncommitted")
    assert offsets == list(range(2000, 2010)) and codes == [BY_INDEX]


@pytest.mark.parametrize("base", [COUNT, COUNT + 1])
def test_snapshot_at_the_end_of_the_log_shows_what_is_open_unless_the_log_is_shorter(
    partition: Path, base: int
) -> None:
    write_segment(partition, batches(0, COUNT))
    write_snapshot(partition, base)
    offsets, codes = read(partition, 2000, 2010, isolation_level="read_committed")
    assert offsets == list(range(2000, 2010))
    assert (BY_INDEX in codes) == (base == COUNT)


# Times


@pytest.mark.parametrize("at", [0, 5, 1999, 2000, 2003, COUNT - 1])
def test_a_time_is_looked_up_in_few_bytes(partition: Path, at: int) -> None:
    data = [build.batch_of(n, b"x" * 500, time=build.TIME + n // 4 * 4) for n in range(COUNT)]
    path = write_segment(partition, data, per_batch=1)
    entries = [(build.TIME + n, n) for n in range(40, COUNT, 40)]
    path.with_suffix(".timeindex").write_bytes(time_index(*entries))
    read_of = {"isolation_level": "read_uncommitted", "times": (build.TIME + at, None)}
    with counted_reads() as counts:
        (log,) = mb.open(partition).logs
        planner = Planner(mb.open(partition, **read_of).options)
        first, end = wanted_offsets(planner, log)
    assert end is None
    assert first == -(-at // 4) * 4 or first == BEYOND_ALL_OFFSETS
    assert (first == BEYOND_ALL_OFFSETS) == (at == COUNT - 1)
    assert counts["log"] < 200_000, "of two megabytes"
    survey = planner.survey(log)
    assert planner.offset_at(survey, build.TIME + at) == (first if at < COUNT - 1 else None)


def test_a_time_in_a_damaged_segment_is_looked_up_from_its_beginning(partition: Path) -> None:
    """Its indexes may be damaged, too: here they do not know the late record at offset 100."""
    data = [build.batch_of(n, b"x" * 500, time=build.TIME + n) for n in range(COUNT)]
    data[100] = build.batch_of(100, b"x" * 500, time=build.TIME + 9999)
    path = write_segment(partition, data, per_batch=1)
    entries = [(build.TIME + n, n) for n in range(40, COUNT, 40)]
    path.with_suffix(".timeindex").write_bytes(time_index(*entries))
    planner = Planner(mb.open(partition).options)
    (log,) = mb.open(partition).logs
    assert offset_at(planner, log, build.TIME + 2002) == 2002
    damaged = bytearray(path.read_bytes())
    start = len(b"".join(data[:2001]))
    damaged[start + 8 : start + 17] = bytes(9)
    path.write_bytes(damaged)
    assert offset_at(planner, log, build.TIME + 2002) == 100


# Real logs


def logs_of_brokers() -> list[Any]:
    """Return a third of the partitions in tests/data, drawn; all of them if WIDE."""
    found = [
        log
        for folder in LOGS
        for log in mb.open(folder, include_internal=True, on_damage="skip").logs
    ]
    return part(found, len(found) // 3, "indexed ranges")


@pytest.mark.parametrize("num_rows", [2, 4096])
@pytest.mark.parametrize("level", ISOLATION_LEVELS)
def test_ranges_by_index_give_the_rows_of_whole_logs_of_brokers(
    level: str, num_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "AROUND_ROWS", num_rows)
    monkeypatch.setattr(indexes, "MIN_INDEX_PARTS", 1)
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 1)
    monkeypatch.setattr(segment_range, "MIN_SAVED_PART", 1)
    columns = ["topic", "partition", "offset", "timestamp", "key", "value"]
    num_by_index = 0

    def rows_of(dataset: Dataset) -> pa.Table:
        nonlocal num_by_index
        rows = dataset.records(columns)
        table = rows.to_table()
        num_by_index += any("bytes were read" in f.message for f in rows.report.findings)
        return table

    options: dict[str, Any] = {"isolation_level": level, "on_damage": "skip"}
    for log in logs_of_brokers():
        if not any(file.kind == "index" and file.size_bytes for file in log.files):
            continue
        rng = random.Random(f"{log.folder[-60:]}{level}")
        whole = rows_of(mb.open(log.folder, **options))
        offsets = whole["offset"].to_pylist()
        end = max(offsets, default=0) + 1
        for _ in range(4):
            first, last = sorted(rng.randint(0, end) for _ in range(2))
            some = rows_of(mb.open(log.folder, offsets=(first, last), **options))
            is_inside = pa.array([first <= offset < last for offset in offsets], pa.bool_())
            assert some.equals(whole.filter(is_inside)), log.folder
    assert num_by_index > (50 if WIDE else 15)


def test_times_by_index_are_those_of_surveys_of_whole_logs_of_brokers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(segment_range, "MIN_SAVED_BYTES", 1)
    num_lookups = 0
    for log in logs_of_brokers():
        dataset = mb.open(log.folder, on_damage="skip")
        planner = Planner(dataset.options)
        survey = planner.survey(log)
        if any(segment.unsound_ranges for segment in survey.segments):
            continue
        rows = dataset.records(["timestamp"]).to_table()["timestamp"].drop_null()
        times = sorted(set(rows.cast(pa.int64()).to_pylist()))
        rng = random.Random(log.folder[-60:])
        for time in rng.sample(times, min(len(times), 4)):
            for moved in (time - 1, time, time + 1):
                num_lookups += 1
                by_index = offset_at(planner, log, moved)
                assert by_index == planner.offset_at(survey, moved), (log.folder, moved)
    assert num_lookups > (500 if WIDE else 150)
