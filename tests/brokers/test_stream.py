"""Tests of a stream over the log.dir of a broker that appends, rolls and compacts meanwhile.

`make test-brokers` runs it; it needs Maven and Java, and takes four minutes.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from paths import shared
from spark_environment import environment

HERE = Path(__file__).parent
RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

RELEASE = "4.3"
RESTARTS = 50
KILLS = 10
"""Number of restarts after a kill; others stop the query alone, since Spark starts slowly."""

Place = tuple[str, int, int]
"""Topic, partition, offset."""
Pair = tuple[bytes | None, bytes | None]
"""Key, value."""

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "transactional": {},
    "compacted": {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "1000",
        "delete.retention.ms": "500",
        "file.delete.delay.ms": "200",
    },
}
PARTITIONS = 2


class Writing:
    """Threads that write to three topics, and the records that the broker acknowledged."""

    def __init__(self, bootstrap: str, seed: int) -> None:
        self.acknowledged: dict[Place, Pair] = {}
        """Records that a read_committed consumer gets, except those that compaction removes."""
        self.aborted: set[Place] = set()
        self.errors: list[BaseException] = []
        self._bootstrap = bootstrap
        self._ends = threading.Event()
        self._threads = [
            threading.Thread(target=self._watched, args=(write, random.Random(f"{seed} {number}")))
            for number, write in enumerate((self._plain, self._transactional, self._compacted))
        ]

    def __enter__(self) -> "Writing":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def _watched(self, write: Any, rng: random.Random) -> None:
        try:
            write(rng)
        except BaseException as error:  # a thread's error is the test's
            self.errors.append(error)

    def _producer(self, **more: Any) -> Producer:
        return Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 5, **more})

    def _send(
        self, producer: Producer, topic: str, kept: dict[Place, Pair], pair: Pair, partition: int
    ) -> None:
        def told(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                raise AssertionError(str(error))
            place = topic, partition, message.offset()
            assert place not in kept
            kept[place] = pair

        producer.produce(topic, pair[1], pair[0], partition=partition, on_delivery=told)

    def _plain(self, rng: random.Random) -> None:
        producers = [self._producer(**{"compression.type": codec}) for codec in ("none", "lz4")]
        count = 0
        while not self._ends.is_set():
            producer = rng.choice(producers)
            for _ in range(rng.randrange(30)):
                count += 1
                pair = None, f"{count} {'x' * rng.randrange(200)}".encode()
                self._send(producer, "plain", self.acknowledged, pair, rng.randrange(PARTITIONS))
            producer.flush()
            time.sleep(rng.random() / 3)

    def _compacted(self, rng: random.Random) -> None:
        producer = self._producer()
        count = 0
        while not self._ends.is_set():
            for _ in range(rng.randrange(40)):
                count += 1
                number = min(rng.randrange(300), rng.randrange(300))
                value = None if rng.random() < 0.05 else f"{count} {'y' * 100}".encode()
                pair = f"key-{number}".encode(), value
                self._send(producer, "compacted", self.acknowledged, pair, number % PARTITIONS)
            producer.flush()
            time.sleep(rng.random() / 3)

    def _transactional(self, rng: random.Random) -> None:
        producers = [self._producer(**{"transactional.id": f"writer-{n}"}) for n in range(2)]
        open_now: dict[Producer, dict[Place, Pair]] = {}
        for producer in producers:
            producer.init_transactions()
        count = 0
        while open_now or not self._ends.is_set():
            producer = rng.choice(list(open_now) if self._ends.is_set() else producers)
            if producer not in open_now:
                producer.begin_transaction()
                open_now[producer] = {}
            for _ in range(rng.randrange(20)):
                count += 1
                pair = b"t", f"{count} {'z' * rng.randrange(100)}".encode()
                where = rng.randrange(PARTITIONS)
                self._send(producer, "transactional", open_now[producer], pair, where)
            producer.flush()
            if rng.random() < 0.4:
                if rng.random() < 0.3:
                    producer.abort_transaction()
                    self.aborted.update(open_now.pop(producer))
                else:
                    producer.commit_transaction()
                    self.acknowledged.update(open_now.pop(producer))
            time.sleep(rng.random() / 3)


class Query:
    """A process that runs `stream_query.py`; each command is a line of JSON."""

    def __init__(self, log_dir: Path, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / "stream_query.py", log_dir, folder],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a kill of the group ends its children too, Java above all
        )
        self._answer("started")

    def _answer(self, *names: str) -> Any:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line) if line.startswith("{") else {}
            for name in names:
                if name in answer:
                    return answer[name]
        raise AssertionError(f"the query's process ended: {self.process.wait()}")

    def _say(self, command: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def run(self, **command: Any) -> str | None:
        """Run a command; return the query's error, or None."""
        self._say(command)
        failed: str | None = self._answer("failed")
        return failed

    def run_and_kill(self, seconds: float, **command: Any) -> None:
        self._say({**command, "seconds": 60})
        self._answer("done", "failed")
        time.sleep(seconds)
        self.kill()

    def kill(self) -> None:
        with self.process:
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        with self.process:  # which closes its input
            pass
        assert self.process.returncode == 0


