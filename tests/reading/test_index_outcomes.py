"""Tests of `transactions="index"`: the same rows as by markers, or a finding that says why not."""

import json
import pickle
import random
import shutil
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import log_builder as build
import magicbyte as mb
from data_source import planned, rows
from magicbyte.errors import ChangedError, InputError
from magicbyte.reading import _part_markers, planner
from magicbyte.reading._index_outcomes import AbortedTransactions
from magicbyte.reading.split_reader import read_split
from magicbyte.reading.survey import Survey
from magicbyte.tables.schemas import DISPOSITIONS
from magicbyte_tools.bench import planning
from paths import DATA
from surveys import surveys_of

ENTRY = struct.Struct(">hqqqq")
COLUMNS = ("topic", "partition", "offset", "disposition", "outcome", "value")
CLUSTERS = ("2.8/lives", "3.9/transactions", "4.3/transactions", "4.3/compacted", "4.3/killed")
INTERLEAVED = DATA / "4.3" / "transactions" / "log-0" / "interleaved-0"


def codes(dataset: mb.Dataset) -> list[str]:
    found = [finding.code for one in surveys_of(dataset) for finding in one.findings]
    return [code for code in found if code.startswith("txnindex-")]


def both(path: Path) -> tuple[mb.Dataset, mb.Dataset]:
    """Return two datasets of *path*: transactions decided by markers, and by `.txnindex` files."""
    open_dataset = partial(mb.open, path, on_damage="skip", include_internal=True)
    return open_dataset(), open_dataset(transactions="index")


def open_transactions(survey: Survey) -> list[tuple[int, int]]:
    return [(t.producer_id, t.first_offset) for t in survey.transactions if t.outcome == "open"]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_indexes_give_the_rows_outcomes_and_ends_that_markers_give(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Splits of one entry, too, are compared with the read by markers in splits of the usual size.

    That those of a read by markers change no row is what `damage/test_splits.py` checks.
    """
    columns = {"columns": COLUMNS, "dispositions": DISPOSITIONS}
    by_markers, _ = both(DATA / cluster)
    rows_by_markers = by_markers.records(**columns).to_table()
    surveys_by_markers = surveys_of(by_markers)
    assert codes(by_markers) == []
    for split_bytes in (planner.SPLIT_BYTES, 1):
        monkeypatch.setattr(planner, "SPLIT_BYTES", split_bytes)
        _, by_index = both(DATA / cluster)
        assert by_index.records(**columns).to_table() == rows_by_markers
        for mine, theirs in zip(surveys_of(by_index), surveys_by_markers, strict=True):
            assert mine.last_stable_offset == theirs.last_stable_offset
            assert open_transactions(mine) == open_transactions(theirs)
            assert not mine.is_verified
        assert set(codes(by_index)) == {"txnindex-trusted"}


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    return Path(shutil.copytree(INTERLEAVED, tmp_path / "interleaved-0"))


def index_of(partition: Path) -> Path:
    return next(file for file in sorted(partition.glob("*.txnindex")) if file.stat().st_size)


def edited(partition: Path, number: int, **fields: int) -> None:
    """Overwrite *fields* of entry *number* in the partition's first `.txnindex`."""
    path = index_of(partition)
    data = bytearray(path.read_bytes())
    names = ("version", "producer_id", "first_offset", "last_offset", "last_stable_offset")
    entry = dict(zip(names, ENTRY.unpack_from(data, number * ENTRY.size), strict=True))
    ENTRY.pack_into(data, number * ENTRY.size, *(entry | fields).values())
    path.write_bytes(data)


def cut(partition: Path) -> None:
    path = index_of(partition)
    path.write_bytes(path.read_bytes()[:-1])


def lose_segment(partition: Path) -> None:
    for file in partition.glob(f"{index_of(partition).stem}.*"):
        file.unlink()


def add_index_of_no_segment(partition: Path) -> None:
    (partition / f"{5:020}.txnindex").write_bytes(b"")


def flip(log: Path, position: int, bits: int) -> None:
    data = bytearray(log.read_bytes())
    data[position] ^= bits
    log.write_bytes(data)


def flip_length(partition: Path) -> None:
    flip(index_of(partition).with_suffix(".log"), 8, 0x40)


def spoil_snapshot(partition: Path) -> None:
    for file in partition.glob(f"{min(partition.glob('*.log')).stem}.*"):
        file.unlink()
    snapshot = min(partition.glob("*.snapshot"))
    snapshot.write_bytes(snapshot.read_bytes()[:-1])


ENTRY_LAST = ENTRY.unpack_from(index_of(INTERLEAVED).read_bytes())[3]


def swap(partition: Path) -> None:
    one, other = (f for f in sorted(partition.glob("*.txnindex"))[:2])
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


DOUBTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "cut": (cut, "bytes follow the last whole entry"),
    "of another version": (lambda p: edited(p, 0, version=1), "version 1, expected 0"),
    "a marker that is not there": (
        lambda p: edited(p, 0, last_offset=ENTRY_LAST - 1, last_stable_offset=0),
        f"at offset {ENTRY_LAST - 1}, where the log has no marker of that producer",
    ),
    "a marker of somebody else": (lambda p: edited(p, 0, producer_id=4711), "producer 4711"),
    "an offset of another segment": (
        lambda p: edited(p, 4, last_offset=1_000_000),
        "at offset 1000000, where the log has no marker",
    ),
    "indexes of one another's segments": (swap, "where the log has no marker of that producer"),
    "a segment that is missing": (lose_segment, "offset-gap: "),
    "an index of no segment": (add_index_of_no_segment, "has no segment"),
    "a log that is damaged": (flip_length, "is damaged"),
    "a snapshot that is damaged": (spoil_snapshot, "snapshot-invalid: "),
}


