"""Tests of the parsers on bytes worked out by hand from Kafka's source."""

import zlib
from typing import Any

import crc32c
import pytest

import golden_bytes as golden
from golden_bytes import TIME
from magicbyte_formats import wire
from magicbyte_formats.kaitai.kafka_control_record import KafkaControlRecord
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_message import KafkaMessage
from magicbyte_formats.kaitai.kafka_producer_snapshot import KafkaProducerSnapshot
from magicbyte_formats.kaitai.kafka_record_batch import KafkaRecordBatch
from magicbyte_formats.kaitai.kafka_record_batch_checked import KafkaRecordBatchChecked
from magicbyte_formats.kaitai.kafka_records import KafkaRecords
from magicbyte_formats.kaitai.kafka_transaction_index import KafkaTransactionIndex

MESSAGES = [
    golden.V0,
    golden.V1,
    golden.V1_APPEND_TIME,
    golden.V1_WRAPPED[:35],
    golden.V1_WRAPPED[35:],
]
BATCHES = [
    golden.TWO_RECORDS,
    golden.EMPTY_BATCH,
    golden.DELETE_HORIZON,
    golden.APPEND_TIME,
    golden.ABORT,
]


def test_value_of_a_wrapper_parses_as_a_log() -> None:
    entries = KafkaLog.from_bytes(golden.V1_WRAPPED).entries
    contents = [entry.content for entry in entries]
    assert all(isinstance(content, KafkaMessage) for content in contents)
    assert [entry.offset for entry in entries] == [0, 1]


def test_a_payload_by_itself_is_the_same_records() -> None:
    records = KafkaRecords.from_bytes(golden.TWO_RECORDS[wire.RecordBatchHeader.SIZE :]).records
    assert [record.body.value for record in records] == [b"hello", b"world"]


def test_a_marker_says_who_wrote_it() -> None:
    batch = KafkaRecordBatch.from_bytes(golden.ABORT)
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


def test_an_aborted_transaction() -> None:
    (entry,) = KafkaTransactionIndex.from_bytes(golden.ABORTED).aborted_transactions
    assert (entry.producer_id, entry.first_offset, entry.last_offset) == (4000, 20, 30)
    assert entry.last_stable_offset == 31
    assert wire.AbortedTransaction.unpack_from(golden.ABORTED) == (0, 4000, 20, 30, 31)


def test_a_producer_snapshot() -> None:
    (producer,) = KafkaProducerSnapshot.from_bytes(golden.SNAPSHOT).producers
    assert (producer.producer_id, producer.epoch, producer.last_sequence) == (4000, 5, 104)
    assert (producer.last_offset, producer.offset_delta, producer.timestamp) == (24, 4, TIME)
    assert (producer.coordinator_epoch, producer.current_transaction_first_offset) == (7, -1)
    start = wire.ProducerSnapshotHeader.SIZE
    assert wire.ProducerSnapshotEntry.unpack_from(golden.SNAPSHOT, start).last_offset == 24
    assert start + wire.ProducerSnapshotEntry.SIZE == len(golden.SNAPSHOT)


@pytest.mark.parametrize(
    ("header", "rule", "checksum", "samples"),
    [
        (wire.MessageHeader, ("crc32", 12, 16), zlib.crc32, MESSAGES),
        (wire.RecordBatchHeader, ("crc32c", 17, 21), crc32c.crc32c, BATCHES),
        (wire.ProducerSnapshotHeader, ("crc32c", 2, 6), crc32c.crc32c, [golden.SNAPSHOT]),
    ],
)
def test_checksum_covers_what_the_specification_says(
    header: Any, rule: tuple[str, int, int], checksum: Any, samples: list[bytes]
) -> None:
    assert rule == header.CHECKSUM
    for data in samples:
        assert checksum(data[header.CHECKSUM.start :]) == header.unpack_from(data).crc


@pytest.mark.parametrize("data", BATCHES)
def test_the_specification_works_the_checksum_out_by_itself(data: bytes) -> None:
    assert KafkaRecordBatchChecked.from_bytes(data).is_crc_valid
    flipped = data[:22] + bytes([data[22] ^ 0x40]) + data[23:]
    assert not KafkaRecordBatchChecked.from_bytes(flipped).is_crc_valid
