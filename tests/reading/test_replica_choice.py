"""Tests of the choice between the replicas of a partition."""

from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from log_builder import Folder


def log_dirs(folder: Folder, *logs: list[bytes]) -> list[str]:
    """Write each of *logs* as t-0 of a broker; return the log.dirs."""
    names = []
    for number, log in enumerate(logs):
        log_dir = folder.log_dir(f"broker-{number}")
        log_dir.segment("t-0", b"".join(log))
        names.append(str(log_dir))
    return names


def batches(count: int, *, epoch: int = 0) -> list[bytes]:
    return [build.batch(base=offset, leader_epoch=epoch) for offset in range(count)]


def chosen(paths: list[str], **how: Any) -> str:
    """Return the log.dir of the replica that is read."""
    dataset = mb.open(*paths, fill=False, on_damage="skip", **how)
    (row,) = dataset.partitions(["log_dir"]).to_pylist()
    first, *_ = dataset.replicas(["log_dir", "rank"]).to_pylist()
    assert first == {"log_dir": row["log_dir"], "rank": 1}
    return str(row["log_dir"])


def test_the_highest_leader_epoch_wins_over_a_longer_log(folder: Folder) -> None:
    paths = log_dirs(folder, batches(9), batches(3, epoch=1), batches(4))
    assert chosen(paths) == paths[1]


def test_the_longest_sound_log_wins_in_one_epoch(folder: Folder) -> None:
    log = batches(9)
    cut = [*log[:3], bytes(len(log[3])), *log[4:]]
    assert chosen(paths := log_dirs(folder, log[:7], cut, log[:6])) == paths[1]
    assert chosen(paths := log_dirs(folder, log, cut)[::-1]) == paths[1]


def test_missing_segments_count_against_a_replica(folder: Folder) -> None:
    log = batches(9)
    paths = log_dirs(folder, log[:2], log[:8])
    folder.log_dir("broker-0").segment("t-0", b"".join(log[7:]), 7)
    assert chosen(paths) == paths[1]


def write_epochs(log_dir: str, *epochs: tuple[int, int]) -> None:
    lines = ["0", str(len(epochs)), *(f"{epoch} {start}" for epoch, start in epochs), ""]
    (Path(log_dir) / "t-0" / "leader-epoch-checkpoint").write_text("\n".join(lines))


def test_an_epoch_that_no_checkpoint_has_does_not_count(folder: Folder) -> None:
    paths = log_dirs(folder, [*batches(2), build.batch(base=2, leader_epoch=1 << 20)], batches(9))
    assert chosen(paths) == paths[0], "no checkpoint denies it"
    for path in paths:
        write_epochs(path, (0, 0))
    assert chosen(paths) == paths[1]


def test_the_checkpoint_of_a_replica_that_has_lost_its_end_counts(folder: Folder) -> None:
    paths = log_dirs(folder, batches(9), batches(3))
    write_epochs(paths[0], (0, 0))
    write_epochs(paths[1], (0, 0), (1, 5))
    assert chosen(paths) == paths[1]
    rows = mb.open(*paths).records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == list(range(5)), "epoch 1 has replaced the others"


def test_the_order_of_preference_decides(folder: Folder) -> None:
    paths = log_dirs(folder, batches(9), batches(3), batches(5))
    folder.log_dir("broker-1").segment("only-0", build.batch())
    assert chosen(paths, topics=["t"], replica=paths[1]) == paths[1]
    assert chosen(paths, topics=["t"], replica=[paths[2], paths[1]]) == paths[2]
    other = folder.log_dir("other")
    other.segment("only-0", build.batch())
    found = chosen([*paths, str(other)], topics=["t"], replica=[str(other), paths[2]])
    assert found == paths[2], "the first one does not have the topic"


def test_only_selected_partitions_are_compared(folder: Folder, names_opened: list[str]) -> None:
    paths = log_dirs(folder, batches(3), batches(2))
    for path in paths:
        Folder(folder.path / path).segment("other-0", build.batch(), 77)
    mb.open(*paths, topics=["t"])
    assert f"{77:020}.log" not in names_opened and f"{0:020}.log" in names_opened


def test_a_single_replica_is_not_read_when_it_is_opened(
    folder: Folder, names_opened: list[str]
) -> None:
    for name in ("one", "two"):
        folder.log_dir(name).segment(f"{name}-0", build.batch())
    dataset = mb.open(str(folder))
    assert [name for name in names_opened if name.endswith(".log")] == []
    assert [log.measured_replicas for log in dataset.logs] == [(), ()]
    rows = dataset.replicas(["topic", "rank", "missing_offsets"]).to_pylist()
    assert rows == [
        {"topic": "one", "rank": 1, "missing_offsets": None},
        {"topic": "two", "rank": 1, "missing_offsets": None},
    ]


def write_topic_id(log_dir: str, topic_id: str) -> None:
    with open(f"{log_dir}/t-0/partition.metadata", "w") as file:
        file.write(f"version: 0\ntopic_id: {topic_id}\n")


ONE, TWO = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"


def test_replicas_of_another_topic_of_the_name_are_left_out(folder: Folder) -> None:
    paths = log_dirs(folder, batches(3), batches(3), batches(9))
    for path, topic_id in zip(paths, (ONE, ONE, TWO), strict=True):
        write_topic_id(path, topic_id)
    dataset = mb.open(*paths)
    assert dataset.records().to_table().num_rows == 3
    (finding,) = [
        row for row in dataset.problems().to_pylist() if row["code"] == "topic-id-differs"
    ]
    assert paths[2] in finding["message"]
    assert mb.open(*paths, replica=paths[2]).records().to_table().num_rows == 9
    with pytest.raises(mb.InputError, match="2 topics of one name"):
        mb.open(*paths[1:])


def test_findings_of_verify_name_the_replica(folder: Folder) -> None:
    log = batches(3)
    paths = log_dirs(folder, log, [log[0], log[1][:-1] + b"x", log[2]])
    findings = mb.verify(*paths).findings
    (one,) = [finding for finding in findings if finding.code == "checksum-mismatch"]
    assert one.replica == paths[1]
    assert str(one).startswith(f"{paths[1]}/t-0/{0:020}.log byte ")
