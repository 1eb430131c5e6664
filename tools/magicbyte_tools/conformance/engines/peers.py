"""Runners of kafka-python and aiokafka, through the class MemoryRecords that both have.

aiokafka reads in C if its wheel contains the extension.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from magicbyte_tools.conformance.engines.answering import (
    Answer,
    Reader,
    hexadecimal,
    serve,
    unsupported,
)

CHECKS = ("grammar", "exact", "checksum", "codec")
"""Checks of both readers. Neither compares offsets of entries or limits decompressed bytes."""

NOT_INSTALLED = ("Libraries for", "pip install")
"""Words in the messages of both readers if the optional library of a codec is not installed."""

TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime", None: None}


def reader(memory_records: Callable[[bytes], Any]) -> Reader:
    """Return a function that reads a log by the class *memory_records*, up to the first error."""

    def read(format_name: str, path: Path, settings: Mapping[str, Any]) -> Answer:
        if format_name != "kafka_log":
            return unsupported("it reads record batches and message sets alone")
        records: list[Answer] = []
        try:
            for rows in _entries(memory_records(path.read_bytes())):
                records.extend(rows)
        except Exception as error:  # nothing narrower: struct.error, SystemError, its own
            message = f"{type(error).__name__}: {error}"
            if any(words in message for words in NOT_INSTALLED):
                return unsupported(message)
            told = {"message": message}
            return {"records": records, "error": told, "stopped": True, "checks": CHECKS}
        return {"records": records, "error": None, "checks": CHECKS}

    return read


def _entries(log: Any) -> Iterator[list[Answer]]:
    """Yield the rows of each log entry of *log*, after the whole entry was read; control batches have none."""
    while (batch := log.next_batch()) is not None:
        if not batch.validate_crc():
            raise ValueError("the checksum is wrong")
        if getattr(batch, "is_control_batch", False):  # messages of v0 and v1 have no such field
            continue
        yield [_row(record) for record in batch]


def _row(record: Any) -> Answer:
    timestamp = record.timestamp
    return {
        "offset": str(record.offset),
        "timestamp": None if timestamp in (None, -1) else str(timestamp),
        "timestamp_type": TIMESTAMP_TYPES[record.timestamp_type],
        "key": hexadecimal(record.key),
        "value": hexadecimal(record.value),
        "headers": [
            {"key": key.encode().hex(), "value": hexadecimal(value)}
            for key, value in record.headers or ()
        ],
    }


if __name__ == "__main__":
    serve(reader(import_module(sys.argv[1]).MemoryRecords), sys.argv[2:])
