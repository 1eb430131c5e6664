"""Tests of the check whether another cluster would take partition folders."""

import os
import shutil
from pathlib import Path

import pytest

import log_builder as log
from magicbyte.errors import InputError
from magicbyte.verification.restore_check import RestoreCheck, RestoreTarget, restore_check
from paths import DATA

PLAIN = DATA / "4.3" / "plain" / "log-0"
TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"

KEEP_ALL = RestoreTarget(retention_ms=-1)
"""A topic whose records are never deleted."""

DAY = 86_400_000


def codes(check: RestoreCheck) -> list[str]:
    return [finding.code for finding in check.findings]


def partition(folder: Path, *segments: bytes, name: str = "t-0") -> Path:
    """Return a new folder of a partition with *segments* of ten offsets each."""
    path = folder / name
    path.mkdir(parents=True)
    for number, data in enumerate(segments):
        (path / f"{10 * number:020}.log").write_bytes(data)
    return path


def log_dir(path: Path, *partitions: str, cluster_id: str = "c") -> Path:
    """Return a new log.dir with empty *partitions*."""
    path.mkdir()
    (path / "meta.properties").write_text(f"version=1\nnode.id=1\ncluster.id={cluster_id}\n")
    for name in partitions:
        (path / name).mkdir()
    return path


def test_folder_without_dangers_is_taken(tmp_path: Path) -> None:
    check = restore_check(partition(tmp_path, log.batch()), restore_target=KEEP_ALL)
    assert (check.findings, check.num_taken) == ([], 1)
    assert check.partitions[0]["codes"] == []


def test_leader_epochs_above_that_of_a_new_topic_are_reported_once_with_the_first_batch() -> None:
    check = restore_check(PLAIN / "segments-0", restore_target=KEEP_ALL)
    (finding,) = [each for each in check.findings if each.code == "restore-leader-epoch"]
    assert (finding.base_offset, finding.found, finding.expected) == (490, "6", "0")
    assert "3 batches" in finding.message and finding.severity == "error"
    target = RestoreTarget(retention_ms=-1, leader_epoch=6)
    assert "restore-leader-epoch" not in codes(
        restore_check(PLAIN / "segments-0", restore_target=target)
    )


def test_batch_without_a_leader_epoch_is_reported(tmp_path: Path) -> None:
    data = log.batch(leader_epoch=0) + log.batch(base=1, leader_epoch=-1)
    check = restore_check(partition(tmp_path, data), restore_target=KEEP_ALL)
    (finding,) = check.findings
    assert (finding.code, finding.base_offset) == ("restore-without-leader-epoch", 1)


def test_message_of_an_old_format_needs_no_leader_epoch(tmp_path: Path) -> None:
    data = log.message(offset=0, magic=0) + log.message(offset=1)
    assert restore_check(partition(tmp_path, data), restore_target=KEEP_ALL).findings == []


def test_producer_ids_that_a_cluster_gives_out_are_reported(tmp_path: Path) -> None:
    data = [
        log.batch(base=base, producer=producer)
        for base, producer in enumerate([5, 9, 5, (1 << 62) + 7])
    ]
    check = restore_check(partition(tmp_path, b"".join(data)), restore_target=KEEP_ALL)
    (finding,) = check.findings
    assert finding.code == "restore-producer-ids"
    assert "3 batches have 2 producer ids from 5 to 9" in finding.message
    assert check.partitions[0]["producer_ids"] == 2


def test_producer_ids_are_no_danger_in_the_cluster_that_gave_them_out(tmp_path: Path) -> None:
    target = log_dir(tmp_path / "target", cluster_id="same")
    source = log_dir(tmp_path / "source", cluster_id="same")
    partition(source, log.batch(producer=5))
    here = RestoreTarget(retention_ms=-1, broker_log_dirs=[target])
    assert restore_check(source, restore_target=here).findings == []
    other = RestoreTarget(retention_ms=-1, broker_log_dirs=[log_dir(tmp_path / "other")])
    assert codes(restore_check(source, restore_target=other)) == ["restore-producer-ids"]


def test_open_transactions_are_reported_with_the_offset_that_aborts_them() -> None:
    check = restore_check(TRANSACTIONS / "open-0", restore_target=KEEP_ALL)
    offsets = [
        finding.base_offset
        for finding in check.findings
        if finding.code == "restore-open-transaction"
    ]
    assert offsets == [33, 61]
    assert check.partitions[0]["open_transactions"] == 2


def test_indexes_without_snapshots_are_reported_where_there_are_producers(tmp_path: Path) -> None:
    for name in ("open-0", "offsets-only-0"):
        shutil.copytree(TRANSACTIONS / name, tmp_path / name)
        assert "restore-without-snapshots" not in codes(restore_check(tmp_path / name))
        for path in (tmp_path / name).glob("*.snapshot"):
            path.unlink()
        assert "restore-without-snapshots" in codes(restore_check(tmp_path / name))
        for path in (tmp_path / name).glob("*.index"):
            path.unlink()
        assert "restore-without-snapshots" not in codes(restore_check(tmp_path / name))


def test_partition_metadata_of_another_topic_is_reported(tmp_path: Path) -> None:
    folder = partition(tmp_path / "source", log.batch())
    topic_id = "jwVllF8RTfKepgXnja91Sg"
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}\n")
    check = restore_check(folder, restore_target=KEEP_ALL)
    (finding,) = check.findings
    assert (finding.code, finding.found) == ("restore-topic-id", topic_id)
    target = log_dir(tmp_path / "target", "t-1")
    shutil.copy(folder / "partition.metadata", target / "t-1")
    same = RestoreTarget(retention_ms=-1, broker_log_dirs=[target])
    assert restore_check(folder, restore_target=same).findings == []


