"""Tests that a real broker agrees with the numbers of `verify` and `stats` that an administrator acts on.

A consumer that is moved to the offset after damage that `verify` names gets that record and all later
ones; the log cleaner takes a partition exactly if the dirty ratio that `stats` computes is above
`min.cleanable.dirty.ratio`. `make test-brokers` runs it; it needs Maven and Java, and takes two minutes.
"""

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte_cli.verify_damage import reset_command

from .one_broker import START_S, create_topics, killed_at_the_end, produce_batches

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(
    not RUN, reason="it takes Maven, Java and minutes: make test-brokers"
)

RELEASE = "3.9"
"""The newest release whose segments may be smaller than a mebibyte."""
SMALL = {"segment.bytes": "16384", "index.interval.bytes": "2500"}
NUM_BATCHES = 60

Spans = list[tuple[int, int]]
"""First byte and end of each batch of a segment."""
Damage = Callable[[bytearray, Spans], None]


def wrong_checksum(data: bytearray, spans: Spans) -> None:
    data[spans[4][1] - 10] ^= 1


def wrong_size(data: bytearray, spans: Spans) -> None:
    data[spans[4][0] + 11] ^= 0x20


def huge_size(data: bytearray, spans: Spans) -> None:
    data[spans[4][0] + 8] = 0x60


def zeros(data: bytearray, spans: Spans) -> None:
    begin, end = spans[4]
    data[begin:end] = bytes(end - begin)


def wrong_size_of_the_first_batch(data: bytearray, spans: Spans) -> None:
    data[spans[0][0] + 11] ^= 0x20


def wrong_size_of_the_last_batch(data: bytearray, spans: Spans) -> None:
    data[spans[-1][0] + 11] ^= 0x20


def cut_off(data: bytearray, spans: Spans) -> None:
    del data[spans[-2][0] + 20 :]


DAMAGE: dict[str, Damage] = {
    damage.__name__.replace("_", "-"): damage
    for damage in (
        *(wrong_checksum, wrong_size, huge_size, zeros),
        *(wrong_size_of_the_first_batch, wrong_size_of_the_last_batch, cut_off),
    )
}


def test_a_consumer_goes_on_at_the_offset_that_verify_names(tmp_path: Path) -> None:
    with killed_at_the_end(RELEASE, tmp_path, {"log.retention.ms": -1}) as cluster:
        cluster.start(START_S)
        create_topics(cluster, list(DAMAGE), SMALL)
        for topic in DAMAGE:
            produce_batches(cluster, topic, NUM_BATCHES, num_keys=NUM_BATCHES)
        cluster.stop()
        log_dir = cluster.log_dirs[0]
        for topic, damage in DAMAGE.items():
            damage_second_segment(log_dir / f"{topic}-0", damage)
        seek_offsets = {}
        for row in mb.verify(log_dir, topics=list(DAMAGE)).partitions:
            (damaged,) = row["damaged_ranges"]
            assert damaged["first_offset"] < damaged["seek_offset"] < NUM_BATCHES
            seek_offsets[row["topic"]] = damaged["seek_offset"]
        cluster.start(START_S)
        for topic, offset in seek_offsets.items():
            assert offsets_from(cluster, topic, offset) == list(range(offset, NUM_BATCHES)), topic
        move_group(cluster, "wrong-size", seek_offsets["wrong-size"])
        offset = seek_offsets["wrong-size"]
        assert offsets_from(cluster, "wrong-size", None) == list(range(offset, NUM_BATCHES))


def damage_second_segment(folder: Path, damage: Damage) -> None:
    segment = sorted(folder.glob("*.log"))[1]
    rows = mb.open(segment).batches(["position", "size_bytes"], quick=True).to_pylist()
    data = bytearray(segment.read_bytes())
    damage(data, [(row["position"], row["position"] + row["size_bytes"]) for row in rows])
    segment.write_bytes(data)


