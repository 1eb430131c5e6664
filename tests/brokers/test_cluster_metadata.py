"""Compares tables of a running broker's metadata with Kafka's tools, at random moments; its script makes the topics again.

`make test-brokers` runs it; it needs Maven and Java, and takes five minutes.
"""

import os
import random
import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import magicbyte as mb
from kafka_outputs import acl_entries, described_topics, dynamic_configs, features, node_ids
from magicbyte_cli.topics import topics as topics_command
from paths import shared

from .one_broker import START_S, killed_at_the_end

pytestmark = pytest.mark.skipif(
    not os.environ.get("MAGICBYTE_BROKERS"), reason="needs Maven and Java: make test-brokers"
)

SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))

NUM_MOMENTS = int(os.environ.get("MAGICBYTE_DRAWN") or 10)

CHANGES_PER_MOMENT = 8

SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": 3000}
"""Settings with which the controller writes a snapshot after each of the first moments."""

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    **SNAPSHOTS,
}

TOOLS = "org.apache.kafka.tools."
CONFIGS = "kafka.admin.ConfigCommand"

TOPIC_CONFIGS = {
    "retention.ms": ("1000000", "-1"),
    "cleanup.policy": ("compact", "compact,delete"),
    "segment.ms": ("60000",),
    "compression.type": ("zstd",),
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Moment:
    """Answers of Kafka's tools, and the metadata offset at which they were asked."""

    offset: int
    topics: str
    configs: str
    users: str
    acls: str
    features: str


class ChangingCluster:
    """Changes topics, configurations, ACLs and users of a broker at random."""

    def __init__(self, cluster: Any, seed: int) -> None:
        from confluent_kafka.admin import AdminClient

        self.cluster, self.chance = cluster, random.Random(seed)
        self.client = AdminClient({"bootstrap.servers": cluster.bootstrap})
        self.partition_counts: dict[str, int] = {}
        self.num_topics = 0

    def change(self) -> None:
        changes = [self.create, self.create, self.configure, self.configure, self.acl, self.user]
        changes += [self.delete, self.add_partitions]
        self.chance.choice(changes)()

    def create(self) -> None:
        from confluent_kafka.admin import NewTopic

        self.num_topics += 1
        name, count = f"t.{self.num_topics}-x", self.chance.randrange(1, 4)
        self.finish(self.client.create_topics([NewTopic(name, count, 1, config=self.configs())]))
        self.partition_counts[name] = count

    def delete(self) -> None:
        if len(self.partition_counts) > 3:
            name = self.chance.choice(sorted(self.partition_counts))
            del self.partition_counts[name]
            self.finish(self.client.delete_topics([name]))

    def add_partitions(self) -> None:
        from confluent_kafka.admin import NewPartitions

        if self.partition_counts:
            name = self.chance.choice(sorted(self.partition_counts))
            self.partition_counts[name] += 1
            count = self.partition_counts[name]
            self.finish(self.client.create_partitions([NewPartitions(name, count)]))

    def configs(self) -> dict[str, str]:
        names = self.chance.sample(sorted(TOPIC_CONFIGS), self.chance.randrange(3))
        return {name: self.chance.choice(TOPIC_CONFIGS[name]) for name in names}

    def configure(self) -> None:
        from confluent_kafka.admin import (
            AlterConfigOpType,
            ConfigEntry,
            ConfigResource,
            ResourceType,
        )

        if not self.partition_counts:
            return
        name = self.chance.choice(sorted(self.partition_counts))
        resource = ConfigResource(ResourceType.TOPIC, name)
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
            for key, value in self.configs().items()
        ]
        removed = self.chance.choice(sorted(TOPIC_CONFIGS))
        if removed not in [entry.name for entry in entries]:
            removal = ConfigEntry(removed, None, incremental_operation=AlterConfigOpType.DELETE)
            entries.append(removal)
        for entry in entries:
            resource.add_incremental_config(entry)
        self.finish(self.client.incremental_alter_configs([resource]))

    def acl(self) -> None:
        from confluent_kafka.admin import (
            AclBinding,
            AclBindingFilter,
            AclOperation,
            AclPermissionType,
            ResourcePatternType,
            ResourceType,
        )

        fields = (
            self.chance.choice((ResourceType.TOPIC, ResourceType.GROUP)),
            self.chance.choice("ab"),
            self.chance.choice((ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED)),
            self.chance.choice(("User:alice", "User:bob")),
            "*",
            self.chance.choice((AclOperation.READ, AclOperation.DESCRIBE)),
            self.chance.choice((AclPermissionType.ALLOW, AclPermissionType.DENY)),
        )
        if self.chance.random() < 0.3:
            self.finish(self.client.delete_acls([AclBindingFilter(*fields)]))
        else:
            self.finish(self.client.create_acls([AclBinding(*fields)]))

    def user(self) -> None:
        from confluent_kafka.admin import (
            ScramCredentialInfo,
            ScramMechanism,
            UserScramCredentialUpsertion,
        )

        mechanism = self.chance.choice((ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512))
        info = ScramCredentialInfo(mechanism, self.chance.randrange(4096, 9000))
        change = UserScramCredentialUpsertion(self.chance.choice(("u", "v")), info, b"secret")
        self.finish(self.client.alter_user_scram_credentials([change]))

    def finish(self, futures: dict[Any, Any]) -> None:
        for future in futures.values():
            future.result(START_S)

    def quota(self, number: int) -> None:
        user = ("--entity-type", "users", "--entity-name", f"q{number % 2}")
        client = ("--entity-type", "clients", "--entity-default")
        change = ("--add-config", f"producer_byte_rate={1000 + number}")
        tool(self.cluster, CONFIGS, "--alter", *user, *client[: 3 * (number % 2)], *change)