@pytest.mark.parametrize("doubt", DOUBTS)
def test_reason_against_an_index_is_reported_and_markers_decide(
    partition: Path, doubt: str
) -> None:
    spoil, reason = DOUBTS[doubt]
    spoil(partition)
    by_markers, by_index = both(partition)
    assert codes(by_index)[-1:] == ["txnindex-doubted"]
    (said,) = (f for f in surveys_of(by_index)[0].findings if f.code == "txnindex-doubted")
    assert reason in said.message
    assert said.message.endswith("; the markers decide how transactions ended")
    expected = by_markers.records(COLUMNS, dispositions=DISPOSITIONS).to_table()
    assert by_index.records(COLUMNS, dispositions=DISPOSITIONS).to_table() == expected


def test_a_marker_that_turns_out_to_be_damaged_does_not_make_aborted_records_committed(
    partition: Path,
) -> None:
    log = index_of(partition).with_suffix(".log")
    batches = mb.open(log).batches(["position", "last_offset"]).to_pylist()
    (marker,) = (row for row in batches if row["last_offset"] == ENTRY_LAST)
    flip(log, marker["position"] + 17, 1)  # its checksum
    by_markers, by_index = both(partition)
    assert codes(by_index) == ["txnindex-trusted"]
    expected = by_markers.records(["offset", "value"]).to_table()
    assert by_index.records(["offset", "value"]).to_table() == expected
    sound = mb.open(INTERLEAVED).records(["offset", "value"]).to_table()
    assert expected == sound


def test_outcomes_by_index_are_those_of_a_loop_over_its_entries() -> None:
    rng = random.Random(7)
    spans = []
    for producer in (0, 3, 4, 1 << 40):
        offset = rng.randint(0, 5)
        for _ in range(rng.randint(1, 20)):
            first = offset + rng.randint(1, 4)
            offset = first + rng.randint(1, 6)
            spans.append((producer, first, offset))
    rng.shuffle(spans)
    aborted = AbortedTransactions(
        *(np.array(column, np.int64) for column in zip(*spans, strict=True))
    )
    asked = [
        (producer, offset) for producer in (0, 1, 3, 4, 1 << 40, 1 << 41) for offset in range(180)
    ]
    expected = [
        any(p == producer and first <= offset <= last for p, first, last in spans)
        for producer, offset in asked
    ]
    found = aborted.contain(*(np.array(column, np.int64) for column in zip(*asked, strict=True)))
    assert found.tolist() == expected
    assert sum(expected) > 50
    nothing = np.zeros(0, np.int64)
    empty = AbortedTransactions(nothing, nothing, nothing)
    assert empty.contain(np.array([1]), np.array([1])).tolist() == [False]


