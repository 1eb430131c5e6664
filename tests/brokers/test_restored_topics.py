"""Tests that running brokers take restored partitions, replicate and serve them, and that clients go on with them.

Two brokers of each release: the folders are placed before the second one, which leads the new topics alone until the
partitions are reassigned to both. Then it is stopped, so that the first one serves what it has copied.
`make test-brokers` runs it; it needs Maven and Java.
"""

import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from clusters import Cluster
from paths import DATA, shared
from restored_folders import RECORDED, folder_digests, recorded, suitable_clusters

from .served_topics import (
    COPY_PROBLEMS,
    LEVELS,
    LOAD_PROBLEMS,
    QUIET,
    Record,
    Served,
    create,
    place,
    problems,
    read_as_group,
    reassign,
    served,
    uncommitted_offsets,
    wait_for_leaders,
)
from .several_brokers import several_brokers

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

RELEASES = ("3.9", "4.3", "4.4")


def restored(log_dir: Path, folder: Path) -> tuple[Served, dict[str, dict[str, str]]]:
    """Restore the partitions of all suitable clusters into *folder*, and place them in *log_dir*.

    Returns what consumers must get from them, and the digests of their folders by cluster.
    """
    digests = {}
    expected = Served(records={level: {} for level in LEVELS})
    for cluster in suitable_clusters(shared() / "logs", DATA):
        source = mb.open(*cluster.log_dirs)  # without internal topics
        report = mb.restore(source, folder / cluster.name)
        assert not report.failures, report.failures
        digests[cluster.name] = folder_digests(report)
        prefix = f"{cluster.name}."
        place(folder / cluster.name, log_dir, prefix)
        for name, bounds, records in expectations(cluster, report):
            expected.bounds[prefix + name] = bounds
            for level in LEVELS:
                expected.records[level][prefix + name] = records[level]
    return expected, digests


def expectations(
    cluster: Cluster, report: mb.RewriteReport
) -> Iterator[tuple[str, tuple[int, int, int], dict[str, list[Record]]]]:
    """Yield each restored partition, its bounds and its records by isolation level, as Kafka read them in *cluster*."""
    oracle: dict[str, dict[str, list[Record]]] = {}
    for level in LEVELS:
        for name, record in cluster.records(level):
            del record["leader_epoch"]  # it is 0 in the new topic
            oracle.setdefault(name, {each: [] for each in LEVELS})[level].append(record)
    offsets = cluster.offsets()
    hidden = uncommitted_offsets(cluster)
    for row in report.partitions:
        name = f"{row['topic']}-{row['partition']}"
        bounds, records = offsets[name], oracle.get(name, {level: [] for level in LEVELS})
        num_markers = row["changed_entries"].get("abort-marker-added", 0)
        end = bounds["log_end_offset"] + num_markers
        stable = end if num_markers else bounds["last_stable_offset"]
        if num_markers:
            records["read_committed"] = [
                record
                for record in records["read_uncommitted"]
                if record["offset"] not in hidden[name]
            ]
        yield name, (bounds["log_start_offset"], end, stable), records


def check(found: Served, expected: Served) -> None:
    assert found.bounds == expected.bounds
    for level in LEVELS:
        for name in expected.bounds:
            assert found.records[level].get(name, []) == expected.records[level][name], name


def produce_one_each(bootstrap: str, names: Collection[str], **config: Any) -> None:
    """Send a record to each of *names*, in one transaction if *config* has a `transactional.id`."""
    from confluent_kafka import Producer

    errors: list[Any] = []
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, **config})
    if config:
        producer.init_transactions(60)
        producer.begin_transaction()
    for name in names:
        topic, _, number = name.rpartition("-")
        producer.produce(
            topic,
            b"value",
            b"key",
            int(number),
            on_delivery=lambda error, _: errors.append(error) if error else None,
        )
    assert producer.flush(60) == 0
    if config:
        producer.commit_transaction(60)
    assert not errors


def with_new_records(before: Served, found: Served) -> Served:
    """Return *before* with the two new records of each partition, whose times are those in *found*."""
    after = Served(records={level: {} for level in LEVELS})
    for name, (start, end, stable) in before.bounds.items():
        assert end == stable, name
        after.bounds[name] = (start, end + 3, end + 3)
        for level in LEVELS:
            new = [
                {
                    "offset": end + number,
                    "timestamp": found.records[level][name][number - 2]["timestamp"],
                    "timestamp_type": "CreateTime",
                    "key": b"key".hex(),
                    "value": b"value".hex(),
                    "headers": [],
                }
                for number in range(2)
            ]
            after.records[level][name] = before.records[level][name] + new
    return after


@pytest.mark.parametrize("release", RELEASES)
def test_restored_partitions_are_replicated_and_served_and_clients_go_on(
    release: str, tmp_path: Path
) -> None:
    with several_brokers(release, tmp_path, 2, QUIET) as (one, two):
        one.start()
        two.start()
        expected, digests = restored(two.log_dirs[0], tmp_path / "restored")
        names = sorted(expected.bounds)
        create(two.bootstrap, names, 2)
        check(served(two.bootstrap, release), expected)
        reassign(two, names, [2, 1])
        wait_for_leaders(two.bootstrap, names, {1, 2})
        assert not problems(two.console(), names, LOAD_PROBLEMS)
        assert not problems(one.console(), names, COPY_PROBLEMS)
        two.stop()
        wait_for_leaders(one.bootstrap, names, {1}, leader=1)
        check(served(one.bootstrap, release), expected)

        first = read_as_group(one.bootstrap, release, "readers", 10_000)
        produce_one_each(one.bootstrap, names)
        produce_one_each(one.bootstrap, names, **{"transactional.id": "writer"})
        after = served(one.bootstrap, release)
        check(after, with_new_records(expected, after))

        one.restart()
        wait_for_leaders(one.bootstrap, names, {1}, leader=1)
        check(served(one.bootstrap, release), after)
        second = read_as_group(one.bootstrap, release, "readers", 10_000)
        one.kill()
        one.start()
        wait_for_leaders(one.bootstrap, names, {1}, leader=1)
        check(served(one.bootstrap, release), after)
        third = read_as_group(one.bootstrap, release, "readers")
        for name, records in after.records["read_committed"].items():
            parts = [each.get(name, []) for each in (first, second, third)]
            assert [*parts[0], *parts[1], *parts[2]] == records, name
        assert first and second and third

        two.start()  # with the files that were restored, and the new records from the other one
        wait_for_leaders(one.bootstrap, names, {1, 2})
        reassign(one, names, [2])
        wait_for_leaders(one.bootstrap, names, {2}, leader=2)
        check(served(one.bootstrap, release), after)
        two.kill()
        two.start()
        wait_for_leaders(one.bootstrap, names, {2}, leader=2)
        check(served(one.bootstrap, release), after)
    check_recording(digests)


def check_recording(digests: dict[str, dict[str, str]]) -> None:
    """Compare the folders that the brokers have taken with the recording, or record them with MAGICBYTE_RECORD=1."""
    digests = {cluster.name: digests[cluster.name] for cluster in suitable_clusters()}
    if os.environ.get("MAGICBYTE_RECORD"):
        lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in digests.items()]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert recorded() == digests
