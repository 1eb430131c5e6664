"""Tests of the twin on hostile bytes: construct's errors alone, memory bounded by the input."""

import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from construct import ConstructError

import magicbyte_construct as twin

TIME = 1714000000000
SEED = 20240424

RECORD = {"key": b"k", "value": b"v" * 9, "timestamp": TIME, "headers": [(b"h", b"1"), (b"", None)]}
BATCH = twin.record_batch([RECORD, RECORD, {"timestamp": TIME + 1}], base_offset=5)
VOTERS = bytes.fromhex(
    "0000 02 00000001 000102030405060708090a0b0c0d0e0f 02 0243 0268 2385 00 0000 0001 00 00"
    "01 05 03 6e6577"
)
SAMPLES: dict[str, bytes] = {
    "Varint": b"\xfe\xff\xff\xff\x0f",
    "Varlong": b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "Uvarint": b"\xff\xff\xff\xff\x0f",
    "Record": bytes.fromhex("2200000002 6b 02 76 06 02 61 02 31 02 61 01 00 00"),
    "Records": bytes.fromhex("2200000002 6b 02 76 06 02 61 02 31 02 61 01 00 00") * 3,
    "RecordBatch": BATCH,
    "Message": twin.message(b"value", key=b"key"),
    "MessageSet": twin.message(b"v", magic=0) + twin.message(b"w", key=b"k"),
    "Entry": BATCH,
    "Log": twin.message(b"v", magic=0) + BATCH + twin.message(b"w") + bytes(30),
    "ControlRecordKey": bytes(4),
    "EndTransactionMarker": bytes(6),
    "LeaderChangeMessage": bytes.fromhex("0000 00000001 02 00000001 00 02 00000001 00 00"),
    "EarlyLeaderChangeMessage": bytes.fromhex("00000001 02 00000001 00 02 00000001 00 00"),
    "SnapshotHeaderRecord": bytes(11),
    "SnapshotFooterRecord": bytes.fromhex("0000 01 00 02 6162"),
    "KRaftVersionRecord": bytes.fromhex("0000 0001 00"),
    "VotersRecord": VOTERS,
    "OffsetIndex": bytes(7) + b"\x01" * 9 + bytes(16),
    "TimeIndex": bytes(7) + b"\x01" * 17 + bytes(24),
    "TransactionIndex": (bytes(2) + bytes(range(32))) * 2,
    "ProducerSnapshot": twin.ProducerSnapshot.build(
        {"producers": [{"producer_id": 1, "epoch": 2}]}
    ),
    "OffsetCheckpoint": b"0\n2\ntopic 0 5\nother-topic 11 77\n",
    "LeaderEpochCheckpoint": b"0\n2\n0 0\n3 77\n",
    "PartitionMetadata": b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
    "MetadataRecord": bytes.fromhex("01 ac02 00 6d"),
    "RecordBatchKip931": twin.RecordBatchKip931.build({"records": [{"value": b"v"}] * 3}),
}

FORGETFUL = {"LeaderChangeMessage", "SnapshotFooterRecord", "SnapshotHeaderRecord", "VotersRecord"}
FORGETFUL |= {"EarlyLeaderChangeMessage", "KRaftVersionRecord"}
"""Messages whose counts and lengths are built in their shortest form, whatever it was."""


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == {name for name in twin.__all__ if name[0].isupper()} - {"Stored"}


@pytest.mark.parametrize("name", SAMPLES)
def test_cut_and_altered_bytes_raise_nothing_but_constructs_own_errors(name: str) -> None:
    construct, sound = getattr(twin, name), SAMPLES[name]
    assert construct.build(construct.parse(sound)) == sound
    refused = 0
    for data in altered(sound, random.Random(f"{SEED} {name}")):
        for strict in (True, False):
            try:
                parsed = construct.parse(data, strict=strict)
            except ConstructError:
                refused += 1
                continue
            assert data.startswith(construct.build(parsed)) or name in FORGETFUL
    assert refused > 0


def altered(sound: bytes, chance: random.Random) -> Any:
    """Yield *sound* cut at each byte, with each byte replaced, and with random alterations."""
    for size in range(len(sound)):
        yield sound[:size]
    for position in range(len(sound)):
        for value in (0, 1, 0x7F, 0x80, 0xFF, sound[position] ^ 1 << chance.randrange(8)):
            yield sound[:position] + bytes([value]) + sound[position + 1 :]
    for _ in range(200):
        data = bytearray(sound)
        for _ in range(chance.randint(2, 8)):
            data[chance.randrange(len(data))] = chance.choice((0, 0x7F, 0x80, 0xFF, 0x13))
        yield bytes(data)


def test_claims_cost_no_memory(tmp_path: Path) -> None:
    most = 2**31 - 1
    claims = [
        (twin.Record, twin.Record.build({"len_body": most})),
        (twin.Record, twin.Record.build({"key": b"k", "len_key": most})),
        (twin.Record, twin.Record.build({"num_headers": most})),
        (twin.RecordBatch, twin.RecordBatch.build({"len_batch": most})),
        (twin.RecordBatch, twin.RecordBatch.build({"num_records": most})),
        (twin.Message, twin.Message.build({"len_message": most})),
        (twin.Message, twin.Message.build({"len_value": most})),
        (twin.ProducerSnapshot, twin.ProducerSnapshot.build({"num_producers": most})),
        (twin.LeaderChangeMessage, bytes.fromhex("0000 00000001 ffffffff0f")),
        (twin.VotersRecord, VOTERS[:24] + bytes.fromhex("ffffffff0f")),
        (twin.SnapshotFooterRecord, bytes.fromhex("0000 ffffffff0f")),
        (twin.LeaderEpochCheckpoint, b"0\n2147483647\n"),
    ]
    for number, (construct, data) in enumerate(claims):
        path = tmp_path / str(number)
        path.write_bytes(data)
        tracemalloc.start()
        # Unlike a bytes object, a file allocates as much memory as a read asks for.
        with pytest.raises(ConstructError):
            construct.parse_file(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1_000_000, data.hex()
