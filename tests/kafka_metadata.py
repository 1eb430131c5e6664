"""States of a cluster as our fold and Kafka's own classes have them, for comparisons of both."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte.internal_topics.cluster_metadata import ClusterMetadata, apply_records
from magicbyte.internal_topics.metadata_rows import ROWS, metadata_rows
from metadata_histories import RandomHistory

RECORDED = Path(__file__).with_name("kafka_metadata.json")
"""Answers of Kafka's classes: names of metadata.version, and snapshots after random histories."""

RELEASES = {"3.9.2": (3, 9), "4.3.1": (4, 3), "4.4.0": (4, 4)}

MODES = {"load": False, "replay": True}
"""Ways in which Kafka applies a history, and whether some of its records do not fit: the loader makes no more images
once a record was about an unknown topic."""

NUM_RECORDED = 5
"""Histories of each release and mode whose answers are recorded."""

NUM_RECORDS = 80


@dataclass(frozen=True)
class KafkaSnapshot:
    """State after a history: records that could not be applied, and the values of a snapshot's records."""

    num_faults: int
    values: tuple[bytes, ...]

    @classmethod
    def of_line(cls, line: str) -> "KafkaSnapshot":
        """Return the snapshot in a *line* that KafkaMetadata.java has printed."""
        num_faults, *values = line.split(" ")
        return cls(int(num_faults), tuple(map(bytes.fromhex, values)))


def history(version: str, mode: str, seed: int) -> list[bytes]:
    return RandomHistory(seed, NUM_RECORDS, RELEASES[version], conflicts=MODES[mode]).values


def recorded() -> dict[str, Any]:
    answers: dict[str, Any] = json.loads(RECORDED.read_text())
    return answers


def folded(values: Iterable[bytes]) -> tuple[dict[str, Any], int]:
    """Return the tables after *values*, by name, and the number of records that could not be applied."""
    cluster = ClusterMetadata()
    findings = apply_records(cluster, enumerate(values))
    tables: dict[str, Any] = {name: list(metadata_rows(name, cluster)) for name in ROWS}
    tables["producer_id_blocks"] = cluster.next_producer_id  # a snapshot has no more of the blocks
    return tables, len(findings)


def differences(version: str, mode: str, seed: int, snapshot: KafkaSnapshot) -> list[str]:
    """Return the names of tables that differ from Kafka's, and `faults` if their numbers do."""
    ours, num_faults = folded(history(version, mode, seed))
    theirs, num_undecodable = folded(snapshot.values)
    assert num_undecodable == 0
    names = [name for name in ours if ours[name] != theirs[name]]
    return names + ["faults"] * (num_faults != snapshot.num_faults)
