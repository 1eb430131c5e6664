"""Tests of the fold of transactional ids."""

import random
from typing import Any

from cli.dump_log import drawn
from magicbyte.internal_topics.coordinator_records import CoordinatorRecord
from magicbyte.internal_topics.transaction_coordinator import (
    TRANSACTION_TOPIC,
    TransactionCoordinatorState,
)
from magicbyte_formats.messages import transaction_state
from message_encoder import key_and_value


def state_after(*values: dict[str, Any] | None) -> TransactionCoordinatorState:
    coordinator = TransactionCoordinatorState(7)
    for offset, value in enumerate(values):
        key_bytes, value_bytes = key_and_value(
            transaction_state.MESSAGES, "TransactionLog", {"transactionalId": "t"}, value
        )
        record = CoordinatorRecord(TRANSACTION_TOPIC, 7, offset, 0, key_bytes, value_bytes)
        assert coordinator.apply(record) is None
    return coordinator


def test_the_last_record_of_an_id_counts_and_a_tombstone_removes_it() -> None:
    ongoing = {
        "producerId": 5,
        "transactionStatus": 1,
        "transactionStartTimestampMs": 3,
        "transactionPartitions": [{"topic": "b", "partitionIds": [1, 0]}],
    }
    empty = {"producerId": 4, "transactionStartTimestampMs": -1, "transactionPartitions": None}
    transactional_id = state_after(empty, ongoing).by_id["t"]
    assert (transactional_id.producer_id, transactional_id.state_name) == (5, "Ongoing")
    assert [tuple(each) for each in transactional_id.assigned_partitions] == [("b", 0), ("b", 1)]
    before = state_after(ongoing, empty).by_id["t"]
    assert (before.state_name, before.start_timestamp, before.assigned_partitions) == (
        "Empty",
        None,
        [],
    )
    assert state_after(ongoing, None).by_id == {}


def test_the_producer_id_before_is_known_if_it_was_another_one() -> None:
    value = {"producerId": 5, "previousProducerId": 5}
    assert state_after(value).by_id["t"].previous_producer_id is None
    value = {"producerId": 5, "previousProducerId": 4}
    assert state_after(value).by_id["t"].previous_producer_id == 4


def test_a_status_without_a_name_is_its_number() -> None:
    assert state_after({"transactionStatus": 77}).by_id["t"].state_name == "77"


def test_damaged_records_give_findings_and_never_another_exception() -> None:
    chance = random.Random(8)
    draw = drawn.DRAWN["--transaction-log-decoder"]
    coordinator = TransactionCoordinatorState(0)
    num_findings = 0
    for offset in range(1000):
        key, value = draw(chance, chance.choice(drawn.RELEASES))
        record = CoordinatorRecord(TRANSACTION_TOPIC, 0, offset, 0, key, value)
        num_findings += coordinator.apply(record) is not None
    assert num_findings > 100 and coordinator.by_id
