"""Bytes worked out by hand and by another encoder, built from fields and taken apart again."""

from typing import Any

import pytest

import magicbyte_construct as twin

TIME = 1714000000000
HELLO = {"value": b"hello", "timestamp": TIME}
WORLD = {"value": b"world", "timestamp": TIME}

A, B = (
    {"value": b"a", "timestamp": TIME, "offset": 0},
    {
        "value": b"b",
        "timestamp": TIME + 1,
        "offset": 1,
    },
)
"""Inner messages of a wrapper."""

GOLDEN: dict[str, tuple[Any, Any, str]] = {
    "message of magic 0, null key": (
        twin.Message,
        {"magic": 0, "value": b"hello"},
        "0000000000000000 00000013 87a77ab2 00 00 ffffffff 00000005 68656c6c6f",
    ),
    "message of magic 1": (
        twin.Message,
        {"offset": 1, "timestamp": TIME, "key": b"k", "value": b"world"},
        "0000000000000001 0000001c 2533d1a8 01 00 0000018f125c7400 00000001 6b 00000005 776f726c64",
    ),
    "message with append time, empty key, null value": (
        twin.Message,
        {"offset": 2, "timestamp": TIME, "key": b"", "attributes": {"timestamp_type": 1}},
        "0000000000000002 00000016 c7d21ee7 01 08 0000018f125c7400 00000000 ffffffff",
    ),
    "message set in a wrapper": (
        twin.MessageSet,
        [A, B],
        "0000000000000000 00000017 f87f6778 01 00 0000018f125c7400 ffffffff 00000001 61"
        "0000000000000001 00000017 8eb45dfc 01 00 0000018f125c7401 ffffffff 00000001 62",
    ),
    "batch of two records": (
        twin.RecordBatch,
        {"records": [HELLO, WORLD]},
        "0000000000000000 00000049 ffffffff 02 dbda21c9 0000 00000001 0000018f125c7400"
        "0000018f125c7400 ffffffffffffffff ffff ffffffff 00000002"
        "16 00 00 00 01 0a 68656c6c6f 00 16 00 00 02 01 0a 776f726c64 00",
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
        "0000000000000014 00000031 00000003 02 24fadce2 0010 00000004 ffffffffffffffff"
        "0000018f125c7400 0000000000000fa0 0005 00000064 00000000",
    ),
    "batch with a delete horizon": (
        twin.RecordBatch,
        {
            "partition_leader_epoch": 3,
            "attributes": {"has_delete_horizon_ms": True},
            "base_timestamp": TIME + 86_400_000,
            "records": [
                {"key": b"k", "timestamp": TIME},
                {"key": b"j", "value": b"v", "timestamp": TIME + 1, "offset": 2},
            ],
        },
        "0000000000000000 00000048 00000003 02 922421e9 0040 00000002 0000018f1782d000"
        "0000018f125c7401 ffffffffffffffff ffff ffffffff 00000002"
        "14 00 ffefb252 00 02 6b 01 00 16 00 fdefb252 04 02 6a 02 76 00",
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
        "0000000000000007 0000003a 00000001 02 99538cde 0008 00000000 0000018f125c7400"
        "0000018f125c8788 ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00",
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
        "22 00 00 00 02 6b 02 76 06 02 61 02 31 02 61 01 00 00",
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
        "0000 0000000000000fa0 0000000000000014 000000000000001e 000000000000001f",
    ),
    "producer snapshot": (
        twin.ProducerSnapshot,
        {
            "producer_entries": [
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
        "0001 9dbc25d3 00000001 0000000000000fa0 0005 00000068 0000000000000018 00000004"
        "0000018f125c7400 00000007 ffffffffffffffff",
    ),
    "footer of a KRaft snapshot": (twin.SnapshotFooterRecord, {}, "0000 00"),
    "version of KRaft": (twin.KRaftVersionRecord, {"k_raft_version": 1}, "0000 0001 00"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bytes_are_built_from_fields_and_parsed_into_them(name: str) -> None:
    construct, fields, golden = GOLDEN[name]
    data = bytes.fromhex(golden)
    assert construct.build(fields).hex() == data.hex()
    parsed = construct.parse(data)
    assert holds(parsed, fields)
    assert construct.build(parsed) == data
    assert construct.build(twin.fresh(parsed)) == data


def holds(parsed: Any, fields: Any) -> bool:
    """Return whether *parsed* has *fields*, but for the two that building alone takes."""
    if isinstance(fields, dict):
        wanted = fields.items()
        if "length" in parsed:  # of a record: deltas stand for offset and timestamp
            wanted = [item for item in wanted if item[0] not in ("offset", "timestamp")]
        return all(holds(parsed[name], value) for name, value in wanted)
    if isinstance(fields, list):
        return len(parsed) == len(fields) and all(map(holds, parsed, fields))
    return bool(parsed == fields)


def test_golden_marker() -> None:
    golden = (
        "000000000000000a 00000042 00000003 02 64311b2d 0030 00000000 0000018f125c7400"
        "0000018f125c7400 0000000000000fa0 0005 ffffffff 00000001"
        "20 00 00 00 08 00000000 0c 000000000007 00"
    )
    built = twin.marker(
        "ABORT", 10, 4000, 5, coordinator_epoch=7, timestamp=TIME, partition_leader_epoch=3
    )
    assert built.hex() == bytes.fromhex(golden).hex()
    record = twin.RecordBatch.parse(built).records[0]
    assert twin.ControlRecordKey.parse(record.key).type == 0
    assert twin.EndTransactionMarker.parse(record.value).coordinator_epoch == 7
    commit = twin.RecordBatch.parse(twin.marker("COMMIT", 10, 4000, 5)).records[0]
    assert commit.key.hex() == "00000001"