def tool(cluster: Any, main: str, *arguments: str) -> str:
    """Return what a tool of Kafka 4.3 prints about a broker of any release."""
    import subprocess

    from brokers import java

    where = ("--bootstrap-server", cluster.bootstrap)
    return subprocess.run(
        java("4.3", main, *where, *arguments), stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def metadata_end(cluster: Any) -> int:
    """Return the end of the metadata log of the running broker."""
    (log_dir,) = cluster.log_dirs
    log = mb.open(log_dir, on_damage="stop").of_topics(["__cluster_metadata"])
    offsets = log.records(["offset"]).to_table().column("offset")
    return int(offsets[-1].as_py()) + 1


def moments(cluster: Any, seed: int) -> Iterator[Moment]:
    """Yield the answers of Kafka's tools after each round of changes."""
    changing = ChangingCluster(cluster, seed)
    for number in range(NUM_MOMENTS):
        for _ in range(CHANGES_PER_MOMENT):
            changing.change()
        changing.quota(number)
        time.sleep(2)  # until leaders are elected and the tools' answers do not change any more
        users = tool(cluster, CONFIGS, "--describe", "--entity-type", "users")
        users += tool(
            cluster, CONFIGS, "--describe", "--entity-type", "users", "--entity-type", "clients"
        )
        yield Moment(
            topics=tool(cluster, f"{TOOLS}TopicCommand", "--describe"),
            configs=tool(cluster, CONFIGS, "--describe", "--entity-type", "topics"),
            users=users,
            acls=tool(cluster, f"{TOOLS}AclCommand", "--list"),
            features=tool(cluster, f"{TOOLS}FeatureCommand", "describe"),
            offset=metadata_end(cluster),
        )


def differences(log_dir: Path, moment: Moment) -> list[str]:
    """Return the tables as of the *moment* that differ from what Kafka's tools said."""
    dataset = mb.open(log_dir, offsets=(None, moment.offset), include_internal=True)

    def table(name: str) -> list[Row]:
        rows = dataset.table(name)
        found = rows.to_pylist()
        assert rows.report.findings == [], rows.report.findings
        return found

    topics, partitions = described_topics(moment.topics)
    found: dict[str, tuple[Any, Any]] = {}
    found["topics"] = (
        {
            row["topic"]: (row["topic_id"], row["partition_count"], row["replication_factor"])
            for row in table("topics")
        },
        {
            name: (row["TopicId"], int(row["PartitionCount"]), int(row["ReplicationFactor"]))
            for name, row in topics.items()
        },
    )
    found["topic_partitions"] = (
        {
            (row["topic"], row["partition"]): (
                row["leader"],
                row["replicas"],
                row["isr"],
                row["elr"],
            )
            for row in table("topic_partitions")
        },
        {
            place: (
                int(row["Leader"]),
                *(node_ids(row[name]) for name in ("Replicas", "Isr", "Elr")),
            )
            for place, row in partitions.items()
        },
    )
    configs: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in table("configs"):
        if row["entity_type"] == "topics":
            configs[row["entity_name"]][row["name"]] = row["value"]
    theirs = {
        heading.removeprefix("topic "): values
        for heading, values in dynamic_configs(moment.configs).items()
        if values
    }
    found["configs"] = dict(configs), theirs
    columns = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation")
    acls = {tuple(row[name] for name in (*columns, "permission_type")) for row in table("acls")}
    found["acls"] = acls, acl_entries(moment.acls)
    users = {f"{row['mechanism']}=iterations={row['iterations']}" for row in table("scram_users")}
    quotas = {f"{row['name']}={row['value']}" for row in table("quotas")}
    said = {
        word
        for line in moment.users.splitlines()
        for word in line.partition(" are ")[2].split(", ")
        if word
    }
    found["scram_users and quotas"] = users | quotas, said
    levels = {
        row["feature"]: row["level_name"] or str(row["finalized_level"])
        for row in table("features")
    }
    theirs_by_name = dict(features(moment.features))
    # The tool of 4.3 has no names for levels of 4.4.
    for name, level in theirs_by_name.items():
        if level.startswith("UNKNOWN"):
            theirs_by_name[name] = levels.get(name, "")
    # A feature of level 0 that no node has registered is no row.
    known = {
        name: level for name, level in theirs_by_name.items() if level != "0" or name in levels
    }
    found["features"] = levels, known
    return [f"{name}: {pair}" for name, pair in found.items() if pair[0] != pair[1]]


@contextmanager
def started(release: str, folder: Path) -> Iterator[Any]:
    with killed_at_the_end(release, folder, PROPERTIES) as cluster:
        cluster.start()
        yield cluster


@pytest.mark.parametrize("release", ["3.9", "4.3", "4.4"])
def test_tables_as_of_each_moment_are_what_kafkas_tools_said(release: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(shared() / "brokers"))
    print("seed", SEED)
    with started(release, tmp_path / "old") as cluster:
        known = list(moments(cluster, SEED))
        cluster.stop()
        (log_dir,) = cluster.log_dirs
        names = [path.name for path in (log_dir / "__cluster_metadata-0").glob("*.checkpoint")]
        assert any(int(name[:20]) for name in names), "no snapshot was written"
        for moment in known:
            assert differences(log_dir, moment) == []
        assert differences(log_dir, replace(known[1], offset=known[0].offset)) != []
        script = CliRunner().invoke(topics_command, [str(log_dir), "--script"]).stdout
        expected = described_topics(known[-1].topics)[0], dynamic_configs(known[-1].configs)
    with started(release, tmp_path / "new") as cluster:
        for line in script.splitlines():
            if not line.startswith("#"):
                program, _, _, *arguments = shlex.split(line)
                assert program == "kafka-topics.sh"
                tool(cluster, f"{TOOLS}TopicCommand", *arguments)
        topics, _ = described_topics(tool(cluster, f"{TOOLS}TopicCommand", "--describe"))
        assert topics.keys() == expected[0].keys() != set()
        for name, row in topics.items():
            assert row["PartitionCount"] == expected[0][name]["PartitionCount"]
        configs = tool(cluster, CONFIGS, "--describe", "--entity-type", "topics")
        assert dynamic_configs(configs) == expected[1]
