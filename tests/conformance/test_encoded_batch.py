"""Tests that the scorer finds each mistake in a batch that a runner encoded, and leaves free what the format does."""

import gzip
from typing import Any

import pytest

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.encoded_batch import HEADER, crc_32c
from magicbyte_tools.conformance.judge import Judgement, judge
from magicbyte_tools.vectors.encoded_cases import IDEMPOTENT, encoded
from magicbyte_tools.vectors.entry_parts import T0, batch, payload, rec
from magicbyte_tools.vectors.framers import GZIP, LZ4, NONE, SNAPPY, ZSTD

HEADERS = ((b"a", b"1"), (b"b", None), (b"a", b""))
RECORDS = [rec(0, time=T0 + 5), rec(1, None, b"", headers=HEADERS), rec(2, b"", None)]

WRONG_RECORDS: list[tuple[dict[str, Any], str]] = [
    ({"value": b"other"}, "encoded.records[1].value: expected null"),
    ({"value": b""}, "encoded.records[1].value: expected null"),
    ({"key": None}, "encoded.records[1].key"),
    ({"time": T0 + 2}, "encoded.records[1].timestamp"),
    ({"headers": HEADERS[::-1]}, "encoded.records[1].headers[0].value"),
    ({"headers": HEADERS[:2]}, "encoded.records[1].headers: expected 3 of them, found 2"),
    ({"attributes": 1}, "encoded.records[1].attributes"),
    ({"offset_delta": 2}, "encoded.records[1].offset"),
    ({"trailing": b"\0"}, "1 bytes left in the record"),
    ({"len_key": 1000}, "a length of 1000"),
]


def answered(data: bytes, codec: int = NONE) -> Judgement:
    case = encoded("three", "A case.", RECORDS, codec, is_transactional=True, **IDEMPOTENT)
    return judge(case.json(None), {"encoded": data.hex()})


def three(codec: int = NONE, **fields: Any) -> bytes:
    """Return the right encoding of RECORDS, or one with other *fields*."""
    attributes = {"is_transactional": True, **fields.pop("attributes", {})}
    given = {"partition_leader_epoch": -1, **IDEMPOTENT, **fields}
    return batch(*RECORDS, codec=codec, attributes=attributes, **given).data


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_right_batch_passes_and_records_that_were_not_compared_are_told(codec: int) -> None:
    judgement = answered(three(codec), codec)
    assert judgement.outcome == "passed", judgement.complaints
    expected = {SNAPPY: "snappy", LZ4: "lz4", ZSTD: "zstd"}.get(codec)
    assert judgement.undecoded == expected


@pytest.mark.parametrize(
    "fields", [{"partition_leader_epoch": 0}, {"base_time": T0 - 700}], ids=str
)
def test_the_leader_epoch_and_the_base_timestamp_are_free(fields: dict[str, Any]) -> None:
    assert answered(three(**fields)).outcome == "passed"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"base_offset": 7}, "base_offset"),
        ({"magic": 1}, "magic"),
        ({"crc": 5}, "crc"),
        ({"attributes": {"is_transactional": False}}, "attributes"),
        ({"attributes": {"is_control": True}}, "attributes"),
        ({"append_time": T0 + 5}, "attributes"),
        ({"last_offset": 3}, "last_offset_delta"),
        ({"max_timestamp": T0 + 6}, "max_timestamp"),
        ({"producer_id": 4001}, "producer_id"),
        ({"producer_epoch": 4}, "producer_epoch"),
        ({"base_sequence": 71}, "base_sequence"),
        ({"num_records": 2}, "num_records"),
    ],
    ids=str,
)
def test_a_wrong_field_of_the_header_is_named(fields: dict[str, Any], name: str) -> None:
    (complaint, *_) = answered(three(**fields)).complaints
    assert complaint.startswith(f"encoded.{name}: expected "), complaint


@pytest.mark.parametrize(("changes", "words"), WRONG_RECORDS, ids=str)
def test_a_wrong_record_is_named(changes: dict[str, Any], words: str) -> None:
    given = {"value": None, "key": b"", "headers": HEADERS, **changes}
    section = payload(RECORDS[0], rec(1, **given), RECORDS[2])
    judgement = answered(three(section=section))
    assert judgement.complaints and words in judgement.complaints[0], judgement.complaints
    compressed = answered(three(GZIP, section=gzip.compress(section)), GZIP)
    assert compressed.complaints == judgement.complaints


def test_bytes_that_are_no_single_batch_fail() -> None:
    data, section = three(), payload(*RECORDS)
    half = len(section) // 2
    members = gzip.compress(section[:half]) + gzip.compress(section[half:])
    for wrong, codec, words in (
        (data[:1], NONE, "at least the 61 bytes of a header"),
        (data[:60], NONE, "at least the 61 bytes"),
        (data[:-1], NONE, "len_batch"),
        (data + data, NONE, "len_batch"),
        (three(section=section[:-1]), NONE, "a record of"),
        (three(section=b"\0" + section), NONE, "a record of 0 bytes"),
        (three(section=section + b"\x80"), NONE, "a number that does not end"),
        (three(GZIP, section=gzip.compress(section)[:-1]), GZIP, "one member of gzip"),
        (three(GZIP, section=members), GZIP, "one member of gzip"),
        (three(GZIP, section=section), GZIP, "no gzip"),
        (three(ZSTD, section=section), ZSTD, "a frame of zstd"),
        (three(LZ4, section=section), LZ4, "a frame of lz4"),
        (three(SNAPPY, section=b""), SNAPPY, "found no bytes"),
    ):
        complaints = "; ".join(answered(wrong, codec).complaints)
        assert words in complaints, (words, complaints)


def test_an_answer_has_bytes_or_an_error() -> None:
    content = encoded("three", "A case.", RECORDS).json(None) | {"needs": ["v2", "encode"]}
    for answer, outcome in (
        ({"encoded": "6g"}, "failed"),
        ({"records": [], "error": None}, "failed"),
        ({"accepted": True}, "failed"),
        ({"error": {"message": "no"}}, "failed"),
        ({"encoded": None}, "failed"),
        ({"encoded": ""}, "failed"),
        ({"unsupported": "it reads only"}, "not-judged"),
        ({"unsupported": "it reads only", "lacks": ["encode"]}, "not-judged"),
    ):
        assert judge(content, answer).outcome == outcome, answer


def test_bytes_of_the_cases_pass_and_each_changed_byte_of_a_plain_one_fails(
    all_cases: list[Case],
) -> None:
    cases = {case.id: case for case in all_cases if case.format == "kafka_encoded"}
    for case in cases.values():
        answer = {"encoded": case.data_path.read_bytes().hex()}
        assert judge(case.content, answer).outcome == "passed", case.id
    plain = cases["kafka_encoded/transactional"]
    data = plain.data_path.read_bytes()
    leader_epoch = range(12, 16)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 1
        for is_sealed in (False, True):
            if is_sealed:
                changed[17:21] = crc_32c(bytes(changed[21:])).to_bytes(4)
            is_free = position in leader_epoch or (is_sealed and position in range(17, 21))
            outcome = judge(plain.content, {"encoded": changed.hex()}).outcome
            assert outcome == ("passed" if is_free else "failed"), (position, is_sealed)
    assert HEADER.size == 61
