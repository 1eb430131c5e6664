"""Writes tests/data/4.4/mixed: logs of a broker of Kafka 4.4, and what Kafka itself read from them.

`python tests/brokers/make_data.py SEED`: needs Maven, Java, confluent-kafka, kafka-python, and the
folder `shared` beside the checkout (MAGICBYTE_SHARED), whose make_logs.py runs the broker and asks it. The
seed decides keys, values, sizes and order; the broker's own times and ids differ from run to run.
"""

import os
import sys
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("MAGICBYTE_SHARED") or CHECKOUT.parent / "shared")
NAME = "4.4/mixed"

sys.path.insert(0, str(SHARED / "brokers"))
import make_logs  # noqa: E402  # it is in the folder that the line above adds to the path
from make_logs import JavaProducer  # noqa: E402  # likewise

SMALL_SEGMENTS = {"internal_segment_bytes": 2500, "index_interval_bytes": 150}


def mixed(workshop: Any) -> None:
    """Codecs, headers, append time, small segments, transactions, compaction, groups, two epochs."""
    _codecs(workshop)
    plain = JavaProducer(workshop, "plain")
    topic = workshop.topic("append-time", message_timestamp_type="LogAppendTime")
    for size in (1, 12):
        plain.send(topic, workshop.records(size))
    topic = workshop.topic("segments", 2, **SMALL_SEGMENTS)
    for partition in range(2):
        for _ in range(14):
            plain.send(topic, workshop.records(workshop.random.randrange(1, 16)), partition)
    _transactions(workshop)
    _deleted_records(workshop, plain)
    _compacted(workshop)
    _groups(workshop)
    workshop.restart()
    _open_transaction(workshop)


def _codecs(workshop: Any) -> None:
    topic = workshop.topic("codecs")
    for codec in make_logs.CODECS:
        settings = {"compression_type": codec, "enable_idempotence": "true"}
        producer = JavaProducer(workshop, f"codec-{codec}", **settings)
        for batch in ([*workshop.records(1)], workshop.edge_records(), workshop.records(20)):
            producer.send(topic, batch)
    headers = [(), (("a", b"1"), ("a", None)), (("", b""),), (("ключ", b"\xff\xfe"),)]
    topic = workshop.topic("headers")
    pairs = zip(workshop.records(len(headers)), headers, strict=True)
    JavaProducer(workshop, "headers").send(
        topic, [one._replace(headers=held) for one, held in pairs]
    )


def _transactions(workshop: Any) -> None:
    topic = workshop.topic("transactions", 2, **SMALL_SEGMENTS)
    make_logs.transactions(workshop, topic, rounds=9)
    settings = {"transactional_id": "offsets", "enable_idempotence": "true"}
    producer = JavaProducer(workshop, "offsets", **settings)
    producer.do("begin")
    producer.do("offsets", "copy-group", topic, 0, 3)
    producer.do("commit")


def _deleted_records(workshop: Any, plain: Any) -> None:
    topic = workshop.topic("deleted-records", 2, **SMALL_SEGMENTS)
    for partition in range(2):
        for _ in range(8):
            plain.send(topic, workshop.records(10), partition)
    workshop.cluster.delete_records({(topic, 0): 5, (topic, 1): 50})


def _compacted(workshop: Any) -> None:
    settings = {
        "cleanup_policy": "compact",
        "segment_ms": 60000,
        "min_cleanable_dirty_ratio": 0.01,
        "delete_retention_ms": 3600000,
        "min_compaction_lag_ms": 0,
    }
    topics = []
    for codec in ("none", "zstd"):
        topics.append(workshop.topic(f"compacted-{codec}", **settings))
        producer = JavaProducer(workshop, topics[-1], compression_type=codec)
        make_logs.fill_compacted(workshop, topics[-1], producer, rounds=10)
    workshop.wait_cleaned(*topics)


def _groups(workshop: Any) -> None:
    workshop.driver.do("group", "classic-group", "headers")
    workshop.driver.do("group", "new-protocol", "segments", "group.protocol=consumer")


def _open_transaction(workshop: Any) -> None:
    """End partition 0 of a topic with an open transaction, and records after its first ones."""
    topic = workshop.topic("open", 2)
    settings = {"enable_idempotence": "true", "transaction_timeout_ms": 900000}
    first, ended = (
        JavaProducer(workshop, name, transactional_id=name, **settings)
        for name in ("open", "ended")
    )
    first.do("begin")
    first.send(topic, workshop.records(5), 0)
    for end in ("commit", "abort"):
        ended.do("begin")
        for partition in range(2):
            ended.send(topic, workshop.records(4), partition)
        ended.do(end)
    JavaProducer(workshop, "after").send("segments", workshop.records(6), 0)
    first.send(topic, workshop.records(5), 0)
    workshop.driver.halt()
    workshop.driver = make_logs.Driver(workshop.cluster, workshop.classes)
    JavaProducer(workshop, "later").send(topic, workshop.records(7), 0)


def main(seed: str) -> None:
    make_logs.CLUSTERS[NAME] = (mixed, {})
    make_logs.dump = lambda *_: None  # no test reads the output of kafka-dump-log
    make_logs.make(NAME, seed, CHECKOUT / "tests" / "data" / NAME)


if __name__ == "__main__":
    main(sys.argv[1])
