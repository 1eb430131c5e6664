"""Bytes worked out by hand from Kafka's source, and what they mean."""

import zlib

import crc32c
import pytest

from magicbyte_formats import wire
from magicbyte_formats.kaitai.kafka_control_record import KafkaControlRecord
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.kaitai.kafka_producer_snapshot import KafkaProducerSnapshot
from magicbyte_formats.kaitai.kafka_record_batch import KafkaRecordBatch
from magicbyte_formats.kaitai.kafka_record_batch_checked import KafkaRecordBatchChecked
from magicbyte_formats.kaitai.kafka_records import KafkaRecords
from magicbyte_formats.kaitai.kafka_transaction_index import KafkaTransactionIndex

TIME = 1714000000000

V0 = bytes.fromhex("0000000000000000 00000013 87a77ab2 00 00 ffffffff 00000005 68656c6c6f")
V1 = bytes.fromhex(
    "0000000000000001 0000001c 2533d1a8 01 00 0000018f125c7400 00000001 6b 00000005 776f726c64"
)
V1_APPEND_TIME = bytes.fromhex(
    "0000000000000002 00000016 c7d21ee7 01 08 0000018f125c7400 00000000 ffffffff"
)
V1_WRAPPED = bytes.fromhex(
    "0000000000000000 00000017 f87f6778 01 00 0000018f125c7400 ffffffff 00000001 61"
    "0000000000000001 00000017 8eb45dfc 01 00 0000018f125c7401 ffffffff 00000001 62"
)
TWO_RECORDS = bytes.fromhex(
    "0000000000000000 00000049 ffffffff 02 dbda21c9 0000 00000001 0000018f125c7400"
    "0000018f125c7400 ffffffffffffffff ffff ffffffff 00000002"
    "16 00 00 00 01 0a 68656c6c6f 00"
    "16 00 00 02 01 0a 776f726c64 00"
)
EMPTY_BATCH = bytes.fromhex(
    "0000000000000014 00000031 00000003 02 24fadce2 0010 00000004 ffffffffffffffff"
    "0000018f125c7400 0000000000000fa0 0005 00000064 00000000"
)
DELETE_HORIZON = bytes.fromhex(
    "0000000000000000 00000048 00000003 02 922421e9 0040 00000002 0000018f1782d000"
    "0000018f125c7401 ffffffffffffffff ffff ffffffff 00000002"
    "14 00 ffefb252 00 02 6b 01 00"
    "16 00 fdefb252 04 02 6a 02 76 00"
)
APPEND_TIME = bytes.fromhex(
    "0000000000000007 0000003a 00000001 02 99538cde 0008 00000000 0000018f125c7400"
    "0000018f125c8788 ffffffffffffffff ffff ffffffff 00000001"
    "10 00 00 00 02 6b 02 76 00"
)
ABORT = bytes.fromhex(
    "000000000000000a 00000042 00000003 02 64311b2d 0030 00000000 0000018f125c7400"
    "0000018f125c7400 0000000000000fa0 0005 ffffffff 00000001"
    "20 00 00 00 08 00000000 0c 000000000007 00"
)
HEADERS = bytes.fromhex("22 00 00 00 02 6b 02 76 06 02 61 02 31 02 61 01 00 00")
ABORTED = bytes.fromhex("0000 0000000000000fa0 0000000000000014 000000000000001e 000000000000001f")
SNAPSHOT = bytes.fromhex(
    "0001 9dbc25d3 00000001 0000000000000fa0 0005 00000068 0000000000000018 00000004"
    "0000018f125c7400 00000007 ffffffffffffffff"
)

MESSAGES = [V0, V1, V1_APPEND_TIME, V1_WRAPPED[:35], V1_WRAPPED[35:]]
BATCHES = [TWO_RECORDS, EMPTY_BATCH, DELETE_HORIZON, APPEND_TIME, ABORT]


def test_v0_has_no_timestamp_and_null_is_not_empty() -> None:
    message = KafkaMessage.from_bytes(V0).message
    assert (message.timestamp, message.key, message.value) == (None, None, b"hello")
    assert message.attributes.codec is KafkaMessage.Codecs.none


def test_v1_has_a_timestamp() -> None:
    entry = KafkaMessage.from_bytes(V1)
    message = entry.message
    assert (entry.offset, message.timestamp) == (1, TIME)
    assert (message.key, message.value) == (b"k", b"world")


def test_v1_with_append_time_an_empty_key_and_a_null_value() -> None:
    message = KafkaMessage.from_bytes(V1_APPEND_TIME).message
    assert message.attributes.timestamp_type is KafkaMessage.TimestampTypes.log_append_time
    assert (message.key, message.value) == (b"", None)


def test_value_of_a_wrapper_parses_as_a_log() -> None:
    entries = KafkaLog.from_bytes(V1_WRAPPED).entries
    contents = [entry.content for entry in entries]
    assert all(isinstance(content, KafkaMessage) for content in contents)
    assert [entry.offset for entry in entries] == [0, 1]


def test_two_records_without_keys() -> None:
    batch = KafkaRecordBatch.from_bytes(TWO_RECORDS)
    assert batch.payload is not None
    assert batch.compressed_payload is None
    bodies = [record.body for record in batch.payload.records]
    assert [body.value for body in bodies] == [b"hello", b"world"]
    assert [body.key for body in bodies] == [None, None]
    assert [body.offset_delta.value for body in bodies] == [0, 1]
    assert all(body.control_record is None for body in bodies)


