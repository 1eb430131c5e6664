"""Tests that encoders write what Kafka's MemoryRecordsBuilder writes, and that Kafka's classes read it.

`make test-brokers` runs them; they need Maven and Java. MAGICBYTE_RECORD=1 records Kafka's answers anew.
"""

import json
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_encodings import (
    CASES,
    LARGE,
    PRODUCER,
    RECORDED,
    EncodingCase,
    our_encoding,
    recorded,
    summary,
)
from magicbyte.engines.factory import encoder
from magicbyte_tools.conformance.report import failure_line
from magicbyte_tools.conformance.scoring import scored

from .kafka_classes import command
from .test_kafka_classes import RUN, java_runner, our_reading

VERSION = "4.3.1"
with_java = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")


def sized(content: bytes | None) -> bytes:
    if content is None:
        return struct.pack(">i", -1)
    return struct.pack(">i", len(content)) + content


def question(case: EncodingCase) -> bytes:
    """Return *case* as the Java program reads it."""
    records = case.records()
    rows = records.to_pylist()
    time = -1 if case.append_time is None else case.append_time
    producer = tuple(PRODUCER.values()) if case.producer else (-1, -1, -1)
    kinds = (case.magic, case.codec, int(case.append_time is not None))
    parts = [struct.pack(">bbbqiqhii", *kinds, time, case.batch_bytes, *producer, len(rows))]
    for row in rows:
        headers = row.get("headers") or []
        parts += [
            struct.pack(">qq", row["offset"], row["timestamp"]),
            sized(row["key"]),
            sized(row["value"]),
            struct.pack(">i", len(headers)),
        ]
        for header in headers:
            parts += [sized(header["key"].encode()), sized(header["value"])]
    return b"".join(parts)


def kafka_encoding(case: EncodingCase) -> Iterator[bytes]:
    """Yield the batches or messages that Kafka makes of *case*."""
    answer = subprocess.run(
        command("KafkaEncoder", VERSION), input=question(case), stdout=subprocess.PIPE, check=True
    ).stdout
    position = 0
    while position < len(answer):
        (size,) = struct.unpack_from(">i", answer, position)
        position += 4
        yield answer[position : position + size]
        position += size


@with_java
def test_recorded_encodings_are_those_of_memory_records_builder() -> None:
    answers = {case.name: summary(list(kafka_encoding(case))) for case in CASES}
    if os.environ.get("MAGICBYTE_RECORD"):
        lines = (f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items())
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    assert answers == recorded()


@with_java
def test_kafka_reads_compressed_batches_and_messages_as_we_do(tmp_path: Path) -> None:
    encode = encoder("columnar")
    files = {}
    for codec in range(5):
        for case in CASES:
            if case.codec == codec and case.batch_bytes in (700, LARGE):
                files[case.name] = b"".join(our_encoding(case, encode))
    cases = []
    for name, data in files.items():
        path = tmp_path / f"{name}.log"
        path.write_bytes(data)
        cases.append(our_reading(name, path))
    assert len(cases) > 20
    outcomes = scored(java_runner(VERSION).answers(cases), {})
    assert [failure_line(one) for one in outcomes if one.outcome != "passed"] == []
