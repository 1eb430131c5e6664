"""Tests of `magicbyte.stats` against numbers worked out by hand and those of real brokers' logs."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from extent import part
from file_damage import flip
from log_builder import TIME, Folder
from magicbyte.statistics._counts import MAX_PRODUCERS
from magicbyte.statistics._retention import LatestEntry, Retention, retentions
from magicbyte.tables.arrays import batch_of
from magicbyte.tables.schemas import DISPOSITIONS
from magicbyte.tables.stats_table import STATS

ENGINES = pytest.mark.parametrize("engine", ["reference", "columnar"])

HEADER = 61
"""Bytes of a batch of v2 before its records."""


def segment_row(folder: Folder, *entries: bytes, **options: Any) -> dict[str, Any]:
    """Return the row of a segment of *entries*, after checking that it equals the total."""
    folder.segment("t-0", b"".join(entries))
    found = mb.stats(str(folder), **options)
    (row,) = found.rows
    counts = ("topic", "partition", "log_dir", "file")
    assert {n: v for n, v in row.items() if n not in counts} == {
        n: v for n, v in found.total.items() if n not in counts
    }
    return row


def test_rows_have_the_columns_of_their_table(folder: Folder) -> None:
    row = segment_row(folder, build.batch())
    assert tuple(row) == STATS.names
    batch_of([row], STATS.schema())  # values are of the columns' types


@ENGINES
def test_bytes_of_a_batch_are_keys_values_headers_and_format(folder: Folder, engine: str) -> None:
    records = [
        build.record(b"value", b"key", [(b"name", b"xy"), (b"none", None)]),
        build.record(None, b"gone", delta=1, time_delta=5),
        build.record(b"", None, delta=2, time_delta=-7),
    ]
    data = build.batch(records, max_time=TIME + 5)
    row = segment_row(folder, data, engine=engine)
    assert (row["key_bytes"], row["value_bytes"], row["header_bytes"]) == (7, 5, 10)
    assert row["plain_bytes"] == row["stored_bytes"] == row["log_bytes"] == len(data)
    assert row["overhead_bytes"] == len(data) - 22
    assert (row["record_count"], row["null_key_count"], row["tombstone_count"]) == (3, 1, 1)
    assert (row["first_timestamp"], row["last_timestamp"]) == (TIME - 7, TIME + 5)
    assert (row["largest_timestamp"], row["largest_timestamp_offset"]) == (TIME + 5, 1)


@ENGINES
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_compressed_batch_is_compared_with_what_it_would_be_without_a_codec(
    folder: Folder, codec: int, engine: str
) -> None:
    records = [build.record(b"v" * 100, b"k", delta=delta) for delta in range(50)]
    plain, packed = (
        b"".join(build.batch(records, base, codec=number) for base in (0, 50))
        for number in (0, codec)
    )
    row = segment_row(folder, packed, engine=engine)
    assert (row["stored_bytes"], row["plain_bytes"]) == (len(packed), len(plain))
    assert row["overhead_bytes"] == len(plain) - 100 * 101
    (content,) = row["contents"]
    assert (content["magic"], content["record_count"]) == (2, 100)
    assert content["codec"] == ("none", "gzip", "snappy", "lz4", "zstd")[codec]


@ENGINES
@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
def test_a_wrapper_is_compared_with_the_messages_in_it(
    folder: Folder, magic: int, codec: int, engine: str
) -> None:
    inner = [build.message(b"v" * 40, n, b"k", magic=magic) for n in range(4)]
    whole = build.wrapper(inner, 3, magic=magic, codec=codec)
    alone = build.message(None, 4, magic=magic)
    row = segment_row(folder, whole, alone, engine=engine)
    assert (row["entry_count"], row["record_count"]) == (2, 5)
    assert row["stored_bytes"] == len(whole) + len(alone)
    assert row["plain_bytes"] == sum(map(len, inner)) + len(alone)
    assert (row["key_bytes"], row["value_bytes"]) == (4, 160)
    assert (row["null_key_count"], row["tombstone_count"]) == (1, 1)
    assert row["first_timestamp"] == (TIME if magic else None)
    kinds = [(one["magic"], one["codec"], one["record_count"]) for one in row["contents"]]
    assert kinds == [(magic, "none", 1), (magic, ("gzip", "snappy", "lz4")[codec - 1], 4)]


def test_formats_and_codecs_in_one_file_are_told_apart(folder: Folder) -> None:
    v0, v1 = build.message(offset=0, magic=0), build.message(offset=1)
    v2, packed = build.batch(base=2), build.batch(build.records(3), 3, codec=4)
    contents = segment_row(folder, v0, v1, v2, packed)["contents"]
    kinds = [(one["magic"], one["codec"]) for one in contents]
    assert kinds == [(0, "none"), (1, "none"), (2, "none"), (2, "zstd")]
    assert [one["stored_bytes"] for one in contents] == list(map(len, (v0, v1, v2, packed)))
    assert [one["record_count"] for one in contents] == [1, 1, 1, 3]


@ENGINES
def test_markers_are_in_no_figure_of_data(folder: Folder, engine: str) -> None:
    data = build.transactional(0, 7, count=2)
    marker = build.control(build.COMMIT, 2, 7, time=TIME + 9)
    row = segment_row(folder, data, marker, engine=engine)
    assert (row["entry_count"], row["control_count"]) == (1, 1)
    assert (row["stored_bytes"], row["control_bytes"]) == (len(data), len(marker))
    assert (row["record_count"], row["key_bytes"], row["value_bytes"]) == (2, 2, 4)
    assert row["last_timestamp"] == TIME
    # Retention asks the headers of all entries.
    assert (row["largest_timestamp"], row["largest_timestamp_offset"]) == (TIME + 9, 2)
    assert row["largest_timestamp_position"] == len(data)


def test_sizes_are_counted_in_classes_that_double(folder: Folder) -> None:
    counts = [1, 2, 3, 4, 7, 8, 0]
    batches = [
        build.batch(build.records(count), 10 * n, last_delta=9) for n, count in enumerate(counts)
    ]
    row = segment_row(folder, *batches)
    assert row["entry_records"] == [
        {"at_least": 0, "entry_count": 1, "sum": 0},
        {"at_least": 1, "entry_count": 1, "sum": 1},
        {"at_least": 2, "entry_count": 2, "sum": 5},
        {"at_least": 4, "entry_count": 2, "sum": 11},
        {"at_least": 8, "entry_count": 1, "sum": 8},
    ]
    assert (row["least_entry_records"], row["largest_entry_records"]) == (0, 8)
    sizes = list(map(len, batches))
    assert (row["least_entry_bytes"], row["largest_entry_bytes"]) == (HEADER, max(sizes))
    by_class: Counter[int] = Counter()
    for size in sizes:
        by_class[1 << (size.bit_length() - 1)] += size
    assert {one["at_least"]: one["sum"] for one in row["entry_bytes"]} == by_class


def test_producers_and_kinds_of_times_are_counted(folder: Folder) -> None:
    data = [
        build.batch(base=0, producer=1),
        build.batch(base=1, producer=2),
        build.batch(base=2, producer=1, sequence=1),
        build.batch(base=3, flags=build.APPEND_TIME),
        build.transactional(4, 3),
    ]
    row = segment_row(folder, *data)
    assert (row["producer_count"], row["idempotent_count"]) == (3, 4)
    assert (row["transactional_count"], row["append_time_count"]) == (1, 1)


def test_no_more_producers_are_told_apart_than_there_is_room_for(folder: Folder) -> None:
    num = MAX_PRODUCERS + 5
    for partition in (0, 1):
        batches = [build.batch(base=n, producer=partition * num + n) for n in range(num)]
        folder.segment(f"t-{partition}", b"".join(batches))
    found = mb.stats(str(folder))
    assert [row["producer_count"] for row in (*found.rows, found.total)] == [MAX_PRODUCERS] * 3


# Files, and rows


def test_files_are_those_of_the_segment_of_the_partition_or_nobodys(folder: Folder) -> None:
    log = build.batch()
    folder.segment("t-0", log)
    folder.segment("t-0", bytes(8), kind="index")
    folder.segment("t-0", bytes(12), kind="timeindex")
    folder.segment("t-0", build.batch(base=1), 1)
    folder.segment("t-0", build.producer_snapshot(), 1, "snapshot")
    folder.segment("t-0", b"left over", 7, "log", ".deleted")
    gone = folder.segment(f"t-1.{'0' * 32}-delete", log)
    found = mb.stats(str(folder), by="segment")
    sizes = [
        (row["file"], *(row[f"{name}_bytes"] for name in ("log", "index", "other", "unused")))
        for row in found.rows
    ]
    snapshot = len(build.producer_snapshot())
    assert sizes == [
        (f"{0:020}.log", len(log), 20, 0, 0),
        (f"{1:020}.log", len(log), 0, 0, 0),
        (None, 0, 0, snapshot, 9),
        (None, 0, 0, 0, gone.stat().st_size),
    ]
    total = found.total
    assert (total["partition_count"], total["segment_count"]) == (1, 2)
    assert (total["log_bytes"], total["unused_bytes"]) == (2 * len(log), 9 + len(log))


def test_rows_are_topics_partitions_or_segments(folder: Folder) -> None:
    for name, base in (("a-0", 0), ("a-0", 1), ("a-1", 0), ("b-0", 0)):
        folder.segment(name, build.batch(base=base), base)
    keys = {
        by: [
            (row["topic"], row["partition"], row["file"])
            for row in mb.stats(str(folder), by=by).rows
        ]
        for by in ("topic", "partition", "segment")
    }
    first, second = f"{0:020}.log", f"{1:020}.log"
    assert keys == {
        "topic": [("a", None, None), ("b", None, None)],
        "partition": [("a", 0, None), ("a", 1, None), ("b", 0, None)],
        "segment": [("a", 0, first), ("a", 0, second), ("a", 1, first), ("b", 0, first)],
    }
    with pytest.raises(mb.InputError, match="expected one of topic, partition, segment"):
        mb.stats(str(folder), by="record")


def test_replicas_are_rows_of_their_own(folder: Folder) -> None:
    for name in ("one", "two"):
        folder.log_dir(name).segment("t-0", build.batch())
    found = mb.stats(str(folder))
    assert [row["log_dir"] for row in found.rows] == [f"{folder}/one", f"{folder}/two"]
    assert found.total["partition_count"] == 2


@pytest.mark.parametrize("quick", [False, True])
def test_an_empty_log_has_nothing(folder: Folder, quick: bool) -> None:
    row = segment_row(folder, b"", quick=quick)
    assert (row["segment_count"], row["log_bytes"], row["entry_count"]) == (1, 0, 0)
    assert row["contents"] == row["entry_bytes"] == row["entry_records"] == []
    names = ("largest_timestamp", "held_ms", "held_by_file", "least_entry_bytes")
    assert [row[name] for name in names] == [None] * len(names)


# Damage


@ENGINES
def test_damaged_entries_count_by_their_bytes_alone(folder: Folder, engine: str) -> None:
    batches = [build.batch(build.records(2), 2 * n, time=TIME + n) for n in range(3)]
    flip(folder.segment("t-0", b"".join(batches) + b"\0\0\0"), len(batches[0]) + 70)
    found = mb.stats(str(folder), engine=engine)
    row = found.total
    assert (row["damaged_bytes"], row["tail_bytes"]) == (len(batches[1]), 3)
    assert (row["entry_count"], row["record_count"]) == (2, 4)
    assert row["stored_bytes"] == len(batches[0]) + len(batches[2])
    codes = {finding.code for finding in found.findings}
    assert "checksum-mismatch" in codes and not found.is_sound


@ENGINES
def test_an_entry_whose_records_are_damaged_is_in_no_figure(folder: Folder, engine: str) -> None:
    sound = build.batch()
    bad = build.batch(build.records(1), 1, count=5, last_delta=4, time=TIME + 9)
    folder.segment("t-0", sound + bad)
    found = mb.stats(str(folder), engine=engine)
    row = found.total
    assert (row["damaged_bytes"], row["entry_count"]) == (len(bad), 1)
    assert (row["key_bytes"], row["largest_timestamp"]) == (1, TIME)


def test_headers_alone_tell_of_damaged_frames(folder: Folder) -> None:
    damage = b"\0" * 7 + b"\xff" * 93
    folder.segment("t-0", build.batch() + damage + build.batch(base=1) + b"\0\0\0")
    quick, full = (mb.stats(str(folder), quick=quick).total for quick in (True, False))
    for name in ("damaged_bytes", "tail_bytes", "entry_count", "stored_bytes"):
        assert quick[name] == full[name], name
    assert (quick["damaged_bytes"], quick["tail_bytes"]) == (100, 3)


# Headers alone

OF_PAYLOADS = (
    "key_bytes",
    "value_bytes",
    "header_bytes",
    "overhead_bytes",
    "null_key_count",
    "tombstone_count",
    "first_timestamp",
    "last_timestamp",
)


def test_headers_alone_tell_the_same_but_for_payloads(real: Path) -> None:
    for log_dir in (real / "4.3/transactions/log-0", real / "4.3/compacted/log-0"):
        full, quick = (mb.stats(str(log_dir), quick=quick) for quick in (False, True))
        for row, read in zip(quick.rows, full.rows, strict=True):
            assert [row[name] for name in OF_PAYLOADS] == [None] * len(OF_PAYLOADS)
            has_codec = {one["codec"] for one in row["contents"]} - {"none"}
            assert row["plain_bytes"] == (None if has_codec else read["plain_bytes"])
            for name in STATS.names:
                is_of_payloads = name in OF_PAYLOADS or name in ("plain_bytes", "contents")
                if not is_of_payloads and not name.endswith("_offset"):
                    assert row[name] == read[name], (row["topic"], name)


def test_headers_alone_do_not_tell_what_wrappers_hold(folder: Folder) -> None:
    inner = [build.message(offset=n) for n in range(3)]
    row = segment_row(folder, build.wrapper(inner, 2) + build.message(offset=3), quick=True)
    assert (row["entry_count"], row["record_count"], row["plain_bytes"]) == (2, None, None)
    assert [one["record_count"] for one in row["contents"]] == [1, None]
    assert row["entry_records"] == [{"at_least": 1, "entry_count": 1, "sum": 1}]


# Retention


def test_a_time_far_ahead_keeps_all_segments_behind_it(folder: Folder) -> None:
    day = 86_400_000
    first = build.batch()
    records = [build.record(), build.record(delta=1, time_delta=30 * day)]
    ahead = build.batch(records, 1, max_time=TIME + 30 * day)
    third, last = build.batch(base=3, time=TIME + 2 * day), build.batch(base=4, time=TIME + 3 * day)
    for base, data in ((0, first), (1, build.batch(base=1) + ahead), (3, third), (4, last)):
        folder.segment("t-0", data, base)
    rows = mb.stats(str(folder), by="segment").rows
    assert [row["held_ms"] for row in rows] == [0, 0, 28 * day, 27 * day]
    assert [row["held_by_offset"] for row in rows] == [0, 2, 2, 2]
    (row,) = mb.stats(str(folder)).rows
    assert (row["held_ms"], row["held_bytes"]) == (28 * day, len(third) + len(last))
    assert row["held_by_file"] == f"t-0/{1:020}.log"
    assert row["held_by_position"] == len(build.batch())
    assert row["held_by_timestamp"] == TIME + 30 * day


def largest(timestamp: int, file: str = "") -> LatestEntry:
    return LatestEntry(timestamp, file or str(timestamp), 0, 0)


def test_segments_are_held_by_the_largest_time_so_far() -> None:
    five, nine = largest(5), largest(9)
    times = [five, largest(3), None, nine, largest(9, "again"), largest(1)]
    found = retentions([(one, 10 + number) for number, one in enumerate(times)])
    assert found == [
        Retention(0, 11, five),
        Retention(2, 11, five),
        None,  # a broker asks when its file was last modified
        Retention(0, 15, nine),
        Retention(0, 15, nine),
        Retention(8, 15, nine),
    ]


def test_messages_without_times_hold_nothing(folder: Folder) -> None:
    folder.segment("t-0", build.message(magic=0))
    folder.segment("t-0", build.message(offset=1, time=-1), 1)
    folder.segment("t-0", build.batch(base=2, time=TIME), 2)
    rows = mb.stats(str(folder), by="segment").rows
    assert [row["largest_timestamp"] for row in rows] == [None, None, TIME]
    assert [row["held_ms"] for row in rows] == [None, None, 0]


def test_an_entry_that_cleaning_emptied_still_has_its_time(folder: Folder) -> None:
    data = build.batch() + build.batch([], 1, last_delta=4, time=-1, max_time=TIME + 9)
    row = segment_row(folder, data)
    assert (row["largest_timestamp"], row["largest_timestamp_offset"]) == (TIME + 9, 5)
    assert row["last_timestamp"] == TIME


def test_times_that_have_not_come_yet_are_a_finding(folder: Folder) -> None:
    folder.segment("t-0", build.batch(time=TIME * 10))
    for quick in (False, True):
        found = mb.stats(str(folder), quick=quick)
        assert "timestamp-ahead" in [finding.code for finding in found.findings]
        assert found.is_sound


# Real logs


@ENGINES
def test_real_logs_add_up(real: Path, engine: str) -> None:
    for log_dir in sorted(real.glob("*/*/log-0")):
        found = mb.stats(str(log_dir), by="segment", engine=engine)
        for row in (*found.rows, found.total):
            parts = ("stored_bytes", "control_bytes", "damaged_bytes", "tail_bytes")
            assert sum(row[name] for name in parts) == row["log_bytes"]
            held = ("key_bytes", "value_bytes", "header_bytes", "overhead_bytes")
            assert sum(row[name] for name in held) == row["plain_bytes"]
            for name in ("entry_count", "stored_bytes", "record_count", "plain_bytes"):
                assert sum(one[name] for one in row["contents"]) == row[name]
            assert sum(one["sum"] for one in row["entry_records"]) == row["record_count"]
            assert sum(one["sum"] for one in row["entry_bytes"]) == row["stored_bytes"]
        for name in (one.name for one in STATS.columns if str(one.type) == "int64"):
            is_sum = name.endswith(("_bytes", "_count")) and name != "producer_count"
            if is_sum and not name.startswith(("held", "least", "largest")):
                total = sum(row[name] or 0 for row in found.rows)  # null: nothing is compacted
                assert total == (found.total[name] or 0), name


@pytest.fixture(scope="module")
def held_by_records(real: Path) -> dict[Path, Counter[tuple[Any, ...]]]:
    """Counts over the rows of log.dirs, by topic, partition and name; the same for each engine."""
    log_dirs = sorted(real.glob("*/*/log-0"))
    return {log_dir: counts_of_rows(log_dir) for log_dir in part(log_dirs, 3, "held by records")}


def counts_of_rows(log_dir: Path) -> Counter[tuple[Any, ...]]:
    place_of = ("topic", "partition", "file", "position")
    expected: Counter[tuple[Any, ...]] = Counter()
    log = mb.open(log_dir, include_internal=True, isolation_level="read_uncommitted")
    entries = log.batches([*place_of, "is_control"]).to_table().to_pylist()
    markers = {tuple(map(one.get, place_of)) for one in entries if one["is_control"]}
    records = log.records([*place_of, "key", "value", "headers"], dispositions=DISPOSITIONS)
    for row in records.to_table().to_pylist():
        if tuple(map(row.get, place_of)) in markers:
            continue
        place = row["topic"], row["partition"]
        headers = row["headers"] or []
        expected[*place, "record_count"] += 1
        expected[*place, "key_bytes"] += len(row["key"] or b"")
        expected[*place, "value_bytes"] += len(row["value"] or b"")
        expected[*place, "header_bytes"] += sum(
            len(one["key"].encode()) + len(one["value"] or b"") for one in headers
        )
        expected[*place, "null_key_count"] += row["key"] is None
        expected[*place, "tombstone_count"] += row["value"] is None
    return expected


@ENGINES
def test_real_logs_hold_what_their_records_do(
    held_by_records: dict[Path, Counter[tuple[Any, ...]]], engine: str
) -> None:
    assert held_by_records
    for log_dir, expected in held_by_records.items():
        assert expected
        names = {name for *_, name in expected}
        for row in mb.stats(str(log_dir), engine=engine).rows:
            for name in names:
                assert row[name] == expected[row["topic"], row["partition"], name], (row, name)
