"""Tests of predictions for brokers, on log.dirs that are built here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import magicbyte as mb
from kraft_builder import (
    CLUSTER,
    METADATA,
    KraftBroker,
    feature,
    leader_change,
    partition_record,
    registration,
    removal_record,
    snapshot,
    topic_record,
    uuid,
)
from log_builder import batch_of

STARTS: tuple[str, list[str], dict[str, str]] = ("starts", [], {})
MOVED = "alpha-0.0123456789abcdef0123456789abcdef"
ALL = {f"{topic}-{number}": "stray" for topic in ("alpha", "beta") for number in (0, 1)}


def test_sound_broker_starts(broker: KraftBroker) -> None:
    assert broker.predict() == STARTS
    found = broker.prediction()
    assert (found.node_id, found.cluster_id, found.kafka_version) == (1, CLUSTER, "4.4")
    assert found.log_dirs == list(map(str, broker.log_dirs))


def test_broker_is_judged_whole_whatever_topics_are_selected(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "lost+found").mkdir()
    found = broker.verify(topics=["alpha"], partitions=[0])
    assert [row["partition"] for row in found.partitions] == [0]
    assert found.brokers[0].reasons == ["folder-name-invalid"]


def test_partition_folder_alone_is_no_broker(broker: KraftBroker) -> None:
    assert broker.verify(broker.log_dirs[0] / "alpha-0").brokers == []


# Names of folders


@pytest.mark.parametrize("name", ["lost+found", "alpha-0.bak", "alpha-x", "backup"])
def test_foreign_folder_stops_the_broker(broker: KraftBroker, name: str) -> None:
    (broker.log_dirs[0] / name).mkdir()
    assert broker.predict()[:2] == ("refuses-to-start", ["folder-name-invalid"])
    (finding,) = broker.prediction().findings
    assert str(broker.log_dirs[0] / name) in finding.message


def test_foreign_file_stops_nobody(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "nohup.out").write_text("x")
    assert broker.predict() == STARTS


def test_partition_in_two_log_dirs_stops_the_broker(broker: KraftBroker) -> None:
    shutil.copytree(broker.log_dirs[0] / "alpha-0", broker.log_dirs[1] / "alpha-0")
    assert broker.predict()[1] == ["partition-in-two-folders"]


def test_leading_zero_names_the_same_partition(broker: KraftBroker) -> None:
    shutil.copytree(broker.log_dirs[0] / "alpha-0", broker.log_dirs[0] / "alpha-00")
    assert broker.predict()[1] == ["partition-in-two-folders"]


def test_index_cache_of_tiered_storage_is_skipped_since_3_6(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "remote-log-index-cache").mkdir()
    assert broker.predict() == STARTS
    assert "folder-name-invalid" in broker.predict(kafka_version="3.5")[1]


# meta.properties


def test_log_dir_without_meta_properties_stops_the_broker(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "meta.properties").unlink()
    assert broker.predict()[:2] == ("refuses-to-start", ["meta-properties-missing"])
    assert broker.prediction().log_dirs == list(map(str, broker.log_dirs))


def test_empty_folder_beside_log_dirs_is_a_new_disk(broker: KraftBroker) -> None:
    shutil.rmtree(broker.log_dirs[1])
    broker.log_dirs[1].mkdir()
    assert broker.predict()[1] == ["meta-properties-missing"]


def test_meta_properties_without_ids_stops_the_broker(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "meta.properties").write_text("")
    assert broker.predict()[1] == ["meta-properties-invalid"]


def test_unknown_version_takes_the_log_dir_offline(broker: KraftBroker) -> None:
    broker.properties(broker.log_dirs[1], version=2, directory_id=uuid(101))
    verdict, reasons, rows = broker.predict()
    assert (verdict, reasons) == ("starts-with-loss", ["partition-not-served"])
    assert rows == {"alpha-1": "not-served", "beta-1": "not-served"}


@pytest.mark.parametrize("line", ["node.id", "cluster.id"])
def test_version_1_without_an_id_takes_the_log_dir_offline(broker: KraftBroker, line: str) -> None:
    path = broker.log_dirs[1] / "meta.properties"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(each for each in lines if not each.startswith(line)))
    assert broker.predict()[2] == {"alpha-1": "not-served", "beta-1": "not-served"}


def test_folder_in_place_of_meta_properties_takes_the_log_dir_offline(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "meta.properties").unlink()
    (broker.log_dirs[1] / "meta.properties").mkdir()
    (broker.log_dirs[1] / "lost+found").mkdir()  # which a broker does not come to see
    assert broker.predict()[2] == {"alpha-1": "not-served", "beta-1": "not-served"}


def test_unknown_version_in_the_metadata_log_dir_ends_the_broker(broker: KraftBroker) -> None:
    broker.properties(broker.log_dirs[0], version=2)
    assert broker.predict()[1] == ["meta-properties-invalid"]


def test_registration_shows_that_a_node_id_is_wrong(broker: KraftBroker) -> None:
    broker.properties(broker.log_dirs[1], node_id=7, directory_id=uuid(101))
    found = broker.prediction()
    assert (found.verdict, found.reasons) == ("refuses-to-start", ["node-id-differs"])
    assert found.node_id is None


def test_registration_shows_that_a_cluster_id_is_wrong(broker: KraftBroker) -> None:
    broker.properties(broker.log_dirs[1], cluster_id="other", directory_id=uuid(101))
    assert broker.prediction().reasons == ["cluster-id-differs"]


def test_copied_directory_id_stops_the_broker(broker: KraftBroker) -> None:
    broker.properties(broker.log_dirs[1])
    assert "directory-id-duplicate" in broker.predict()[1]


def test_reserved_directory_id_stops_the_broker(broker: KraftBroker) -> None:
    broker.properties(broker.log_dirs[1], directory_id="AAAAAAAAAAAAAAAAAAAABQ")
    assert broker.predict()[1] == ["directory-id-invalid"]


@pytest.mark.parametrize("directory_id", [uuid(150), None])
def test_partition_assigned_to_a_former_directory_id_is_not_served(
    broker: KraftBroker, directory_id: str | None
) -> None:
    broker.properties(broker.log_dirs[1], directory_id=directory_id)
    verdict, _, rows = broker.predict()
    assert verdict == "starts-with-loss"
    assert rows == {"alpha-1": "not-served", "beta-1": "not-served"}


def test_startup_rules_until_3_6_demand_equal_properties(broker: KraftBroker) -> None:
    assert "meta-properties-differ" in broker.predict(kafka_version="3.6")[1]


# The metadata log


def damaged(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 0xFF
    path.write_bytes(data)


def test_topics_made_in_the_lost_part_of_the_metadata_log_become_stray(broker: KraftBroker) -> None:
    log = broker.metadata / f"{0:020}.log"
    damaged(log, len(log.read_bytes()) - 5)  # the batch that makes beta
    verdict, reasons, rows = broker.predict()
    assert (verdict, reasons) == (
        "starts-with-loss",
        ["metadata-log-truncated", "partition-stray"],
    )
    assert rows == {f"{METADATA}": "truncated", "beta-0": "stray", "beta-1": "stray"}
    row = next(row for row in broker.verify().partitions if row["topic"].startswith("__"))
    assert (row["offsets_lost"], row["log_end_offset_after_recovery"]) == (3, 6)


def test_metadata_records_that_do_not_fit_those_before_them_end_the_node(
    broker: KraftBroker,
) -> None:
    broker.append(removal_record(uuid(99)))
    broker.write_metadata()
    assert broker.predict()[1] == ["metadata-log-damaged"]


def test_metadata_log_in_which_an_offset_goes_back_never_gets_ready(broker: KraftBroker) -> None:
    log = broker.metadata / f"{0:020}.log"
    first = len(broker.batches[0])
    damaged(log, first + 5)  # the base offset, which no checksum covers
    assert broker.predict()[1] == ["metadata-log-damaged"]


def test_controller_alone_stays_up_with_a_metadata_log_that_goes_back(broker: KraftBroker) -> None:
    broker.batches = [leader_change(0, 1)]
    for values in ([feature()], [feature()], [feature()]):
        broker.append(*values)
    broker.write_metadata()
    damaged(broker.metadata / f"{0:020}.log", len(broker.batches[0]) + 5)
    shutil.rmtree(broker.log_dirs[1])
    for name in ("alpha-0", "beta-0"):
        shutil.rmtree(broker.log_dirs[0] / name)
    (found,) = broker.verify(broker.log_dirs[0]).brokers
    assert (found.verdict, found.reasons) == ("starts-with-loss", ["metadata-log-truncated"])


def test_snapshot_above_the_damage_keeps_the_topics(broker: KraftBroker) -> None:
    end = broker.next_offset
    values = [feature(), registration(1, broker.directory_ids)]
    for topic, id_ in broker.topic_ids.items():
        values.append(topic_record(topic, id_))
        values += [partition_record(id_, n, (1,), (broker.directory_ids[n],)) for n in range(2)]
    (broker.metadata / f"{end:020}-0000000001.checkpoint").write_bytes(snapshot(*values))
    damaged(broker.metadata / f"{0:020}.log", 60)
    assert broker.predict() == ("starts", [], {METADATA: "recovered"})


def test_node_that_is_no_voter_fetches_what_it_loses(broker: KraftBroker) -> None:
    broker.batches[0] = leader_change(0, 10)
    broker.write_metadata()
    log = broker.metadata / f"{0:020}.log"
    damaged(log, len(log.read_bytes()) - 5)
    (broker.metadata / "quorum-state").unlink()
    assert broker.predict() == ("starts", [], {METADATA: "recovered"})


def test_metadata_log_above_0_needs_a_snapshot(broker: KraftBroker) -> None:
    log = broker.metadata / f"{0:020}.log"
    (broker.metadata / f"{40:020}.log").write_bytes(batch_of(40, b"\x01\x14\x00\x00"))
    log.unlink()
    assert "metadata-log-without-snapshot" in broker.predict()[1]


def test_metadata_log_of_empty_segments_never_gets_ready(broker: KraftBroker) -> None:
    (broker.metadata / f"{0:020}.log").write_bytes(b"")
    (broker.metadata / f"{9:020}.log").write_bytes(b"")
    assert broker.predict()[1] == ["metadata-log-damaged"]
    assert broker.predict(kafka_version="3.7")[2] == ALL


def test_metadata_log_that_ends_with_an_empty_segment_above_its_records_never_gets_ready(
    broker: KraftBroker,
) -> None:
    (broker.metadata / f"{9999:020}.log").write_bytes(b"x")
    assert broker.predict()[1] == ["metadata-log-damaged"]
    assert broker.predict(kafka_version="3.7")[1] != ["metadata-log-damaged"]


def test_folders_of_other_metadata_partitions_are_skipped(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "__cluster_metadata-1").mkdir()
    assert broker.predict()[:2] == ("starts", [])


@pytest.mark.parametrize("content", ["garbage\n", ""])
def test_invalid_topic_id_of_the_metadata_log_ends_the_node(
    broker: KraftBroker, content: str
) -> None:
    (broker.metadata / "partition.metadata").write_text(content)
    assert broker.predict()[1] == ["partition-metadata-invalid"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"{9:020}-0000000001.checkpoint", b""),
        (f"{9:020}-0000000001.checkpoint", snapshot(feature())[:-3] + b"xyz"),
        (f"{9:020}-0000000001.checkpoint", batch_of(0, feature())),
        ("old.checkpoint", snapshot(feature())),
    ],
    ids=["empty", "flipped", "without header", "other name"],
)
def test_snapshot_that_cannot_be_read_ends_the_node(
    broker: KraftBroker, name: str, content: bytes
) -> None:
    (broker.metadata / name).write_bytes(content)
    assert broker.predict()[1] == ["metadata-snapshot-invalid"]


def test_snapshot_without_its_end_is_accepted(broker: KraftBroker) -> None:
    path = broker.metadata / f"{5:020}-0000000001.checkpoint"
    path.write_bytes(snapshot(feature(), footer=False))
    assert "metadata-snapshot-invalid" not in broker.predict()[1]


def test_leftovers_of_snapshots_are_ignored(broker: KraftBroker) -> None:
    (broker.metadata / f"{99:020}-0000000001.checkpoint.part").write_bytes(b"x")
    (broker.metadata / f"{1:020}-0000000001.checkpoint.deleted").write_bytes(b"x")
    assert broker.predict() == STARTS


@pytest.mark.parametrize("content", ["", "{broken", '{"data_version":7}'])
def test_quorum_state_that_cannot_be_read_ends_the_node(broker: KraftBroker, content: str) -> None:
    (broker.metadata / "quorum-state").write_text(content)
    assert broker.predict()[1] == ["quorum-state-invalid"]


def test_folder_in_place_of_the_quorum_state_ends_the_node(broker: KraftBroker) -> None:
    (broker.metadata / "quorum-state").unlink()
    (broker.metadata / "quorum-state").mkdir()
    assert broker.predict()[1] == ["quorum-state-invalid"]


def test_missing_quorum_state_is_made_again(broker: KraftBroker) -> None:
    (broker.metadata / "quorum-state").unlink()
    assert broker.predict() == STARTS


@pytest.mark.parametrize("content", [b"", snapshot(feature("kraft.version"))])
def test_bootstrap_checkpoint_without_a_metadata_version_ends_the_node(
    broker: KraftBroker, content: bytes
) -> None:
    (broker.log_dirs[0] / "bootstrap.checkpoint").write_bytes(content)
    assert broker.predict()[1] == ["bootstrap-checkpoint-invalid"]


def test_sound_bootstrap_checkpoint_is_read(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "bootstrap.checkpoint").write_bytes(snapshot(feature()))
    assert broker.predict() == STARTS


def test_metadata_log_in_a_second_log_dir_stops_the_broker(broker: KraftBroker) -> None:
    shutil.copytree(broker.metadata, broker.log_dirs[1] / METADATA)
    assert "metadata-log-misplaced" in broker.predict()[1]


def test_other_topic_id_of_the_metadata_log_ends_the_node(broker: KraftBroker) -> None:
    text = f"version: 0\ntopic_id: {uuid(3)}\n"
    (broker.metadata / "partition.metadata").write_text(text)
    assert broker.predict()[1] == ["topic-id-differs"]


def test_lost_metadata_log_makes_every_partition_stray(broker: KraftBroker) -> None:
    shutil.rmtree(broker.metadata)
    verdict, reasons, rows = broker.predict()
    assert verdict == "starts-with-loss"
    assert "metadata-log-missing" in reasons
    assert rows == {METADATA: "missing", **ALL}


def test_log_dir_without_the_metadata_log_alone_is_not_judged(broker: KraftBroker) -> None:
    found = broker.verify(broker.log_dirs[1])
    assert [each.verdict for each in found.brokers] == ["unknown"]
    assert [finding.code for finding in found.brokers[0].findings] == ["metadata-log-not-given"]
    assert {row["verdict"] for row in found.partitions} == {"intact"}


# Partitions against the metadata


def test_partition_without_a_topic_id_becomes_stray(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "alpha-0" / "partition.metadata").unlink()
    expected = ("starts-with-loss", ["partition-stray"], {"alpha-0": "stray"})
    assert broker.predict() == expected


def test_folder_of_an_unknown_topic_becomes_stray_without_loss(broker: KraftBroker) -> None:
    broker.place("gamma", 0, 0, uuid(9))
    assert broker.predict() == ("starts", [], {"gamma-0": "stray"})


def test_folder_of_a_deleted_topic_becomes_stray_and_the_finding_says_so(
    broker: KraftBroker,
) -> None:
    broker.append(removal_record(broker.topic_ids["alpha"]))
    broker.write_metadata()
    assert broker.predict() == ("starts", [], {"alpha-0": "stray", "alpha-1": "stray"})
    messages = [one.message for one in broker.verify().findings if one.code == "partition-stray"]
    name = f"its topic alpha with the id {broker.topic_ids['alpha']} was deleted"
    assert len(messages) == 2 and all(message.startswith(name) for message in messages)


def test_folder_with_the_topic_id_of_another_topic_is_not_served(broker: KraftBroker) -> None:
    broker.place("gamma", 0, 0, broker.topic_ids["alpha"])
    assert broker.predict() == ("starts", [], {"gamma-0": "not-served"})


def test_partition_that_the_metadata_does_not_place_here_becomes_stray(broker: KraftBroker) -> None:
    broker.place("alpha", 2, 0)
    assert broker.predict() == ("starts", [], {"alpha-2": "stray"})


def test_partition_without_a_folder_is_missing(broker: KraftBroker) -> None:
    shutil.rmtree(broker.log_dirs[0] / "alpha-0")
    expected = ("starts-with-loss", ["partition-missing"], {"alpha-0": "missing"})
    assert broker.predict() == expected
    (row,) = [row for row in broker.verify().partitions if row["verdict"] == "missing"]
    assert (row["log_end_offset_after_recovery"], row["segment_count"]) == (0, 0)


def test_missing_partition_with_another_replica_is_fetched_again(broker: KraftBroker) -> None:
    record = partition_record(
        broker.topic_ids["alpha"], 0, (1, 2), (broker.directory_ids[0], uuid(200))
    )
    broker.append(record)
    broker.write_metadata()
    shutil.rmtree(broker.log_dirs[0] / "alpha-0")
    (finding,) = broker.prediction().findings
    assert "broker 2" in finding.message


def test_partition_of_a_log_dir_that_was_not_given_is_missing(broker: KraftBroker) -> None:
    found = broker.verify(broker.log_dirs[0])
    missing = [row["partition"] for row in found.partitions if row["verdict"] == "missing"]
    assert missing == [1, 1]


def test_partition_moved_to_another_log_dir_is_served(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "alpha-0").rename(broker.log_dirs[1] / "alpha-0")
    assert broker.predict() == STARTS


def test_deleted_folder_does_not_stand_for_the_partition(broker: KraftBroker) -> None:
    folder = broker.log_dirs[0] / "alpha-0"
    folder.rename(broker.log_dirs[0] / f"{MOVED}-delete")
    assert broker.predict()[1] == ["partition-missing"]


def test_future_folder_takes_the_place_of_a_missing_one(broker: KraftBroker) -> None:
    folder = broker.log_dirs[0] / "alpha-0"
    folder.rename(broker.log_dirs[0] / f"{MOVED}-future")
    assert broker.predict() == ("starts", [], {"alpha-0": "recovered"})
    (row,) = [row for row in broker.verify().partitions if row["verdict"] == "recovered"]
    assert row["log_end_offset_after_recovery"] == broker.end


def test_future_folder_beside_the_current_one_stops_the_broker(broker: KraftBroker) -> None:
    shutil.copytree(broker.log_dirs[0] / "alpha-0", broker.log_dirs[0] / f"{MOVED}-future")
    assert broker.predict()[1] == ["partition-in-two-folders"]


def test_future_folder_in_another_log_dir_is_fine(broker: KraftBroker) -> None:
    shutil.copytree(broker.log_dirs[0] / "alpha-0", broker.log_dirs[1] / f"{MOVED}-future")
    assert broker.predict() == STARTS


# Files that stop a log.dir


@pytest.mark.parametrize(
    ("text", "is_fatal"),
    [("", True), ("garbage\n", False), (f"version: -1\ntopic_id: {uuid(1)}", False)],
)
def test_invalid_partition_metadata_stops_its_log_dir_or_the_broker(
    broker: KraftBroker, text: str, is_fatal: bool
) -> None:
    (broker.log_dirs[1] / "alpha-1" / "partition.metadata").write_text(text)
    verdict, reasons, _ = broker.predict()
    assert verdict == ("refuses-to-start" if is_fatal else "starts-with-loss")
    assert reasons == ["partition-metadata-invalid" if is_fatal else "partition-not-served"]


def test_partition_metadata_of_version_1_is_accepted(broker: KraftBroker) -> None:
    path = broker.log_dirs[0] / "alpha-0" / "partition.metadata"
    path.write_text(path.read_text().replace("version: 0", "version: 1"))
    assert broker.predict() == STARTS


@pytest.mark.parametrize(
    "line",
    [
        *("zero 0", "0 zero", "2147483648 0", "0 9223372036854775808", "-5 0", "0 -5"),
        pytest.param("9" * 100 + " 0", id="longer than a finding quotes"),
    ],
)
def test_word_in_a_leader_epoch_checkpoint_ends_the_broker(broker: KraftBroker, line: str) -> None:
    (broker.log_dirs[1] / "alpha-1" / "leader-epoch-checkpoint").write_text(f"0\n1\n{line}\n")
    assert broker.predict()[:2] == ("refuses-to-start", ["partition-invalid"])


def test_wrong_count_in_a_leader_epoch_checkpoint_stops_its_log_dir(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "alpha-1" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n")
    assert broker.predict()[2] == {"alpha-1": "not-served", "beta-1": "not-served"}


@pytest.mark.parametrize("suffix", ["index", "timeindex", "txnindex", "log"])
def test_folder_in_place_of_a_file_of_the_log_stops_the_log_dir(
    broker: KraftBroker, suffix: str
) -> None:
    path = broker.log_dirs[1] / "alpha-1" / f"{0:020}.{suffix}"
    path.unlink(missing_ok=True)
    path.mkdir()
    assert broker.predict()[2] == {"alpha-1": "not-served", "beta-1": "not-served"}


def test_folder_named_like_another_segment_is_skipped(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "alpha-1" / f"{7:020}.log").mkdir()
    assert broker.predict() == STARTS


def test_wrong_leader_epochs_in_the_metadata_log_dir_end_the_broker(broker: KraftBroker) -> None:
    (broker.log_dirs[0] / "alpha-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n")
    assert broker.predict()[:2] == ("refuses-to-start", ["log-dir-failed"])


def test_word_in_a_high_watermark_checkpoint_stops_all_partitions(broker: KraftBroker) -> None:
    (broker.log_dirs[1] / "replication-offset-checkpoint").write_text("0\n1\nalpha 1 many\n")
    verdict, reasons, rows = broker.predict()
    assert (verdict, reasons) == ("starts-with-loss", ["partition-not-served"])
    assert rows == dict.fromkeys(ALL, "not-served")


@pytest.mark.parametrize("text", ["garbage\n", "1\n0\n", "0\n3\nalpha 0 20\n"])
def test_invalid_cleaner_checkpoint_stops_its_log_dir(broker: KraftBroker, text: str) -> None:
    # Brokers of 4.4.0: the log cleaner reads it right after the startup, and the log.dir fails.
    for number, expected in ((1, "starts-with-loss"), (0, "refuses-to-start")):
        (broker.log_dirs[number] / "cleaner-offset-checkpoint").write_text(text)
        verdict, _, partitions = broker.predict()
        assert verdict == expected
        if number == 1:
            assert partitions == {"alpha-1": "not-served", "beta-1": "not-served"}


@pytest.mark.parametrize("offset", ["many", "99999999999999999999", "-7", "999"])
def test_wrong_number_in_a_cleaner_checkpoint_stops_no_partition(
    broker: KraftBroker, offset: str
) -> None:
    (broker.log_dirs[0] / "cleaner-offset-checkpoint").write_text(f"0\n1\nalpha 0 {offset}\n")
    assert broker.predict() == STARTS


def test_count_below_0_has_the_effect_of_a_word(broker: KraftBroker) -> None:
    text = "0\n-1\nalpha 0 20\n"  # brokers of 4.4.0: IllegalArgumentException
    for name in ("recovery-point", "log-start", "cleaner"):
        (broker.log_dirs[0] / f"{name}-offset-checkpoint").write_text(text)
    assert broker.predict() == STARTS
    (broker.log_dirs[1] / "replication-offset-checkpoint").write_text(text)
    assert broker.predict()[2]["alpha-0"] == "not-served"
    (broker.log_dirs[1] / "alpha-1" / "leader-epoch-checkpoint").write_text("0\n-1\n0 0\n")
    assert broker.predict()[:2] == ("refuses-to-start", ["partition-invalid"])


def test_wrong_count_in_a_checkpoint_of_the_metadata_log_dir_ends_the_broker(
    broker: KraftBroker,
) -> None:
    (broker.log_dirs[0] / "recovery-point-offset-checkpoint").write_text("0\n5\n")
    assert broker.predict()[:2] == ("refuses-to-start", ["log-dir-failed"])


def test_file_where_a_folder_has_to_be_made_stops_the_log_dir(broker: KraftBroker) -> None:
    shutil.rmtree(broker.log_dirs[1] / "alpha-1")
    (broker.log_dirs[1] / "alpha-1").write_text("x")
    verdict, _, rows = broker.predict()
    assert verdict == "starts-with-loss"
    assert rows == {"alpha-1": "not-served", "beta-1": "not-served"}


def test_write_protected_partition_folder_stops_the_log_dir(broker: KraftBroker) -> None:
    folder = broker.log_dirs[0] / "alpha-0"
    folder.chmod(0o555)
    try:
        assert broker.predict()[:2] == ("refuses-to-start", ["log-dir-failed"])
    finally:
        folder.chmod(0o755)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_partition_folder_stops_the_log_dir(broker: KraftBroker) -> None:
    folder = broker.log_dirs[1] / "alpha-1"
    folder.chmod(0)
    try:
        assert broker.predict()[2] == {"alpha-1": "not-served", "beta-1": "not-served"}
    finally:
        folder.chmod(0o755)


# Several brokers


def test_each_path_belongs_to_one_broker(broker: KraftBroker, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(broker.log_dirs[0], other)
    broker.properties(other, node_id=2, directory_id=uuid(300))
    found = mb.verify(other, *broker.log_dirs)
    assert [each.node_id for each in found.brokers] == [2, 1]
    assert [len(each.log_dirs) for each in found.brokers] == [1, 2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells who locks")
def test_lock_of_another_process_leaves_the_broker_unjudged(broker: KraftBroker) -> None:
    lock = broker.log_dirs[0] / ".lock"
    lock.touch()
    hold = "import fcntl,sys; f=open(sys.argv[1],'a'); fcntl.lockf(f,fcntl.LOCK_EX); print(1,flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        found = broker.prediction()
        process.stdin.close()
    assert (found.verdict, found.reasons) == ("unknown", ["log-dir-locked"])
    assert str(process.pid) in found.findings[0].message
    assert broker.predict() == STARTS


def test_copies_of_one_broker_are_two_brokers(broker: KraftBroker, tmp_path: Path) -> None:
    copies = [tmp_path / "backup" / log_dir.name for log_dir in broker.log_dirs]
    for log_dir, copy in zip(broker.log_dirs, copies, strict=True):
        shutil.copytree(log_dir, copy)
    found = mb.verify(*broker.log_dirs, *copies)
    assert [each.verdict for each in found.brokers] == ["starts", "starts"]
    assert [each.log_dirs for each in found.brokers] == [
        list(map(str, broker.log_dirs)),
        list(map(str, copies)),
    ]


def test_path_of_something_else_is_no_log_dir(broker: KraftBroker, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("x")
    assert broker.verify(*broker.log_dirs, other).brokers[0].verdict == "starts"


def test_quick_predicts_nothing(broker: KraftBroker) -> None:
    assert broker.verify(quick=True).brokers == []
