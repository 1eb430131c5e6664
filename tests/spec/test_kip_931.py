"""Tests of KIP-931's discarded batch v3: its own parser reads it, the log's parser does not."""

import crc32c
import kaitaistruct
import pytest

from magicbyte_formats import wire
from magicbyte_formats.kaitai.kafka_log import KafkaLog
from magicbyte_formats.kaitai.kafka_record_batch_kip_931 import KafkaRecordBatchKip931

HEADER = "0000000000000000 {len} ffffffff 03 {crc} {bits} ffffffffffffffff ffff ffffffff {num}"
FLAGGED = bytes.fromhex(
    HEADER.format(len="0000003b", crc="5d2c78cd", bits="0080", num="00000002")
    + "02 80d0e3a5e263 02"
    + "14 00 00 01 0a 68656c6c6f 00"
    + "14 02 02 01 0a 776f726c64 00"
)
REFUSED = (EOFError, kaitaistruct.ValidationFailedError, kaitaistruct.InvalidArgumentError)


def test_its_checksum_covers_all_from_the_attributes() -> None:
    assert KafkaRecordBatchKip931.from_bytes(FLAGGED).crc == crc32c.crc32c(FLAGGED[21:])


def test_bytes_behind_no_records_are_not_looked_at() -> None:
    data = FLAGGED[:37] + bytes(4) + FLAGGED[41:]
    batch = KafkaRecordBatchKip931.from_bytes(data)
    assert batch.payload is not None
    assert (batch.payload.records, batch.payload.unexpected) == ([], None)


def test_a_compressed_payload_is_bytes() -> None:
    data = FLAGGED[:22] + b"\x81" + FLAGGED[23:]
    batch = KafkaRecordBatchKip931.from_bytes(data)
    assert (batch.payload, batch.compressed_payload) == (None, FLAGGED[49:])


@pytest.mark.parametrize(
    ("position", "byte"),
    [
        (11, 0x3A),  # the batch a byte shorter
        (11, 0x3C),  # and longer
        (11, 0x1F),  # shorter than any
        (16, 2),  # another magic
        (37, 0xFF),  # a count of records below 0
        (40, 1),  # one record too few
        (40, 3),  # one too many
        (49, 0x12),  # the first record shorter than its fields
        (49, 0x16),  # and longer
        (49, 0x01),  # a length below 0
        (53, 0x7E),  # the value beyond the record
        (59, 0x01),  # a count of headers below 0
        (59, 0x02),  # a header that is not there
    ],
)
def test_a_broken_batch_is_refused(position: int, byte: int) -> None:
    data = FLAGGED[:position] + bytes([byte]) + FLAGGED[position + 1 :]
    assert data != FLAGGED
    with pytest.raises(REFUSED):
        KafkaRecordBatchKip931.from_bytes(data)


def test_a_log_refuses_it() -> None:
    with pytest.raises(kaitaistruct.ValidationNotAnyOfError):
        KafkaLog.from_bytes(FLAGGED)


def test_kip_931_has_no_columns_and_no_headers() -> None:
    sources = {column.source for table in wire.COLUMNS.values() for column in table}
    assert sources
    assert not any("kip_931" in source for source in sources)
    assert not any("Kip" in name for name in dir(wire))
