"""Runs the vectors on kafka-python: python3 -m unittest, or pytest.

pip install 'kafka-python[crc32c,lz4,snappy,zstd]'
"""

import unittest

from kafka.record import MemoryRecords
from kafka_record_vectors import vectors

KNOWN = {
    "kafka_log/control-key-empty",
    "kafka_log/control-key-null",
    "kafka_log/control-key-of-3-bytes",
    "kafka_log/control-key-version-least-int16",
    "kafka_log/control-key-version-minus-1",
    "kafka_log/record-offset-delta-too-long",
    "kafka_log/v2-header-keys-not-utf-8",
    "kafka_log/v2-lz4-dependent-blocks",
    "kafka_log/v2-lz4-empty-block-before",
    "kafka_log/v2-lz4-empty-stored-block-between",
    "kafka_log/v2-lz4-end-mark-with-the-high-bit",
    "kafka_log/v2-record-attributes",
    "kafka_log/v2-snappy-xerial-chunk-of-2-gib",
    "kafka_log/v2-zstd-without-a-last-block",
}


def hexed(data):
    return None if data is None else data.hex()


def read(data):
    for batch in MemoryRecords(data):
        if not batch.validate_crc():
            raise ValueError("the checksum is wrong")
        if not batch.is_control_batch:
            yield from ((str(row.offset), hexed(row.key), hexed(row.value)) for row in batch)


def is_refused(data):
    try:
        list(read(data))
    except Exception:  # whichever your reader raises
        return True
    return False


class VectorsTest(unittest.TestCase):
    def test_sound_batches_give_their_records(self):
        for vector in vectors("v2-read"):
            rows = [(row["offset"], row["key"], row["value"]) for row in vector.content["records"]]
            if vector.id not in KNOWN:
                with self.subTest(vector.id):
                    self.assertEqual(list(read(vector.data)), rows, vector.content["why"])

    def test_damaged_batches_are_refused(self):
        for vector in vectors("v2-strict"):
            if vector.id not in KNOWN:
                with self.subTest(vector.id):
                    self.assertTrue(is_refused(vector.data), vector.content["why"])
