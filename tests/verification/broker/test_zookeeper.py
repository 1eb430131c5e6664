"""Tests of predictions for brokers with ZooKeeper."""

import shutil
from pathlib import Path

import pytest

import magicbyte as mb
from log_builder import batch_of


class ZookeeperBroker:
    """A broker of 2.8 with two log.dirs, after a clean shutdown."""

    def __init__(self, path: Path) -> None:
        self.log_dirs = [path / "log-0", path / "log-1"]
        for number, log_dir in enumerate(self.log_dirs):
            log_dir.mkdir()
            (log_dir / ".kafka_cleanshutdown").touch()
            (log_dir / "meta.properties").write_text("version=0\nbroker.id=0\ncluster.id=c\n")
            self.place("alpha", number, log_dir)
            marks = f"0\n1\nalpha {number} 2\n"
            (log_dir / "replication-offset-checkpoint").write_text(marks)
            (log_dir / "recovery-point-offset-checkpoint").write_text(marks)

    def place(self, topic: str, number: int, log_dir: Path) -> Path:
        folder = log_dir / f"{topic}-{number}"
        folder.mkdir()
        (folder / f"{0:020}.log").write_bytes(batch_of(0, b"v", b"v"))
        (folder / f"{0:020}.index").write_bytes(b"")
        return folder

    def predict(self, version: str = "2.8") -> tuple[str, list[str], dict[str, str]]:
        found = mb.verify(*self.log_dirs, kafka_version=version)
        (broker,) = found.brokers
        rows = {f"{row['topic']}-{row['partition']}": row["verdict"] for row in found.partitions}
        return (
            broker.verdict,
            broker.reasons,
            {name: verdict for name, verdict in rows.items() if verdict != "intact"},
        )


@pytest.fixture
def zookeeper(tmp_path: Path) -> ZookeeperBroker:
    return ZookeeperBroker(tmp_path)


def test_sound_broker_starts(zookeeper: ZookeeperBroker) -> None:
    assert zookeeper.predict() == ("starts", [], {})
    assert mb.verify(*zookeeper.log_dirs).brokers[0].kafka_version == "3.9"


def test_missing_meta_properties_is_written_again(zookeeper: ZookeeperBroker) -> None:
    (zookeeper.log_dirs[1] / "meta.properties").unlink()
    assert zookeeper.predict() == ("starts", [], {})


def test_files_that_differ_in_any_key_stop_the_broker(zookeeper: ZookeeperBroker) -> None:
    (zookeeper.log_dirs[1] / "meta.properties").write_text("")
    assert zookeeper.predict()[:2] == ("refuses-to-start", ["meta-properties-differ"])


def test_other_broker_id_is_one_mistake_or_two_brokers(zookeeper: ZookeeperBroker) -> None:
    path = zookeeper.log_dirs[1] / "meta.properties"
    path.write_text(path.read_text().replace("broker.id=0", "broker.id=7"))
    found = mb.verify(*zookeeper.log_dirs, kafka_version="2.8")
    assert [broker.verdict for broker in found.brokers] == ["unknown", "unknown"]
    assert {code for broker in found.brokers for code in broker.reasons} == {
        "meta-properties-differ"
    }
    assert found.is_sound


def test_folder_that_checkpoints_leave_out_is_not_served(zookeeper: ZookeeperBroker) -> None:
    zookeeper.place("gone", 0, zookeeper.log_dirs[0])
    assert zookeeper.predict() == ("starts", [], {"gone-0": "not-served"})


def test_checkpoint_beyond_the_log_is_no_evidence(zookeeper: ZookeeperBroker) -> None:
    zookeeper.place("beta", 0, zookeeper.log_dirs[0])
    path = zookeeper.log_dirs[0] / "replication-offset-checkpoint"
    path.write_text("0\n1\nalpha 0 1000\n")
    assert "beta-0" not in zookeeper.predict()[2]


def test_checkpoint_that_no_log_can_reach_says_nothing(zookeeper: ZookeeperBroker) -> None:
    for name in ("replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
        (zookeeper.log_dirs[0] / name).write_text(f"0\n1\nalpha 0 {2**63 - 1}\n")
    assert zookeeper.predict() == ("starts", [], {})


def test_partition_that_checkpoints_name_is_missing(zookeeper: ZookeeperBroker) -> None:
    shutil.rmtree(zookeeper.log_dirs[0] / "alpha-0")
    expected = ("starts-with-loss", ["partition-missing"], {"alpha-0": "missing"})
    assert zookeeper.predict() == expected


def test_future_folder_beside_the_current_one_takes_the_log_dir_offline(
    zookeeper: ZookeeperBroker,
) -> None:
    name = "alpha-1.0123456789abcdef0123456789abcdef-future"
    shutil.copytree(zookeeper.log_dirs[1] / "alpha-1", zookeeper.log_dirs[1] / name)
    assert zookeeper.predict()[2] == {"alpha-1": "not-served"}


def test_topic_ids_have_no_effect(zookeeper: ZookeeperBroker) -> None:
    folder = zookeeper.log_dirs[0] / "alpha-0"
    (folder / "partition.metadata").write_text("version: 0\ntopic_id: 5Jl2p2nMQ0mZr0uVb8CjTw\n")
    assert zookeeper.predict() == ("starts", [], {})
