"""Tests of reads that are planned by offset indexes: the rows of a plan that has read all headers."""

import pickle
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from extent import WIDE
from local_store import open_stored
from log_builder import Folder
from magicbyte.errors import ChangedError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading import _index_plan, _markers_ahead, planner
from magicbyte.reading.plan_ahead import plan_ahead
from magicbyte.tables.schemas import DISPOSITIONS
from paths import DATA

COLUMNS = ("topic", "partition", "offset", "disposition", "outcome", "value")
CLUSTERS = ("2.8/lives", "3.9/transactions", "4.3/transactions", "4.3/compacted")
TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"
NUM_DAMAGED = 60 if WIDE else 40
BATCHES = 40
"""Batches of a segment of `write_log`."""


@pytest.fixture(autouse=True)
def small_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_index_plan, "MIN_LOG_BYTES", 0)
    monkeypatch.setattr(planner, "SPLIT_BYTES", 1000)
    monkeypatch.setattr(planner, "STORED_SPLIT_BYTES", 1000)


def read(dataset: mb.Dataset, **how: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Return the rows of *dataset*, and the codes of the findings."""
    records = dataset.records(COLUMNS, **how)
    rows = [tuple(row.values()) for row in records.to_pylist()]
    return rows, [finding.code for finding in records.report.findings]


def both(path: Path, **how: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[str]]:
    """Return rows by markers and by index, and the codes of the findings of the latter."""
    options = {"on_damage": "skip", "include_internal": True}
    by_markers, _ = read(mb.open(path, transactions="markers", **options), **how)
    by_index, codes = read(open_stored(path, **options)[0], **how)
    return by_markers, by_index, codes


def index_of(segment: bytes, base: int, interval: int = 300) -> bytes:
    """Return the offset index of *segment*: an entry for each *interval* bytes, as brokers write it."""
    entries, position, since = b"", 0, 0
    while position < len(segment):
        size = 12 + int.from_bytes(segment[position + 8 : position + 12], "big")
        first = int.from_bytes(segment[position : position + 8], "big")
        delta = int.from_bytes(segment[position + 23 : position + 27], "big")
        if since > interval:
            entries += (first + delta - base).to_bytes(4, "big") + position.to_bytes(4, "big")
            since = 0
        position, since = position + size, since + size
    return entries


def write_log(folder: Folder, *, num_segments: int = 2, open_from: int | None = None) -> Path:
    """Write a partition of batches without transactions, which a snapshot at its end says."""
    for number in range(num_segments):
        base = number * BATCHES
        data = b"".join(build.batch_of(base + i, b"value %d" % (base + i)) for i in range(BATCHES))
        folder.segment("t-0", data, base)
        folder.segment("t-0", index_of(data, base), base, "index")
    end = num_segments * BATCHES
    folder.segment("t-0", build.producer_snapshot(), end, "snapshot")
    return folder.path / "t-0"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "log-0").log_dir()


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_rows_of_real_logs_are_those_by_markers(cluster: str) -> None:
    num_by_index = 0
    for path in sorted({file.parent for file in (DATA / cluster).rglob("*.log")}):
        by_markers, by_index, codes = both(path, dispositions=DISPOSITIONS)
        assert by_index == by_markers, path
        num_by_index += "planned-by-index" in codes
    assert num_by_index >= 2


def damaged_logs(seed: int, target: Path) -> Iterator[Path]:
    """Yield copies of real partitions, whose files were damaged at random."""
    rng = random.Random(seed)
    sources = sorted({file.parent for file in TRANSACTIONS.rglob("*.log")})
    for number in range(NUM_DAMAGED):
        source = rng.choice(sources)
        folder = target / str(number) / source.name
        shutil.copytree(source, folder)
        for _ in range(rng.choice((1, 1, 2))):
            file = rng.choice(sorted(file for file in folder.iterdir() if file.stat().st_size))
            data = bytearray(file.read_bytes())
            at, length = rng.randrange(len(data)), rng.choice((1, 8, 61, 500))
            match rng.randrange(4):
                case 0:
                    data[at : at + length] = rng.randbytes(len(data[at : at + length]))
                case 1:
                    del data[at : at + length]
                case 2:
                    del data[at:]
                case 3:
                    data[at:at] = data[max(0, at - length) : at]
            file.write_bytes(data)
        yield folder


def test_no_aborted_record_of_a_damaged_log_is_delivered(tmp_path: Path) -> None:
    num_by_index = num_doubted = num_different = 0
    for path in damaged_logs(20261127, tmp_path):
        everything, _ = read(
            mb.open(path, transactions="markers", on_damage="skip"), dispositions=DISPOSITIONS
        )
        outcomes = {(row[2], row[5]): row[4] for row in everything}
        by_markers, by_index, codes = both(path)
        more = {(row[2], row[5]) for row in by_index} - {(row[2], row[5]) for row in by_markers}
        assert all(outcomes[each] != "aborted" for each in more), path
        num_by_index += "planned-by-index" in codes
        num_doubted += "index-doubted" in codes
        num_different += by_index != by_markers
    assert num_by_index > NUM_DAMAGED / 6 and num_doubted >= NUM_DAMAGED / 20
    assert num_different <= 2, "where a snapshot states an open transaction whose marker is damaged"


def test_a_plan_reads_indexes_and_the_end_of_the_log(folder: Folder) -> None:
    write_log(folder, num_segments=4)
    dataset, store = open_stored(folder.path / "t-0")
    splits = dataset.plan(1000)
    segments = {name: count for name, count in store.read_bytes.items() if name.endswith(".log")}
    assert list(segments) == [f"{3 * BATCHES:020}.log"] and segments.popitem()[1] < 800
    assert len(splits) > 12 and {split.file.name for split in splits if split.start}
    assert all(split.end - split.start <= 1000 for split in splits)
    rows = [
        row["offset"]
        for split in pickle.loads(pickle.dumps(splits))
        for batch in mb.read_split(split, ("offset",))
        for row in batch.to_pylist()
    ]
    assert rows == list(range(4 * BATCHES))


def test_missing_segments_and_batches_are_reported(folder: Folder) -> None:
    path = write_log(folder, num_segments=4)
    (path / f"{BATCHES:020}.log").unlink()
    (path / f"{BATCHES:020}.index").unlink()
    by_markers, by_index, codes = both(path)
    assert by_index == by_markers and codes.count("offset-gap") == 1


def test_an_index_that_points_into_a_batch_is_not_believed(folder: Folder) -> None:
    path = write_log(folder)
    index = path / f"{0:020}.index"
    data = bytearray(index.read_bytes())
    for at in range(7, len(data), 8):
        data[at] += 1
    index.write_bytes(data)
    by_markers, by_index, codes = both(path)
    assert by_index == by_markers and len(by_index) == 2 * BATCHES
    assert "planned-by-index" in codes and "index-doubted" in codes


def test_an_index_of_another_segment_is_not_believed(folder: Folder) -> None:
    """Its positions are those of batches, but their offsets are not the ones that it states."""
    path = write_log(folder)
    index = path / f"{0:020}.index"
    data = bytearray(index.read_bytes())
    for at in range(3, len(data), 8):
        data[at] -= 2
    index.write_bytes(data)
    by_markers, by_index, codes = both(path)
    assert by_index == by_markers and "index-doubted" in codes


def write_transactions(folder: Folder, *entries: bytes, end: int) -> Path:
    """Write a partition of one segment, with its index and without a snapshot of open transactions."""
    data = b"".join(entries)
    folder.segment("t-0", data)
    folder.segment("t-0", index_of(data, 0), 0, "index")
    folder.segment("t-0", build.producer_snapshot((7, 0, end - 2, -1)), end, "snapshot")
    return folder.path / "t-0"


def test_an_abort_in_a_later_split_withholds_records(folder: Folder) -> None:
    others = [build.batch_of(offset, b"x" * 200) for offset in range(1, 30)]
    path = write_transactions(
        folder, build.transactional(0, 7), *others, build.control(0, 30, 7), end=31
    )
    by_markers, by_index, codes = both(path)
    assert by_index == by_markers and len(by_index) == 29
    assert codes == ["planned-by-index"], "no transaction index is needed"


def test_an_abort_in_the_next_segment_withholds_records(folder: Folder) -> None:
    write_log(folder)
    first, rest = build.transactional(2 * BATCHES, 7), build.control(0, 2 * BATCHES + 1, 7)
    more = [build.batch_of(2 * BATCHES + 2 + i, b"more") for i in range(BATCHES)]
    folder.segment("t-0", first, 2 * BATCHES)
    folder.segment("t-0", rest + b"".join(more), 2 * BATCHES + 1)
    end = 3 * BATCHES + 2
    folder.segment("t-0", build.producer_snapshot((7, 0, 2 * BATCHES, -1)), end, "snapshot")
    segment = (folder.path / "t-0" / f"{2 * BATCHES + 1:020}.log").read_bytes()
    folder.segment("t-0", index_of(segment, 2 * BATCHES + 1), 2 * BATCHES + 1, "index")
    by_markers, by_index, codes = both(folder.path / "t-0")
    assert by_index == by_markers and len(by_index) == 3 * BATCHES
    assert "planned-by-index" in codes and "index-doubted" not in codes


def test_a_long_transaction_needs_all_headers(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_markers_ahead, "MAX_AHEAD_BYTES", 1000)
    monkeypatch.setattr(_markers_ahead, "FIRST_READ_BYTES", 500)
    others = [build.batch_of(offset, b"x" * 200) for offset in range(1, 30)]
    path = write_transactions(
        folder, build.transactional(0, 7), *others, build.control(0, 30, 7), end=31
    )
    by_markers, by_index, codes = both(path)
    assert by_index == by_markers and len(by_index) == 29 and "index-doubted" in codes


def test_a_missing_batch_inside_a_transaction_makes_it_undecided(folder: Folder) -> None:
    """The missing batch may be the abort marker of the records before it."""
    entries = [
        build.transactional(0, 7),
        *(build.batch_of(offset, b"x" * 200) for offset in range(2, 30)),
        build.control(1, 30, 7),
    ]
    by_markers, by_index, codes = both(write_transactions(folder, *entries, end=31))
    assert by_index == by_markers and [row[2] for row in by_index] == list(range(2, 30))
    assert "index-doubted" in codes


def test_a_snapshot_that_states_a_transaction_of_nobody_is_not_believed(folder: Folder) -> None:
    path = write_log(folder)
    folder.segment("t-0", build.producer_snapshot((7, 0, 20, 20)), 2 * BATCHES, "snapshot")
    by_markers, by_index, _ = both(path)
    assert by_index == by_markers and len(by_index) == 2 * BATCHES


def test_a_snapshot_that_lacks_the_open_transaction_of_the_last_batches_is_not_believed(
    folder: Folder,
) -> None:
    entries = [build.batch_of(offset, b"x" * 200) for offset in range(28)]
    entries += [build.transactional(28, 7), build.batch_of(29, b"later")]
    by_markers, by_index, codes = both(write_transactions(folder, *entries, end=30))
    assert by_index == by_markers and codes == ["snapshot-mismatch", "transaction-undecided"]


def test_open_transactions_are_those_of_the_snapshot_at_the_end(folder: Folder) -> None:
    others = [build.batch_of(offset, b"x" * 200) for offset in range(11, 30)]
    before = [build.batch_of(offset, b"x" * 200) for offset in range(10)]
    path = write_transactions(folder, *before, build.transactional(10, 7), *others, end=30)
    folder.segment("t-0", build.producer_snapshot((7, 0, 10, 10)), 30, "snapshot")
    by_markers, by_index, codes = both(path)
    assert by_index == by_markers and [row[2] for row in by_index] == list(range(10))
    assert codes == ["transaction-open", "planned-by-index"]


def test_markers_are_read_where_the_option_says_so(folder: Folder) -> None:
    dataset, _ = open_stored(write_log(folder), transactions="markers")
    _, codes = read(dataset)
    assert codes == []


@pytest.mark.parametrize("how", ["plan", "records"])
def test_partitions_are_planned_at_the_same_time(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Each plan waits until the plan of another partition has begun."""
    path = write_log(folder)
    for number in range(1, 4):
        shutil.copytree(path, folder.path / f"t-{number}")
    is_begun = threading.Barrier(2)
    survey = planner.survey_of_indexed_log

    def survey_with_another(*arguments: Any) -> Any:
        is_begun.wait(timeout=60)
        return survey(*arguments)

    monkeypatch.setattr(planner, "survey_of_indexed_log", survey_with_another)
    dataset, _ = open_stored(folder.path)
    if how == "plan":
        partitions = [split.partition for split in dataset.plan(1000)]
    else:
        partitions = [row["partition"] for row in dataset.records(["partition"]).to_pylist()]
    assert partitions == sorted(partitions) and set(partitions) == {0, 1, 2, 3}


def test_the_error_of_a_plan_is_raised_in_its_turn(folder: Folder) -> None:
    path = write_log(folder)
    for number in range(1, 4):
        shutil.copytree(path, folder.path / f"t-{number}")
    dataset, _ = open_stored(folder.path)

    def plan(log: PartitionLog) -> int | None:
        if log.partition == 2:
            raise ChangedError("nothing", "something", path=log.folder)
        return log.partition

    planned = plan_ahead(dataset.logs, plan)
    assert [next(planned)[1], next(planned)[1]] == [0, 1]
    with pytest.raises(ChangedError):
        next(planned)
