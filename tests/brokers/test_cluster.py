"""Tests of reading the disks of three brokers of 4.4 as one cluster, after all of them were killed.

`make test-brokers` runs it; it needs Maven and Java, and takes about two minutes. Producers write with
transactions while brokers restart; a consumer says what the topics hold. Then the disks are copied, and
one log.dir of each broker is damaged, emptied or made unreadable.
"""

import errno
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from io_faults import faulty_disk
from log_reader import spans

from .several_brokers import several_brokers

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

RELEASE = "4.4"
TOPICS = {"two": 2, "three": 3}
"""Topics with their replication factors."""
PARTITIONS = 3
RECORDS = 2500
"""Records of a partition in each of three rounds; with 1 kB each, a segment of 1 MiB is rolled."""
WAIT_S = 120

Row = tuple[str, int, int, bytes, bytes]
"""Topic, partition, offset, key, value."""


PROPERTIES = {
    "log.segment.bytes": 1 << 20,
    "log.retention.ms": -1,
    "log.cleaner.enable": "false",
    "default.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "offsets.topic.replication.factor": 3,
    "replica.lag.time.max.ms": 3000,
}


def produce(bootstrap: str, rng: random.Random, round_number: int) -> None:
    from confluent_kafka import Producer

    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"round-{round_number}",
            "acks": "all",
            "compression.type": rng.choice(["none", "lz4", "zstd"]),
            "linger.ms": 20,
        }
    )
    producer.init_transactions(WAIT_S)
    for part in range(10):
        producer.begin_transaction()
        for topic in TOPICS:
            for partition in range(PARTITIONS):
                for number in range(RECORDS // 10):
                    value = rng.randbytes(rng.randrange(1500))
                    producer.produce(topic, value, b"%d" % number, partition=partition)
        producer.flush(WAIT_S)
        if part % 4 == 3:
            producer.abort_transaction(WAIT_S)
        else:
            producer.commit_transaction(WAIT_S)


def wait_for_replicas(bootstrap: str) -> None:
    """Wait until every replica of the topics is in sync."""
    from confluent_kafka.admin import AdminClient

    client = AdminClient({"bootstrap.servers": bootstrap})
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        topics = client.list_topics(timeout=WAIT_S).topics
        if all(
            len(partition.isrs) == factor
            for topic, factor in TOPICS.items()
            for partition in topics[topic].partitions.values()
        ):
            return
        time.sleep(0.5)
    raise AssertionError("replicas are not in sync")


def consumed(bootstrap: str) -> list[Row]:
    """Return what a consumer with read_committed gets, by topic, partition and offset."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "all",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    left = {(topic, partition) for topic in TOPICS for partition in range(PARTITIONS)}
    consumer.assign([TopicPartition(*name, OFFSET_BEGINNING) for name in sorted(left)])
    rows: list[Row] = []
    until = time.monotonic() + WAIT_S
    while left:
        assert time.monotonic() < until, f"no end of {left}"
        message = consumer.poll(1)
        if message is None:
            continue
        name = message.topic(), message.partition()
        error = message.error()
        if error is None:
            rows.append((*name, message.offset(), message.key(), message.value()))
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error
            left.discard(name)
    consumer.close()
    return sorted(rows)


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Row]]:
    """The log.dirs of three killed brokers, two of each, and the rows that a consumer got before."""
    folder, rng = tmp_path_factory.mktemp("cluster"), random.Random(SEED)
    with several_brokers(RELEASE, folder, 3, PROPERTIES, log_dirs=2) as nodes:
        for node in nodes:
            node.start(WAIT_S)
        bootstrap = ",".join(node.bootstrap for node in nodes)
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        client = AdminClient({"bootstrap.servers": bootstrap})
        new = [NewTopic(topic, PARTITIONS, factor) for topic, factor in TOPICS.items()]
        for future in client.create_topics(new).values():
            future.result(WAIT_S)
        produce(bootstrap, rng, 0)
        nodes[1].restart()
        wait_for_replicas(bootstrap)
        produce(bootstrap, rng, 1)
        nodes[2].kill()
        time.sleep(1)
        nodes[2].start(WAIT_S)
        wait_for_replicas(bootstrap)
        produce(bootstrap, rng, 2)
        wait_for_replicas(bootstrap)
        rows = consumed(bootstrap)
        for node in nodes:
            node.kill()
        return [log_dir for node in nodes for log_dir in node.log_dirs], rows


def copied(disks: list[Path], folder: Path) -> list[Path]:
    """Return copies of the log.dirs."""
    copies = []
    for log_dir in disks:
        copy = folder / log_dir.parent.name / log_dir.name
        shutil.copytree(log_dir, copy)
        copies.append(copy)
    return copies


def rows_of(log_dirs: list[Path], **how: Any) -> tuple[list[Row], list[mb.Finding]]:
    rows = mb.open(*map(str, log_dirs), topics=list(TOPICS), threads=2, **how).records(
        ["topic", "partition", "offset", "key", "value"]
    )
    table = [tuple(row.values()) for batch in rows for row in batch.to_pylist()]
    return table, rows.report.findings


def flip_batches(
    log_dir: Path, remainder: int, rng: random.Random
) -> dict[tuple[str, int], list[int]]:
    """Flip a byte in some batches whose number is *remainder* modulo 3; return their base offsets."""
    flipped: dict[tuple[str, int], list[int]] = {}
    for partition in sorted(log_dir.iterdir()):
        topic, _, number = partition.name.rpartition("-")
        if topic not in TOPICS:
            continue
        for path in sorted(partition.glob("*.log")):
            data = bytearray(path.read_bytes())
            for begin, end in list(spans(bytes(data))):
                offset = int.from_bytes(data[begin : begin + 8], "big")
                if offset % 3 == remainder and rng.random() < 0.2:
                    data[rng.randrange(begin + 61, end)] ^= 1 << rng.randrange(8)
                    flipped.setdefault((topic, int(number)), []).append(offset)
            path.write_bytes(data)
    return flipped


def test_sound_disks_give_what_the_consumer_got(disks: tuple[list[Path], list[Row]]) -> None:
    log_dirs, expected = disks
    rows, findings = rows_of(log_dirs)
    assert rows == expected, f"MAGICBYTE_SEED={SEED}"
    assert len(expected) > 10_000
    assert {finding.code for finding in findings if finding.severity == "error"} == set()


def test_damage_in_one_log_dir_of_each_broker_is_filled(
    disks: tuple[list[Path], list[Row]], tmp_path: Path
) -> None:
    log_dirs, expected = disks
    copies, rng = copied(log_dirs, tmp_path), random.Random(SEED)
    # A batch is damaged in one replica at most, since the offsets modulo 3 differ.
    flipped = {copies[2 * n]: flip_batches(copies[2 * n], n, rng) for n in range(3)}
    rows, findings = rows_of(copies)
    assert rows == expected, f"MAGICBYTE_SEED={SEED}"
    filled = [finding for finding in findings if finding.code == "range-filled"]
    chosen = {
        (one.topic, one.partition): one.replica for one in findings if one.code == "replica-chosen"
    }
    in_words = {(one.topic, one.partition, one.base_offset) for one in filled}
    num_named = 0
    for log_dir, by_partition in flipped.items():
        for name, offsets in by_partition.items():
            if chosen[name] == str(log_dir):
                for offset in offsets:
                    # Neighbours are filled together.
                    assert any(
                        (one.topic, one.partition) == name
                        and one.position is not None
                        and (one.base_offset or 0) <= offset
                        for one in filled
                    ), (name, offset, in_words)
                    num_named += 1
    assert num_named > 0
    with pytest.raises(mb.FormatError):
        rows_of(copies, fill=False)


@pytest.mark.parametrize("number", range(3))
def test_an_emptied_log_dir_is_filled(
    number: int, disks: tuple[list[Path], list[Row]], tmp_path: Path
) -> None:
    log_dirs, expected = disks
    copies, rng = copied(log_dirs, tmp_path), random.Random(SEED + number)
    for partition in copies[2 * number].iterdir():
        if not partition.is_dir():
            continue
        # A folder is gone, or its segments are, or some of them, or the end of the last one.
        segments = sorted(partition.glob("*.log"))
        match rng.randrange(4):
            case 0:
                shutil.rmtree(partition)
            case 1:
                for path in segments:
                    path.unlink()
            case 2:
                for path in rng.sample(segments, (len(segments) + 1) // 2):
                    path.write_bytes(b"")
            case _:
                data = segments[-1].read_bytes()
                segments[-1].write_bytes(data[: len(data) // 2])
    rows, _ = rows_of(copies)
    assert rows == expected, f"MAGICBYTE_SEED={SEED}"
    rows, _ = rows_of(copies, replica=[str(copies[2 * number])])
    assert rows == expected, f"MAGICBYTE_SEED={SEED}"


@pytest.mark.parametrize("is_listed", [True, False])
@pytest.mark.parametrize("number", range(3))
def test_an_unreadable_log_dir_is_filled(
    number: int, is_listed: bool, disks: tuple[list[Path], list[Row]]
) -> None:
    log_dirs, expected = disks
    bad = log_dirs[2 * number]
    with faulty_disk() as disk:
        if is_listed:
            for path in bad.rglob("*.log"):
                size = path.stat().st_size
                disk.blocks[str(path)] = set(range(1, size // disk.BLOCK + 1, 7))
        else:
            disk.unlisted[str(bad)] = errno.EACCES
        rows, findings = rows_of(log_dirs, on_damage="skip")
        assert rows == expected, f"MAGICBYTE_SEED={SEED}"
        if is_listed:
            rows, findings = rows_of(log_dirs, replica=[str(bad)])
            assert rows == expected, f"MAGICBYTE_SEED={SEED}"
            assert any(one.code == "range-filled" and one.replica == str(bad) for one in findings)


def test_what_one_replica_has_is_read_when_every_broker_has_lost_a_disk(
    disks: tuple[list[Path], list[Row]], tmp_path: Path
) -> None:
    log_dirs, expected = disks
    copies, rng = copied(log_dirs, tmp_path), random.Random(SEED)
    damaged, emptied, unreadable = copies[0], copies[2], copies[4]
    for remainder in range(3):
        flip_batches(damaged, remainder, rng)
    for path in emptied.rglob("*.log"):
        path.write_bytes(b"")
    sound = {partition.name for log_dir in copies[1::2] for partition in log_dir.iterdir()}
    with faulty_disk() as disk:
        for path in unreadable.rglob("*.log"):
            disk.unopened[str(path)] = errno.EIO
        rows, findings = rows_of(copies, on_damage="skip")
    whole = [row for row in expected if f"{row[0]}-{row[1]}" in sound]
    assert [row for row in rows if f"{row[0]}-{row[1]}" in sound] == whole != []
    known = set(expected)
    assert all(row in known for row in rows), f"MAGICBYTE_SEED={SEED}"
    if len(rows) < len(expected):
        assert any(finding.severity == "error" for finding in findings)
