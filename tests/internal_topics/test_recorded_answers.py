"""Tests that folds of real topics are what Kafka's tools said at ten moments (recorded by tests/brokers/test_groups.py)."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from magicbyte.internal_topics.coordinator_records import CoordinatorRecord, TransactionMarker
from magicbyte.internal_topics.group_coordinator import OFFSETS_TOPIC, GroupCoordinatorState
from magicbyte.internal_topics.groups import SHARE
from magicbyte.internal_topics.share_coordinator import ShareCoordinatorState
from magicbyte.internal_topics.transaction_coordinator import (
    TRANSACTION_TOPIC,
    TransactionCoordinatorState,
)

from .tool_answers import RECORDED, state_lines, text, transaction_lines

FILES = sorted(RECORDED.glob("groups-*.json.gz"))

State = GroupCoordinatorState | TransactionCoordinatorState | ShareCoordinatorState


def states_at(recorded: dict[str, Any], ends: dict[str, int]) -> dict[str, State]:
    """Return the state of each partition of the coordinators' topics before its offset in *ends*."""
    states: dict[str, State] = {}
    for partition, offset, key, value, producer_id, is_commit in recorded["records"]:
        topic, _, number = partition.rpartition("-")
        if partition not in states:
            states[partition] = new_state(topic, int(number))
        if offset >= ends.get(partition, 0):
            continue
        event: CoordinatorRecord | TransactionMarker
        if is_commit is not None:
            event = TransactionMarker(int(number), offset, producer_id, is_commit)
        else:
            key_bytes, value_bytes = (
                None if data is None else base64.b64decode(data) for data in (key, value)
            )
            event = CoordinatorRecord(
                topic, int(number), offset, None, key_bytes, value_bytes, producer_id
            )
        assert states[partition].apply(event) is None
    return states


def new_state(topic: str, number: int) -> State:
    if topic == OFFSETS_TOPIC:
        return GroupCoordinatorState(number)
    if topic == TRANSACTION_TOPIC:
        return TransactionCoordinatorState(number)
    return ShareCoordinatorState()


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_folds_are_what_the_tools_said_at_each_moment(file: Path) -> None:
    recorded = json.loads(gzip.decompress(file.read_bytes()))
    num_offsets = num_pending = 0
    for moment in recorded["moments"]:
        states = states_at(recorded, moment["ends"]).values()
        coordinators = [state for state in states if isinstance(state, GroupCoordinatorState)]
        answers = moment["answers"]
        offsets = {
            (key.group, key.topic, str(key.partition), str(committed.offset))
            for coordinator in coordinators
            for key, committed in coordinator.committed_offsets.current.items()
        }
        names = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET")
        assert offsets == {
            tuple(line[name] for name in names)
            for line in answers["offsets"]
            if line["CURRENT-OFFSET"] != "-"
        }
        groups = {
            (group_id, group.state, str(group.member_count))
            for coordinator in coordinators
            for group_id, group in coordinator.groups.by_id.items()
            if group.type != SHARE
        }
        assert groups == state_lines(answers["states"])
        transactional_ids = {
            (name, str(each.producer_id), each.state_name)
            for state in states
            if isinstance(state, TransactionCoordinatorState)
            for name, each in state.by_id.items()
        }
        assert transactional_ids == transaction_lines(answers["transactions"])
        share_starts = {
            (key.group, str(key.partition), text(each.start_offset))
            for state in states
            if isinstance(state, ShareCoordinatorState)
            for key, each in state.by_partition.items()
        }
        names = ("GROUP", "PARTITION", "START-OFFSET")
        assert share_starts == {
            tuple(line[name] for name in names) for line in answers.get("share", ())
        }
        num_offsets += len(offsets)
        for coordinator in coordinators:
            num_pending += len(list(coordinator.committed_offsets.pending()))
    assert num_offsets > 30 and num_pending > 3


def test_answers_are_recorded() -> None:
    assert FILES
