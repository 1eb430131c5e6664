"""Tests that the twin builds and parses bytes worked out by hand and by another encoder."""

from typing import Any

import pytest

import golden_bytes as golden
import magicbyte_construct as twin
from golden_bytes import TIME

HELLO = {"value": b"hello", "timestamp": TIME}
WORLD = {"value": b"world", "timestamp": TIME}

A = {"value": b"a", "timestamp": TIME, "offset": 0}
B = {"value": b"b", "timestamp": TIME + 1, "offset": 1}

GOLDEN: dict[str, tuple[Any, Any, bytes]] = {
    "message of magic 0, null key": (
        twin.Message,
        {"magic": 0, "value": b"hello"},
        golden.V0,
    ),
    "message of magic 1": (
        twin.Message,
        {"offset": 1, "timestamp": TIME, "key": b"k", "value": b"world"},
        golden.V1,
    ),
    "message with append time, empty key, null value": (
        twin.Message,
        {"offset": 2, "timestamp": TIME, "key": b"", "attributes": {"timestamp_type": 1}},
        golden.V1_APPEND_TIME,
    ),
    "message set in a wrapper": (
        twin.MessageSet,
        [A, B],
        golden.V1_WRAPPED,
    ),
    "batch of two records": (
        twin.RecordBatch,
        {"records": [HELLO, WORLD]},
        golden.TWO_RECORDS,
    ),
    "batch emptied by the cleaner": (
        twin.RecordBatch,
        {
            "base_offset": 20,
            "partition_leader_epoch": 3,
            "attributes": {"is_transactional": True},
            "last_offset_delta": 4,
            "max_timestamp": TIME,
            "producer_id": 4000,
            "producer_epoch": 5,
            "base_sequence": 100,
        },
        golden.EMPTY_BATCH,
    ),
    "batch with a delete horizon": (
        twin.RecordBatch,
        {
            "partition_leader_epoch": 3,
            "attributes": {"has_delete_horizon": True},
            "base_timestamp": TIME + 86_400_000,
            "records": [
                {"key": b"k", "timestamp": TIME},
                {"key": b"j", "value": b"v", "timestamp": TIME + 1, "offset": 2},
            ],
        },
        golden.DELETE_HORIZON,
    ),
    "batch with append time": (
        twin.RecordBatch,
        {
            "base_offset": 7,
            "partition_leader_epoch": 1,
            "attributes": {"timestamp_type": 1},
            "max_timestamp": TIME + 5000,
            "records": [{"key": b"k", "value": b"v", "timestamp": TIME}],
        },
        golden.APPEND_TIME,
    ),
    "record with headers": (
        twin.Record,
        {
            "key": b"k",
            "value": b"v",
            "headers": [
                {"key": b"a", "value": b"1"},
                {"key": b"a", "value": None},
                {"key": b"", "value": b""},
            ],
        },
        golden.HEADERS,
    ),
    "aborted transaction": (
        twin.TransactionIndex,
        {
            "entries": [
                {
                    "producer_id": 4000,
                    "first_offset": 20,
                    "last_offset": 30,
                    "last_stable_offset": 31,
                }
            ]
        },
        golden.ABORTED,
    ),
    "producer snapshot": (
        twin.ProducerSnapshot,
        {
            "producers": [
                {
                    "producer_id": 4000,
                    "epoch": 5,
                    "last_sequence": 104,
                    "last_offset": 24,
                    "offset_delta": 4,
                    "timestamp": TIME,
                    "coordinator_epoch": 7,
                }
            ]
        },
        golden.SNAPSHOT,
    ),
    "footer of a KRaft snapshot": (twin.SnapshotFooterRecord, {}, bytes.fromhex("0000 00")),
    "version of KRaft": (
        twin.KRaftVersionRecord,
        {"protocol_version": 1},
        bytes.fromhex("0000 0001 00"),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bytes_are_built_from_fields_and_parsed_into_them(name: str) -> None:
    construct, fields, data = GOLDEN[name]
    assert construct.build(fields).hex() == data.hex()
    parsed = construct.parse(data)
    assert holds(parsed, fields)
    assert construct.build(parsed) == data
    assert construct.build(twin.fresh(parsed)) == data


def holds(parsed: Any, fields: Any) -> bool:
    """Return whether *parsed* has *fields*; a record's offset and timestamp are input alone."""
    if isinstance(fields, dict):
        wanted = fields.items()
        if "len_body" in parsed:  # of a record: deltas stand for offset and timestamp
            wanted = [item for item in wanted if item[0] not in ("offset", "timestamp")]
        return all(holds(parsed[name], value) for name, value in wanted)
    if isinstance(fields, list):
        return len(parsed) == len(fields) and all(map(holds, parsed, fields))
    return bool(parsed == fields)


def test_golden_marker() -> None:
    built = twin.marker(
        "ABORT", 10, 4000, 5, coordinator_epoch=7, timestamp=TIME, partition_leader_epoch=3
    )
    assert built.hex() == golden.ABORT.hex()
    record = twin.RecordBatch.parse(built).records[0]
    assert twin.ControlRecordKey.parse(record.key).control_type == 0
    assert twin.EndTransactionMarker.parse(record.value).coordinator_epoch == 7
    commit = twin.RecordBatch.parse(twin.marker("COMMIT", 10, 4000, 5)).records[0]
    assert commit.key.hex() == "00000001"
