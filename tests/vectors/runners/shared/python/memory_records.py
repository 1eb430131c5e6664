"""Reads logs by a class MemoryRecords, which kafka-python and aiokafka both have, as their fetchers do.

Their classes that encode a batch have the same name and arguments, too.
"""

from answers import hexed

TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime", None: None}


def reader(memory_records):
    """Return the function that reads a log by the class *memory_records*."""

    def read(log):
        batches = memory_records(log)
        while (batch := batches.next_batch()) is not None:
            if not batch.validate_crc():
                raise ValueError("the checksum is wrong")
            # Messages of v0 and v1 have no such field.
            if not getattr(batch, "is_control_batch", False):
                yield [row(record) for record in batch]

    return read


CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

MAX_BATCH_BYTES = 1 << 20


def encoder(batch_builder):
    """Return the function that encodes a request by the class *batch_builder*, as a producer does."""

    def encode(request):
        producer = int(request["producer_id"]), request["producer_epoch"], request["base_sequence"]
        codec = CODECS.index(request["codec"])
        builder = batch_builder(2, codec, request["is_transactional"], *producer, MAX_BATCH_BYTES)
        for offset, record in enumerate(request["records"]):
            headers = [
                (stored(one["key"]).decode(), stored(one["value"])) for one in record["headers"]
            ]
            key, value = stored(record["key"]), stored(record["value"])
            builder.append(offset, int(record["timestamp"]), key, value, headers)
        return builder.build()

    return encode


def stored(text):
    """Return the bytes of which the protocol has the hex; null is None."""
    return None if text is None else bytes.fromhex(text)


def row(record):
    headers = record.headers or ()
    return {
        "offset": str(record.offset),
        "timestamp": None if record.timestamp in (None, -1) else str(record.timestamp),
        "timestamp_type": TIMESTAMP_TYPES[record.timestamp_type],
        "key": hexed(record.key),
        "value": hexed(record.value),
        "headers": [{"key": hexed(key.encode()), "value": hexed(value)} for key, value in headers],
    }
