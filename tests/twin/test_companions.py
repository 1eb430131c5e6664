"""Tests of the twin's indexes, snapshots and checkpoints: ends of files, versions, counts."""

from typing import Any

import pytest
from construct import ConstructError, IntegerError, RangeError, StringError, ValidationError

import magicbyte_construct as twin


@pytest.mark.parametrize(
    ("construct", "entries"),
    [
        (
            twin.OffsetIndex,
            [{"relative_offset": 1, "position": 256}, {"relative_offset": 256, "position": 65536}],
        ),
        (
            twin.TimeIndex,
            [{"timestamp": 5, "relative_offset": 0}, {"timestamp": 256, "relative_offset": 0}],
        ),
    ],
    ids=["OffsetIndex", "TimeIndex"],
)
def test_preallocated_slots_are_a_tail_and_not_entries(construct: Any, entries: Any) -> None:
    size = len(construct.build({"entries": entries})) // 2
    for slots in (0, 1, 1000):
        data = construct.build({"entries": entries, "zero_tail": bytes(slots * size)})
        index = construct.parse(data)
        assert index.entries == entries
        assert index.zero_tail == bytes(slots * size)
        assert construct.build(index) == data
    assert construct.parse(bytes(size * 9)).entries == []


@pytest.mark.parametrize(
    ("construct", "size"),
    [(twin.OffsetIndex, 8), (twin.TimeIndex, 12), (twin.TransactionIndex, 34)],
)
@pytest.mark.parametrize("filler", [b"\0\0", b"\0\x01"], ids=["zeros", "not zeros"])
def test_a_file_that_is_no_multiple_of_an_entry_is_an_error(
    construct: Any, size: int, filler: bytes
) -> None:
    whole = filler * (size // 2)
    if construct is twin.TransactionIndex:
        whole = b"\0\0" + whole[2:]
    for odd in range(1, size):
        data = whole * 3 + whole[:odd]
        with pytest.raises(ConstructError, match=f"{odd} bytes from byte {3 * size} on"):
            construct.parse(data)
        lenient = construct.parse(data, strict=False)
        if construct is twin.TransactionIndex or any(whole[:odd]):
            assert lenient.trailing == whole[:odd]
        else:
            assert lenient.trailing == b""
            assert lenient.zero_tail == (whole[:odd] if any(filler) else data)
        assert construct.build(lenient) == data


def test_an_offset_index_ends_before_the_second_entry_with_the_base_offset() -> None:
    entries = [{"relative_offset": offset, "position": 7} for offset in (0, 3, 0, 4)]
    data = twin.OffsetIndex.build({"entries": entries})
    with pytest.raises(ConstructError, match="16 bytes from byte 16 on"):
        twin.OffsetIndex.parse(data)
    lenient = twin.OffsetIndex.parse(data, strict=False)
    assert (lenient.entries, lenient.trailing) == (entries, b"")
    assert twin.OffsetIndex.build(lenient) == data


@pytest.mark.parametrize(("construct", "size"), [(twin.OffsetIndex, 8), (twin.TimeIndex, 12)])
@pytest.mark.parametrize("number", [0, 2])
def test_bytes_after_an_unused_slot_of_an_index_are_no_entry(
    construct: Any, size: int, number: int
) -> None:
    entry = b"\x01" * size
    data = entry * number + bytes(size) + entry + b"\x02"
    with pytest.raises(ConstructError, match=f"{2 * size + 1} bytes from byte {number * size} on"):
        construct.parse(data)
    lenient = construct.parse(data, strict=False)
    assert (len(lenient.entries), lenient.zero_tail) == (number, b"")
    assert lenient.trailing == data[number * size :]
    assert construct.build(lenient) == data


def test_versions_that_do_not_exist_are_refused() -> None:
    aborted = {"producer_id": 1, "first_offset": 2, "last_offset": 3, "last_stable_offset": 4}
    for construct, fields in (
        (twin.TransactionIndex, {"entries": [{"version": 2, **aborted}]}),
        (twin.ProducerSnapshot, {"version": 2}),
        (twin.OffsetCheckpoint, {"version": 2}),
        (twin.MetadataRecord, {"frame_version": 2, "api_key": 2}),
    ):
        with pytest.raises(ValidationError, match="2 found"):
            construct.parse(construct.build(fields))
    frame = twin.MetadataRecord.build({"frame_version": 2, "api_key": 2})
    assert twin.MetadataRecord.parse(frame, strict=False).frame_version == 2
    with pytest.raises(RangeError, match="-1 found"):
        twin.ControlRecordKey.parse(bytes.fromhex("ffff0001"))
    with pytest.raises(RangeError, match="-1 found"):
        twin.EndTransactionMarker.parse(bytes.fromhex("ffff00000007"))


def test_higher_versions_of_control_records_are_read_as_the_known_one() -> None:
    key = twin.ControlRecordKey.parse(bytes.fromhex("00050151beef"))
    assert (key.version, key.control_type, key.trailing) == (5, 337, b"\xbe\xef")
    assert twin.ControlRecordKey.build(key).hex() == "00050151beef"


@pytest.mark.parametrize(
    "count", [-1, 2, 2**31 - 1], ids=["negative", "one too high", "as high as can be"]
)
def test_a_snapshot_with_a_wrong_count_is_an_error(count: int) -> None:
    entry = {"producer_id": 1, "epoch": 0}
    with pytest.raises(RangeError, match="num_producers"):
        twin.ProducerSnapshot.parse(
            twin.ProducerSnapshot.build({"producers": [entry], "num_producers": count})
        )


VOTER = {"voter_id": 1, "voter_directory_id": bytes(range(16))}
ENDPOINT = {"name": "C", "host": "h", "port": 9093}
FEATURE = {"min_supported_version": 0, "max_supported_version": 1}


@pytest.mark.parametrize(
    ("construct", "fields", "data"),
    [
        (
            twin.LeaderChangeMessage,
            {"leader_id": 1, "voters": [{"voter_id": 1}], "granting_voters": []},
            "0000 00000001 02 00000001 00 01 00",
        ),
        (
            twin.LeaderChangeMessage,
            {"version": 1, "leader_id": 1, "voters": [VOTER], "granting_voters": []},
            "0001 00000001 02 00000001 000102030405060708090a0b0c0d0e0f 00 01 00",
        ),
        (
            twin.VotersRecord,
            {
                "voters": [{**VOTER, "endpoints": [ENDPOINT], "k_raft_version_feature": FEATURE}],
                "tags": [{"tag": 5, "data": b"new"}],
            },
            "0000 02 00000001 000102030405060708090a0b0c0d0e0f 02 0243 0268 2385 00"
            "0000 0001 00 00 01 05 03 6e6577",
        ),
        (
            twin.SnapshotHeaderRecord,
            {"last_contained_log_timestamp": 1714000000000},
            "0000 0000018f125c7400 00",
        ),
        (twin.MetadataRecord, {"api_key": 300, "message": b"m"}, "01 ac02 00 6d"),
    ],
)
def test_flexible_messages(construct: Any, fields: Any, data: str) -> None:
    expected = bytes.fromhex(data)
    assert construct.build(fields).hex() == expected.hex()
    assert construct.build(construct.parse(expected)) == expected


def test_a_null_list_is_read_only_by_the_grammar_alone() -> None:
    fields = {"leader_id": 1, "voters": [{"voter_id": 1}], "granting_voters": None}
    data = twin.LeaderChangeMessage.build(fields)
    assert data.hex() == "0000000000010200000001000000"
    with pytest.raises(RangeError, match=r"granting_voters.*\n.*null"):
        twin.LeaderChangeMessage.parse(data)
    lenient = twin.LeaderChangeMessage.parse(data, strict=False)
    assert lenient.granting_voters is None
    assert twin.LeaderChangeMessage.build(lenient) == data


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", ["name", "host"])
def test_an_endpoint_has_a_name_and_a_host(name: str, strict: bool) -> None:
    endpoint = {**ENDPOINT, name: None}
    voter = {**VOTER, "endpoints": [endpoint], "k_raft_version_feature": FEATURE}
    data = twin.VotersRecord.build({"voters": [voter]})
    with pytest.raises(StringError, match=rf"{name}\n.*null"):
        twin.VotersRecord.parse(data, strict=strict)


@pytest.mark.parametrize(
    ("construct", "text", "entries"),
    [
        (twin.OffsetCheckpoint, "", []),
        (twin.OffsetCheckpoint, "0\n", []),
        (twin.OffsetCheckpoint, "0\n0\n", []),
        (
            twin.OffsetCheckpoint,
            "0\n2\nmy-topic 0 9223372036854775807\n__t 11 -1\n",
            [
                {"topic": "my-topic", "partition": 0, "offset": 2**63 - 1},
                {"topic": "__t", "partition": 11, "offset": -1},
            ],
        ),
        (twin.LeaderEpochCheckpoint, "0\n1\n3 20\n", [{"epoch": 3, "start_offset": 20}]),
    ],
)
def test_checkpoints(construct: Any, text: str, entries: Any) -> None:
    parsed = construct.parse(text.encode())
    assert parsed.entries == entries
    assert construct.build(parsed) == text.encode()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x\n", IntegerError),
        ("0\n1\n", RangeError),
        ("0\n-1\n", RangeError),
        ("0\n0\n1 2\n", RangeError),
        ("0\n99999999999\n", IntegerError),
        ("0\n1\n1\n", StringError),
        ("0\n1\n1 2 3\n", StringError),
        ("0\n1\n 1 2\n", StringError),
        ("0\n2\n1 2\n\n", StringError),
        ("0\n1\n1 2x\n", IntegerError),
        ("0\n1\n2147483648 2\n", IntegerError),
        ("0\n1\n1 \N{ARABIC-INDIC DIGIT TWO}\n", IntegerError),
    ],
)
def test_checkpoints_that_kafka_does_not_read(text: str, error: type[ConstructError]) -> None:
    with pytest.raises(error):
        twin.LeaderEpochCheckpoint.parse(text.encode())


