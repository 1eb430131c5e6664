"""Reads logs by librdkafka, through confluent-kafka: a consumer fetches them from a broker on loopback."""

import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared" / "python"))

from answers import hexed, serve
from confluent_kafka import Consumer, KafkaException, TopicPartition
from loopback_broker import LoopbackBroker

TIMESTAMP_TYPES = {0: None, 1: "CreateTime", 2: "LogAppendTime"}

MAX_SAME_FETCHES = 3
"""Fetches of one offset after which the consumer is taken to be at the end, or to be stuck."""

MAX_SAME_OFFSETS = 8
"""Records of one offset after which the consumer is taken to deliver a record without end."""

BROKER = LoopbackBroker()


def read(log):
    """Yield the records that a consumer delivers; raise the first error that it reports."""
    yield from consumed(BROKER.serve(log), 0, "read_uncommitted")


def read_fetched(log, offset, aborted):
    """Yield the records that a read_committed consumer delivers of a fetch response."""
    yield from consumed(BROKER.serve(log, aborted), offset, "read_committed")


def consumed(topic, offset, isolation_level):
    """Yield the records of the topic from an offset on; raise the first error."""
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{BROKER.port}",
            "group.id": "vectors",
            "auto.offset.reset": "error",
            "enable.auto.commit": False,
            "check.crcs": True,
            "isolation.level": isolation_level,
            "fetch.wait.max.ms": 1,
            "fetch.error.backoff.ms": 1,
            "log_level": 0,
        }
    )
    count_by_offset = Counter()
    try:
        consumer.assign([TopicPartition(topic, 0, offset)])
        while True:
            message = consumer.poll(0.05)
            if message is not None and message.error() is not None:
                raise KafkaException(message.error())
            if message is not None:
                yield [row(message)]
                count_by_offset[message.offset()] += 1
                if count_by_offset[message.offset()] == MAX_SAME_OFFSETS:
                    raise RuntimeError("a record is delivered again and again")
            elif BROKER.same_fetches >= MAX_SAME_FETCHES:
                return
    finally:
        consumer.close()


def row(message):
    kind, timestamp = message.timestamp()
    return {
        "offset": str(message.offset()),
        "timestamp": str(timestamp) if kind and timestamp != -1 else None,
        "timestamp_type": TIMESTAMP_TYPES[kind],
        "key": hexed(message.key()),
        "value": hexed(message.value()),
        "headers": [
            {"key": hexed(key.encode()), "value": hexed(value)}
            for key, value in message.headers() or ()
        ],
    }


serve(read, read_fetched)
