"""Tests that tables of groups, transactional ids and producers are what a broker's tools say at the same moment.

Groups and transactions of a broker change at random for a minute; at ten quiet moments Kafka's tools are asked, and the
log.dir is copied. `MAGICBYTE_RECORD=1` records the topics and the answers for tests without Kafka. `make test-brokers`
runs it; it needs Maven and Java, and takes five minutes for each release.
"""

import base64
import gzip
import json
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from cli.conftest import run
from internal_topics.tool_answers import (
    RECORDED,
    differences,
    offset_lines,
)
from kafka_tables import rows_of

from .group_changes import GROUP_TOOL, PROPERTIES, TOPICS, GroupChanges, Lines
from .one_broker import START_S, killed_at_the_end

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

RECORD = bool(os.environ.get("MAGICBYTE_RECORD"))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

SEED = int(os.environ.get("MAGICBYTE_SEED") or time.time())

NUM_MOMENTS = 10

CHANGE_S = 6
"""Seconds of changes before each moment."""

COORDINATOR_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


@pytest.mark.parametrize("release", ["3.9", "4.3", "4.4"])
def test_tables_are_what_the_tools_say_at_ten_moments(release: str, tmp_path: Path) -> None:
    print(f"seed {SEED}")
    moments: list[dict[str, Any]] = []
    with killed_at_the_end(release, tmp_path, PROPERTIES) as cluster:
        cluster.start(START_S)
        changes = GroupChanges(cluster, release, random.Random(SEED))
        if release >= "4.3":
            changes.start_share_group()
        try:
            for number in range(NUM_MOMENTS):
                until = time.monotonic() + CHANGE_S
                while time.monotonic() < until:
                    changes.change()
                changes.settle()
                answers = changes.answers()
                copy = tmp_path / f"copy-{number}"
                shutil.copytree(Path(cluster.folder) / "log-0", copy)
                found = differences(copy, answers)
                assert found == [], "\n".join([f"moment {number}", *found])
                moments.append({"ends": _ends(copy), "answers": answers})
        finally:
            changes.close()
    last = tmp_path / f"copy-{NUM_MOMENTS - 1}"
    if RECORD:
        recorded = {"seed": SEED, "moments": moments, "records": _records(last)}
        RECORDED.mkdir(exist_ok=True)
        with gzip.GzipFile(RECORDED / f"groups-{release}.json.gz", "wb", mtime=0) as file:
            file.write(json.dumps(recorded, separators=(",", ":")).encode())
    _check_reset(release, tmp_path, last, moments[-1]["answers"]["offsets"])


def _ends(log_dir: Path) -> dict[str, int]:
    """Return the log end offset of each partition of the coordinators' topics."""
    dataset = mb.open(log_dir, include_internal=True)
    rows = dataset.partitions(["topic", "partition", "log_end_offset"]).to_pylist()
    return {
        f"{row['topic']}-{row['partition']}": row["log_end_offset"] or 0
        for row in rows
        if row["topic"] in COORDINATOR_TOPICS
    }


def _records(log_dir: Path) -> list[list[Any]]:
    """Return all records of the coordinators' topics: partition, offset, key, value, producer id, and whether it is a
    marker that commits."""
    names = [topic for topic in COORDINATOR_TOPICS if any(log_dir.glob(f"{topic}-*"))]
    dataset = mb.open(log_dir, topics=names, isolation_level="read_uncommitted")
    columns = [*("topic", "partition", "offset", "key", "value", "producer_id"), "is_transactional"]
    columns += ["disposition", "outcome"]
    rows = dataset.records(columns, dispositions=["delivered", "control"]).to_pylist()
    return [
        [
            f"{row['topic']}-{row['partition']}",
            row["offset"],
            _base64(row["key"]),
            _base64(row["value"]),
            row["producer_id"] if row["is_transactional"] else None,
            None if row["disposition"] == "delivered" else row["outcome"] == "committed",
        ]
        for row in rows
    ]


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _check_reset(release: str, tmp_path: Path, log_dir: Path, judged: Lines) -> None:
    """Check that a fresh broker with as many records has the offsets that the written file sets."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    file = tmp_path / "offsets.csv"
    assert run("groups", log_dir, "--reset-csv", file).exit_code in (0, 1)
    ends = {
        (row["topic"], row["partition"]): row["log_end_offset"]
        for row in mb.open(log_dir).partitions(["topic", "partition", "log_end_offset"]).to_pylist()
    }
    with killed_at_the_end(release, tmp_path / "fresh", PROPERTIES) as cluster:
        cluster.start(START_S)
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        new_topics = [NewTopic(topic, count, 1) for topic, count in TOPICS.items()]
        for future in admin.create_topics(new_topics).values():
            future.result(START_S)
        producer = Producer({"bootstrap.servers": cluster.bootstrap})
        for (topic, number), end in ends.items():
            for _ in range(end):
                producer.produce(topic, b"value", partition=number)
        assert producer.flush(START_S) == 0
        changes = GroupChanges.__new__(GroupChanges)
        changes.cluster, changes.release = cluster, release
        groups = sorted({line.split(",")[0] for line in file.read_text().splitlines()})
        options = [option for group in groups for option in ("--group", group)]
        changes.tool(GROUP_TOOL, "--reset-offsets", *options, "--from-file", str(file), "--execute")
        described = rows_of(changes.tool(GROUP_TOOL, "--describe", "--all-groups", "--offsets"))
    wanted = {line[:4] for line in offset_lines(judged) if line[3] != "-"}
    assert {line[:4] for line in offset_lines(described)} == wanted
    assert wanted
