"""Test vectors of produced bytes: the records of one partition in a produce request.

A reader accepts most of these bytes, but a broker that receives them refuses or corrects them.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from magicbyte_construct import Stored
from magicbyte_tools.vectors.case import (
    ExpectedFault,
    ExpectedFinding,
    VectorCase,
    severity_of,
)
from magicbyte_tools.vectors.entry_parts import (
    T0,
    EntryPart,
    Rec,
    batch,
    flipped,
    message,
    payload,
    rec,
)
from magicbyte_tools.vectors.framers import GZIP, LZ4, SNAPPY, ZSTD, gzip, lz4, snappy

VALIDATOR = "LogValidator, DefaultRecordBatch"
HEADERS = ((b"h", b"x"),)

KEPT = "A broker keeps what was sent unless it has to compress the batch, and then refuses it."
"""Reason of cases that LogValidator accepts with some values of `compression.type`."""


def cases() -> Iterator[VectorCase]:
    return chain(sound(), framed(), headers(), record_by_record())


def produced_batch(*records: Rec, **fields: Any) -> EntryPart:
    """Return a batch as a producer sends it, with leader epoch -1; by default of two records."""
    held = records or (small_record(0), small_record(1))
    return batch(*held, **{"partition_leader_epoch": -1, **fields})


def small_record(offset: int, **raw: Any) -> Rec:
    """Return a small record at *offset*, stamped five milliseconds per offset after T0."""
    given = {
        "value": b"v%d" % offset,
        "key": b"k",
        "time": T0 + 5 * offset,
        "headers": HEADERS,
        **raw,
    }
    return rec(offset, **given)


def case(
    name: str,
    request_data: bytes | EntryPart,
    why: str,
    *,
    source: str = VALIDATOR,
    code: str | None = None,
    position: int = 0,
    payload_position: int | None = None,
    caught_by: str = "produced",
    reason: str | None = None,
    **fields: Any,
) -> VectorCase:
    """Return the test vector of the produced bytes *request_data*, whose only finding is *code*.

    *reason* is why some brokers accept bytes that we refuse.
    """
    fault = None
    if code is not None and severity_of(code) == "error":
        fault = ExpectedFault(
            position=position, caught_by=caught_by, code=code, payload_position=payload_position
        )
    return VectorCase(
        format="kafka_produced",
        name=name,
        why=why,
        verdict="either" if reason else "valid" if fault is None else "invalid",
        is_refused=reason is not None,
        reason=reason,
        data=request_data.data if isinstance(request_data, EntryPart) else request_data,
        source=source,
        fault=fault,
        findings=() if code is None else (ExpectedFinding(code, position),),
        **fields,
    )


def sound() -> Iterator[VectorCase]:
    producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    plain = payload(small_record(0), small_record(1))
    for name, part, why in (
        ("one-batch", produced_batch(), "What every encoder must get right first."),
        ("idempotent", produced_batch(**producer), "An id, an epoch, and sequence numbers from 0."),
        (
            "transactional",
            produced_batch(**producer, attributes={"is_transactional": True}),
            "The bit, and an id.",
        ),
        (
            "header-keys-twice",
            produced_batch(small_record(0, headers=HEADERS * 2), small_record(1)),
            "A header's key may come twice.",
        ),
        (
            "null-key-and-value",
            produced_batch(small_record(0, key=None, value=None), small_record(1)),
            "Neither a key nor a value, which is allowed where the topic is not compacted.",
        ),
        (
            "snappy-raw",
            produced_batch(codec=SNAPPY, section=snappy(plain)),
            "As librdkafka compresses with snappy.",
        ),
        ("snappy-xerial", produced_batch(codec=SNAPPY), "As Java compresses with snappy."),
        ("gzip", produced_batch(codec=GZIP), "Compressed, and the sizes those of what is sent."),
        (
            "without-times",
            produced_batch(small_record(0, time=-1), small_record(1, time=-1)),
            "No times: -1 in the header, and deltas of 0.",
        ),
    ):
        yield case(name, part, why)


def framed() -> Iterator[VectorCase]:
    whole = produced_batch()
    request = "ProduceRequest.validateRecords"
    yield case(
        "empty",
        b"",
        "Neither null nor a batch.",
        code="produced-no-batch",
        source=request,
    )
    yield case(
        "two-batches",
        whole.data * 2,
        "Since Produce 3 one batch per partition, and no more.",
        code="produced-several-batches",
        position=len(whole),
        source=request,
    )
    yield case(
        "part-of-a-second-batch",
        whole.data + whole.data[:16],
        "What follows begins another batch; a broker drops it without a word.",
        code="produced-bytes-behind-batch",
        position=len(whole),
        source="UnifiedLog.trimInvalidBytes",
    )
    olds = {
        "v0-message": [message(small_record(0, headers=()), magic=0)],
        "v1-message": [message(small_record(0, headers=()))],
        "v1-messages": [message(small_record(0, headers=())), message(small_record(1, headers=()))],
    }
    for name, parts in olds.items():
        yield case(
            name,
            b"".join(part.data for part in parts),
            "The old formats are refused since Produce 3, and with Kafka 4.0 altogether.",
            code="produced-old-magic",
            source=request,
        )


def headers() -> Iterator[VectorCase]:
    def of(
        name: str,
        code: str,
        why: str,
        source: str = VALIDATOR,
        reason: str | None = None,
        **fields: Any,
    ) -> VectorCase:
        batch_part = produced_batch(**fields)
        return case(name, batch_part, why, code=code, source=source, reason=reason)

    def bit(name: str, value: Any = True) -> dict[str, Any]:
        return {"attributes": {name: value}}

    yield case(
        "base-offset-42",
        produced_batch(small_record(42), small_record(43)),
        "Offsets are the broker's to give: the first is 0.",
        code="produced-base-offset",
    )
    yield of(
        "leader-epoch-0",
        "produced-leader-epoch",
        "The broker writes its own over it.",
        partition_leader_epoch=0,
    )
    yield of("zstd", "produced-zstd", "Below Produce 7 a broker refuses it.", "KIP-110", codec=ZSTD)
    yield of(
        "log-append-time",
        "produced-log-append-time",
        "Whose clock it was is the broker's to say.",
        reason="A broker keeps the bit or clears it, as the topic's setting demands.",
        **bit("timestamp_type", 1),
    )
    yield of(
        "transactional-without-a-producer",
        "produced-transactional",
        "A transaction of nobody.",
        reason=KEPT,
        **bit("is_transactional"),
    )
    yield of(
        "control",
        "produced-control",
        "Only brokers write control records.",
        **bit("is_control"),
    )
    yield of(
        "delete-horizon",
        "produced-delete-horizon",
        "The cleaner's bit: the base time would be taken for a horizon.",
        "KIP-534",
        **bit("has_delete_horizon"),
    )
    yield of(
        "reserved-bit",
        "produced-reserved-bits",
        "A bit that may mean something in a later release.",
        **bit("reserved", 2),
    )
    yield of(
        "last-offset-delta-2-of-2",
        "produced-last-offset-delta",
        "The delta of the last record is one less than their number.",
        last_offset_delta=2,
    )
    yield case(
        "no-records",
        batch(partition_leader_epoch=-1),
        "A batch of no records, as only the cleaner leaves one.",
        code="produced-no-records",
    )
    yield of(
        "max-timestamp-too-late",
        "produced-max-timestamp",
        "One millisecond above the latest record; a broker sets it right.",
        max_timestamp=T0 + 6,
    )
    yield of(
        "base-timestamp-too-early",
        "produced-base-timestamp",
        "The first record's delta is not 0: sound, and no encoder's way.",
        base_time=T0 - 1,
    )
    yield case(
        "negative-timestamp",
        produced_batch(small_record(0, time=-5), small_record(1, time=-5)),
        "A time below -1 is none.",
        code="produced-negative-timestamp",
        reason=KEPT,
        payload_position=0,
    )
    yield of(
        "sequence-without-a-producer",
        "produced-producer-id",
        "A sequence of nobody.",
        "KIP-98",
        base_sequence=0,
    )
    yield of(
        "producer-minus-2",
        "produced-producer-id",
        "-1 alone stands for no producer.",
        "KIP-98",
        producer_id=-2,
        producer_epoch=0,
        base_sequence=0,
    )
    yield of(
        "producer-without-an-epoch",
        "produced-epoch",
        "A producer has an epoch from its first batch on.",
        "ProducerAppendInfo",
        KEPT,
        producer_id=7,
        producer_epoch=-1,
        base_sequence=0,
    )
    yield of(
        "producer-without-a-sequence",
        "produced-sequence",
        "Without a sequence nothing tells a retry.",
        producer_id=7,
        producer_epoch=0,
        base_sequence=-1,
    )


def record_by_record() -> Iterator[VectorCase]:
    first = small_record(0)
    behind = len(payload(first))
    yield case(
        "offset-deltas-0-and-0",
        produced_batch(first, small_record(1, offset_delta=0)),
        "Offset deltas count the records. Of an uncompressed batch a broker keeps what was sent; "
        "of a compressed one it refuses it.",
        code="produced-offset-delta",
        payload_position=behind,
        reason="A broker keeps the deltas, or writes them anew where it compresses the batch.",
    )
    nobody = produced_batch(small_record(0, key=None), small_record(1))
    yield case(
        "null-key",
        nobody,
        "A record without a key, which is allowed where the topic is not compacted.",
    )
    yield case(
        "null-key-for-a-compacted-topic",
        nobody,
        "Without a key the cleaner could never remove it.",
        code="produced-null-key",
        payload_position=0,
        is_compacted=True,
    )
    yield case(
        "record-attributes-1",
        produced_batch(small_record(0, attributes=1), small_record(1)),
        "The byte means nothing yet, and is written as 0.",
        code="produced-record-attributes",
    )
    yield case(
        "key-length-in-two-bytes",
        produced_batch(small_record(0, len_key=Stored(1, b"\x82\x00")), small_record(1)),
        "Sound, and a byte longer than need be.",
        code="produced-overlong-varint",
    )
    yield case(
        "header-key-not-utf-8",
        produced_batch(
            small_record(0, headers=((b"\xff", b"x"),), shown_headers=(("\ufffd", b"x"),)),
            small_record(1),
        ),
        "Readers put a mark of replacement in the place of what is no UTF-8.",
        code="produced-header-key",
        source="KIP-82",
    )
    plain = payload(small_record(0), small_record(1))
    sections: Sequence[tuple[str, int, bytes]] = (
        ("gzip", GZIP, gzip(plain)),
        ("lz4", LZ4, lz4(plain)),
    )
    for name, codec, section in sections:
        yield case(
            f"bytes-behind-the-{name}-data",
            produced_batch(codec=codec, section=section + bytes(4)),
            "Four bytes of a buffer that was longer than what was compressed into it.",
            code="produced-bytes-behind-payload",
            source="KAFKA-17862",
            made="four zeros behind the compressed data, counted in the batch's length",
        )
    yield case(
        "crc-flipped-bit",
        flipped(produced_batch(), 17),
        "A broker checks the sum before anything else.",
        code="checksum-mismatch",
        caught_by="checksum",
        source="DefaultRecordBatch.ensureValid",
        made="one bit of byte 17 flipped",
    )
    yield case(
        "cut",
        produced_batch().data[:-1],
        "The only batch is not whole.",
        code="incomplete-entry",
        made="the last byte is missing",
    )
