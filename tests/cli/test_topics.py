"""Tests of `magicbyte topics`."""

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import run
from kafka_outputs import described_topics, node_ids
from kraft_builder import KraftBroker
from magicbyte.internal_topics.topic_configs import BROKER_SYNONYMS
from metadata_records import metadata_record as record
from metadata_records import topic_id
from paths import shared

INTERNALS = shared() / "meaning-data" / "internals-4.3"
OFFSET_OF_TOOLS = 212
"""Metadata offset at which kafka-topics was asked, as `judge/quorum.txt` has it."""


@pytest.fixture
def broker(tmp_path: Path) -> KraftBroker:
    broker = KraftBroker(tmp_path)
    for name, value in (("retention.ms", "5"), ("cleanup.policy", "compact,delete")):
        broker.append(
            record("ConfigRecord", resourceType=2, resourceName="alpha", name=name, value=value)
        )
    broker.write_metadata()
    return broker


def objects(*arguments: object) -> list[dict[str, Any]]:
    result = run("topics", *arguments, "--format", "ndjson")
    assert (result.exit_code, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def partition(id_: str, number: int, *replicas: int) -> bytes:
    fields = {"replicas": replicas, "isr": replicas, "leader": replicas[0]}
    return record("PartitionRecord", topicId=id_, partitionId=number, **fields)


@pytest.mark.skipif(not INTERNALS.exists(), reason="needs the folder shared")
def test_lines_are_those_of_kafka_topics() -> None:
    """Kafka prints static configurations of the broker among those of a topic, which the log does not have."""
    static = ("file.delete.delay.ms", "segment.bytes", "segment.index.bytes")
    text = (INTERNALS / "judge" / "topics-describe.txt").read_text()
    result = run("topics", INTERNALS / "log-0", "--to-offset", OFFSET_OF_TOOLS)
    assert (result.exit_code, result.stderr) == (0, "")
    (ours, our_partitions), (theirs, their_partitions) = map(
        described_topics, (result.stdout, text)
    )
    assert our_partitions == their_partitions
    assert len(our_partitions) == 17
    for topic, row in theirs.items():
        pairs = set(row.pop("Configs").split(","))
        our_pairs = set(filter(None, ours[topic].pop("Configs").split(",")))
        assert our_pairs <= pairs
        assert {pair.partition("=")[0] for pair in pairs - our_pairs} <= set(static)
        assert "min.insync.replicas=1" in our_pairs
        assert ours[topic] == row


@pytest.mark.skipif(not INTERNALS.exists(), reason="needs the folder shared")
def test_brokers_name_defaults_as_kafka_configs_does() -> None:
    lines = (INTERNALS / "judge" / "configs-topic-a-all.txt").read_text().splitlines()[1:]
    synonyms = {}
    for line in lines:
        name, equals, rest = line.strip().partition("=")
        broker_names = re.findall(r"BROKER_CONFIG:([^=]+)=|DEFAULT_CONFIG:([^=]+)=", rest)
        if equals and broker_names:
            synonyms[name] = "".join(broker_names[0])
    assert len(synonyms) > 20
    assert synonyms.items() <= BROKER_SYNONYMS.items()


def test_cluster_wide_defaults_of_brokers_hold_for_topics_that_do_not_override_them(
    broker: KraftBroker,
) -> None:
    defaults = {"log.retention.ms": "7", "message.max.bytes": "99", "log.cleaner.threads": "2"}
    for node, configs in (("", defaults), ("1", {"log.flush.interval.ms": "3"})):
        for name, value in configs.items():
            fields = {"resourceType": 4, "resourceName": node, "name": name, "value": value}
            broker.append(record("ConfigRecord", **fields))
    broker.write_metadata()
    alpha, beta = objects(broker.log_dirs[0])
    assert alpha["configs"] == {"cleanup.policy": "compact,delete", "retention.ms": "5"}
    assert alpha["default_configs"] == {"max.message.bytes": "99"}
    assert beta["default_configs"] == {"max.message.bytes": "99", "retention.ms": "7"}
    text = run("topics", broker.log_dirs[0], "--topic", "beta").stdout
    assert "Configs: max.message.bytes=99,retention.ms=7\n" in text
    assert "retention.ms=7" not in run("topics", broker.log_dirs[0], "--script").stdout


def test_configuration_is_as_of_an_offset(broker: KraftBroker) -> None:
    log_dir, end = broker.log_dirs[0], broker.next_offset
    (alpha,) = objects(log_dir, "--topic", "alpha")
    assert alpha["configs"] == {"cleanup.policy": "compact,delete", "retention.ms": "5"}
    (alpha,) = objects(log_dir, "--topic", "alpha", "--to-offset", end - 1)
    assert alpha["configs"] == {"retention.ms": "5"}


def test_topic_without_a_folder_here_is_shown(broker: KraftBroker) -> None:
    broker.append(record("TopicRecord", name="remote", topicId=topic_id(7)))
    broker.append(partition(topic_id(7), 0, 2, 3))
    broker.write_metadata()
    (remote,) = objects(broker.log_dirs[0], "--topic", "remote")
    assert remote["replication_factor"] == 2
    assert [row["replicas"] for row in remote["partitions"]] == [[2, 3]]


def test_unknown_topic_is_an_error_that_lists_the_others(broker: KraftBroker) -> None:
    result = run("topics", broker.log_dirs[0], "--topic", "nothing")
    assert result.exit_code == 2
    assert "no topic 'nothing'; expected one of alpha, beta" in result.stderr


def test_csv_has_a_line_for_each_topic(broker: KraftBroker) -> None:
    text = run("topics", broker.log_dirs[0], "--format", "csv").stdout
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["topic"] for row in rows] == ["alpha", "beta"]
    assert rows[0]["configs"] == "cleanup.policy=compact,delete,retention.ms=5"
    assert rows[1]["configs"] == ""


