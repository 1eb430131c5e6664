"""Compares the fold of `__cluster_metadata` with Kafka's own MetadataDelta and MetadataBatchLoader.

`make test-brokers` runs it; it needs Maven and Java, and takes a minute. MAGICBYTE_DRAWN sets the number of random
histories of each kind. MAGICBYTE_RECORD=1 records the answers that `tests/internal_topics` compares.
"""

import json
import os
import subprocess

import pytest

from kafka_metadata import (
    MODES,
    NUM_RECORDED,
    RECORDED,
    RELEASES,
    KafkaSnapshot,
    differences,
    history,
    recorded,
)

from .kafka_classes import command

pytestmark = pytest.mark.skipif(
    not os.environ.get("MAGICBYTE_BROKERS"), reason="needs Maven and Java: make test-brokers"
)

NUM_HISTORIES = int(os.environ.get("MAGICBYTE_DRAWN") or 150)

RECORD = bool(os.environ.get("MAGICBYTE_RECORD"))


def answers(version: str, mode: str, num_histories: int) -> list[str]:
    """Return the lines that Kafka *version* answers for random histories."""
    histories = (history(version, mode, seed) for seed in range(num_histories))
    lines = [" ".join(value.hex() for value in values) + "\n" for values in histories]
    done = subprocess.run(
        [*command("KafkaMetadata", version), mode],
        input="".join(lines),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = done.stdout.splitlines()
    assert len(found) == num_histories
    return found


def record(name: str, value: object) -> None:
    known = recorded() if RECORDED.exists() else {"versions": {}, "snapshots": {}}
    known[name] = {**known[name], **value} if isinstance(value, dict) else value
    RECORDED.write_text(json.dumps(known, indent=1) + "\n")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", RELEASES)
def test_random_histories_have_the_state_of_kafkas_image(version: str, mode: str) -> None:
    lines = answers(version, mode, max(NUM_HISTORIES, NUM_RECORDED))
    for seed, line in enumerate(lines):
        assert differences(version, mode, seed, KafkaSnapshot.of_line(line)) == [], seed
    if RECORD:
        record("snapshots", {f"{version} {mode}": lines[:NUM_RECORDED]})
    assert recorded()["snapshots"][f"{version} {mode}"] == lines[:NUM_RECORDED]


def test_levels_of_metadata_version_are_those_that_were_recorded() -> None:
    """Kafka 3.9 has the names of levels that 4.4 does not know any more."""
    names = {}
    for version in ("3.9.2", "4.4.0"):
        done = subprocess.run(
            [*command("KafkaMetadata", version), "versions"], stdout=subprocess.PIPE, text=True
        )
        pairs = [line.split(" ") for line in done.stdout.splitlines()]
        names |= {level: name for level, name in pairs if int(level) > 0}
    if RECORD:
        record("versions", names)
    assert recorded()["versions"] == names
