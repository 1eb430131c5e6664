"""Cases in which Kafka's MemoryRecordsBuilder has encoded records, and what it wrote.

`tests/brokers/test_kafka_encoder.py` asks Kafka, and records its answers in `kafka_encodings.json`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

import magicbyte_construct as twin
from encoded_records import TIME, drawn_records, plain_records
from magicbyte.codecs import decompress
from magicbyte.engines.encoding import BatchFields, Encoder
from magicbyte_formats.wire import RecordBatchHeader

RECORDED = Path(__file__).with_name("kafka_encodings.json")

PRODUCER = {"producer_id": 4000, "producer_epoch": 3, "base_sequence": (1 << 31) - 40}
LARGE = 1 << 20


@dataclass(frozen=True)
class EncodingCase:
    """Records to encode, and how."""

    name: str
    records: Callable[[], pa.RecordBatch]
    batch_bytes: int = 16384
    codec: int = 0
    append_time: int | None = None
    producer: bool = False
    magic: int = 2

    @property
    def fields(self) -> BatchFields:
        """The header fields of the batches."""
        return BatchFields(
            codec=self.codec,
            timestamp_type=int(self.append_time is not None),
            max_timestamp=self.append_time,
            **(PRODUCER if self.producer else {}),
        )


def with_consecutive_offsets(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return *records* without negative timestamps below -1, which Kafka refuses, and without gaps.

    Over a gap, Kafka estimates the size of a record as if it came right after the one before.
    """
    numbers = range(records.num_rows)
    times = [max(time, -1) for time in records["timestamp"].to_pylist()]
    for name, column in (("offset", pa.array(numbers, pa.int64())), ("timestamp", pa.array(times))):
        records = records.set_column(records.schema.get_field_index(name), name, column)
    return records


def with_timestamp(records: pa.RecordBatch, time: int) -> pa.RecordBatch:
    """Return *records* with the timestamp *time* in each: the append time, as readers return it."""
    column = pa.array([time] * records.num_rows, pa.int64())
    return records.set_column(records.schema.get_field_index("timestamp"), "timestamp", column)


CASES = (
    *(
        EncodingCase(f"{codec}-{batch_bytes}-{seed}", records, batch_bytes, codec)
        for codec in range(5)
        for batch_bytes in (0, 700, 16384, LARGE)
        for seed, records in (
            ("drawn", lambda: with_consecutive_offsets(drawn_records(1, 300))),
            ("plain", lambda: plain_records(3000)),
        )
    ),
    *(
        EncodingCase(
            f"magic-{magic}-{codec}",
            lambda: with_consecutive_offsets(drawn_records(2, 200, has_headers=False)),
            LARGE,
            codec,
            magic=magic,
        )
        for magic in (0, 1)
        for codec in range(4)
    ),
    *(
        EncodingCase(
            f"magic-1-{codec}-append-time",
            lambda: with_timestamp(plain_records(200), TIME + 10**7),
            LARGE,
            codec,
            append_time=TIME + 10**7,
            magic=1,
        )
        for codec in (0, 3)
    ),
    EncodingCase("append-time", lambda: plain_records(500), append_time=TIME + 10**7),
    EncodingCase("producer", lambda: plain_records(500), producer=True),
)


def summary(encoded: list[bytes]) -> dict[str, Any]:
    """Return what is recorded: the number of batches, or of sets of messages, and a digest of their bytes.

    Of compressed ones only the header and the decompressed records count: libraries compress differently.
    """
    digest = sha256()
    for data in encoded:
        digest.update(_without_compression(data))
    return {"encoded": len(encoded), "sha256": digest.hexdigest()}


def _without_compression(data: bytes) -> bytes:
    if data[RecordBatchHeader.POSITIONS["magic"]] < 2:
        parsed = twin.Message.parse(data)
        codec = parsed.attributes.codec
        if not codec:
            return data
        value = decompress(codec, parsed.value, magic=parsed.magic, max_bytes=1 << 30)
        return bytes(twin.Message.build({**twin.fresh(parsed), "value": value}))
    header = RecordBatchHeader.unpack_from(data)
    if not header.codec:
        return data
    payload = decompress(header.codec, data[RecordBatchHeader.SIZE :], magic=2, max_bytes=1 << 30)
    return RecordBatchHeader.FIXED.pack(*header._replace(len_batch=0, crc=0)) + payload


def our_encoding(case: EncodingCase, encode: Encoder) -> list[bytes]:
    """Return the batches that *encode* makes of *case*, or the messages, all as one."""
    if case.magic < 2:
        is_append_time = int(case.append_time is not None)
        messages = encode.messages(
            case.magic, case.records(), codec=case.codec, timestamp_type=is_append_time
        )
        return [messages]
    batches = []
    for piece in encode.batches(case.records(), case.fields, batch_bytes=case.batch_bytes):
        position = 0
        for size in piece.sizes.tolist():
            batches.append(bytes(piece.data[position : position + size]))
            position += size
    return batches


def recorded() -> dict[str, Any]:
    """Return the recorded answers by case."""
    answers: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
    return answers
