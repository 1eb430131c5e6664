"""Tests of `Follower`: the last records of logs, then records appended while it runs."""

import errno
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import log_builder as build
import magicbyte as mb
from broker_simulator import CALLS, Broker, Watched
from indexed_log import batches, write_segment
from io_faults import FaultyDisk, counted_reads, faulty_disk
from magicbyte import Dataset, Report, Rows
from magicbyte.reading.follow import Follower, RecordFilter, last_rows
from magicbyte.reading.read_options import ISOLATION_LEVELS
from magicbyte.storage import _local
from paths import DATA

TRANSACTIONS = DATA / "4.3/transactions/log-0"


def all_of(dataset: Dataset, columns: Sequence[str]) -> Rows:
    return dataset.records(columns)


def with_even_values(dataset: Dataset, columns: Sequence[str]) -> Rows:
    rows = dataset.records([*columns, "value"] if "value" not in columns else columns)

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for batch in rows.read_into(report):
            is_even = pc.match_substring_regex(batch["value"], "[02468]$")
            if (some := batch.filter(is_even)).num_rows:
                yield some.select(columns)

    return Rows(pa.schema([rows.schema.field(name) for name in columns]), read)


def follower(
    folder: Path,
    choose: RecordFilter = all_of,
    *,
    offsets: Any = None,
    times: Any = None,
    **how: Any,
) -> Follower:
    """Return a Follower of *folder* that skips damage, as the command does."""
    open_now = partial(mb.open, folder, on_damage="skip", offsets=offsets, times=times)
    return Follower(open_now, choose, ["offset", "value"], **how)


def new(one: Follower, report: Report | None = None) -> list[tuple[int, bytes]]:
    report = Report() if report is None else report
    return [
        (row["offset"], row["value"]) for batch in one.new_rows(report) for row in batch.to_pylist()
    ]


def offsets(rows: list[tuple[int, bytes]]) -> list[int]:
    return [offset for offset, _ in rows]


# The last ones


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("count", [0, 1, 7, 100, 1 << 40])
def test_last_rows_are_the_last_of_each_log(count: int, level: str) -> None:
    dataset = mb.open(TRANSACTIONS, isolation_level=level)
    whole = dataset.records(["topic", "partition", "offset", "value"]).to_pylist()
    report = Report()
    batches = last_rows(dataset, all_of, ["topic", "partition", "offset", "value"], count, report)
    rows = [row for batch in batches for row in batch.to_pylist()]
    wanted = []
    for log in dataset.logs:
        of_log = [
            row for row in whole if (row["topic"], row["partition"]) == (log.topic, log.partition)
        ]
        wanted += of_log[max(len(of_log) - count, 0) :]
    assert rows == wanted
    assert report.records["delivered"] >= len(rows)


def test_last_rows_are_the_last_of_those_that_are_chosen(folder: Any) -> None:
    data = b"".join(build.batch(build.records(1, start=n), n) for n in range(400))
    path = folder.segment("t-0", data).parent
    last = partial(last_rows, choose=with_even_values, columns=["offset"], report=Report())
    rows = [row["offset"] for b in last(mb.open(path), count=3) for row in b.to_pylist()]
    assert rows == [394, 396, 398]
    some = mb.open(path, offsets=(389, 396))
    assert [n for b in last(some, count=99) for n in b["offset"].to_pylist()] == [390, 392, 394]


def test_the_last_rows_are_read_from_the_last_segments(names_opened: list[str]) -> None:
    dataset = mb.open(DATA / "2.8/lives/log-0/v2-segments-0")
    names_opened.clear()
    assert list(last_rows(dataset, all_of, ["offset"], 1, Report()))
    segments = [file.name for file in dataset.logs[0].logs]
    assert len(segments) > 2
    assert {name for name in names_opened if name.endswith(".log")} <= set(segments[-2:])


# Those that come


def test_new_records_are_delivered_once(folder: Any) -> None:
    path = folder.segment("t-0", build.batch(build.records(3)))
    one = follower(folder.path)
    assert offsets(new(one)) == [0, 1, 2] and new(one) == []
    with path.open("ab") as file:
        file.write(build.batch(base=3))
    folder.segment("t-0", build.batch(base=4), 4)
    assert offsets(new(one)) == [3, 4] and new(one) == []


