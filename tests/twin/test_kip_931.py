"""Tests of the batch of KIP-931, a discarded proposal: bytes saved, what it shares with magic 2."""

import pytest
from construct import ChecksumError, RangeError, TerminatedError

import magicbyte_construct as twin

TIME = 1714000000000
RECORDS = [{"value": b"hello", "timestamp": TIME}, {"value": b"world", "timestamp": TIME}]


def test_the_batch_of_the_documentation() -> None:
    data = twin.RecordBatchKip931.build({"records": RECORDS})
    head, crc, body = data[:17], data[17:21], data[21:]
    assert head.hex() == "0000000000000000" + "0000003b" + "ffffffff" + "03"
    assert body.hex() == (
        "0080" + "ffffffffffffffff" + "ffff" + "ffffffff" + "00000002"
        "02" + "80d0e3a5e263" + "00"
        "14" + "00" + "00" + "01" + "0a68656c6c6f" + "00"
        "14" + "00" + "02" + "01" + "0a776f726c64" + "00"
    )
    parsed = twin.RecordBatchKip931.parse(data)
    assert crc == parsed.crc.to_bytes(4)
    assert (parsed.base_timestamp, parsed.max_timestamp_delta) == (TIME, 0)
    assert [record.attributes for record in parsed.records] == [None, None]
    assert twin.RecordBatchKip931.build(parsed) == data


def test_kip_931_batch_saves_the_bytes_that_the_proposal_claims() -> None:
    before = twin.record_batch(RECORDS)
    after = twin.RecordBatchKip931.build({"records": RECORDS})
    # A byte per record, and for small batches 3, 2 and 7 of the fields that became variable.
    assert len(before) - len(after) == len(RECORDS) + (4 - 1) + (8 - 6) + (8 - 1)


def test_records_keep_their_attributes_where_the_bit_is_not_set() -> None:
    fields = {"attributes": {"ignore_message_attributes": False}, "records": RECORDS}
    data = twin.RecordBatchKip931.build(fields)
    parsed = twin.RecordBatchKip931.parse(data)
    assert [record.attributes for record in parsed.records] == [0, 0]
    assert twin.RecordBatchKip931.build(parsed) == data
    assert [dict(record) for record in parsed.records] == [
        dict(record) for record in twin.RecordBatch.parse(twin.record_batch(RECORDS)).records
    ]


def test_kip_931_batch_is_parsed_as_strictly_as_magic_2() -> None:
    data = twin.RecordBatchKip931.build({"records": RECORDS, "trailing": b"?"})
    with pytest.raises(TerminatedError):
        twin.RecordBatchKip931.parse(data)
    with pytest.raises(ChecksumError):
        twin.RecordBatchKip931.parse(data[:-1] + b"!")
    assert twin.RecordBatchKip931.parse(data, strict=False).trailing == b"?"


def test_its_smallest_batch_has_a_byte_for_each_variable_field() -> None:
    fields = {"last_offset_delta": -1, "base_timestamp": -1, "max_timestamp_delta": 0}
    data = twin.RecordBatchKip931.build(fields)
    assert twin.RecordBatchKip931.parse(data).len_batch == 32
    with pytest.raises(RangeError, match="len_batch 31, at least 32"):
        twin.RecordBatchKip931.parse(twin.RecordBatchKip931.build({**fields, "len_batch": 31}))