def commands(*arguments: object) -> tuple[list[list[str]], list[str]]:
    """Return the words of each command of a script, and its comments."""
    lines = run("topics", *arguments, "--script").stdout.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return [shlex.split(line) for line in lines if not line.startswith("#")], comments


def test_script_creates_each_topic_with_its_partitions_and_configurations(
    broker: KraftBroker,
) -> None:
    (alpha, beta), _ = commands(broker.log_dirs[0])
    begin = ["kafka-topics.sh", "--bootstrap-server", "HOST:9092", "--create", "--topic"]
    assert alpha == [
        *(*begin, "alpha", "--partitions", "2", "--replication-factor", "1"),
        *("--config", "cleanup.policy=compact,delete", "--config", "retention.ms=5"),
    ]
    assert beta == [*begin, "beta", "--partitions", "2", "--replication-factor", "1"]


def test_script_leaves_out_internal_topics_unless_they_are_named(broker: KraftBroker) -> None:
    broker.append(record("TopicRecord", name="__consumer_offsets", topicId=topic_id(7)))
    broker.append(partition(topic_id(7), 0, 1))
    broker.write_metadata()
    log_dir = broker.log_dirs[0]
    assert len(commands(log_dir)[0]) == 2
    ((*_, name, _, _, _, _),), _ = commands(log_dir, "--topic", "__consumer_offsets")
    assert name == "__consumer_offsets"


def test_script_says_what_it_leaves_out_and_takes(broker: KraftBroker) -> None:
    name = "leader.replication.throttled.replicas"
    broker.append(
        record("TopicRecord", name="odd", topicId=topic_id(7)),
        partition(topic_id(7), 0, 1),
        partition(topic_id(7), 2, 1, 2),
        record("ConfigRecord", resourceType=2, resourceName="odd", name=name, value="0:1"),
    )
    broker.write_metadata()
    ((*words,),), comments = commands(broker.log_dirs[0], "--topic", "odd")
    assert words[words.index("--partitions") + 1] == "3"
    assert comments[-3:] == [
        "# odd: its partitions have 1, 2 replicas; the number of partition 0 is taken.",
        "# odd: partitions 0, 2 are known; those between them are created too.",
        f"# odd: left out: {name}=0:1",
    ]


def test_script_is_safe_with_any_name_and_value(broker: KraftBroker) -> None:
    evil = "$(touch hacked)'; touch hacked\ntouch hacked"
    broker.append(
        record("TopicRecord", name=evil, topicId=topic_id(7)),
        record("ConfigRecord", resourceType=2, resourceName=evil, name="x", value=evil),
        record("ConfigRecord", resourceType=2, resourceName=evil, name="internal.x", value=evil),
    )
    broker.write_metadata()
    (words, *_), comments = commands(broker.log_dirs[0], "--topic", evil)
    assert words[0] == "kafka-topics.sh"
    assert words[words.index("--topic") + 1] == evil.replace("\n", "\\n")
    assert len(comments) == 4


def test_without_metadata_the_folders_say_what_is_known(broker: KraftBroker) -> None:
    folder = broker.log_dirs[0] / "alpha-0"
    result = run("topics", folder, "--format", "ndjson")
    assert result.exit_code == 0
    assert "no __cluster_metadata-0 below the paths" in result.stderr
    (alpha,) = map(json.loads, result.stdout.splitlines())
    assert alpha == {
        **{"topic": "alpha", "topic_id": broker.topic_ids["alpha"], "partition_count": 1},
        **{"replication_factor": None, "is_internal": False, "configs": None},
        "default_configs": None,
        "partitions": [{"partition": 0}],
    }
    ((*words,),), comments = commands(folder)
    assert words[-1] == "REPLICAS"
    assert "it may have more partitions" in comments[-1]
    text = run("topics", folder).stdout
    assert "ReplicationFactor: unknown\tConfigs: unknown" in text


def test_record_that_cannot_be_applied_is_reported_with_status_1(broker: KraftBroker) -> None:
    broker.append(b"\xff", record("TopicRecord", name="after", topicId=topic_id(7)))
    broker.write_metadata()
    result = run("topics", broker.log_dirs[0])
    assert result.exit_code == 1
    assert "Topic: after" in result.stdout
    assert "internal-record-invalid" in result.stderr


def test_reassignment_is_shown(broker: KraftBroker) -> None:
    change = {"replicas": [1, 2], "addingReplicas": [2], "removingReplicas": [1]}
    id_ = broker.topic_ids["alpha"]
    broker.append(record("PartitionChangeRecord", topicId=id_, partitionId=0, **change))
    broker.write_metadata()
    _, partitions = described_topics(run("topics", broker.log_dirs[0]).stdout)
    assert node_ids(partitions["alpha", 0]["Adding Replicas"]) == [2]
    assert node_ids(partitions["alpha", 0]["Removing Replicas"]) == [1]


def test_script_takes_no_format(broker: KraftBroker) -> None:
    result = run("topics", broker.log_dirs[0], "--script", "--format", "csv")
    assert result.exit_code == 2
    assert "takes no --format" in result.stderr
