"""Reads logs by a class MemoryRecords, which kafka-python and aiokafka both have, as their fetchers do."""

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
