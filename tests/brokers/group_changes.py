"""Groups and transactions of a started broker that change at random, and what Kafka's tools say of them."""

import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kafka_tables import rows_of, tabbed_rows_of

TOPICS = {"a": 3, "b": 2, "copy": 1}
"""Number of partitions of each topic."""

PROPERTIES = {
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.num.partitions": 2,
    "share.coordinator.state.topic.num.partitions": 2,
    "log.index.size.max.bytes": 65536,
    "group.initial.rebalance.delay.ms": 0,
}

TIMEOUT_S = 30

QUIET_S = 7
"""Seconds without a change of assignments after which a moment is quiet."""

TOOLS = "org.apache.kafka.tools."
GROUP_TOOL = f"{TOOLS}consumer.group.ConsumerGroupCommand"
SHARE_TOOL = f"{TOOLS}consumer.group.ShareGroupCommand"
TRANSACTION_TOOL = f"{TOOLS}TransactionsCommand"

SHARE_GROUP = "share"

Lines = list[dict[str, str]]


@dataclass
class GroupChanges:
    """Clients of a cluster whose groups and transactions change at random."""

    cluster: Any
    release: str
    chance: random.Random
    consumers: list[tuple[str, Consumer]] = field(default_factory=list)
    producers: dict[str, Producer] = field(default_factory=dict)
    """Transactional producers by transactional id."""
    open_ids: set[str] = field(default_factory=set)
    """Transactional ids whose transaction is open."""
    share_consumer: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.bootstrap = {"bootstrap.servers": self.cluster.bootstrap}
        self.admin = AdminClient(self.bootstrap)
        self.plain_producer = Producer(self.bootstrap)
        new_topics = [NewTopic(topic, count, 1) for topic, count in TOPICS.items()]
        for future in self.admin.create_topics(new_topics).values():
            future.result(TIMEOUT_S)
        for _ in range(30):
            self.produce()

    @property
    def has_new_groups(self) -> bool:
        return self.release >= "4.0"

    def change(self) -> None:
        """Make one change."""
        changes = [self.produce, self.commit, self.commit, self.transact, self.transact, self.join]
        changes += [self.leave, self.read, self.read, self.delete]
        self.chance.choice(changes)()

    def produce(self) -> None:
        topic = self.chance.choice(list(TOPICS))
        for _ in range(self.chance.randrange(1, 9)):
            partition = self.chance.randrange(TOPICS[topic])
            self.plain_producer.produce(topic, b"value", b"key", partition=partition)
        assert self.plain_producer.flush(TIMEOUT_S) == 0

    def offsets(self) -> list[TopicPartition]:
        topic = self.chance.choice(["a", "b"])
        numbers = self.chance.sample(
            range(TOPICS[topic]), self.chance.randrange(1, TOPICS[topic] + 1)
        )
        return [
            TopicPartition(topic, number, self.chance.randrange(20), metadata=f"m{number}")
            for number in numbers
        ]

    def commit(self) -> None:
        """Commit offsets of a group without members."""
        group = f"simple-{self.chance.randrange(4)}"
        consumer = Consumer({**self.bootstrap, "group.id": group, "enable.auto.commit": False})
        consumer.commit(offsets=self.offsets(), asynchronous=False)
        consumer.close()

    def transact(self) -> None:
        """Begin a transaction that commits offsets, or end one that is open."""
        name = f"id-{self.chance.randrange(4)}"
        if name not in self.producers:
            producer = Producer(
                {**self.bootstrap, "transactional.id": name, "transaction.timeout.ms": 800_000}
            )
            producer.init_transactions(TIMEOUT_S)
            self.producers[name] = producer
        producer = self.producers[name]
        if name not in self.open_ids:
            producer.begin_transaction()
            for _ in range(self.chance.randrange(1, 4)):
                producer.produce("copy", b"value", partition=0)
            assert producer.flush(TIMEOUT_S) == 0
            group = self.chance.choice(["simple-0", "simple-1", "transactional"])
            consumer = Consumer({**self.bootstrap, "group.id": group})
            producer.send_offsets_to_transaction(
                self.offsets(), consumer.consumer_group_metadata(), TIMEOUT_S
            )
            consumer.close()
            self.open_ids.add(name)
            if self.chance.random() < 0.4:
                return
        self.open_ids.discard(name)
        if self.chance.random() < 0.6:
            producer.commit_transaction(TIMEOUT_S)
        else:
            producer.abort_transaction(TIMEOUT_S)

    def join(self) -> None:
        if len(self.consumers) >= 5:
            return
        group = self.chance.choice(["classic-0", "classic-1", "new-0", "new-1"])
        options: dict[str, Any] = {"client.id": f"client-{self.chance.randrange(100)}"}
        if group.startswith("new"):
            if not self.has_new_groups:
                return
            options["group.protocol"] = "consumer"
        consumer = Consumer(
            {
                **self.bootstrap,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                **options,
            }
        )
        consumer.subscribe(self.chance.choice([["a"], ["b"], ["a", "b"]]))
        self.consumers.append((group, consumer))

    def leave(self) -> None:
        if self.consumers:
            _, consumer = self.consumers.pop(self.chance.randrange(len(self.consumers)))
            consumer.close()

    def read(self) -> None:
        """Have a member read some records and commit its offsets."""
        if not self.consumers:
            return
        _, consumer = self.chance.choice(self.consumers)
        message = None
        for _ in range(self.chance.randrange(1, 9)):
            polled = consumer.poll(0.3)
            if polled is not None and polled.error() is None:
                message = polled
        if message is not None:
            try:
                consumer.commit(message, asynchronous=False)
            except KafkaException:
                return  # a rebalance has taken the partition away

    def delete(self) -> None:
        """Delete a group without members; its pending offsets keep one from being deleted."""
        group = f"simple-{self.chance.randrange(2, 4)}"
        for future in self.admin.delete_consumer_groups([group]).values():
            try:
                future.result(TIMEOUT_S)
            except KafkaException:
                return

    def start_share_group(self) -> None:
        from brokers import java

        configs = "share.auto.offset.reset=earliest"
        self.tool(
            "kafka.admin.ConfigCommand",
            *("--alter", "--entity-type", "groups", "--entity-name", SHARE_GROUP),
            *("--add-config", configs),
        )
        arguments = ("--topic", "a", "--group", SHARE_GROUP)
        command = java(
            self.tools_release,
            f"{TOOLS}consumer.ConsoleShareConsumer",
            "--bootstrap-server",
            self.cluster.bootstrap,
            *arguments,
        )
        self.share_consumer = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def settle(self) -> None:
        """Let the members of all groups finish their rebalances: nothing changes for some seconds."""
        until = time.monotonic() + TIMEOUT_S * 4
        before: list[Any] = []
        quiet_since = time.monotonic()
        while time.monotonic() < until:
            self.poll()
            members = [
                (each.memberid(), sorted(map(str, each.assignment()))) for _, each in self.consumers
            ]
            if members != before or not all(member_id for member_id, _ in members):
                before, quiet_since = members, time.monotonic()
            if time.monotonic() - quiet_since > QUIET_S:
                return

    def poll(self) -> None:
        for _, consumer in self.consumers:
            consumer.poll(0.05)
        time.sleep(0.05)

    def close(self) -> None:
        for _, consumer in self.consumers:
            consumer.close()
        if self.share_consumer is not None:
            self.share_consumer.kill()
            self.share_consumer.wait()

    # What Kafka's tools say

    @property
    def tools_release(self) -> str:
        """Release of the tools: those of 4.4 are not on Maven Central."""
        return min(self.release, "4.3")

    def tool(self, main: str, *arguments: str) -> str:
        from brokers import java

        command = java(
            self.tools_release, main, "--bootstrap-server", self.cluster.bootstrap, *arguments
        )
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout

    def answers(self) -> dict[str, Lines]:
        """Return the rows of the tools' tables, by subject."""
        groups = ("--describe", "--all-groups")
        questions: dict[str, tuple[str, ...]] = {
            "offsets": (GROUP_TOOL, *groups, "--offsets"),
            "members": (GROUP_TOOL, *groups, "--members", "--verbose"),
            "states": (GROUP_TOOL, *groups, "--state", "--verbose"),
            "transactions": (TRANSACTION_TOOL, "list"),
            "producers": (
                TRANSACTION_TOOL,
                *("describe-producers", "--topic", "copy", "--partition", "0"),
            ),
        }
        if self.share_consumer is not None:
            share = ("--describe", "--group", SHARE_GROUP)
            questions["share"] = (SHARE_TOOL, *share, "--offsets", "--verbose")
        for name in self.producers:
            describe = ("describe", "--transactional-id", name)
            questions[f"transaction {name}"] = (TRANSACTION_TOOL, *describe)
        with ThreadPoolExecutor(3) as pool:
            texts = {
                subject: pool.submit(self.tool, *question)
                for subject, question in questions.items()
            }
            while not all(text.done() for text in texts.values()):
                self.poll()  # a member that does not poll leaves its group
        return {
            subject: (tabbed_rows_of if questions[subject][0] == TRANSACTION_TOOL else rows_of)(
                text.result()
            )
            for subject, text in texts.items()
        }
