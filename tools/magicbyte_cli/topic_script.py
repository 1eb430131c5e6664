"""A shell script that creates topics again with kafka-topics."""

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any, Protocol

NODE_CONFIGS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
"""Configurations that name nodes of the old cluster, while a reassignment is throttled."""

INTERNAL_CONFIG = "internal."
"""Beginning of configurations that brokers take from tests only."""


class KnownTopic(Protocol):
    """A topic to create; numbers and configurations that are not known are None."""

    topic: str
    partition_count: int
    replication_factor: int | None
    configs: dict[str, str] | None
    partition_rows: list[dict[str, Any]]


def creation_script(known_topics: Iterable[KnownTopic]) -> Iterator[str]:
    """Yield the lines of a script. HOST:9092 and REPLICAS stand for what only the operator knows."""
    yield "#!/bin/sh"
    yield "# Creates topics with their partitions and configurations. The new topics have other topic ids."
    yield "# Put the address of a broker in place of HOST:9092."
    for source_topic in known_topics:
        yield from _creation(source_topic)


def _creation(source_topic: KnownTopic) -> Iterator[str]:
    factors = {len(row["replicas"]) for row in source_topic.partition_rows if "replicas" in row}
    if len(factors) > 1:
        numbers = ", ".join(map(str, sorted(factors)))
        yield f"# {source_topic.topic}: its partitions have {numbers} replicas; the number of partition 0 is taken."
    present = [row["partition"] for row in source_topic.partition_rows]
    if present != list(range(len(present))):
        yield (
            f"# {source_topic.topic}: partitions {', '.join(map(str, present))} are known; those between them are created too."
        )
    factor = source_topic.replication_factor
    if factor is None:
        yield f"# {source_topic.topic}: its replicas and configurations are not known, and it may have more partitions."
    partition_count = max(present, default=source_topic.partition_count - 1) + 1
    words = [
        *(
            "kafka-topics.sh",
            "--bootstrap-server",
            "HOST:9092",
            "--create",
            "--topic",
            source_topic.topic,
        ),
        *("--partitions", str(partition_count)),
        *("--replication-factor", "REPLICAS" if factor is None else str(factor)),
    ]
    for name, value in (source_topic.configs or {}).items():
        if name in NODE_CONFIGS or name.startswith(INTERNAL_CONFIG):
            yield f"# {source_topic.topic}: left out: {quote(f'{name}={value}')}"
        else:
            words += ["--config", f"{name}={value}"]
    yield " ".join(map(quote, words))