def offsets_from(cluster: Any, topic: str, offset: int | None) -> list[int]:
    """Return the offsets up to the end of *topic* that a consumer gets from *offset*; None: of its group."""
    from confluent_kafka import OFFSET_STORED, Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "stuck",
            "auto.offset.reset": "error",
            "check.crcs": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_STORED if offset is None else offset)])
    offsets: list[int] = []
    until = time.monotonic() + START_S
    while (not offsets or offsets[-1] < NUM_BATCHES - 1) and time.monotonic() < until:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            offsets.append(message.offset())
    consumer.close()
    return offsets


def move_group(cluster: Any, topic: str, offset: int) -> None:
    """Run the command that `verify` prints for a group that is stuck."""
    _, option, server, *arguments = shlex.split(reset_command(topic, 0, offset))
    assert (option, server) == ("--bootstrap-server", "HOST:PORT")  # cluster.tool adds its own
    printed = cluster.tool(
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        *("stuck" if argument == "GROUP" else argument for argument in arguments),
        *("--timeout", START_S * 1000),
    )
    # The tool exits with status 0 even if it fails.
    assert printed.split()[-4:] == ["stuck", topic, "0", str(offset)], printed


def test_the_log_cleaner_takes_a_partition_whose_dirty_ratio_is_above_its_setting(
    tmp_path: Path,
) -> None:
    compacted = {**SMALL, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}
    properties = {"log.cleaner.backoff.ms": 100}
    with killed_at_the_end(RELEASE, tmp_path, properties) as cluster:
        cluster.start(START_S)
        create_topics(cluster, ["compacted"], compacted)
        produce_batches(cluster, "compacted", NUM_BATCHES, num_keys=20)
        log_dir = cluster.log_dirs[0]
        first = wait_for_cleaning(log_dir, 0)
        set_dirty_ratio(cluster, 1)
        produce_batches(cluster, "compacted", NUM_BATCHES, num_keys=20, first=NUM_BATCHES)
        cluster.stop()
        (row,) = mb.stats(log_dir, topics=["compacted"]).rows
        assert row["first_dirty_offset"] == cleaned_up_to(log_dir) >= first
        ratio = row["dirty_ratio"]
        assert 0.1 < ratio < 0.9
        cluster.start(START_S)
        # Another partition of the same broker is cleaned meanwhile: the cleaner has looked.
        create_topics(cluster, ["other"], compacted)
        set_dirty_ratio(cluster, ratio + 0.001)
        produce_batches(cluster, "other", NUM_BATCHES, num_keys=20)
        wait_for_cleaning(log_dir, 0, "other")
        assert cleaned_up_to(log_dir) == row["first_dirty_offset"]
        set_dirty_ratio(cluster, ratio - 0.001)
        wait_for_cleaning(log_dir, row["first_dirty_offset"])


def set_dirty_ratio(cluster: Any, ratio: float) -> None:
    from confluent_kafka.admin import (
        AdminClient,
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        ResourceType,
    )

    entry = ConfigEntry(
        "min.cleanable.dirty.ratio", str(ratio), incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.TOPIC, "compacted", incremental_configs=[entry])
    client = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for future in client.incremental_alter_configs([resource]).values():
        future.result(START_S)


def cleaned_up_to(log_dir: Path, topic: str = "compacted") -> int:
    """Return the offset in the cleaner's checkpoint; 0 without one."""
    path = log_dir / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    offsets = {name: int(offset) for name, _, offset in map(str.split, lines)}
    return offsets.get(topic, 0)


def wait_for_cleaning(log_dir: Path, offset: int, topic: str = "compacted") -> int:
    """Wait until *topic* is cleaned above *offset*; return up to which offset."""
    until = time.monotonic() + START_S
    while (cleaned := cleaned_up_to(log_dir, topic)) <= offset:
        assert time.monotonic() < until, f"{topic} is not cleaned above offset {offset}"
        time.sleep(0.1)
    return cleaned
