"""Tests of the tables of a cluster, against what Kafka's tools printed, and of snapshots and damage."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from kafka_outputs import (
    acl_entries,
    described_topics,
    dynamic_configs,
    features,
    node_ids,
    shell_partitions,
)
from kraft_builder import KraftBroker, snapshot
from log_builder import batch_of
from magicbyte.internal_topics.cluster_metadata import ClusterMetadata, apply_records
from magicbyte.internal_topics.metadata_rows import ROWS, metadata_rows
from metadata_records import metadata_record as record
from metadata_records import topic_id
from paths import DATA, shared

INTERNALS, APPS = (shared() / "meaning-data" / name for name in ("internals-4.3", "apps-4.3"))

needs_data = pytest.mark.skipif(not INTERNALS.exists(), reason="needs the folder shared")

Row = dict[str, Any]


def judge(folder: Path, name: str) -> str:
    return (folder / "judge" / f"{name}.txt").read_text().split("\n--- stderr")[0]


def offset_of_tools() -> int:
    """Return the metadata offset at which Kafka's tools were asked; the broker was stopped after it."""
    match = re.search(r"HighWatermark: +(\d+)", judge(INTERNALS, "quorum"))
    assert match is not None
    return int(match[1])


def table(path: Path, name: str, **options: Any) -> list[Row]:
    rows = mb.open(path, **options).table(name)
    found = rows.to_pylist()
    assert rows.report.findings == []
    return found


@needs_data
@pytest.mark.parametrize(("folder", "name"), [(INTERNALS, "topics-describe"), (APPS, "topics")])
def test_topics_and_partitions_are_those_of_kafka_topics(folder: Path, name: str) -> None:
    end = offset_of_tools() if folder == INTERNALS else None
    topics, partitions = described_topics(judge(folder, name))
    assert len(topics) > 5
    log_dir = folder / "log-0"
    found = {row["topic"]: row for row in table(log_dir, "topics", offsets=(None, end))}
    assert found.keys() == topics.keys()
    for topic, row in topics.items():
        assert found[topic]["topic_id"] == row["TopicId"]
        assert found[topic]["partition_count"] == int(row["PartitionCount"])
        assert found[topic]["replication_factor"] == int(row["ReplicationFactor"])
    rows = table(log_dir, "topic_partitions", offsets=(None, end))
    assert [(row["topic"], row["partition"]) for row in rows] == sorted(partitions)
    for row in rows:
        expected = partitions[row["topic"], row["partition"]]
        assert row["replicas"] == node_ids(expected["Replicas"])
        if end is not None:  # later, the clean stop has moved leaders and ISR
            assert str(row["leader"]) == expected["Leader"]
            for column, field in (
                ("isr", "Isr"),
                ("elr", "Elr"),
                ("last_known_elr", "LastKnownElr"),
            ):
                assert row[column] == node_ids(expected[field])


@needs_data
def test_partitions_after_the_stop_are_those_of_the_metadata_shell() -> None:
    """The shell read the log of the stopped broker: leaders are gone, and their replicas eligible."""
    (expected,) = {str(each) for each in shell_partitions(judge(INTERNALS, "shell-cat-partitions"))}
    fields = next(iter(shell_partitions(judge(INTERNALS, "shell-cat-partitions"))))
    assert str(fields) == expected
    for row in table(INTERNALS / "log-0", "topic_partitions"):
        assert row["leader"] is None and fields["leader"] == "-1"
        for column, field in (
            ("replicas", "replicas"),
            ("isr", "isr"),
            ("elr", "elr"),
            ("last_known_elr", "lastKnownElr"),
            ("adding_replicas", "addingReplicas"),
            ("removing_replicas", "removingReplicas"),
        ):
            assert row[column] == node_ids(fields[field].strip("[]"))
        assert f"[{', '.join(row['directories'])}]" == fields["directories"]
        assert row["leader_recovery_state"] == fields["leaderRecoveryState"]
        assert str(row["leader_epoch"]) == fields["leaderEpoch"]
        assert str(row["partition_epoch"]) == fields["partitionEpoch"]