def test_half_an_entry_is_waited_for_and_is_no_damage(folder: Any) -> None:
    data = build.batch(base=1)
    path = folder.segment("t-0", build.batch() + data[:40])
    one, report = follower(folder.path), Report()
    assert offsets(new(one, report)) == [0] and report.findings == []
    path.write_bytes(build.batch() + data)
    assert offsets(new(one, report)) == [1] and report.findings == []


def test_damage_is_told_and_what_is_sound_is_given(folder: Any) -> None:
    path = folder.segment("t-0", build.batch())
    one, report = follower(folder.path), Report()
    assert offsets(new(one)) == [0]
    path.write_bytes(build.batch() + build.batch(base=1, crc=1) + build.batch(base=2))
    assert offsets(new(one, report)) == [2]
    assert [finding.code for finding in report.findings] == ["checksum-mismatch"]


def unopened(disk: FaultyDisk, path: Path) -> None:
    disk.unopened[str(path)] = errno.EIO


def unreadable(disk: FaultyDisk, path: Path) -> None:
    disk.blocks[str(path)] = set(range(1, 9))


@pytest.mark.parametrize("fault", [unopened, unreadable])
def test_an_end_that_cannot_be_read_is_reported_and_is_no_truncation(
    fault: Callable[[FaultyDisk, Path], None], folder: Any
) -> None:
    batches = [build.batch([build.record(b"x" * 4000)], base) for base in range(6)]
    folder.segment("t-0", b"".join(batches[:2]))
    path = folder.segment("t-0", b"".join(batches[2:5]), 2)
    warnings: list[str] = []
    one, report = follower(folder.path, warn=warnings.append), Report()
    assert offsets(new(one)) == [0, 1, 2, 3, 4]
    with faulty_disk() as disk:
        fault(disk, path)
        with path.open("ab") as file:
            file.write(batches[5])
        assert new(one, report) == [] and warnings == []
    assert {finding.code for finding in report.findings} == {"unreadable"}
    # The files have not changed since, but the disk has recovered.
    assert offsets(new(one, report := Report())) == [5]
    assert warnings == [] and report.findings == []


def test_records_that_are_damaged_after_they_were_read_are_no_truncation(folder: Any) -> None:
    path = folder.segment("t-0", build.batch() + build.batch(base=1))
    warnings: list[str] = []
    one, report = follower(folder.path, warn=warnings.append), Report()
    assert offsets(new(one)) == [0, 1]
    damaged = b"".join(build.batch(base=base, producer=5, flags=16, crc=1) for base in (1, 2))
    path.write_bytes(build.batch() + damaged)
    assert new(one, report) == [] and warnings == []
    assert [(finding.code, finding.file) for finding in report.findings] == [
        ("checksum-mismatch", path.name)
    ] * 2
    path.write_bytes(b"".join(build.batch(base=base) for base in range(4)))
    assert offsets(new(one)) == [2, 3]
    path.write_bytes(build.batch())
    assert new(one) == [] and "was truncated to offset 1" in warnings[0]


def test_a_partition_that_appears_is_given_from_its_beginning(folder: Any) -> None:
    folder.segment("t-0", build.batch(build.records(5)))
    one = follower(folder.path, tail=2)
    assert offsets(new(one)) == [3, 4]
    folder.segment("t-1", build.batch(build.records(3)))
    assert offsets(new(one)) == [0, 1, 2]


def test_no_tail_is_what_comes_alone(folder: Any) -> None:
    path = folder.segment("t-0", build.batch(build.records(5)))
    one = follower(folder.path, tail=0)
    assert new(one) == []
    path.write_bytes(path.read_bytes() + build.batch(base=5))
    assert offsets(new(one)) == [5]


def test_following_begins_where_a_range_does(folder: Any) -> None:
    folder.segment("t-0", build.batch(build.records(5)))
    one = follower(folder.path, offsets=(3, None))
    assert offsets(new(one)) == [3, 4]
    one = follower(folder.path, offsets=(9, None))
    assert new(one) == []
    folder.segment("t-0", build.batch(build.records(6), 5), 5)
    assert offsets(new(one)) == [9, 10]


def test_following_from_a_time_that_has_not_come_is_what_comes(folder: Any) -> None:
    path = folder.segment("t-0", build.batch())
    one = follower(folder.path, times=(build.TIME + 1, None))
    assert new(one) == []
    path.write_bytes(build.batch() + build.batch(base=1, time=build.TIME + 5))
    assert offsets(new(one)) == [1]