def test_a_split_is_small_however_much_an_index_lists(tmp_path: Path) -> None:
    planning.write_aborted(tmp_path / "one-0", 20_000)
    dataset = mb.open(tmp_path, transactions="index")
    splits = dataset.plan(100_000)
    assert len(splits) > 10
    assert max(len(pickle.dumps(split)) for split in splits) < 2_000
    assert dataset.records().to_table().num_rows == 0
    (partition,) = dataset.partitions(["records_aborted"]).to_pylist()
    assert partition == {"records_aborted": 20_000}


def test_an_index_that_is_shorter_when_it_is_read_is_an_error(partition: Path) -> None:
    dataset = mb.open(partition, transactions="index")
    splits = dataset.plan()
    index_of(partition).write_bytes(b"")
    with pytest.raises(ChangedError, match="0 bytes; expected 170, as when it was listed"):
        for split in splits:
            list(read_split(split))


def test_an_index_that_grows_meanwhile_is_read_as_it_was(partition: Path) -> None:
    dataset = mb.open(partition, transactions="index")
    splits = dataset.plan()
    expected = [list(read_split(split)) for split in splits]
    for file in partition.glob("*.txnindex"):
        file.write_bytes(file.read_bytes() + b"half of an entry")
    assert [list(read_split(split)) for split in splits] == expected


def test_the_table_of_transactions_is_by_markers(partition: Path) -> None:
    by_markers, by_index = both(partition)
    assert by_index.transactions().to_table() == by_markers.transactions().to_table()


