"""Tests that restored partitions have nothing that a new topic of another cluster would not take."""

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
import magicbyte as mb
from clusters import Cluster, each_cluster
from magicbyte.writing.restore import PRODUCER_ID_SHIFT
from restored_folders import folder_digests, recorded, suitable_clusters

COLUMNS = ["topic", "partition", "offset", "timestamp", "key", "value", "headers", "sequence"]
HEADER = ["base_offset", "last_offset", "leader_epoch", "producer_id", "magic", "is_control"]


@each_cluster
def test_restored_real_partitions_are_taken_by_a_new_topic(
    cluster: Cluster, tmp_path: Path
) -> None:
    source = cluster.open("read_uncommitted")
    report = mb.restore(source, tmp_path / "out")
    assert not report.failures
    copies = mb.open(tmp_path / "out", isolation_level="read_uncommitted", include_internal=True)
    assert copies.records(COLUMNS).to_table().equals(source.records(COLUMNS).to_table())
    for row in copies.batches(HEADER).to_pylist():
        if row["magic"] == 2:
            assert row["leader_epoch"] == 0
            assert row["producer_id"] is None or row["producer_id"] >= PRODUCER_ID_SHIFT
    bounds = ["topic", "partition", "log_start_offset"]
    expected = source.partitions(bounds).to_pylist()
    assert copies.partitions(bounds).to_pylist() == expected
    for log, row in zip(copies.logs, expected, strict=True):
        assert log.logs[0].base_offset == row["log_start_offset"]
    errors = [each for each in mb.verify(tmp_path / "out").findings if each.severity == "error"]
    assert not errors
    check_committed_rows(cluster, report, tmp_path / "out")


def check_committed_rows(cluster: Cluster, report: mb.RewriteReport, out: Path) -> None:
    """Check that read_committed gets more records only after transactions that were open."""
    ended = {
        (row["topic"], row["partition"])
        for row in report.partitions
        if "abort-marker-added" in row["changed_entries"]
    }
    expected = by_partition(cluster.open("read_committed"))
    found = by_partition(mb.open(out, include_internal=True))
    for key, rows in found.items():
        source_rows = expected.get(key, rows.slice(0, 0))
        assert (rows.slice(0, len(source_rows)) if key in ended else rows).equals(source_rows)


@pytest.mark.parametrize("cluster", suitable_clusters(), ids=str)
def test_restored_folders_are_those_that_brokers_have_taken(
    cluster: Cluster, tmp_path: Path
) -> None:
    # If a change is meant: `MAGICBYTE_RECORD=1 make test-brokers OPTIONS=tests/brokers/test_restored_topics.py`.
    report = mb.restore(mb.open(*cluster.log_dirs), tmp_path / "out")
    assert not report.failures
    assert folder_digests(report) == recorded()[cluster.name]


def by_partition(dataset: mb.Dataset) -> dict[tuple[str | None, int | None], pa.Table]:
    """Return the records of each partition that has some."""
    tables = {}
    for log in dataset.logs:
        table = mb.Dataset([log], dataset.options).records(COLUMNS).to_table()
        if len(table):
            tables[log.topic, log.partition] = table
    return tables


def restored(tmp_path: Path, *batches: bytes, log_start: int | None = None, **options: Any) -> Path:
    folder = build.Folder(tmp_path / "in").log_dir()
    folder.segment("t-0", b"".join(batches))
    if log_start is not None:
        folder.checkpoint("log-start-offset-checkpoint", {("t", 0): log_start})
    report = mb.restore(mb.open(tmp_path / "in"), tmp_path / "out", **options)
    assert not report.failures, report.failures
    return tmp_path / "out" / "t-0"


def test_open_transactions_are_aborted_at_the_log_end_in_their_order(tmp_path: Path) -> None:
    folder = restored(tmp_path, build.transactional(0, 8, epoch=2), build.transactional(1, 7))
    rows = mb.open(folder.parent).transactions(["producer_id", "marker_offset", "outcome"])
    assert rows.to_pylist() == [
        {"producer_id": 8 + PRODUCER_ID_SHIFT, "marker_offset": 2, "outcome": "aborted"},
        {"producer_id": 7 + PRODUCER_ID_SHIFT, "marker_offset": 3, "outcome": "aborted"},
    ]
    (bounds,) = mb.open(folder.parent).partitions(["log_end_offset", "last_stable_offset"])
    assert bounds.to_pylist() == [{"log_end_offset": 4, "last_stable_offset": 4}]


def test_abort_marker_has_the_78_bytes_that_a_broker_writes(tmp_path: Path) -> None:
    data = build.transactional(0, 7, epoch=2)
    folder = restored(tmp_path, data, producer_ids="keep")
    marker = (folder / f"{0:020}.log").read_bytes()[len(data) :]
    expected = build.control(build.ABORT, 1, 7, epoch=2)
    assert marker == expected
    assert len(marker) == 78


def test_open_transactions_and_producer_ids_stay_if_asked(tmp_path: Path) -> None:
    data = build.transactional(0, 7, leader_epoch=5)
    folder = restored(
        tmp_path,
        data,
        producer_ids="keep",
        open_transaction_policy="keep",
        leader_epoch=None,
    )
    assert (folder / f"{0:020}.log").read_bytes() == data