def test_a_log_that_was_cut_off_is_said_and_gone_on_with(folder: Any) -> None:
    path = folder.segment("t-0", build.batch(build.records(5)) + build.batch(base=5))
    said: list[str] = []
    one = follower(folder.path, warn=said.append)
    new(one)
    path.write_bytes(build.batch(build.records(5)))
    assert new(one) == []
    assert said == [
        "t-0 was truncated to offset 5 after it had been read up to 6: new records from 5 on follow"
    ]
    path.write_bytes(path.read_bytes() + build.batch([build.record(b"other")], 5))
    assert new(one) == [(5, b"other")]


def test_records_deleted_before_they_were_read_are_reported(folder: Any) -> None:
    first = folder.segment("t-0", build.batch(build.records(5)))
    said: list[str] = []
    one = follower(folder.path, warn=said.append)
    new(one)
    first.unlink()
    folder.segment("t-0", build.batch(base=9), 9)
    assert offsets(new(one)) == [9]
    assert said == ["t-0 begins at 9 now: offsets 5 to 8 were deleted before they were read"]


def test_committed_records_come_when_their_transaction_has_ended(folder: Any) -> None:
    data = build.transactional(0, 7) + build.batch(base=1)
    path = folder.segment("t-0", data)
    one = follower(folder.path)
    assert new(one) == []
    path.write_bytes(data + build.control(build.COMMIT, 2, 7))
    assert offsets(new(one)) == [0, 1]


def test_file_that_changes_while_read_is_continued_at_the_next_poll(folder: Any) -> None:
    folder.segment("t-0", build.batch(build.records(2)))
    more = build.batch(build.records(2, start=2), 2) + build.control(build.COMMIT, 4, 7)
    folder.segment("t-0", more, 2)
    num_calls = 0

    def fails_once(dataset: Dataset, columns: Sequence[str]) -> Rows:
        rows = dataset.records(columns)

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            nonlocal num_calls
            num_calls += 1
            batches = rows.read_into(report)
            yield next(batches)
            if num_calls == 1:
                raise mb.ChangedError("gone", "there", path="x")
            yield from batches

        return Rows(rows.schema, read)

    one = follower(folder.path, fails_once)
    assert offsets(new(one)) == [0, 1]
    assert offsets(new(one)) == [2, 3]
    assert new(one) == [] and num_calls == 2, "nothing is read where nothing has come"


@pytest.mark.parametrize("seed", range(20))
def test_each_record_of_a_broker_at_work_is_given_once(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    does = ("append", "append", "roll", "delete_oldest", "remove_deleted", "clean")
    broker = Broker(tmp_path / "t-0", build, seed, does=does)
    rng = random.Random(seed)
    chance = 0.0

    def before(call: str) -> None:
        if call in CALLS and rng.random() < chance:
            broker.step()

    monkeypatch.setattr(_local, "os", Watched(before))
    one = follower(tmp_path, warn=lambda _: None)
    given: list[tuple[int, bytes]] = []
    for _ in range(40):
        chance = rng.choice([0.0, 0.02, 0.2])
        given += new(one)
        for _ in range(rng.randrange(10)):
            broker.step()
    for _ in range(40):
        broker.step()
    chance = 0.0
    given += new(one)
    assert offsets(given) == sorted(set(offsets(given))), "once, and in order"
    assert all(value in broker.values[offset] for offset, value in given)
    end = given[-1][0] + 1
    assert not set(range(end)) - set(offsets(given)) - broker.lost
    assert broker.end - end < 5, "all but what is being written"
    assert end > 100


@pytest.mark.parametrize("level", ISOLATION_LEVELS)
def test_appended_records_of_a_large_segment_take_few_bytes(tmp_path: Path, level: str) -> None:
    """A running broker leaves no snapshot at the end of its log: the first call reads the last segment."""
    folder = tmp_path / "t-0"
    data = batches(0, 4000)
    write_segment(folder, data)
    open_now = partial(mb.open, folder, isolation_level=level)
    one = Follower(open_now, all_of, ["offset", "value"], tail=10)
    assert offsets(new(one)) == list(range(3990, 4000))
    for count in (4040, 4080):
        data += batches(count - 40, count)
        write_segment(folder, data)
        with counted_reads() as counts:
            assert offsets(new(one)) == list(range(count - 40, count))
        assert counts["log"] < 4 * 60_000, "of more than two megabytes"