def test_spark_takes_the_option_where_it_can(partition: Path) -> None:
    path = str(partition)
    by_index = rows(path, transactions="index", maxPartitionBytes="1000")
    assert by_index == rows(path, maxPartitionBytes="1000") != []
    offset = by_index[len(by_index) // 2]["offset"]
    first = json.dumps({"interleaved": {"0": offset}})
    assert rows(path, transactions="index", startingOffsets=first) == by_index[len(by_index) // 2 :]
    for options, message in (
        ({"table": "transactions"}, "transactions index with the table transactions"),
        ({"onDamage": "stop"}, "transactions index with onDamage stop"),
    ):
        with pytest.raises(InputError, match=message):
            planned(path, transactions="index", **options)
    with pytest.raises(InputError, match="markers or index"):
        planned(path, transactions="guess")


def test_python_refuses_what_makes_no_sense() -> None:
    with pytest.raises(InputError, match="transactions 'guess'; expected auto, markers or index"):
        mb.open(INTERLEAVED, transactions="guess")
    with pytest.raises(InputError, match="transactions 'index' with on_damage 'stop'"):
        mb.open(INTERLEAVED, transactions="index", on_damage="stop")


@pytest.mark.parametrize("first", [5, 12])
def test_an_index_with_another_first_offset_than_the_log_is_doubted(
    first: int, tmp_path: Path
) -> None:
    shutil.copytree(DATA / "3.9" / "transactions" / "log-0" / "aborted-0", tmp_path / "aborted-0")
    (index,) = (tmp_path / "aborted-0").glob("*.txnindex")
    data = bytearray(index.read_bytes())
    begin = 2 * 34 + 10  # the third entry: producer 7, offsets 10 to 20
    assert int.from_bytes(data[begin : begin + 8], "big") == 10
    data[begin : begin + 8] = first.to_bytes(8, "big")
    index.write_bytes(data)
    rows = mb.open(tmp_path, transactions="index", on_damage="skip").records(["offset"])
    assert rows.to_table().num_rows == 0
    (doubt,) = (one for one in rows.report.findings if one.code == "txnindex-doubted")
    assert f"producer 7 from offset {first} to 20" in doubt.message


def test_an_index_is_doubted_where_a_later_snapshot_lacks_an_open_transaction(
    folder: build.Folder,
) -> None:
    segments = {
        0: build.transactional(0, 8) + build.transactional(1, 7),
        2: build.control(build.ABORT, 2, 7) + build.batch(base=3),
    }
    for base, data in segments.items():
        path = folder.segment("t-0", data, base)
    path.with_suffix(".txnindex").write_bytes(build.transaction_index((7, 1, 2)))
    path.with_suffix(".snapshot").write_bytes(build.producer_snapshot((7, 0, 1, 1)))
    whole, part = (
        mb.open(folder.path, transactions="index", on_damage="skip", offsets=bounds).records(
            ["offset"]
        )
        for bounds in ((None, None), (3, None))
    )
    # Producer 8 has not ended its transaction, which a broker that starts from the snapshot does not know.
    assert whole.to_pylist() == part.to_pylist() == [{"offset": 3}]
    (doubt,) = (one for one in whole.report.findings if one.code == "txnindex-doubted")
    assert "2.snapshot states no open transaction of producer 8, " in doubt.message


@pytest.mark.parametrize("max_read_bytes", [1, 200, _part_markers.MAX_READ_BYTES])
def test_ranges_by_index_give_the_rows_of_the_whole_log(
    max_read_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_part_markers, "MAX_READ_BYTES", max_read_bytes)
    whole = mb.open(INTERLEAVED).records(["offset"]).to_table()["offset"].to_pylist()
    bases = [int(file.stem) for file in sorted(INTERLEAVED.glob("*.log"))]
    assert len(bases) > 4
    for first, end in zip(bases, bases[2:], strict=False):
        part = mb.open(INTERLEAVED, transactions="index", offsets=(first, end)).records(["offset"])
        assert part.to_table()["offset"].to_pylist() == [n for n in whole if first <= n < end]
        codes_of_part = {finding.code for finding in part.report.findings}
        assert codes_of_part - {"transaction-open"} == {"txnindex-trusted", "range-unread"}


ENDS_ABOVE = build.control(build.ABORT, 2, 7)
"""The next marker of producer 7, in the next segment."""
MANY_BYTES = b"no entry" * 12

PARTS: dict[
    str, tuple[bytes, tuple[tuple[int, int, int], ...], tuple[tuple[int, int, int], ...]]
] = {
    "marker with a short key": (build.control(build.ABORT, 1, 7, key=b"key"), (), ((7, 0, 2),)),
    "marker of an unknown type": (build.control(9, 1, 7), (), ((7, 0, 2),)),
    "marker with a wrong checksum": (build.control(build.COMMIT, 1, 7, crc=1), (), ((7, 0, 2),)),
    "marker without a record": (
        build.batch(
            b"", 1, count=0, last_delta=0, flags=build.TRANSACTIONAL | build.CONTROL, producer=7
        ),
        (),
        ((7, 0, 2),),
    ),
    "abort that no index lists": (build.control(build.ABORT, 1, 7), (), ()),
    "commit that an index lists": (build.control(build.COMMIT, 1, 7), ((7, 0, 1),), ()),
}
"""Control batch at offset 1, and the transaction indexes of both segments."""


@pytest.mark.parametrize("is_doubted", [True, False])
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("engine", ["columnar", "reference"])
def test_a_range_by_index_gives_the_rows_of_the_whole_log_where_markers_contradict_it(
    name: str, engine: str, is_doubted: bool, folder: build.Folder
) -> None:
    marker, *indexes = PARTS[name]
    # Bytes of no entry make the indexes of the whole log doubtful, but not those of the range.
    damage = MANY_BYTES if is_doubted else b""
    segments = build.transactional(0, 7) + marker, ENDS_ABOVE + damage + build.batch(base=3)
    for base, data, entries in zip((0, 2), segments, indexes, strict=True):
        path = folder.segment("t-0", data, base)
        if entries:
            path.with_suffix(".txnindex").write_bytes(build.transaction_index(*entries))
    path.with_suffix(".snapshot").write_bytes(build.producer_snapshot())
    how = {"on_damage": "skip", "engine": engine, "transactions": "index"}
    whole, part = (
        mb.open(folder.path, **how, **more).records(["offset"]).to_pylist()
        for more in ({}, {"offsets": (0, 2)})
    )
    markers_say_committed = name == "commit that an index lists"
    indexes_say_committed = name == "abort that no index lists"
    is_listed_above = not (markers_say_committed or indexes_say_committed)
    is_by_markers = is_doubted or is_listed_above  # the index above contradicts the header
    is_committed = markers_say_committed if is_by_markers else indexes_say_committed
    assert part == ([{"offset": 0}] if is_committed else [])
    assert whole == [*part, {"offset": 3}]
