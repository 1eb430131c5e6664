"""A started broker for tests: one node, which is killed when the test is done with it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paths import shared

START_S = 300


@contextmanager
def killed_at_the_end(
    release: str, folder: Path, properties: dict[str, Any], *, num_log_dirs: int = 1
) -> Iterator[Any]:
    """Provide a cluster of one broker that is not started; leaving the `with` block kills it."""
    sys.path.insert(0, str(shared() / "brokers"))
    from brokers import Cluster

    path = folder / "cluster"
    cluster = Cluster(release, path, properties=properties, log_dirs=num_log_dirs)
    try:
        yield cluster
    finally:
        if cluster.broker:
            cluster.kill()


def create_topics(cluster: Any, topics: list[str], config: dict[str, str] | None = None) -> None:
    """Create *topics* of one partition each."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    client = AdminClient({"bootstrap.servers": cluster.bootstrap})
    new_topics = [NewTopic(topic, 1, 1, config=config or {}) for topic in topics]
    for future in client.create_topics(new_topics).values():
        future.result(START_S)


def produce_batches(cluster: Any, topic: str, count: int, *, num_keys: int, first: int = 0) -> None:
    """Produce *count* batches of one record of a kilobyte each; keys repeat after *num_keys*."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0, "acks": "all"})
    for number in range(first, first + count):
        key = str(number % num_keys).encode()
        producer.produce(topic, key=key, value=b"%d " % number * 250, partition=0)
        assert producer.flush(START_S) == 0


def end_offsets(
    cluster: Any, topics: list[str], isolation_level: str = "read_uncommitted"
) -> dict[str, int]:
    """Return the log end offset of partition 0 of each topic; with `read_committed` the last stable offset."""
    return {topic: end for topic, (_, end) in bounds_of(cluster, topics, isolation_level).items()}


def bounds_of(
    cluster: Any, topics: list[str], isolation_level: str = "read_uncommitted"
) -> dict[str, tuple[int, int]]:
    """Return the log start offset of partition 0 of each topic, and the offset that `end_offsets` returns."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "end",
            "isolation.level": isolation_level,
        }
    )
    bounds: dict[str, tuple[int, int]] = {}
    until = time.monotonic() + START_S
    for topic in topics:
        while topic not in bounds:
            try:
                bounds[topic] = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
            except KafkaException:  # it has no leader yet
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
    consumer.close()
    return bounds