def test_a_checkpoint_that_is_not_text_is_an_error() -> None:
    with pytest.raises(StringError, match="not UTF-8 at byte 4"):
        twin.OffsetCheckpoint.parse(b"0\n1\n\xff 0 0\n")


def test_checkpoints_written_by_hand_are_read() -> None:
    text = b"0\r\n1\r\nmy-topic\t0  +7 "
    parsed = twin.OffsetCheckpoint.parse(text)
    assert parsed.entries == [{"topic": "my-topic", "partition": 0, "offset": 7}]
    assert twin.OffsetCheckpoint.build(parsed) == text
    assert twin.OffsetCheckpoint.build(twin.fresh(parsed)) == b"0\n1\nmy-topic 0 7\n"
    parsed.entries[0].offset = 8
    assert twin.OffsetCheckpoint.build(parsed) == b"0\n1\nmy-topic 0 8\n"


def test_partition_metadata() -> None:
    text = b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    parsed = twin.PartitionMetadata.parse(text)
    assert (parsed.version, parsed.topic_id) == (0, "AAECAwQFBgcICQoLDA0ODw")
    assert twin.PartitionMetadata.build(parsed) == text
    ended = twin.PartitionMetadata.parse(text + b"\n")
    assert twin.PartitionMetadata.build(ended) == text + b"\n"
    with pytest.raises(StringError, match="no version"):  # it would not be built like that again
        twin.PartitionMetadata.parse(text.replace(b"0", b"00", 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version: 0",
        "version: -1\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
        "version: 2147483648\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
        "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0OD",
        "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODww",
        "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_partition_metadata_that_kafka_does_not_read(text: str) -> None:
    with pytest.raises(ConstructError):
        twin.PartitionMetadata.parse(text.encode())