def test_segments_that_retention_deletes_are_reported_up_to_the_first_young_one(
    tmp_path: Path,
) -> None:
    times = [log.TIME, log.TIME + DAY, log.TIME - DAY]
    segments = [log.batch(base=10 * number, time=time) for number, time in enumerate(times)]
    folder = partition(tmp_path, *segments)
    target = RestoreTarget(retention_ms=DAY)

    def messages(now_ms: int) -> list[str]:
        return [
            each.message
            for each in restore_check(folder, restore_target=target, now_ms=now_ms).findings
        ]

    assert messages(log.TIME + DAY) == []
    (one,) = messages(log.TIME + DAY + 1)
    assert "1 segment has no record after 2024-04-24T23:06:40Z" in one and "0 to 9" in one
    (three,) = messages(log.TIME + 2 * DAY + 1)
    assert "3 segments have" in three and "(1 days) the broker deletes offsets 0 to 20" in three
    assert restore_check(folder, restore_target=KEEP_ALL).findings == []


def test_segment_without_timestamps_is_as_old_as_its_file(tmp_path: Path) -> None:
    folder = partition(tmp_path, log.message(magic=0))
    os.utime(folder / f"{0:020}.log", (1000, 1000))
    assert codes(restore_check(folder, now_ms=1_000_000 + 6 * DAY)) == []
    assert codes(restore_check(folder, now_ms=1_000_000 + 8 * DAY)) == ["restore-retention"]


def test_log_start_inside_a_segment_is_reported() -> None:
    check = restore_check(PLAIN, topics=["deleted-records"], restore_target=KEEP_ALL)
    found = [
        (each.partition, each.found, each.expected)
        for each in check.findings
        if each.code == "restore-log-start"
    ]
    assert found == [(0, "0", "5"), (2, "160", "190")]


def test_batch_that_the_topic_would_refuse_is_reported(tmp_path: Path) -> None:
    data = log.batch() + log.batch([log.record(bytes(1000))], 1)
    target = RestoreTarget(retention_ms=-1, max_message_bytes=1000)
    check = restore_check(partition(tmp_path, data), restore_target=target)
    (finding,) = check.findings
    assert (finding.code, finding.base_offset) == ("restore-large-batch", 1)
    assert check.partitions[0]["largest_batch"] == len(data) - len(log.batch())
    assert check.num_taken == 1


def test_internal_topic_is_not_taken_and_has_no_other_finding() -> None:
    check = restore_check(TRANSACTIONS / "__transaction_state-0")
    assert codes(check) == ["restore-internal-topic"]
    assert check.num_taken == 0


def test_other_folder_of_the_partition_in_a_target_is_reported(tmp_path: Path) -> None:
    target = log_dir(tmp_path / "target", "t-0")
    folder = partition(tmp_path / "source", log.batch())
    there = RestoreTarget(retention_ms=-1, broker_log_dirs=[target])
    (finding,) = restore_check(folder, restore_target=there).findings
    assert (finding.code, finding.found) == ("restore-folder-exists", str(target / "t-0"))
    (target / "t-0" / f"{0:020}.log").write_bytes(log.batch())
    assert restore_check(target / "t-0", restore_target=there).findings == []


def test_log_dir_that_the_broker_would_not_choose_is_reported(tmp_path: Path) -> None:
    fewer = log_dir(tmp_path / "fewer", "a-0")
    more = log_dir(tmp_path / "more", "b-0", "b-1", "b-2")
    for name in ("__cluster_metadata-0", f"c-0.{32 * 'a'}-delete", f"c-1.{32 * 'a'}-stray"):
        (fewer / name).mkdir()
    target = RestoreTarget(retention_ms=-1, broker_log_dirs=[fewer, more])
    placed = partition(fewer, log.batch())
    assert restore_check(placed, restore_target=target).findings == []
    misplaced = partition(more, log.batch(), name="u-0")
    (finding,) = restore_check(misplaced, restore_target=target).findings
    assert finding.code == "restore-log-dir"
    assert f"the broker would choose {fewer} for it; u-0 would be ignored" in finding.message


def test_choice_for_more_partitions_than_the_log_dirs_differ_by_is_not_certain(
    tmp_path: Path,
) -> None:
    targets = [log_dir(tmp_path / "a", "a-0"), log_dir(tmp_path / "b", "b-0", "b-1")]
    target = RestoreTarget(retention_ms=-1, broker_log_dirs=targets)
    source = tmp_path / "source"
    partition(source, log.batch())
    assert restore_check(source, restore_target=target).findings == []
    partition(source, log.batch(), name="t-1")
    (finding,) = restore_check(source, restore_target=target).findings
    assert "the choice for 2 new partitions is not certain" in finding.message


def test_folder_that_is_no_log_dir_is_refused_as_a_target(tmp_path: Path) -> None:
    folder = partition(tmp_path, log.batch())
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match=r"a log\.dir of the broker"):
            restore_check(folder, restore_target=RestoreTarget(broker_log_dirs=[path]))


def test_folder_on_another_file_system_is_reported(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("/dev/shm is no file system of its own here")
    target = RestoreTarget(retention_ms=-1, broker_log_dirs=[log_dir(tmp_path / "target")])
    source = memory / f"magicbyte-{os.getpid()}"
    try:
        check = restore_check(partition(source, log.batch()), restore_target=target)
    finally:
        shutil.rmtree(source)
    assert codes(check) == ["restore-file-system"]
    assert check.num_taken == 1
