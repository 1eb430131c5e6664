"""Tests of compaction against the log cleaner of a running broker.

`make test-brokers` runs them; they need Maven, Java and the folder shared, and take a minute.
"""

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from cleaned_lines import clean, clean_folder, folder_lines
from cleaner_cases import real_cases
from magicbyte.logdir.checkpoints import parse_offsets
from paths import shared

from .one_broker import killed_at_the_end
from .served_topics import QUIET, create

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))

pytestmark = pytest.mark.skipif(
    not RUN or not shared().is_dir(), reason="it takes Maven, Java and a minute: make test-brokers"
)

NAMES = (
    *("3.9/plain", "3.9/transactions", "4.3/transactions", "2.8/lives", "4.3/compacted"),
    *("3.9/compacted", "2.8/compacted"),
)
"""Clusters whose partitions the broker compacts."""

EXPIRATION_MS = 2_000_000_000

CLEANING = QUIET | {
    "log.cleaner.enable": "true",
    "log.cleanup.policy": "compact",
    "log.cleaner.min.cleanable.ratio": 0.0,
    "log.cleaner.backoff.ms": 200,
    "log.roll.ms": 1,
    "producer.id.expiration.ms": EXPIRATION_MS,
}

WAIT_S = 120


def comparable_lines(lines: Iterable[str], end_offset: int) -> list[str]:
    """Return the lines of batches and records below *end_offset*, without the time of the round."""
    chosen = []
    for line in lines:
        kind, offset, *words = line.split(" ")
        if kind == "S" or int(offset) >= end_offset:
            continue
        if kind == "B" and words[6] != "-1":
            words[4] = words[6] = words[-1] = (
                "horizon"  # it is the base time, too, and in the checksum
            )
        chosen.append(" ".join([kind, offset, *words]))
    return chosen


def append_record(broker: Any, topics: Iterable[str]) -> None:
    """Append a record to each of *topics*, with which the broker begins a new segment."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all"})
    for topic in topics:
        producer.produce(topic, key=b"appended", value=b"appended", partition=0)
    assert producer.flush(WAIT_S) == 0


def wait_until_clean(log_dir: Path, ends: dict[str, int]) -> None:
    """Wait until the cleaner has cleaned each topic of *ends* up to its offset."""
    until = time.monotonic() + WAIT_S
    checkpoint = log_dir / "cleaner-offset-checkpoint"
    while True:
        offsets = parse_offsets(checkpoint.read_bytes()) if checkpoint.exists() else {}
        late = [topic for topic, end in ends.items() if offsets.get((topic, 0), -1) < end]
        if not late:
            return
        assert time.monotonic() < until, f"the broker has not cleaned {late[:5]}"
        time.sleep(0.3)


def test_compaction_leaves_what_a_running_broker_leaves(tmp_path: Path) -> None:
    settings = {
        "now_ms": int(time.time() * 1000),
        "first_dirty_offset": 0,
        "includes_active_segment": True,
        "producer_id_expiration_ms": EXPIRATION_MS,
    }
    folders: dict[str, Path] = {}
    for case in real_cases():
        if case.name.startswith(NAMES) and "/__" not in case.name:
            topic = f"c{len(folders)}"
            shutil.move(case.write(tmp_path / "sources"), tmp_path / f"{topic}-0")
            folders[topic] = tmp_path / f"{topic}-0"
    assert len(folders) > 100
    ends, log_ends = {}, {}
    with killed_at_the_end("4.3", tmp_path, CLEANING | {"log.cleaner.enable": "false"}) as broker:
        broker.start()
        for topic, folder in folders.items():
            cleaned = clean(folder, settings)
            log_ends[topic] = cleaned.survey.log_end_offset or 0
            if cleaned.dirty_bytes and log_ends[topic]:
                ends[topic] = cleaned.end_offset
            shutil.copytree(folder, broker.log_dirs[0] / folder.name)
        create(broker.bootstrap, [folder.name for folder in folders.values()], 1)
        append_record(broker, folders)
        broker.stop()
        broker.properties = CLEANING
        broker.start()
        wait_until_clean(broker.log_dirs[0], ends)
        broker.stop()
        different = []
        for topic in ends:
            clean_folder(folders[topic], settings)
            end = log_ends[topic]
            ours = comparable_lines(folder_lines(folders[topic]), end)
            brokers = comparable_lines(folder_lines(broker.log_dirs[0] / f"{topic}-0"), end)
            if ours != brokers:
                different.append(topic)
        assert not different
        assert len(ends) > 80
