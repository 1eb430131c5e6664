"""Captures the loopback traffic of a broker while clients write to it and read from it."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .one_broker import START_S, create_topics

TOPICS = ("plain", "compressed", "transactional")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@contextmanager
def captured(port: int, path: Path) -> Iterator[None]:
    """Capture the packets of *port* to *path* in the `with` block; tcpdump has to be there."""
    tcpdump = shutil.which("tcpdump")
    assert tcpdump is not None
    command = [tcpdump, "-i", "lo", "-s", "0", "-U", "-B", "65536", "-Z", "root", "-w", str(path)]
    with subprocess.Popen(
        [*command, f"tcp port {port}"], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            while "listening on" not in process.stderr.readline():
                assert process.poll() is None
            yield
            time.sleep(2)  # packets are handed to tcpdump once a second
        finally:
            process.send_signal(signal.SIGINT)


def write_and_read(cluster: Any) -> None:
    """Write batches of all codecs, and transactions that end both ways; read all topics in both isolation levels."""
    create_topics(cluster, list(TOPICS))
    _produce(cluster, "plain", "none", 30)
    for codec in CODECS:
        _produce(cluster, "compressed", codec, 20)
    _produce_transactions(cluster, "transactional")
    for level in ("read_uncommitted", "read_committed"):
        _consume(cluster, level)


def _producer(cluster: Any, **settings: Any) -> Any:
    from confluent_kafka import Producer

    return Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 5, **settings})


def _produce(cluster: Any, topic: str, codec: str, count: int) -> None:
    producer = _producer(
        cluster, **{"compression.type": codec, "client.id": f"writer-{codec}", "acks": "all"}
    )
    for number in range(count):
        value = b"%d of %s " % (number, codec.encode()) * 200
        producer.produce(
            topic, value, b"key-%d" % number, partition=0, headers={"n": b"%d" % number}
        )
    assert producer.flush(START_S) == 0


def _produce_transactions(cluster: Any, topic: str) -> None:
    producer = _producer(cluster, **{"transactional.id": "t", "client.id": "writer-transactions"})
    producer.init_transactions(START_S)
    for number in range(6):
        producer.begin_transaction()
        for record in range(5):
            producer.produce(topic, b"%d.%d" % (number, record), partition=0)
        assert producer.flush(START_S) == 0
        if number % 2:
            producer.abort_transaction(START_S)
        else:
            producer.commit_transaction(START_S)


def _consume(cluster: Any, level: str) -> None:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": level,
            "client.id": level,
            "isolation.level": level,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING) for topic in TOPICS])
    at_end: set[str] = set()
    while at_end != set(TOPICS):
        message = consumer.poll(START_S)
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF
            at_end.add(message.topic())
    consumer.close()
