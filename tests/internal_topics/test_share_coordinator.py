"""Tests of the fold of share groups' state."""

import random
from itertools import pairwise
from typing import Any

import pytest

from cli.dump_log import drawn
from magicbyte.internal_topics.coordinator_records import CoordinatorRecord
from magicbyte.internal_topics.share_coordinator import (
    SHARE_STATE_TOPIC,
    ShareCoordinatorState,
    ShareState,
)
from magicbyte.internal_topics.share_state_batches import StateBatch, merge_batches
from magicbyte_formats.messages import share_group_state
from message_encoder import key_and_value

KEY = {"groupId": "g", "topicId": "B" * 21 + "A", "partition": 0}

SNAPSHOT = {
    "snapshotEpoch": 1,
    "stateEpoch": 2,
    "leaderEpoch": 3,
    "startOffset": 10,
    "deliveryCompleteCount": 0,
}


def batch(first: int, last: int, state: int = 2, count: int = 1) -> dict[str, int]:
    return {
        "firstOffset": first,
        "lastOffset": last,
        "deliveryState": state,
        "deliveryCount": count,
    }


def state_after(*records: tuple[str, dict[str, Any] | None]) -> ShareState | None:
    coordinator = ShareCoordinatorState()
    for offset, (name, value) in enumerate(records):
        key_bytes, value_bytes = key_and_value(share_group_state.MESSAGES, name, KEY, value)
        record = CoordinatorRecord(SHARE_STATE_TOPIC, 0, offset, 0, key_bytes, value_bytes)
        assert coordinator.apply(record) is None
    return next(iter(coordinator.by_partition.values()), None)


def test_an_update_changes_the_snapshot_before_it() -> None:
    snapshot = {**SNAPSHOT, "stateBatches": [batch(10, 19)]}
    update = {
        **{"snapshotEpoch": 1, "leaderEpoch": -1, "startOffset": 15, "deliveryCompleteCount": 7},
        "stateBatches": [batch(20, 24)],
    }
    state = state_after(("ShareSnapshot", snapshot), ("ShareUpdate", update))
    assert state == ShareState(1, 2, 3, 15, 7, [StateBatch(15, 24, 2, 1)])
    assert state.lag(30) == 8


def test_an_update_without_a_start_offset_leaves_it() -> None:
    update = {"snapshotEpoch": 1, "leaderEpoch": 4, "startOffset": -1}
    state = state_after(("ShareSnapshot", SNAPSHOT), ("ShareUpdate", update))
    assert state is not None and (state.start_offset, state.leader_epoch) == (10, 4)


def test_the_count_of_an_update_replaces_the_one_before_even_if_it_is_not_known() -> None:
    update = {"snapshotEpoch": 1, "startOffset": -1, "deliveryCompleteCount": -1}
    state = state_after(("ShareSnapshot", SNAPSHOT), ("ShareUpdate", update))
    assert state is not None and state.lag(30) is None


def test_a_snapshot_replaces_all_before_it_and_its_tombstone_removes_the_state() -> None:
    first = {**SNAPSHOT, "stateBatches": [batch(10, 19)]}
    assert state_after(("ShareSnapshot", first), ("ShareSnapshot", SNAPSHOT)) == ShareState(
        1, 2, 3, 10, 0, []
    )
    assert state_after(("ShareSnapshot", SNAPSHOT), ("ShareSnapshot", None)) is None


@pytest.mark.parametrize("seed", range(60))
def test_merged_ranges_have_the_greatest_state_of_each_offset(seed: int) -> None:
    chance = random.Random(seed)
    batches = []
    for _ in range(chance.randrange(9)):
        first = chance.randrange(40)
        last = first + chance.randrange(-1, 9)
        batches.append(StateBatch(first, last, chance.choice((0, 2, 4)), chance.randrange(3)))
    start = chance.choice((-1, 0, 15))
    naive: dict[int, tuple[int, int]] = {}
    for each in batches:
        for offset in range(max(each.first_offset, start), each.last_offset + 1):
            naive[offset] = max(naive.get(offset, (-1, -1)), each.priority)
    merged = merge_batches(batches, start)
    assert {
        offset: each.priority
        for each in merged
        for offset in range(each.first_offset, each.last_offset + 1)
    } == naive
    for one, following in pairwise(merged):
        assert one.last_offset < following.first_offset
        is_next = one.last_offset + 1 == following.first_offset
        assert not (is_next and one.priority == following.priority)


def test_damaged_records_give_findings_and_never_another_exception() -> None:
    chance = random.Random(6)
    num_findings = num_states = 0
    draw = drawn.DRAWN["--share-group-state-decoder"]
    coordinator = ShareCoordinatorState()
    for offset in range(1500):
        key, value = draw(chance, chance.choice(drawn.RELEASES))
        record = CoordinatorRecord(SHARE_STATE_TOPIC, 0, offset, 0, key, value)
        num_findings += coordinator.apply(record) is not None
    for state in coordinator.by_partition.values():
        state.lag(9)
        num_states += 1
    assert num_findings > 100 and num_states > 100
