"""Tests that wire.py has the names and values that the rest of the project uses."""

import pickle
import struct
from typing import Any

import pytest

from magicbyte_formats import wire

SIZES: dict[Any, int] = {
    wire.EntryHeader: 17,
    wire.RecordBatchHeader: 61,
    wire.MessageHeader: 18,
    wire.OffsetIndexEntry: 8,
    wire.TimeIndexEntry: 12,
    wire.AbortedTransaction: 34,
    wire.ProducerSnapshotHeader: 10,
    wire.ProducerSnapshotEntry: 46,
    wire.ControlKey: 4,
    wire.TransactionMarker: 6,
}


def test_sizes() -> None:
    assert {header: header.SIZE for header in SIZES} == SIZES


@pytest.mark.parametrize("header", SIZES)
def test_a_buffer_that_is_too_short_is_an_error(header: Any) -> None:
    header.unpack_from(memoryview(bytes(header.SIZE + 3)), 3)
    with pytest.raises(struct.error):
        header.unpack_from(bytes(header.SIZE + 2), 3)


def test_a_message_of_v1_needs_its_timestamp() -> None:
    v1 = bytes(16) + b"\x01\x00" + (5).to_bytes(8, "big")
    assert wire.MessageHeader.unpack_from(v1).timestamp == 5
    with pytest.raises(struct.error):
        wire.MessageHeader.unpack_from(v1[:-1])
    assert wire.MessageHeader.unpack_from(bytes(18)).timestamp is None


def test_headers_can_be_pickled() -> None:
    header = wire.RecordBatchHeader.unpack_from(bytes(61))
    again = pickle.loads(pickle.dumps(header))
    assert again == header
    assert type(again) is wire.RecordBatchHeader


def test_attributes_are_taken_apart_bit_by_bit() -> None:
    for bit, name in enumerate(("is_transactional", "is_control", "has_delete_horizon"), 4):
        batch = wire.RecordBatchHeader.unpack_from(bytes(61))._replace(attributes=1 << bit)
        assert getattr(batch, name) is True
        assert not getattr(batch._replace(attributes=~(1 << bit)), name)
    message = wire.MessageHeader.unpack_from(bytes(18))._replace(attributes=-1)
    assert (message.codec, message.timestamp_type) == (7, 1)


def test_where_an_entry_has_its_length_and_its_magic() -> None:
    assert wire.EntryHeader.POSITIONS == {"offset": 0, "size": 8, "magic": 16}
    assert wire.EntryHeader.LENGTH == (8, 12, 14)
    assert wire.RecordBatchHeader.LENGTH == (8, 12, 49)
    assert wire.MessageHeader.LENGTH == (8, 12, 14)


def test_names_are_kafkas() -> None:
    assert wire.CODEC_NAMES == {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
    assert wire.TIMESTAMP_TYPE_NAMES == {0: "CreateTime", 1: "LogAppendTime"}
    assert wire.CONTROL_TYPE_NAMES[wire.ControlType.KRAFT_VOTERS] == "KRAFT_VOTERS"
    assert [codec.name for codec in wire.Codec] == ["NONE", "GZIP", "SNAPPY", "LZ4", "ZSTD"]


def test_columns_of_records() -> None:
    columns = {column.name: column for column in wire.COLUMNS["records"]}
    assert set(columns) == {
        *("offset", "timestamp", "timestamp_type", "key", "value", "headers", "leader_epoch"),
        *("producer_id", "producer_epoch", "sequence", "is_transactional", "codec", "magic"),
    }
    assert columns["headers"].type == "list<struct<key: string, value: binary>>"
    assert columns["timestamp"].type == "timestamp[ms, tz=UTC]"
    assert (columns["timestamp"].sentinel, columns["timestamp"].nullable) == (-1, True)
    assert not columns["offset"].nullable


def test_columns_of_batches() -> None:
    columns = {column.name: column for column in wire.COLUMNS["batches"]}
    assert set(columns) == {
        *("size_bytes", "base_offset", "last_offset", "magic", "crc", "codec", "timestamp_type"),
        *("base_timestamp", "max_timestamp", "delete_horizon", "producer_id", "producer_epoch"),
        *("base_sequence", "leader_epoch", "record_count", "is_transactional", "is_control"),
    }
    assert columns["crc"].type == "int64"
    assert columns["delete_horizon"].nullable
    assert "kafka_message/" in columns["size_bytes"].source


def test_every_column_has_a_sentence() -> None:
    for table in wire.COLUMNS.values():
        assert all(column.doc.endswith(".") for column in table)
