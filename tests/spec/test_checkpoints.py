"""Tests of the parsers of checkpoint files: brokers' files are read, malformed ones rejected."""

from collections import Counter
from pathlib import Path

import kaitaistruct
import pytest

from magicbyte_formats.kaitai.kafka_leader_epoch_checkpoint import KafkaLeaderEpochCheckpoint
from magicbyte_formats.kaitai.kafka_offset_checkpoint import KafkaOffsetCheckpoint
from magicbyte_formats.kaitai.kafka_partition_metadata import KafkaPartitionMetadata
from paths import DATA

OFFSETS = b"0\n2\norders 0 123\n__consumer_offsets 49 9223372036854775807\n"
TOPIC = b"version: 0\ntopic_id: h453d0_nR06KcDOcShpWRA"


@pytest.mark.parametrize("length", range(1, len(OFFSETS)))
def test_a_checkpoint_that_is_cut_off_ends_at_a_line_or_not_at_all(length: int) -> None:
    if OFFSETS[:length].count(b"\n") >= 2 and OFFSETS[length - 1 : length] == b"\n":
        entries = KafkaOffsetCheckpoint.from_bytes(OFFSETS[:length]).entries
        assert len(entries) == OFFSETS[:length].count(b"\n") - 2
    else:
        with pytest.raises(EOFError):
            KafkaOffsetCheckpoint.from_bytes(OFFSETS[:length])


@pytest.mark.parametrize("data", [b"1\n0\n", b"-1\n0\n", b"00\n0\n", b"\n0\n"])
def test_a_checkpoint_of_another_version_is_refused(data: bytes) -> None:
    for kind in (KafkaOffsetCheckpoint, KafkaLeaderEpochCheckpoint):
        with pytest.raises(kaitaistruct.ValidationNotEqualError):
            kind.from_bytes(data)


@pytest.mark.parametrize(
    ("sound", "broken"),
    [
        (b"version:", b"Version:"),
        (b"topic_id:", b"topic_ID:"),
    ],
)
def test_partition_metadata_in_other_words_is_refused(sound: bytes, broken: bytes) -> None:
    with pytest.raises(kaitaistruct.ValidationNotEqualError):
        KafkaPartitionMetadata.from_bytes(TOPIC.replace(sound, broken))


def test_partition_metadata_of_a_later_version_is_read() -> None:
    later = KafkaPartitionMetadata.from_bytes(TOPIC.replace(b"version: 0", b"version: 1"))
    assert (later.version, later.topic_id) == (
        "1",
        KafkaPartitionMetadata.from_bytes(TOPIC).topic_id,
    )


@pytest.mark.parametrize("length", range(len(TOPIC)))
def test_partition_metadata_is_refused_where_it_is_cut_off(length: int) -> None:
    with pytest.raises(EOFError):
        KafkaPartitionMetadata.from_bytes(TOPIC[:length])


def test_files_of_brokers() -> None:
    seen = read_all(sorted(DATA.rglob("*")))
    assert min(seen[name] for name in ("offsets", "epochs", "metadata")) > 0


def test_files_of_all_brokers(real_files: list[Path]) -> None:
    read_all(real_files)


def read_all(paths: list[Path]) -> Counter[str]:
    """Return the number of checkpoint entries and of metadata files among *paths*."""
    seen: Counter[str] = Counter()
    for path in paths:
        if path.name.endswith("offset-checkpoint"):
            offsets = KafkaOffsetCheckpoint.from_bytes(path.read_bytes())
            assert int(offsets.num_entries or 0) == len(offsets.entries), path
            for one in offsets.entries:
                assert one.partition.isdecimal() and one.offset.isdecimal(), path
            seen["offsets"] += len(offsets.entries)
        elif path.name == "leader-epoch-checkpoint":
            epochs = KafkaLeaderEpochCheckpoint.from_bytes(path.read_bytes())
            assert int(epochs.num_entries or 0) == len(epochs.entries), path
            starts = [(int(one.epoch), int(one.start_offset)) for one in epochs.entries]
            assert starts == sorted(starts), path
            seen["epochs"] += len(starts)
        elif path.name == "partition.metadata":
            assert KafkaPartitionMetadata.from_bytes(path.read_bytes()).rest is None, path
            seen["metadata"] += 1
    return seen
