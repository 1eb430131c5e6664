"""Tests that remote and local segments are read as one log, with the records Kafka delivered."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.output_guard import check_outside
from surveys import surveys_of
from tiered_segments import segments_of

COLUMNS = ("topic", "partition", "offset", "timestamp", "leader_epoch", "key", "value")
LEVELS = ("read_committed", "read_uncommitted")


def found(dataset: mb.Dataset) -> dict[str, list[tuple[Any, ...]]]:
    """Return the records of *dataset* by partition, in the form of `expected`."""
    table = dataset.records(COLUMNS).to_table()
    times = table.column("timestamp").cast("int64").to_pylist()
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for row, time in zip(table.to_pylist(), times, strict=True):
        key, value = (None if row[name] is None else row[name].hex() for name in ("key", "value"))
        one = (row["offset"], time, row["leader_epoch"], key, value)
        rows.setdefault(f"{row['topic']}-{row['partition']}", []).append(one)
    return rows


def expected(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[tuple[Any, ...]]]:
    names = ("offset", "timestamp", "leader_epoch", "key", "value")
    return {name: [tuple(row[of] for of in names) for row in some] for name, some in rows.items()}


def codes(found: mb.Verification, name: str) -> list[str]:
    return [one.code for one in found.findings if f"{one.topic}-{one.partition}" == name]


@pytest.mark.parametrize("transactions", ["markers", "index"])
@pytest.mark.parametrize("level", LEVELS)
def test_remote_and_local_records_are_those_that_the_consumer_got(
    tiered: Any, level: str, transactions: str
) -> None:
    dataset = mb.open(
        tiered.log_dir, tiered.remote, isolation_level=level, transactions=transactions
    )
    tables = found(dataset)
    tables.pop("local-0")  # which has no remote part
    assert tables == expected(tiered.rows(level))
    assert sum(map(len, tables.values())) == {"read_committed": 1775}.get(level, 1900)


def test_transaction_indexes_in_remote_storage_decide_where_they_are_asked(tiered: Any) -> None:
    dataset = mb.open(
        tiered.log_dir, tiered.remote, topics=["tiered-transactions"], transactions="index"
    )
    told = [finding.code for survey in surveys_of(dataset) for finding in survey.findings]
    assert told == ["txnindex-trusted", "txnindex-trusted"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_cluster_that_is_lost_is_read_from_remote_storage_alone(tiered: Any, level: str) -> None:
    dataset = mb.open(tiered.remote, isolation_level=level)
    of_end = "last_stable_offset" if level == "read_committed" else "log_end_offset"
    ends = {
        f"{row['topic']}-{row['partition']}": row[of_end]
        for row in dataset.partitions().to_pylist()
    }
    whole = expected(tiered.rows(level))
    assert found(dataset) == {
        name: [row for row in rows if row[0] < ends[name]] for name, rows in whole.items()
    }


def test_a_transaction_whose_marker_was_not_uploaded_is_open_in_remote_storage_alone(
    tiered: Any,
) -> None:
    rows = mb.open(tiered.remote, topics=["tiered-transactions"]).partitions().to_table()
    assert rows.column("last_stable_offset").to_pylist() == [230, 224]
    assert rows.column("log_end_offset").to_pylist() == [241, 236]


def test_offsets_are_those_of_the_admin_client_with_the_remote_part(tiered: Any) -> None:
    rows = mb.open(tiered.log_dir, tiered.remote).partitions().to_pylist()
    by_name = {f"{row['topic']}-{row['partition']}": row for row in rows}
    for name in tiered.rows("read_uncommitted"):
        row = by_name[name]
        assert row["log_start_offset"] == 0
        assert row["log_end_offset"] == row["last_stable_offset"] == row["high_watermark"]


def test_verify_of_both_finds_nothing_and_counts_each_offset_once(tiered: Any) -> None:
    both = mb.verify(tiered.log_dir, tiered.remote)
    assert both.findings == []
    assert both.summary["records"] + both.summary["control_records"] == 2328
    local = mb.verify(tiered.log_dir)
    assert [one.code for one in local.findings] == ["log-begins-above"] * 5
    foretold = [row["bytes_after_recovery"] for row in both.segments if "-" in row["file"][20:21]]
    assert len(foretold) > 100
    assert set(foretold) == {None}
    told = [row["recovery"] for row in both.partitions]
    assert told == [row["recovery"] for row in local.partitions]


def test_verify_of_remote_storage_alone_foretells_no_start(tiered: Any) -> None:
    alone = mb.verify(tiered.remote)
    assert {finding.code for finding in alone.findings} == {"transaction-open"}
    assert {row["verdict"] for row in alone.partitions} == {"intact"}
    assert all(row["bytes_after_recovery"] is None for row in alone.segments)


def test_a_remote_segment_that_is_missing_is_a_gap(tiered: Any, remote: Path) -> None:
    missing = segments_of(remote, "tiered-0")[1]
    for file in missing.parent.glob(f"{missing.stem}.*"):
        file.unlink()
    found = mb.verify(tiered.log_dir, remote)
    (gap,) = [one for one in found.findings if one.code == "offset-gap"]
    assert gap.message == "offsets 99 to 207 are missing"
    rows = mb.open(tiered.log_dir, remote, topics=["tiered"], partitions=[0], on_damage="skip")
    offsets = rows.records(["offset"]).to_table().column("offset").to_pylist()
    assert offsets == [*range(99), *range(208, 378)]


def test_a_segment_whose_log_alone_is_missing_is_named(tiered: Any, remote: Path) -> None:
    segments_of(remote, "tiered-0")[1].unlink()
    found = mb.verify(tiered.log_dir, remote)
    assert sorted(codes(found, "tiered-0")) == ["offset-gap", "segment-missing"]


def test_local_segments_count_where_both_have_an_offset(tiered: Any, remote: Path) -> None:
    for segment in segments_of(remote, "tiered-some-local-0"):
        segment.write_bytes(b"\xff" * segment.stat().st_size)  # never to be read
    found = mb.verify(tiered.log_dir, remote)
    assert codes(found, "tiered-some-local-0") == []


def test_the_topic_id_says_whose_segments_they_are(tiered: Any, remote: Path) -> None:
    folder = segments_of(remote, "tiered-1")[0].parent
    folder.rename(folder.with_name(folder.name[:-1] + "A"))
    found = mb.verify(tiered.log_dir, remote)
    assert codes(found, "tiered-1") == ["remote-other-topic", "log-begins-above"]


def test_without_a_local_topic_id_the_name_decides_if_one_topic_bears_it(
    tiered: Any, log_dir: Path, remote: Path
) -> None:
    (log_dir / "tiered-1" / "partition.metadata").unlink()
    rows = mb.open(log_dir, remote, topics=["tiered"], partitions=[1]).records(["offset"])
    assert rows.to_table().num_rows == 295
    folder = segments_of(remote, "tiered-1")[0].parent
    shutil.copytree(folder, folder.with_name(folder.name[:-1] + "A"))
    found = mb.verify(log_dir, remote)
    assert codes(found, "tiered-1").count("remote-other-topic") == 2


def test_two_topics_of_a_name_in_remote_storage_are_not_mixed(remote: Path) -> None:
    folder = segments_of(remote, "tiered-1")[0].parent
    other = folder.with_name(folder.name[:-1] + "A")
    shutil.copytree(folder, other)
    ids = [one.name.removeprefix("tiered-1-") for one in sorted((folder, other))]
    with pytest.raises(mb.InputError) as caught:
        mb.open(remote)
    first, second = sorted((folder, other))
    assert caught.value.found == (
        f"2 topics of one name in tiered-1: id {ids[0]} in {first}, id {ids[1]} in {second}"
    )
    rows = mb.open(remote, topics=["tiered"], partitions=[1], replica=str(other))
    assert rows.records(["offset"]).to_table().num_rows == 207


def test_ids_may_hold_and_end_with_dashes_and_digits(tiered: Any, remote: Path) -> None:
    folder = segments_of(remote, "tiered-1")[0].parent
    topic_id = "--_x7Oy4KHtSJqxMiKwG-1"
    for file in folder.iterdir():
        file.rename(folder / f"{file.name[:21]}-{'Z' * 18}--1{file.name[43:]}")
    folder.rename(folder.with_name(f"tiered-1-{topic_id}"))
    log = mb.open(remote, topics=["tiered"], partitions=[1])
    (row,) = log.partitions(["topic", "topic_id", "log_end_offset"]).to_pylist()
    assert row == {"topic": "tiered", "topic_id": topic_id, "log_end_offset": 207}


def test_an_offset_range_reaches_over_both_parts(tiered: Any) -> None:
    log = mb.open(
        tiered.log_dir, tiered.remote, topics=["tiered"], partitions=[0], offsets=(95, 315)
    )
    offsets = log.records(["offset"]).to_table().column("offset").to_pylist()
    assert offsets == list(range(95, 315))


def test_leader_epochs_in_remote_storage_are_shown_by_themselves(tiered: Any) -> None:
    segment = segments_of(tiered.remote, "tiered-0")[0]
    found = mb.companion(segment.with_suffix(".leader_epoch_checkpoint"))
    assert found.rows.to_pylist() == [{"leader_epoch": 0, "start_offset": 0}]


def test_reading_does_not_write_into_remote_storage(tiered: Any) -> None:
    dataset = mb.open(tiered.log_dir, tiered.remote)
    with pytest.raises(mb.InputError, match="inside of the input"):
        check_outside(
            segments_of(tiered.remote, "tiered-0")[0].parent / "out", dataset.all_logs, []
        )
