"""Tests of reading several replicas of a partition as one log."""

import errno
import pickle
import random
import re
import shutil
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from io_faults import faulty_disk
from log_builder import Folder
from log_reader import plain, spans
from magicbyte.reading.read_options import ISOLATION_LEVELS
from paths import DATA
from random_log import write_random_log
from replica_cases import Batch, random_batches, random_losses, write_epochs, write_replica

SEEDS = range(40)

COLUMNS = ("offset", "timestamp", "key", "value", "leader_epoch")


def rows_of(*paths: Any, **how: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = mb.open(*map(str, paths), **how).records(COLUMNS).to_pylist()
    return rows


class Cluster:
    """The log.dirs of brokers with a replica of t-0 each, and an undamaged one."""

    def __init__(self, folder: Folder, seed: int, *, lost_everywhere: bool = False) -> None:
        rng = random.Random(seed)
        self.batches = random_batches(rng, rng.randrange(5, 40))
        self.sound = folder.log_dir("sound")
        write_replica(rng, self.sound, self.batches, set())
        num_replicas = rng.choice([2, 3])
        losses = random_losses(rng, len(self.batches), num_replicas)
        self.dead: set[int] = set()
        if lost_everywhere:
            self.dead = set(rng.sample(range(len(self.batches)), 2))
            losses = [lost | self.dead for lost in losses]
        self.replicas = [folder.log_dir(f"broker-{number}") for number in range(num_replicas)]
        for replica, lost in zip(self.replicas, losses, strict=True):
            write_replica(rng, replica, self.batches, lost)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_batch_that_one_replica_has_is_read(folder: Folder, seed: int) -> None:
    cluster = Cluster(folder, seed)
    for level in ISOLATION_LEVELS:
        expected = rows_of(cluster.sound, isolation_level=level)
        assert rows_of(*cluster.replicas, isolation_level=level) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_batch_that_no_replica_has_is_a_finding_and_no_row_is_wrong(
    folder: Folder, seed: int
) -> None:
    cluster = Cluster(folder, seed, lost_everywhere=True)
    how = {"isolation_level": "read_uncommitted", "on_damage": "skip"}
    sound = mb.open(str(cluster.sound), **how).records(COLUMNS).to_pylist()
    rows = mb.open(*map(str, cluster.replicas), **how).records(COLUMNS)
    table = rows.to_pylist()
    assert [row for row in sound if row in table] == table
    firsts = [batch.first for batch in cluster.batches]
    lost = {bisect_right(firsts, row["offset"]) - 1 for row in sound if row not in table}
    # Nothing confirms a batch between one that all have lost and one that its own replica has lost.
    assert all(number in cluster.dead or number - 1 in lost | cluster.dead for number in lost)
    assert len(lost) < 6
    last = len(cluster.batches) - 1
    if cluster.dead != {last} and min(cluster.dead) < last - 1:
        assert rows.report.severity in ("error", "warning")
    committed = rows_of(cluster.sound)
    how["isolation_level"] = "read_committed"
    assert all(row in committed for row in rows_of(*cluster.replicas, **how))


@pytest.mark.parametrize("seed", range(12))
def test_rows_do_not_depend_on_how_they_are_read(folder: Folder, seed: int) -> None:
    cluster = Cluster(folder, seed, lost_everywhere=seed % 2 == 0)
    paths = [str(replica) for replica in cluster.replicas]
    dataset = mb.open(*paths, on_damage="skip")
    expected = dataset.records(COLUMNS).to_pylist()
    for size in (1, 300, None):
        splits = pickle.loads(pickle.dumps(dataset.plan(size)))
        rows = [
            row
            for split in splits
            for batch in mb.read_split(split, COLUMNS)
            for row in batch.to_pylist()
        ]
        assert rows == expected
    assert rows_of(*paths, on_damage="skip", threads=3) == expected
    assert rows_of(*paths, on_damage="skip", engine="reference") == expected
    every = mb.open(*paths, on_damage="skip", isolation_level="read_uncommitted")
    bases = every.batches(["base_offset"]).to_pylist()
    if seed % 2:
        assert every.batches(["base_offset"], quick=True).to_pylist() == bases
    if expected:
        time = expected[len(expected) // 2]["timestamp"]
        later = [row for row in expected if row["timestamp"] >= time]
        assert rows_of(*paths, on_damage="skip", times=(time, None)) == later
    end = cluster.batches[-1].first + 3
    for first in range(0, end, max(1, end // 7)):
        low, high = first, first + end // 3
        some = rows_of(*paths, on_damage="skip", offsets=(low, high))
        whole = [row for row in expected if low <= row["offset"] < high]
        assert some == whole or (seed % 2 == 0 and all(row in whole for row in some))


@pytest.mark.parametrize("seed", range(12))
def test_bytes_of_all_files_add_up(folder: Folder, seed: int) -> None:
    cluster = Cluster(folder, seed, lost_everywhere=seed % 3 == 0)
    dataset = mb.open(*map(str, cluster.replicas), on_damage="skip")
    live = [row for row in dataset.segments().to_pylist() if row["file_kind"] == "log"]
    for row in live:
        counts = [row[name] for name in row if name.startswith("bytes_")]
        assert sum(counts) == row["size_bytes"]
    records = dataset.records()
    records.to_table()
    assert records.report.bytes.total() == sum(row["size_bytes"] for row in live)
    (partition,) = dataset.partitions().to_pylist()
    assert partition["size_bytes"] == sum(row["size_bytes"] for row in live)


@pytest.mark.parametrize("seed", range(30))
def test_a_tail_that_another_leader_has_replaced_is_never_read(folder: Folder, seed: int) -> None:
    rng = random.Random(seed)
    log = random_batches(rng, 30)
    changes = [n for n in range(1, len(log)) if log[n].epoch > log[n - 1].epoch]
    fork = rng.choice(changes)
    offset, epoch = log[fork].first, log[fork - 1].epoch
    tail = []
    for number in range(rng.randrange(1, 8)):
        data = build.batch_of(offset + number, b"replaced", leader_epoch=epoch)
        tail.append(Batch(data, offset + number, epoch))
    has_epochs = seed % 3 > 0
    replicas = [folder.log_dir(f"broker-{number}") for number in range(2)]
    for replica, own in zip(replicas, (log, log[:fork] + tail), strict=True):
        lost = {number for number in range(len(own)) if rng.random() < 0.3}
        write_replica(rng, replica, own, lost, epochs=has_epochs)
    sound = folder.log_dir("sound")
    write_replica(rng, sound, log, set())
    how = {"isolation_level": "read_uncommitted", "on_damage": "skip"}
    expected = rows_of(sound, **how)
    rows = rows_of(*replicas, **how)
    if not has_epochs:  # the end of the newer log may be lost, and nothing tells of it
        rows = [row for row in rows if row["offset"] < offset]
    assert [row for row in rows if row not in expected] == []


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Return *data* with some bits flipped, and some bytes removed, inserted or repeated."""
    changed = bytearray(data)
    for _ in range(rng.randrange(6) if data else 0):
        at = rng.randrange(len(changed) or 1)
        match rng.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del changed[at : at + rng.randrange(300)]
            case 2:
                changed[at:at] = rng.randbytes(rng.randrange(200))
            case 3:
                changed[at : at + 8] = rng.choice([b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7)])
            case _:
                changed[at:at] = changed[: rng.randrange(400)]
    return bytes(changed)


@pytest.mark.parametrize("seed", [*range(8), 23, 119])
def test_any_bytes_are_accounted_for_and_splits_agree(folder: Folder, seed: int) -> None:
    rng = random.Random(seed)
    is_same = rng.random() < 0.5
    replicas = [folder.log_dir(f"broker-{number}") for number in range(3)]
    for number, replica in enumerate(replicas):
        write_random_log(random.Random(seed if is_same else 10 * seed + number), replica)
        for path in sorted((replica.path / "t-0").glob("*.log")):
            path.write_bytes(mutated(rng, path.read_bytes()))
    for level in ISOLATION_LEVELS:
        dataset = mb.open(*map(str, replicas), isolation_level=level, on_damage="skip")
        records = dataset.records(COLUMNS)
        table = records.to_pylist()
        splits = [batch for split in dataset.plan(300) for batch in mb.read_split(split, COLUMNS)]
        assert [row for batch in splits for row in batch.to_pylist()] == table
        size = 0
        for row in dataset.segments().to_pylist():
            if row["live"] and row["file_kind"] == "log":
                counts = [row[name] for name in row if name.startswith("bytes_")]
                assert sum(counts) == row["size_bytes"]
                size += row["size_bytes"]
        assert records.report.bytes.total() == size


LOG_DIRS = sorted(path for path in DATA.glob("*/*/log-*") if path.is_dir())


@pytest.mark.parametrize("log_dir", LOG_DIRS, ids=lambda path: "-".join(path.parts[-3:]))
def test_replicas_of_real_logs_give_the_rows_of_sound_ones(log_dir: Path, tmp_path: Path) -> None:
    rng = random.Random(str(log_dir.relative_to(DATA)))
    partitions = [path for path in sorted(log_dir.iterdir()) if SERVED.fullmatch(path.name)]
    for partition in rng.sample(partitions, min(len(partitions), 5)):
        replicas = [tmp_path / str(number) / partition.name for number in range(3)]
        for number, replica in enumerate(replicas):
            shutil.copytree(partition, replica)
            for file in filter(Path.is_file, log_dir.iterdir()):
                shutil.copy(file, replica.parent)
            flip_batches(replica, number, rng)
        for level in ISOLATION_LEVELS:
            how = {"isolation_level": level, "on_damage": "skip", "include_internal": True}
            expected = mb.open(partition, **how).records(COLUMNS).to_table()
            found = mb.open(*(replica.parent for replica in replicas), **how)
            assert plain(found.records(COLUMNS).to_table()) == plain(expected), partition.name
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()


SERVED = re.compile(r"[^.]+-\d+")


def flip_batches(partition: Path, remainder: int, rng: random.Random) -> None:
    """Flip a bit in some entries whose number is *remainder* modulo 3: they have sound neighbours."""
    number = 0
    for path in sorted(partition.glob("*.log")):
        data = bytearray(path.read_bytes())
        for begin, end in spans(bytes(data)):
            if end > len(data) or end - begin < 30 or data[begin + 16] > 2:
                break
            number += 1
            if number % 3 == remainder and rng.random() < 0.2:
                covered = begin + (17 if data[begin + 16] == 2 else 12)
                at = rng.choice([begin + 8, begin + 11, *[rng.randrange(covered, end)] * 3])
                data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)


# Single rules


def batches(*epochs: int, first: int = 0) -> list[Batch]:
    """Return batches of one record each, with these leader epochs."""
    return [
        Batch(
            build.batch([build.record(b"%d/%d" % (offset, epoch))], offset, leader_epoch=epoch),
            offset,
            epoch,
        )
        for offset, epoch in enumerate(epochs, first)
    ]


def write(
    log_dir: Folder, *segments: list[Batch], lost: tuple[int, ...] = (), epochs: bool = True
) -> None:
    """Write *segments* of t-0; the batches with the offsets *lost* have a wrong checksum."""
    for segment in segments:
        data = b""
        for batch in segment:
            flip = batch.first in lost
            data += batch.data[:-1] + bytes([batch.data[-1] ^ 1]) if flip else batch.data
        log_dir.segment("t-0", data, segment[0].first)
    if epochs:
        write_epochs(log_dir.path / "t-0", [batch for segment in segments for batch in segment])


@pytest.fixture
def brokers(folder: Folder) -> list[Folder]:
    return [folder.log_dir(f"broker-{number}") for number in range(3)]


def opened(brokers: list[Folder], **how: Any) -> mb.Dataset:
    existing = [str(broker) for broker in brokers if (broker.path / "t-0").exists()]
    return mb.open(*existing, **how)


def values(dataset: mb.Dataset) -> list[str]:
    return [row["value"].decode() for row in dataset.records(["value"]).to_pylist()]


def codes(dataset: mb.Dataset) -> list[str]:
    return [row["code"] for row in dataset.problems(["code"]).to_pylist()]


def test_a_tail_of_a_lower_epoch_is_not_read(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0, 0, 1, 1, 1))
    write(brokers[1], batches(0, 0, 0, 2), lost=(1,))
    dataset = opened(brokers)
    assert values(dataset) == ["0/0", "1/0", "2/0", "3/2"]
    assert codes(dataset) == ["replica-chosen", "replica-ignored", "range-filled"]


def test_a_batch_of_another_epoch_does_not_fill_a_hole(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0, 1, 1))
    write(brokers[1], batches(0, 0, 2, 2), lost=(2,), epochs=False)
    dataset = opened(brokers, on_damage="skip")
    assert values(dataset) == ["0/0", "1/0", "3/2"]
    assert codes(dataset) == ["replica-chosen", "replica-ignored", "checksum-mismatch"]
    write(brokers[2], batches(0, 0, 2))
    assert values(opened(brokers)) == ["0/0", "1/0", "2/2", "3/2"]


def test_the_checkpoint_of_epochs_proves_a_batch_between_two_epochs(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 1), epochs=False)
    write(brokers[1], batches(0, 1, 2), lost=(1,), epochs=False)
    assert values(opened(brokers, on_damage="skip")) == ["0/0", "2/2"]
    write_epochs(brokers[1].path / "t-0", batches(0, 1, 2))
    assert values(opened(brokers)) == ["0/0", "1/1", "2/2"]


def test_an_entry_that_both_have_after_the_hole_proves_what_is_before_it(
    brokers: list[Folder],
) -> None:
    write(brokers[0], batches(0, 1, 2), epochs=False)
    write(brokers[1], batches(0, 1, 2, 2), lost=(1,), epochs=False)
    assert values(opened(brokers)) == ["0/0", "1/1", "2/2", "3/2"]


def test_replicas_that_differ_at_the_border_do_not_fill(brokers: list[Folder]) -> None:
    other = build.batch([build.record(b"other")], 0)
    write(brokers[0], [Batch(other, 0, 0), *batches(0, 0, first=1)])
    write(brokers[1], batches(0, 0, 0, 0), lost=(1,))
    dataset = opened(brokers, on_damage="skip")
    assert values(dataset) == ["0/0", "2/0", "3/0"]
    assert "replica-ignored" in codes(dataset)


def test_missing_segments_are_filled(brokers: list[Folder]) -> None:
    log = batches(*(n // 4 for n in range(12)))
    write(brokers[0], log[:3], log[3:6], log[6:])
    write(brokers[1], log[:4], log[8:])
    write(brokers[2], log[5:])
    expected = [f"{n}/{n // 4}" for n in range(12)]
    for chosen in brokers:
        dataset = opened(brokers, replica=str(chosen))
        assert values(dataset) == expected
        assert {row["log_dir"] for row in dataset.partitions().to_pylist()} == {str(chosen)}


def test_an_emptied_replica_is_filled_as_a_whole(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0, 1))
    brokers[1].segment("t-0", b"")
    for how in ({}, {"replica": [str(brokers[1])]}):
        assert values(opened(brokers, **how)) == ["0/0", "1/0", "2/1"]


def test_records_below_a_log_start_are_not_filled(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0, 0, 0))
    write(brokers[1], batches(0, 0, 0, first=2))
    brokers[1].checkpoint("log-start-offset-checkpoint", {("t", 0): 2})
    assert values(opened(brokers, replica=str(brokers[1]))) == ["2/0", "3/0", "4/0"]
    assert values(opened(brokers, replica=str(brokers[0]))) == ["2/0", "3/0", "4/0"]
    assert values(opened(brokers, replica=str(brokers[0]), fill=False))[0] == "0/0"


def test_an_unclean_end_above_the_high_watermark_is_not_filled(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0))
    write(brokers[1], batches(0, 0, 0, 0))
    (brokers[1].path / ".kafka_cleanshutdown").touch()
    brokers[1].checkpoint("replication-offset-checkpoint", {("t", 0): 3})
    assert values(opened(brokers, replica=str(brokers[0]))) == ["0/0", "1/0", "2/0"]


def test_copies_of_two_dates_are_one_log(folder: Folder) -> None:
    old, new = folder.log_dir("2024-01-01"), folder.log_dir("2024-01-02")
    write(old, batches(0, 0, 0, 0))
    write(new, batches(0, 0, 0, 0, first=2), lost=(3,))
    assert values(mb.open(str(folder))) == [f"{n}/0" for n in range(6)]


def test_messages_without_epochs_are_filled_between_equal_ones(brokers: list[Folder]) -> None:
    log = [build.message(b"%d" % offset, offset) for offset in range(4)]
    brokers[0].segment("t-0", b"".join(log))
    brokers[1].segment("t-0", b"".join([log[0], log[1][:-1] + b"x", *log[2:]]))
    assert values(opened(brokers, replica=str(brokers[1]))) == ["0", "1", "2", "3"]
    log[2] = build.message(b"other", 2)
    brokers[0].segment("t-0", b"".join(log))
    dataset = opened(brokers, replica=str(brokers[1]), on_damage="skip")
    assert values(dataset) == ["0", "2", "3"]


@pytest.mark.parametrize("is_opened", [True, False])
def test_what_cannot_be_read_is_filled(brokers: list[Folder], is_opened: bool) -> None:
    log = batches(*range(200))
    write(brokers[0], log[:90], log[90:])
    write(brokers[1], log)
    bad = str(brokers[1].path / "t-0" / f"{0:020}.log")
    with faulty_disk() as disk:
        if is_opened:
            disk.blocks[bad] = {0, 2}
        else:
            disk.unopened[bad] = errno.EACCES
        dataset = opened(brokers, replica=str(brokers[1]))
        assert values(dataset) == [f"{n}/{n}" for n in range(200)]
        filled = [row for row in dataset.problems().to_pylist() if row["code"] == "range-filled"]
        assert filled and all("unreadable here" in row["message"] for row in filled)


def test_without_fill_a_replica_is_read_as_it_is(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0, 0))
    write(brokers[1], batches(0, 0, 0, 0), lost=(1,))
    dataset = opened(brokers, fill=False, on_damage="skip")
    assert values(dataset) == ["0/0", "2/0", "3/0"]
    assert codes(dataset) == ["replica-chosen", "checksum-mismatch"]
    with pytest.raises(mb.FormatError) as caught:
        values(opened(brokers, fill=False))
    assert caught.value.finding.replica == str(brokers[1])


def test_the_report_names_every_range_that_was_filled(brokers: list[Folder]) -> None:
    write(brokers[0], batches(0, 0, 0, 0, 0))
    write(brokers[1], batches(0, 0, 0, 0, 0), lost=(1, 3))
    dataset = opened(brokers, replica=str(brokers[1]))
    records = dataset.records()
    records.to_table()
    filled = [one for one in records.report.findings if one.code == "range-filled"]
    assert [(one.base_offset, one.position, one.replica) for one in filled] == [
        (offset, offset * len(batches(0)[0].data), str(brokers[1])) for offset in (1, 3)
    ]
    assert f"is damaged here; it is read from {0:020}.log in {brokers[0]}" in filled[0].message
    rows = dataset.replicas().to_pylist()
    assert [(row["log_dir"], row["rank"], row["filled_ranges"]) for row in rows] == [
        (str(brokers[1]), 1, 0),
        (str(brokers[0]), 2, 2),
    ]
    assert (rows[1]["filled_offsets"], rows[1]["filled_bytes"]) == (2, 2 * len(batches(0)[0].data))