@needs_data
def test_names_in_the_image_are_those_of_the_metadata_shell() -> None:
    others = set(judge(INTERNALS, "shell-find-others").splitlines())
    log_dir = INTERNALS / "log-0"
    found = set()
    kinds = {"topics": "TOPIC", "brokers": "BROKER", "groups": "GROUP"}
    for row in table(log_dir, "configs"):
        name = "" if row["entity_name"] is None else f":{row['entity_name']}"
        found.add(f"/image/configs/{kinds[row['entity_type']]}{name}/{row['name']}")
    found |= {
        f"/image/scram/{row['mechanism']}/{row['user']}" for row in table(log_dir, "scram_users")
    }
    found |= {f"/image/cluster/brokers/{row['broker_id']}" for row in table(log_dir, "brokers")}
    found |= {
        f"/image/cluster/controllers/{row['controller_id']}"
        for row in table(log_dir, "controllers")
    }
    leaves = {path for path in others if path.count("/") > 3 and "/features/" not in path}
    leaves = {path for path in leaves if not any(other.startswith(f"{path}/") for other in others)}
    assert found == leaves
    for row in table(log_dir, "features"):
        if row["finalized_level"] and row["feature"] != "metadata.version":
            assert f"/image/features/finalized_{row['feature']}" in others
    shell_topics = set(judge(INTERNALS, "shell-find-topics").splitlines())
    for row in table(log_dir, "topic_partitions"):
        assert f"/image/topics/byId/{row['topic_id']}/{row['partition']}" in shell_topics
        assert f"/image/topics/byName/{row['topic']}/{row['partition']}" in shell_topics


@needs_data
def test_configs_are_those_of_kafka_configs() -> None:
    found: defaultdict[tuple[str, str | None], dict[str, str]] = defaultdict(dict)
    for row in table(INTERNALS / "log-0", "configs"):
        found[row["entity_type"], row["entity_name"]][row["name"]] = row["value"]
    expected: dict[tuple[str, str | None], dict[str, str]] = {}
    for type_, word in (("topics", "topic "), ("groups", "group "), ("brokers", "broker ")):
        for heading, configs in dynamic_configs(judge(INTERNALS, f"configs-{type_}")).items():
            if heading == "brokers in the cluster":
                expected[type_, None] = configs
            elif configs:
                expected[type_, heading.removeprefix(word)] = configs
    assert len(expected) > 6
    assert found == expected


@needs_data
def test_quotas_and_scram_users_are_those_of_kafka_configs() -> None:
    lines = judge(INTERNALS, "configs-users").splitlines()
    lines += judge(INTERNALS, "configs-users-clients").splitlines()
    expected_quotas, expected_users = set(), set()
    for line in lines:
        entity, _, settings = line.partition(" are ")
        user = re.search(r"user-principal '(.*?)'", entity)
        client = re.search(r"client-id '(.*?)'", entity)
        for setting in settings.split(", "):
            name, _, value = setting.partition("=")
            if entity.startswith("SCRAM"):
                assert user is not None
                expected_users.add((user[1], name, int(value.removeprefix("iterations="))))
            else:
                names = user[1] if user else "<default>", client[1] if client else None
                expected_quotas.add((*names, name, float(value)))
    quotas = table(INTERNALS / "log-0", "quotas")
    columns = ("user", "client_id", "name", "value")
    assert {tuple(row[name] for name in columns) for row in quotas} == expected_quotas
    users = table(INTERNALS / "log-0", "scram_users")
    assert {tuple(row.values()) for row in users} == expected_users
    assert len(expected_quotas) == 3 and len(expected_users) == 2


@needs_data
def test_acls_are_those_of_kafka_acls() -> None:
    expected = acl_entries(judge(INTERNALS, "acls-list"))
    columns = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation")
    found = {
        tuple(row[name] for name in (*columns, "permission_type"))
        for row in table(INTERNALS / "log-0", "acls")
    }
    assert found == expected and len(found) == 3


@needs_data
def test_features_are_those_of_kafka_features() -> None:
    expected = dict(features(judge(INTERNALS, "features")))
    assert len(expected) == 7
    for row in table(INTERNALS / "log-0", "features"):
        level = row["level_name"] or str(row["finalized_level"])
        assert level == expected.pop(row["feature"])
    assert not expected


@needs_data
def test_broker_is_not_fenced_while_the_tools_were_asked_and_fenced_after_its_stop() -> None:
    log_dir = INTERNALS / "log-0"
    (up,) = table(log_dir, "brokers", offsets=(None, offset_of_tools()))
    (down,) = table(log_dir, "brokers")
    assert (up["fenced"], down["fenced"]) == (False, True)
    assert [one["name"] for one in up["listeners"]] == ["PLAINTEXT"]
    (controller,) = table(log_dir, "controllers")
    assert controller["is_voter"] and controller["controller_id"] == 1