def test_records_below_the_log_start_are_not_in_the_output(tmp_path: Path) -> None:
    content = [build.record(b"v%d" % n, delta=n, time_delta=n) for n in range(4)]
    data = build.batch(content, 0, producer=7, epoch=1, sequence=10, codec=build.GZIP)
    folder = restored(tmp_path, data, log_start=2, producer_ids="keep")
    names = ["offset", "timestamp", "value", "sequence", "producer_id", "codec"]
    source = mb.open(tmp_path / "in").records(names).to_pylist()
    assert mb.open(folder).records(names).to_pylist() == source
    assert [path.name for path in folder.glob("*.log")] == [f"{2:020}.log"]
    (batch,) = mb.open(folder).batches(["base_offset", "record_count"]).to_pylist()
    assert batch == {"base_offset": 2, "record_count": 2}


def test_log_whose_start_is_its_end_becomes_an_empty_segment(tmp_path: Path) -> None:
    folder = restored(tmp_path, build.batch_of(0, b"a"), log_start=1)
    assert {path.name: path.stat().st_size for path in folder.glob("*.log")} == {f"{1:020}.log": 0}


def test_checksums_of_messages_are_not_taken_for_leader_epochs(tmp_path: Path) -> None:
    # Bytes 12 to 15 of a v0 or v1 message are its CRC.
    data = build.message(b"a") + build.wrapper([build.message(b"b")], 1)
    folder = restored(tmp_path, data)
    assert (folder / f"{0:020}.log").read_bytes() == data


def test_snapshot_has_the_shifted_producer_ids(tmp_path: Path) -> None:
    folder = restored(tmp_path, build.batch(build.records(1), 0, producer=7, epoch=0, sequence=0))
    snapshot = (folder / f"{1:020}.snapshot").read_bytes()
    assert struct.unpack_from(">q", snapshot, 10) == (7 + PRODUCER_ID_SHIFT,)


@pytest.mark.parametrize("end", [0, 1, 2, 3, 5, 6])
@pytest.mark.parametrize("codec", [0, build.ZSTD])
def test_partition_is_restored_as_it_was_before_an_offset(
    codec: int, end: int, tmp_path: Path
) -> None:
    content = [build.record(b"v%d" % n, delta=n) for n in range(3)]
    folder = build.Folder(tmp_path / "in")
    folder.segment("t-0", build.batch(content, codec=codec) + build.transactional(3, 7))
    folder.segment("t-0", build.control(build.COMMIT, 4, 7) + build.batch_of(5, b"last"), 4)
    dataset = mb.open(tmp_path / "in", offsets=(None, end), isolation_level="read_uncommitted")
    report = mb.restore(dataset, tmp_path / "out")
    assert not report.failures, report.failures
    names = ["offset", "value"]
    copies = mb.open(tmp_path / "out", isolation_level="read_uncommitted")
    assert copies.records(names).to_pylist() == dataset.records(names).to_pylist()
    (bounds,) = copies.partitions(["log_end_offset", "last_stable_offset"]).to_pylist()
    num_markers = 1 if end == 4 else 0
    assert bounds == {
        "log_end_offset": end + num_markers,
        "last_stable_offset": end + num_markers,
    }


def test_transaction_that_ends_after_the_time_is_aborted(tmp_path: Path) -> None:
    folder = build.Folder(tmp_path / "in")
    folder.segment(
        "t-0",
        build.batch_of(0, b"a", time=1000)
        + build.transactional(1, 7, time=2000)
        + build.batch_of(2, b"b", time=3000)
        + build.control(build.COMMIT, 3, 7, time=4000),
    )
    mb.restore(mb.open(tmp_path / "in", times=(None, 4000)), tmp_path / "out")
    rows = mb.open(tmp_path / "out").records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == [0, 2]


@pytest.mark.parametrize("magic", [0, 1])
def test_wrapper_message_is_cut_at_both_ends(magic: int, tmp_path: Path) -> None:
    inner = [build.message(b"%d" % n, n, magic=magic) for n in range(5)]
    folder = build.Folder(tmp_path / "in").log_dir()
    folder.segment("t-0", build.wrapper(inner, 4, magic=magic))
    folder.checkpoint("log-start-offset-checkpoint", {("t", 0): 1})
    mb.restore(mb.open(tmp_path / "in", offsets=(None, 3)), tmp_path / "out")
    rows = mb.open(tmp_path / "out").records(["offset", "value"]).to_pylist()
    assert rows == [{"offset": 1, "value": b"1"}, {"offset": 2, "value": b"2"}]


@pytest.mark.parametrize(
    "options",
    [{"producer_ids": "drop"}, {"open_transaction_policy": "commit"}, {"leader_epoch": -1}],
)
def test_options_that_are_not_allowed_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    build.Folder(tmp_path / "in").segment("t-0", build.batch_of(0, b"a"))
    with pytest.raises(mb.InputError):
        mb.restore(mb.open(tmp_path / "in"), tmp_path / "out", **options)
