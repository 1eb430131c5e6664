"""Places written partitions before a running broker, and reads them with Kafka's consumer."""

import json
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import magicbyte as mb
from clusters import Cluster, short
from log_reader import plain

from .kafka_classes import command

LEVELS = ("read_uncommitted", "read_committed")

VERSIONS = {"2.8": "3.9.2", "3.9": "3.9.2", "4.3": "4.3.1", "4.4": "4.4.0"}
"""Version of Kafka's consumer that reads from a broker, by its release: that of 2.8 cannot describe all topics."""

WAIT_S = 240

QUIET = {
    "log.retention.ms": -1,
    "log.cleaner.enable": "false",
    "producer.id.expiration.ms": 2_000_000_000,
    "transactional.id.expiration.ms": 2_000_000_000,
}
"""Properties of a broker that leaves old logs as they are."""

LOAD_PROBLEMS = ("ecovering", "ebuilding index", "Found invalid messages", " WARN ", " ERROR ")
"""Parts of the lines that a broker prints where it does not take a log as it is."""

COPY_PROBLEMS = ("Skipping batch", "marked as failed", "Exception")
"""Parts of the lines that a follower prints where it cannot copy a log."""

COLUMNS = ("offset", "timestamp", "timestamp_type", "key", "value", "headers")

Record = dict[str, Any]
"""Record in the form of the oracle in tests/data, without its leader epoch."""


@dataclass
class Served:
    """Topics as consumers of both isolation levels see them, by partition (`topic-number`)."""

    bounds: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Log start offset, log end offset and last stable offset."""
    records: dict[str, dict[str, list[Record]]] = field(default_factory=dict)
    """Records by isolation level and partition."""


def served(bootstrap: str, release: str) -> Served:
    """Return the topics of a cluster as Kafka's consumer reads them."""
    result, ends = Served(), []
    for level in LEVELS:
        offsets, result.records[level] = _reading(bootstrap, release, level)
        ends.append(offsets)
    for name, (start, end) in ends[0].items():
        result.bounds[name] = (start, end, ends[1][name][1])
    return result


def read_as_group(
    bootstrap: str, release: str, group: str, count: int | None = None
) -> dict[str, list[Record]]:
    """Return about *count* records after those that *group* has committed, and commit them; None: all of them."""
    limit = [] if count is None else [str(count)]
    return _reading(bootstrap, release, "read_committed", group, *limit)[1]


def _reading(
    bootstrap: str, release: str, *arguments: str
) -> tuple[dict[str, tuple[int, int]], dict[str, list[Record]]]:
    done = subprocess.run(
        [*command("KafkaReads", VERSIONS[release]), bootstrap, *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    bounds, records = {}, defaultdict(list)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        name = row.pop("name")
        if "start" in row:
            bounds[name] = (row["start"], row["end"])
        else:
            records[name].append(row)
    return bounds, records


def records_of(dataset: mb.Dataset, prefix: str = "") -> dict[str, list[Record]]:
    """Return the records that *dataset* delivers, by partition: *prefix* and the name of its folder."""
    records = defaultdict(list)
    for row in plain(dataset.records(["topic", "partition", *COLUMNS]).to_table()):
        name = f"{prefix}{row.pop('topic')}-{row.pop('partition')}"
        row["timestamp"] = -1 if row["timestamp"] is None else row["timestamp"]
        row["timestamp_type"] = row["timestamp_type"] or "NoTimestampType"
        row["key"], row["value"] = short(row["key"]), short(row["value"])
        row["headers"] = [[one["key"], short(one["value"])] for one in row["headers"] or ()]
        records[name].append(row)
    return records


def uncommitted_offsets(cluster: Cluster) -> dict[str, set[int]]:
    """Return the offsets of aborted and open transactions in *cluster*, by partition."""
    offsets: dict[str, set[int]] = defaultdict(set)
    columns = ["topic", "partition", "offset", "outcome"]
    for row in cluster.open("read_uncommitted").records(columns).to_pylist():
        if row["outcome"] in ("aborted", "open"):
            offsets[f"{row['topic']}-{row['partition']}"].add(row["offset"])
    return offsets


def place(output: Path, log_dir: Path, prefix: str = "") -> list[str]:
    """Copy the partition folders of *output* into *log_dir*; return their names, which begin with *prefix*."""
    names = []
    for folder in sorted(output.iterdir()):
        if folder.is_dir():
            names.append(prefix + folder.name)
            shutil.copytree(folder, log_dir / names[-1])
    return names


def create(bootstrap: str, names: Iterable[str], broker: int, *, batch: int = 100) -> None:
    """Create the topics of the partitions *names*, each with its only replica on *broker*."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    counts: dict[str, int] = defaultdict(int)
    for name in names:
        counts[name.rpartition("-")[0]] += 1
    topics = [
        NewTopic(
            topic,
            num_partitions=count,
            replica_assignment=[[broker]] * count,
            config={"retention.ms": "-1"},
        )
        for topic, count in counts.items()
    ]
    client = AdminClient({"bootstrap.servers": bootstrap})
    for first in range(0, len(topics), batch):
        for future in client.create_topics(topics[first : first + batch]).values():
            future.result(WAIT_S)
    wait_for_leaders(bootstrap, names, {broker})


def wait_for_leaders(
    bootstrap: str, names: Iterable[str], in_sync: Collection[int], leader: int | None = None
) -> None:
    """Wait until the replicas *in_sync* of the partitions *names* are in sync, and *leader*, or any, leads."""
    from confluent_kafka.admin import AdminClient

    client = AdminClient({"bootstrap.servers": bootstrap})
    until = time.monotonic() + WAIT_S
    while True:
        topics = client.list_topics(timeout=WAIT_S).topics
        late = []
        for name in names:
            topic, _, number = name.rpartition("-")
            partition = topics[topic].partitions.get(int(number)) if topic in topics else None
            if (
                partition is None
                or set(partition.isrs) != set(in_sync)
                or (partition.leader != leader if leader else partition.leader < 0)
            ):
                late.append(name)
        if not late:
            return
        assert time.monotonic() < until, f"{len(late)} partitions are not in sync: {late[:5]}"
        time.sleep(0.5)


def reassign(cluster: Any, names: Iterable[str], replicas: list[int]) -> None:
    """Give the partitions *names* of *cluster* the *replicas*."""
    plan = cluster.folder / "reassignment.json"
    partitions = []
    for name in names:
        topic, _, number = name.rpartition("-")
        partitions.append({"topic": topic, "partition": int(number), "replicas": replicas})
    plan.write_text(json.dumps({"version": 1, "partitions": partitions}))
    tool = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
    cluster.tool(tool, "--reassignment-json-file", plan, "--execute")


def problems(console: str, names: Collection[str], signs: Collection[str]) -> list[str]:
    """Return the lines of *console* with one of *signs* that name one of the partitions *names*."""
    # The leader of a new topic forgets higher epochs than its own, and says so.
    lines = [line for line in console.splitlines() if "LeaderEpochCache" not in line]
    lines = [line for line in lines if any(sign in line for sign in signs)]
    return [line for line in lines if any(name in line for name in names)]