@pytest.fixture
def broker(tmp_path: Path) -> KraftBroker:
    return KraftBroker(tmp_path)


def topics(broker: KraftBroker, **options: Any) -> list[str]:
    return [row["topic"] for row in table(broker.log_dirs[0], "topics", **options)]


def created(name: str, number: int) -> bytes:
    return record("TopicRecord", name=name, topicId=topic_id(number))


def problems(broker: KraftBroker, **options: Any) -> tuple[list[str], list[str]]:
    rows = mb.open(broker.log_dirs[0], **options).table("topics")
    names = [row["topic"] for row in rows.to_pylist()]
    return names, [finding.code for finding in rows.report.findings]


def write_snapshot(broker: KraftBroker, offset: int, data: bytes) -> None:
    (broker.metadata / f"{offset:020}-0000000001.checkpoint").write_bytes(data)


def begin_log_at(broker: KraftBroker, offset: int, *values: bytes) -> None:
    (broker.metadata / f"{0:020}.log").unlink()
    (broker.metadata / f"{offset:020}.log").write_bytes(batch_of(offset, *values))


def test_table_is_as_of_an_offset(broker: KraftBroker) -> None:
    assert topics(broker) == ["alpha", "beta"]
    assert topics(broker, offsets=(None, broker.next_offset - 3)) == ["alpha"]
    assert topics(broker, offsets=(None, 1)) == []


def test_beginning_of_a_range_does_not_matter(broker: KraftBroker) -> None:
    assert topics(broker, offsets=(broker.next_offset - 1, None)) == ["alpha", "beta"]


def test_newest_snapshot_is_read_before_the_log(broker: KraftBroker) -> None:
    write_snapshot(broker, 5, snapshot(created("old", 1)))
    write_snapshot(broker, 50, snapshot(created("of-snapshot", 2)))
    begin_log_at(broker, 40, created("before", 3), *[record("NoOpRecord")] * 9, created("after", 4))
    assert topics(broker) == ["after", "of-snapshot"]


def test_snapshot_after_the_end_of_the_range_is_not_read(broker: KraftBroker) -> None:
    write_snapshot(broker, 40, snapshot(created("old", 1)))
    write_snapshot(broker, 41, snapshot(created("new", 2)))
    begin_log_at(broker, 40, created("a", 3), created("b", 4))
    assert topics(broker, offsets=(None, 40)) == ["old"]
    assert topics(broker, offsets=(None, 41)) == ["new"]
    assert topics(broker) == ["b", "new"]


def test_snapshot_after_a_time_is_not_read(broker: KraftBroker) -> None:
    """The snapshot's header has the time of the last record that it covers: 0 here."""
    write_snapshot(broker, 3, snapshot(created("of-snapshot", 2)))
    assert "of-snapshot" in topics(broker, times=(None, 1))
    assert problems(broker, times=(None, 0)) == ([], ["range-outside-log"])


def test_damaged_snapshot_is_a_finding_and_the_log_from_its_start_is_read(
    broker: KraftBroker,
) -> None:
    data = bytearray(snapshot(created("of-snapshot", 2)))
    data[-5] ^= 1
    write_snapshot(broker, 3, bytes(data))
    assert problems(broker) == (["alpha", "beta"], ["metadata-snapshot-invalid"])


def test_snapshot_without_its_footer_is_not_whole(broker: KraftBroker) -> None:
    write_snapshot(broker, 3, snapshot(created("of-snapshot", 2), footer=False))
    assert problems(broker) == (["alpha", "beta"], ["metadata-snapshot-invalid"])


def test_older_snapshot_takes_the_place_of_a_damaged_one(broker: KraftBroker) -> None:
    write_snapshot(broker, 40, snapshot(created("old", 2)))
    write_snapshot(broker, 41, snapshot(created("new", 3), footer=False))
    begin_log_at(broker, 40, created("after", 4))
    assert problems(broker) == (["after", "old"], ["metadata-snapshot-invalid"])


