"""Tests of the fold against answers of Kafka's MetadataImage that `make test-brokers` has recorded."""

import pytest

from kafka_metadata import MODES, NUM_RECORDED, RELEASES, KafkaSnapshot, differences, recorded
from magicbyte.internal_topics._metadata_names import METADATA_VERSIONS


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", RELEASES)
def test_random_history_has_the_state_of_kafkas_snapshot(version: str, mode: str) -> None:
    lines = recorded()["snapshots"][f"{version} {mode}"]
    assert len(lines) == NUM_RECORDED
    for seed, line in enumerate(lines):
        assert differences(version, mode, seed, KafkaSnapshot.of_line(line)) == []


def test_levels_of_metadata_version_have_kafkas_names() -> None:
    names = {int(level): name for level, name in recorded()["versions"].items()}
    assert names == METADATA_VERSIONS