def test_a_payload_by_itself_is_the_same_records() -> None:
    records = KafkaRecords.from_bytes(TWO_RECORDS[wire.RecordBatchHeader.SIZE :]).records
    assert [record.body.value for record in records] == [b"hello", b"world"]


def test_a_batch_that_cleaning_emptied_keeps_its_offsets_and_producer() -> None:
    batch = KafkaRecordBatch.from_bytes(EMPTY_BATCH)
    assert (batch.base_offset, batch.last_offset, batch.num_records) == (20, 24, 0)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (4000, 5, 100)
    assert (batch.base_timestamp, batch.max_timestamp) == (-1, TIME)
    assert batch.attributes.is_transactional
    assert batch.payload is not None
    assert batch.payload.records == []


def test_deltas_from_a_delete_horizon_give_the_records_own_times() -> None:
    batch = KafkaRecordBatch.from_bytes(DELETE_HORIZON)
    assert batch.attributes.has_delete_horizon
    assert batch.base_timestamp == TIME + 24 * 60 * 60 * 1000
    assert batch.payload is not None
    bodies = [record.body for record in batch.payload.records]
    times = [batch.base_timestamp + body.timestamp_delta.value for body in bodies]
    assert times == [TIME, TIME + 1]
    assert [(body.key, body.value) for body in bodies] == [(b"k", None), (b"j", b"v")]
    assert [body.offset_delta.value for body in bodies] == [0, 2]


def test_append_time_leaves_the_producers_time_in_the_base() -> None:
    batch = KafkaRecordBatch.from_bytes(APPEND_TIME)
    assert batch.attributes.timestamp_type is KafkaRecordBatch.TimestampTypes.log_append_time
    assert (batch.base_timestamp, batch.max_timestamp) == (TIME, TIME + 5000)


def test_a_marker_says_who_wrote_it() -> None:
    batch = KafkaRecordBatch.from_bytes(ABORT)
    assert batch.attributes.is_control
    assert batch.payload is not None
    (record,) = batch.payload.records
    control = record.body.control_record
    assert control is not None
    assert control.key.control_type is KafkaControlRecord.ControlTypes.abort
    assert isinstance(control.content, KafkaControlRecord.EndTransactionMarker)
    assert control.content.coordinator_epoch == 7

    assert record.body.key is not None
    assert record.body.value is not None
    assert wire.ControlKey.unpack_from(record.body.key) == (0, wire.ControlType.ABORT)
    assert wire.TransactionMarker.unpack_from(record.body.value) == (0, 7)


def test_headers_may_repeat_and_have_null_or_empty_values() -> None:
    (record,) = KafkaRecords.from_bytes(HEADERS).records
    body = record.body
    assert [(header.key, header.value) for header in body.headers] == [
        (b"a", b"1"),
        (b"a", None),
        (b"", b""),
    ]


def test_a_header_key_that_is_not_utf8_is_bytes() -> None:
    data = HEADERS.replace(b"\x02a\x021", b"\x02\xff\x021")
    body = KafkaRecords.from_bytes(data).records[0].body
    assert body.headers[0].key == b"\xff"


def test_an_aborted_transaction() -> None:
    (entry,) = KafkaTransactionIndex.from_bytes(ABORTED).aborted_transactions
    assert (entry.producer_id, entry.first_offset, entry.last_offset) == (4000, 20, 30)
    assert entry.last_stable_offset == 31
    assert wire.AbortedTransaction.unpack_from(ABORTED) == (0, 4000, 20, 30, 31)


def test_a_producer_snapshot() -> None:
    (producer,) = KafkaProducerSnapshot.from_bytes(SNAPSHOT).producers
    assert (producer.producer_id, producer.epoch, producer.last_sequence) == (4000, 5, 104)
    assert (producer.last_offset, producer.offset_delta, producer.timestamp) == (24, 4, TIME)
    assert (producer.coordinator_epoch, producer.current_transaction_first_offset) == (7, -1)
    start = wire.ProducerSnapshotHeader.SIZE
    assert wire.ProducerSnapshotEntry.unpack_from(SNAPSHOT, start).last_offset == 24
    assert start + wire.ProducerSnapshotEntry.SIZE == len(SNAPSHOT)


@pytest.mark.parametrize("data", MESSAGES)
def test_crc32_of_messages_covers_what_the_specification_says(data: bytes) -> None:
    rule = wire.MessageHeader.CHECKSUM
    assert rule == ("crc32", 12, 16)
    assert zlib.crc32(data[rule.start :]) == wire.MessageHeader.unpack_from(data).crc


@pytest.mark.parametrize("data", BATCHES)
def test_crc32c_of_batches_covers_what_the_specification_says(data: bytes) -> None:
    rule = wire.RecordBatchHeader.CHECKSUM
    assert rule == ("crc32c", 17, 21)
    assert crc32c.crc32c(data[rule.start :]) == wire.RecordBatchHeader.unpack_from(data).crc


def test_crc32c_of_a_snapshot_covers_what_the_specification_says() -> None:
    rule = wire.ProducerSnapshotHeader.CHECKSUM
    assert rule == ("crc32c", 2, 6)
    stored = wire.ProducerSnapshotHeader.unpack_from(SNAPSHOT).crc
    assert crc32c.crc32c(SNAPSHOT[rule.start :]) == stored


@pytest.mark.parametrize("data", BATCHES)
def test_the_specification_works_the_checksum_out_by_itself(data: bytes) -> None:
    assert KafkaRecordBatchChecked.from_bytes(data).is_crc_valid
    flipped = data[:22] + bytes([data[22] ^ 0x40]) + data[23:]
    assert not KafkaRecordBatchChecked.from_bytes(flipped).is_crc_valid