def test_sound_records_of_the_only_snapshot_are_better_than_none(broker: KraftBroker) -> None:
    write_snapshot(broker, 40, snapshot(created("some", 2), footer=False))
    begin_log_at(broker, 40, created("after", 4))
    assert problems(broker) == (["after", "some"], ["metadata-snapshot-invalid"])


def test_records_that_are_gone_are_a_finding(broker: KraftBroker) -> None:
    begin_log_at(broker, 40, created("after", 4))
    assert problems(broker) == (["after"], ["internal-history-missing"])
    write_snapshot(broker, 30, snapshot(created("old", 2)))
    assert problems(broker) == (["after", "old"], ["internal-history-missing"])


def test_record_that_cannot_be_applied_is_a_finding_with_its_offset(broker: KraftBroker) -> None:
    broker.append(record("RemoveTopicRecord", topicId=topic_id(99)), b"\xff", created("after", 4))
    broker.write_metadata()
    rows = mb.open(broker.log_dirs[0]).table("topics")
    assert [row["topic"] for row in rows.to_pylist()] == ["after", "alpha", "beta"]
    codes = [finding.code for finding in rows.report.findings]
    assert codes == ["internal-record-conflict", "internal-record-invalid"]
    assert rows.report.findings[0].base_offset == broker.next_offset - 3
    assert rows.report.findings[0].topic == "__cluster_metadata"


def test_paths_without_a_metadata_log_are_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "alpha-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(batch_of(0, b"v"))
    with pytest.raises(mb.InputError, match="no folder __cluster_metadata-0"):
        mb.open(tmp_path).table("topics").to_pylist()


def test_secrets_are_masked(broker: KraftBroker) -> None:
    secrets = {
        "listener.name.x.ssl.keystore.password": "geheim",
        "sasl.jaas.config": 'org.apache... password="geheim";',
        "some.url": "jdbc:x://me:geheim@host/db?password=geheim",
    }
    for name, value in secrets.items():
        broker.append(
            record("ConfigRecord", resourceType=4, resourceName="", name=name, value=value)
        )
    broker.append(
        record(
            "DelegationTokenRecord", tokenId="c2VjcmV0LXRva2Vu", owner="User:a", requester="User:a"
        )
    )
    broker.write_metadata()
    rows = table(broker.log_dirs[0], "configs") + table(broker.log_dirs[0], "delegation_tokens")
    assert "geheim" not in str(rows)
    assert "c2VjcmV0LXRva2Vu" not in str(rows)
    assert [row["value"] for row in rows[:3]] == [
        "[hidden]",
        "[hidden]",
        "jdbc:x://[hidden]@host/db?password=[hidden]",
    ]


REAL_LOGS = sorted({path.parent for path in DATA.glob("*/*/*/__cluster_metadata-0/*.checkpoint")})


def state(values: Iterable[bytes]) -> dict[str, list[Row]]:
    """Return the tables that *values* add up to, but for blocks of producer ids, which a snapshot does not have."""
    cluster = ClusterMetadata()
    assert apply_records(cluster, enumerate(values)) == []
    rows = {name: list(metadata_rows(name, cluster)) for name in ROWS}
    return rows | {"producer_id_blocks": [{"next": cluster.next_producer_id}]}


@pytest.mark.parametrize("folder", REAL_LOGS, ids=lambda path: "-".join(path.parts[-4:-1]))
def test_log_up_to_each_snapshot_of_a_real_controller_has_its_state(folder: Path) -> None:
    log = mb.open(folder).of_topics(["__cluster_metadata"]).records(["offset", "value"]).to_pylist()
    num_equal = 0
    for path in sorted(folder.glob("*.checkpoint")):
        offset = int(path.name[:20])
        values = [row["value"] for row in mb.open(path).records(["value"]).to_pylist()]
        if log[0]["offset"] > 1 or not offset:
            continue
        assert state(row["value"] for row in log if row["offset"] < offset) == state(values)
        num_equal += 1
    assert num_equal or log[0]["offset"] > 1


def test_snapshot_that_is_named_alone_gives_its_state(broker: KraftBroker) -> None:
    write_snapshot(broker, 40, snapshot(created("old", 1)))
    write_snapshot(broker, 41, snapshot(created("new", 2)))
    older, newer = sorted(broker.metadata.glob("*.checkpoint"))
    assert [row["topic"] for row in table(older, "topics")] == ["old"]
    rows = mb.open(older, newer).table("topics").to_pylist()
    assert [row["topic"] for row in rows] == ["new"]
