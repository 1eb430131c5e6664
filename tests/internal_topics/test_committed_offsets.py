"""Tests of the fold of committed offsets: Kafka's rules, and random histories beside a naive model."""

import random

import pytest

from magicbyte.internal_topics.committed_offsets import GroupPartition

from .group_records import OffsetsLog, state_after

HERE = GroupPartition("g", "t", 0)


def offset_of(log: OffsetsLog) -> int | None:
    current = log.state().committed_offsets.current.get(HERE)
    return None if current is None else current.offset


def test_the_last_commit_counts_and_a_tombstone_removes_it() -> None:
    log = OffsetsLog()
    log.commit(5)
    log.commit(3)
    assert offset_of(log) == 3
    log.commit(None)
    assert offset_of(log) is None


def test_an_offset_in_a_transaction_counts_from_its_commit_marker_on() -> None:
    log = OffsetsLog()
    log.commit(5)
    log.commit(9, producer=1)
    assert offset_of(log) == 5
    log.end(1, commit=True)
    assert offset_of(log) == 9


def test_an_offset_in_an_aborted_transaction_never_counts() -> None:
    log = OffsetsLog()
    log.commit(9, producer=1)
    log.end(1, commit=False)
    log.end(1, commit=True)
    assert offset_of(log) is None


def test_the_greater_record_offset_counts_and_not_the_later_marker() -> None:
    log = OffsetsLog()
    log.commit(9, producer=1)
    log.commit(5)
    log.end(1, commit=True)
    assert offset_of(log) == 5


def test_a_tombstone_removes_pending_offsets_of_its_partition_too() -> None:
    log = OffsetsLog()
    log.commit(9, producer=1)
    log.commit(8, producer=1, partition=1)
    log.commit(None)
    log.end(1, commit=True)
    current = log.state().committed_offsets.current
    assert [(key.partition, value.offset) for key, value in current.items()] == [(1, 8)]


def test_a_pending_offset_has_the_producer_id_of_its_transaction() -> None:
    log = OffsetsLog()
    log.commit(9, producer=7)
    ((key, pending),) = log.state().committed_offsets.pending()
    assert (key, pending.producer_id, pending.committed_offset.offset) == (HERE, 7, 9)


def test_where_a_marker_is_lost_the_next_one_of_the_producer_does_not_decide() -> None:
    log = OffsetsLog()
    log.commit(9, producer=1, outcome="undecided")
    log.commit(4, partition=1, producer=1, outcome="committed")
    log.end(1, commit=True)
    current = log.state().committed_offsets.current
    assert [(key.partition, value.offset) for key, value in current.items()] == [(1, 4)]


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_every_version_of_a_commit_is_read(version: int) -> None:
    log = OffsetsLog()
    value = {"offset": 7, "metadata": "m", "leaderEpoch": 3, "expireTimestamp": 11}
    log.add("OffsetCommit", HERE._asdict(), value, version=version)
    current = log.state().committed_offsets.current[HERE]
    assert (current.offset, current.client_metadata) == (7, "m")
    assert current.leader_epoch == (3 if version >= 3 else None)
    assert current.expire_timestamp == (11 if version == 1 else None)


def test_commits_of_brokers_before_0_9_count() -> None:
    log = OffsetsLog()
    log.add("LegacyOffsetCommit", HERE._asdict(), {"offset": 2})
    assert offset_of(log) == 2


@pytest.mark.parametrize("seed", range(40))
def test_random_histories_give_what_a_naive_model_gives(seed: int) -> None:
    chance = random.Random(seed)
    log = OffsetsLog()
    for _ in range(chance.randrange(1, 80)):
        producer = chance.choice((None, 1, 2, 3))
        partition = chance.randrange(3)
        if producer is not None and chance.random() < 0.3:
            log.end(producer, commit=chance.random() < 0.6)
        elif chance.random() < 0.15:
            log.commit(None, partition=partition)
        else:
            log.commit(chance.randrange(100), partition=partition, producer=producer)
    current = log.state().committed_offsets.current
    assert {key.partition: value.offset for key, value in current.items()} == _naive(log)


def _naive(log: OffsetsLog) -> dict[int, int]:
    """Return the offset of each partition by looking at the whole history for each.

    Events of a partition happen at the offset of a commit without transaction, of a tombstone, or of the commit
    marker of a transaction. A tombstone ends everything before it; of the commits after it whose event is in the
    log, the one with the greatest offset counts.
    """
    offsets: dict[int, int] = {}
    for partition in range(3):
        events = []
        for number, entry in enumerate(log.entries):
            key = getattr(entry, "key", None)
            if key is None or key[-1] != partition:
                continue
            if entry.value is None:
                events.clear()
                continue
            producer = entry.producer_id
            later = [end for end in log.entries[number:] if getattr(end, "key", None) is None]
            ends = [end for end in later if end.producer_id == producer]
            if producer is None or (ends and ends[0].is_commit):
                events.append((number, int.from_bytes(entry.value[2:10])))
        # A pending offset that its own producer replaced before the marker is older than the replacement.
        if events:
            offsets[partition] = max(events)[1]
    return offsets


def test_a_prefix_of_the_log_is_the_state_at_that_offset() -> None:
    log = OffsetsLog()
    log.commit(5)
    log.commit(9, producer=1)
    log.end(1, commit=True)
    states = [state_after(log.entries[:end]).committed_offsets.current for end in range(4)]
    assert [state[HERE].offset if state else None for state in states] == [None, 5, 5, 9]