@contextmanager
def broker(folder: Path) -> Iterator[Any]:
    if not RUN:
        pytest.skip("it takes Maven, Java and some minutes: make test-brokers")
    sys.path.insert(0, str(shared() / "brokers"))
    from brokers import Cluster

    properties = {
        "log.cleaner.backoff.ms": 100,
        "log.initial.task.delay.ms": 100,
        "log.segment.delete.delay.ms": 200,
    }
    size = "internal.segment.bytes" if RELEASE[0] >= "4" else "segment.bytes"
    with Cluster(RELEASE, folder, properties=properties) as cluster:
        topics = [
            NewTopic(name, PARTITIONS, 1, config={size: "20000", **settings})
            for name, settings in SETTINGS.items()
        ]
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        for future in admin.create_topics(topics).values():
            future.result(30)
        yield cluster


def consumed(bootstrap: str, topic: str) -> Counter[Place]:
    """Return the records that a read_committed consumer of *topic* gets from the beginning."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "judge",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(PARTITIONS)])
    found: Counter[Place] = Counter()
    ended: set[int] = set()
    while len(ended) < PARTITIONS:
        message = consumer.poll(30)
        assert message is not None
        if message.error() is None:
            found[topic, message.partition(), message.offset()] += 1
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            ended.add(message.partition())
    consumer.close()
    return found


def options(rng: random.Random) -> dict[str, str]:
    made = {
        "subscribe": ",".join(SETTINGS),
        "startingOffsets": "earliest",
        "maxPartitionBytes": rng.choice(["10k", "1m"]),
    }
    most = rng.choice([None, "500", "3000"])
    return made if most is None else {**made, "maxOffsetsPerTrigger": most}


def test_a_stream_restarted_50_times_gives_each_offset_of_a_busy_broker_exactly_once(
    tmp_path: Path,
) -> None:
    seed = int(os.environ.get("MAGICBYTE_SEED", random.randrange(1 << 32)))
    print(f"MAGICBYTE_SEED={seed}")
    rng = random.Random(seed)
    kills = set(rng.sample(range(RESTARTS), KILLS))
    folder = tmp_path / "query"
    folder.mkdir()
    failures: list[str] = []
    with broker(tmp_path / "broker") as cluster:
        (log_dir,) = cluster.log_dirs
        with Writing(cluster.bootstrap, seed) as writing:
            query = Query(log_dir, folder)
            try:
                for number in range(RESTARTS):
                    life: dict[str, Any] = {
                        "options": options(rng),
                        # Killed while it writes its first offsets, a query of Spark never starts again.
                        "batches": rng.randrange(2) if number else 1,
                        "seconds": rng.uniform(0, 1.5),
                    }
                    if number in kills:
                        query.run_and_kill(**life)
                        query = Query(log_dir, folder)
                    elif failed := query.run(**life):
                        print(number, failed)
                        failures.append(failed)
            except BaseException:
                query.kill()
                raise
        assert not writing.errors, writing.errors
        for _ in range(3):
            failed = query.run(options=options(rng))
            if failed is None:
                break
            failures.append(failed)
        query.end()
        judged = {topic: consumed(cluster.bootstrap, topic) for topic in SETTINGS}
    delivered = Counter[Place]()
    rows: dict[Place, Pair] = {}
    for row in pq.read_table(folder / "rows.parquet").to_pylist():
        place = row["topic"], row["partition"], row["offset"]
        delivered[place] += 1
        rows[place] = row["key"], row["value"]
    print("failures", len(failures), *failures, sep="\n")
    counts = Counter(topic for topic, _, _ in writing.acknowledged)
    print("written", counts, "delivered", Counter(t for t, _, _ in delivered.elements()))
    print("compacted away at the end", counts["compacted"] - judged["compacted"].total())

    assert [place for place, count in delivered.items() if count != 1] == []
    assert not writing.aborted & delivered.keys() and writing.aborted
    for place, pair in rows.items():
        assert writing.acknowledged[place] == pair
    for topic in ("plain", "transactional"):
        wanted = {place for place in writing.acknowledged if place[0] == topic}
        assert {place for place in delivered if place[0] == topic} == wanted
        assert judged[topic].keys() == wanted
    # What compaction leaves to the end was there all the time, but for a tombstone's delay.
    assert not judged["compacted"].keys() - delivered.keys()
    assert judged["compacted"].total() < counts["compacted"] / 2
    assert not failures
