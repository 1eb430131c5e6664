"""Tests of `verify`: findings about leader epochs, sequences, timestamps and companion files."""

import shutil
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from entry_headers import header
from magicbyte import Finding
from magicbyte.checksum import crc32c
from magicbyte.engines.entry import Entry
from magicbyte.engines.protocol import Entries
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._epoch_check import EpochCheck
from magicbyte.reading._sequence_check import SequenceCheck
from magicbyte.reading.time_check import MAX_AHEAD_MS, TimeCheck
from paths import DATA

SOURCE = DATA / "4.3" / "transactions" / "log-0"
TOPIC = "aborted-0"
LAST = f"{6:020}"
"""The base offset of the partition's second segment, whose end offset is 55."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log_dir = tmp_path / "log-0"
    shutil.copytree(SOURCE / TOPIC, log_dir / TOPIC)
    shutil.copy(SOURCE / "meta.properties", log_dir)
    return log_dir / TOPIC


def said(*paths: Path) -> list[Finding]:
    return mb.verify(*paths).findings


def test_the_sound_partition_has_none(folder: Path) -> None:
    assert said(folder) == []


def test_an_epoch_altered_in_a_batch_is_found_at_its_byte(folder: Path) -> None:
    """The checksum does not cover the leader epoch."""
    log = folder / f"{LAST}.log"
    (batches,) = mb.open(log).batches(["position", "base_offset"])
    second = batches.to_pylist()[1]
    content = bytearray(log.read_bytes())
    struct.pack_into(">i", content, second["position"] + 12, 90)
    log.write_bytes(content)
    ahead, back = sorted(said(folder), key=lambda found: found.code, reverse=True)
    assert (ahead.code, ahead.found) == ("leader-epoch-mismatch", "90")
    assert ahead.position == second["position"]
    assert (back.code, back.expected) == ("leader-epoch-back", "90 or more")
    assert back.position > second["position"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0\n0\n", "None"),
        ("0\n2\n0 0\n90 54\n", "90"),  # inside the last batch
        ("0\n1\n7 0\n", "7"),
        ("0\n1\n0 0\n", None),
        ("0\n2\n0 0\n1 55\n", None),  # begun, and nothing appended yet
        ("0\n1\n9 60\n", None),  # the log start has risen: the epochs below it are unknown
        ("no checkpoint\n", None),
    ],
)
def test_the_checkpoint_of_epochs(folder: Path, text: str, expected: str | None) -> None:
    (folder / "leader-epoch-checkpoint").write_text(text)
    found = [finding for finding in said(folder) if finding.code.startswith("leader-epoch")]
    assert [finding.expected for finding in found] == ([] if expected is None else [expected])


def test_a_checkpoint_that_goes_back_is_read_as_a_broker_does(folder: Path) -> None:
    """LeaderEpochFileCache drops the lines that a later line contradicts."""
    (folder / "leader-epoch-checkpoint").write_text("0\n3\n0 0\n9 20\n1 55\n")
    assert said(folder) == []


# Sequences


def batch(
    offset: int, producer: int, sequence: int, *, count: int = 1, epoch: int = 0, **fields: Any
) -> Entry:
    given = {
        "position": offset * 100,
        "size_bytes": 100,
        "base_offset": offset,
        "last_offset": offset + count - 1,
        "producer_id": producer,
        "producer_epoch": epoch,
        "base_sequence": sequence,
        "record_count": count,
    }
    return header(**(given | fields))


def partition(topic: str = "t") -> PartitionLog:
    return PartitionLog(topic, 0, "", None, ())


FILE = LogFile("t-0/0.log", "0.log", "log", 0, 1000)

MAX_SEQUENCE = 2**31 - 1

SEQUENCES: dict[str, tuple[list[Entry], list[tuple[int, str, str]]]] = {
    "goes on": ([batch(0, 1, 0, count=3), batch(3, 2, 0), batch(4, 1, 3)], []),
    "a gap": ([batch(0, 1, 0), batch(1, 1, 2)], [(1, "2", "1")]),
    "a batch twice": ([batch(0, 1, 0, count=2), batch(2, 1, 0, count=2)], [(2, "0", "2")]),
    "any beginning": ([batch(0, 1, 700), batch(1, 1, 701)], []),
    "a new epoch begins at 0": ([batch(0, 1, 5), batch(1, 1, 0, epoch=1)], []),
    "a new epoch does not": ([batch(0, 1, 5), batch(1, 1, 6, epoch=1)], [(1, "6", "0")]),
    "an epoch that goes back": (
        [batch(0, 1, 0, epoch=3), batch(1, 1, 0, epoch=2)],
        [(1, "2", "3 or more")],
    ),
    "behind missing offsets nothing is known": ([batch(0, 1, 0), batch(5, 1, 9)], []),
    "nor of another producer's": (
        [batch(0, 1, 0), batch(5, 2, 9), batch(6, 1, 3), batch(7, 2, 11)],
        [(7, "11", "10")],
    ),
    "the largest": ([batch(0, 1, MAX_SEQUENCE), batch(1, 1, 0)], []),
    "beyond the largest": (
        [batch(0, 1, MAX_SEQUENCE - 1, count=4), batch(4, 1, 2), batch(5, 1, 2)],
        [(5, "2", "3")],
    ),
    "a marker has none": (
        [batch(0, 1, 0), batch(1, 1, -1, is_control=True), batch(2, 1, 1)],
        [],
    ),
    "no producer": ([batch(0, -1, -1), batch(1, -1, -1)], []),
    "of each producer the first": (
        [batch(0, 1, 0), batch(1, 1, 5), batch(2, 1, 9), batch(3, 2, 0), batch(4, 2, 0)],
        [(1, "5", "1"), (4, "0", "1")],
    ),
}


def in_two_parts(
    check: Callable[[PartitionLog], Any], entries: list[Entry]
) -> Iterator[list[Finding]]:
    """Yield the findings of *check* on *entries* added in two parts, for each way to cut them."""
    for cut in range(len(entries) + 1):
        checking = check(partition())
        checking.add(FILE, Entries(entries[:cut]))
        checking.add(FILE, Entries(entries[cut:]))
        yield checking.finish([])


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_in_any_parts(name: str) -> None:
    entries, expected = SEQUENCES[name]
    for found in in_two_parts(SequenceCheck, entries):
        assert [(f.position // 100, f.found, f.expected) for f in found] == expected


def test_coordinators_number_nothing() -> None:
    check = SequenceCheck(partition("__consumer_offsets"))
    check.add(FILE, Entries([batch(0, 1, 0), batch(1, 1, 0)]))
    assert check.finish([]) == []


def test_a_sequence_altered_in_a_log(folder: Path) -> None:
    log = folder / f"{LAST}.log"
    content = bytearray(log.read_bytes())
    (batches,) = mb.open(log).batches(["position", "base_sequence", "is_control"])
    at = next(
        row["position"]
        for row in batches.to_pylist()[1:]
        if not row["is_control"] and row["base_sequence"] is not None
    )
    size = 12 + struct.unpack_from(">i", content, at + 8)[0]
    struct.pack_into(">i", content, at + 53, 1234)
    struct.pack_into(">I", content, at + 17, crc32c(content[at + 21 : at + size]))
    log.write_bytes(content)
    found = {finding.code: finding for finding in said(folder)}
    assert found["sequence-out-of-order"].position == at
    assert found["sequence-out-of-order"].found == "1234"


# Epochs and times of entries, in parts


def test_epochs_in_any_parts() -> None:
    entries = [
        batch(0, -1, -1),
        batch(1, -1, -1, leader_epoch=4),
        batch(2, -1, -1, leader_epoch=-1),
        batch(3, -1, -1, leader_epoch=4),
        batch(4, -1, -1, leader_epoch=3),
    ]
    for (found,) in in_two_parts(EpochCheck, entries):
        assert (found.code, found.position) == ("leader-epoch-back", 400)
        assert found.expected == "4 or more"


def test_times_ahead_of_now() -> None:
    now = 1_700_000_000_000
    day = 86_400_000
    entries = [
        batch(0, -1, -1, max_timestamp=now + MAX_AHEAD_MS),
        batch(1, -1, -1, max_timestamp=now + 3 * day),
        batch(2, -1, -1, max_timestamp=None),
        batch(3, -1, -1, max_timestamp=now + 2 * day),
    ]
    for (found,) in in_two_parts(partial(TimeCheck, now_ms=now), entries):
        assert (found.code, found.position, found.base_offset) == ("timestamp-ahead", 100, 1)
        assert found.message.startswith("2 entries have timestamps up to 3 days in the future")
        assert found.found == str(now + 3 * day)


# Beside the segments


def beyond(folder: Path) -> None:
    (folder.parent / "log-start-offset-checkpoint").write_text(f"0\n1\n{TOPIC[:-2]} 0 844\n")


def newer(folder: Path) -> None:
    shutil.copy(folder / f"{55:020}.snapshot", folder / f"{99:020}.snapshot")


def none_at_the_end(folder: Path) -> None:
    (folder / f"{55:020}.snapshot").unlink()
    (folder.parent / ".kafka_cleanshutdown").touch()


def zeros(folder: Path) -> None:
    with (folder / f"{0:020}.timeindex").open("ab") as file:
        file.write(bytes(24))


BESIDE: dict[str, tuple[Callable[[Path], object], list[tuple[str, str, int | None]]]] = {
    "log start": (beyond, [("log-start-beyond", "", None)]),
    "a snapshot above the end": (newer, [("snapshot-mismatch", f"{99:020}.snapshot", None)]),
    "a clean shutdown writes one": (
        none_at_the_end,
        [("snapshot-missing", f"{55:020}.snapshot", None)],
    ),
    "zeros in an index that is done": (zeros, [("timeindex-mismatch", f"{0:020}.timeindex", 12)]),
    "no topic id": (
        lambda folder: (folder / "partition.metadata").unlink(),
        [("topic-id-missing", "partition.metadata", None)],
    ),
    "left over": (
        lambda folder: (folder / f"{0:020}.log.cleaned").write_bytes(b"x"),
        [("left-over", f"{0:020}.log.cleaned", None)],
    ),
    "no file of Kafka's": (
        lambda folder: (folder / "notes.txt").touch(),
        [("foreign-file", "notes.txt", None)],
    ),
    "a name without an offset": (
        lambda folder: (folder / "backup.log").touch(),
        [("file-name-invalid", "backup.log", None)],
    ),
}


@pytest.mark.parametrize("name", BESIDE)
def test_fault_of_a_file_beside_the_segments_is_found(folder: Path, name: str) -> None:
    change, expected = BESIDE[name]
    change(folder)
    found = [(f.code, f.file or "", f.position) for f in said(folder.parent)]
    assert found == expected


def test_partitions_of_a_topic_have_one_id(folder: Path) -> None:
    other = folder.parent / "aborted-1"
    shutil.copytree(folder, other)
    assert said(folder.parent) == []
    (other / "partition.metadata").write_text("version: 0\ntopic_id: ZCogKMIm1BZGv7jgO9GnVQ\n")
    found = [(f.code, f.partition) for f in said(folder.parent)]
    assert found == [("topic-id-differs", 0), ("topic-id-differs", 1)]


def test_zookeeper_gives_no_ids(folder: Path) -> None:
    (folder / "partition.metadata").unlink()
    (folder.parent / "meta.properties").write_text("version=0\nbroker.id=1\ncluster.id=x\n")
    assert said(folder.parent) == []


@pytest.mark.parametrize("check", [SequenceCheck, EpochCheck, TimeCheck])
def test_an_empty_part_is_nothing(check: Callable[[PartitionLog], Any]) -> None:
    assert list(in_two_parts(check, [])) == [[]]


def test_copy_without_any_log_file_is_one_finding(tmp_path: Path) -> None:
    for name in (TOPIC, "open-0", "committed-0"):
        target = tmp_path / "log-0" / name
        source = SOURCE / name if (SOURCE / name).is_dir() else SOURCE / TOPIC
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.log"))
    for name in ("meta.properties", "replication-offset-checkpoint"):
        shutil.copy(SOURCE / name, tmp_path / "log-0")
    findings = [each for each in said(tmp_path / "log-0") if each.severity != "note"]
    assert [each.code for each in findings] == ["log-ends-below"]
    assert "3 partitions" in findings[0].message


def test_consumers_wait_at_missing_offsets_that_no_record_follows(folder: Path) -> None:
    for name in ("log", "index", "timeindex", "txnindex", "snapshot"):
        (folder / f"{LAST}.{name}").unlink(missing_ok=True)
    (folder / f"{60:020}.log").touch()
    (row,) = mb.verify(folder, clean_shutdown=True).partitions
    assert row["verdict"] == "unchanged-damaged"
    assert row["recovery"][-1] == (
        "no record follows the missing offsets: consumers would wait at offset 6 until one is appended"
    )


def test_brokers_are_not_predicted_where_that_is_not_asked_for() -> None:
    whole = mb.verify(DATA / "4.3" / "plain" / "log-0", topics=["segments"])
    assert whole.brokers and any(row["verdict"] == "missing" for row in whole.partitions)
    alone = mb.verify(DATA / "4.3" / "plain" / "log-0", topics=["segments"], brokers=False)
    assert not alone.brokers and [row["verdict"] for row in alone.partitions] == ["intact"]
