"""Test vectors for encoders: records and settings, and the batch that a producer sends of them.

The bytes are those that Kafka's MemoryRecordsBuilder writes; compressed ones are one way to write them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.case_levels import CODECS
from magicbyte_tools.vectors.entry_parts import T0, Rec, batch, rec
from magicbyte_tools.vectors.framers import GZIP, LZ4, NONE, SNAPPY, ZSTD

BUILDER = "MemoryRecordsBuilder, DefaultRecord"

IDEMPOTENT = {"producer_id": 4000, "producer_epoch": 3, "base_sequence": 70}

NO_LEADER_EPOCH = -1


def cases() -> Iterator[VectorCase]:
    yield from keys_and_values()
    yield from headers()
    yield from timestamps()
    yield from producers()
    yield from compressed()


def encoded(
    name: str, why: str, records: Sequence[Rec], codec: int = NONE, **fields: Any
) -> VectorCase:
    """Return the test vector of *records*; *fields* are the producer's id, epoch and sequence, and `is_transactional`."""
    is_transactional = fields.pop("is_transactional", False)
    producer = {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1, **fields}
    part = batch(
        *records,
        codec=codec,
        partition_leader_epoch=NO_LEADER_EPOCH,
        attributes={"is_transactional": is_transactional},
        **producer,
    )
    return VectorCase(
        format="kafka_encoded",
        name=name,
        why=why,
        verdict="valid",
        data=part.data,
        source=BUILDER,
        encode={
            "codec": CODECS[codec],
            "is_transactional": is_transactional,
            **producer,
            "producer_id": str(producer["producer_id"]),
            "records": [requested(one) for one in records],
        },
    )


def requested(record: Rec) -> dict[str, Any]:
    """Return *record* as a request has it; its offset is its number."""
    row = record.row(timestamp=record.time, timestamp_type=None).json()
    headers = [
        {"key": key.hex(), "value": None if value is None else value.hex()}
        for key, value in record.headers
    ]
    return {
        "timestamp": str(record.time),
        "key": row["key"],
        "value": row["value"],
        "headers": headers,
    }


def keys_and_values() -> Iterator[VectorCase]:
    yield encoded("one-record", "What every encoder must get right first.", [rec(0)])
    yield encoded("three-records", "Offsets count from 0.", [rec(0), rec(1), rec(2, b"last")])
    yield encoded("null-key", "No key is not an empty one: its length is -1.", [rec(0, key=None)])
    yield encoded("null-value", "A tombstone: the length of its value is -1.", [rec(0, None)])
    yield encoded("null-key-and-value", "A record of nothing but its time.", [rec(0, None, None)])
    yield encoded(
        "empty-key-and-value", "Empty is not null: the lengths are 0.", [rec(0, b"", b"")]
    )
    yield encoded(
        "value-of-63-bytes",
        "The longest value whose length is a varint of one byte.",
        [rec(0, bytes(63), None)],
    )
    yield encoded(
        "value-of-64-bytes",
        "The shortest value whose length is a varint of two bytes.",
        [rec(0, bytes(64), None)],
    )
    yield encoded(
        "66-records",
        "Offset deltas from 64 on are varints of two bytes.",
        [rec(number, None, None, time=T0) for number in range(66)],
    )


def headers() -> Iterator[VectorCase]:
    for name, pairs, why in (
        ("header", [(b"name", b"value")], "A header with a value."),
        ("header-of-a-null-value", [(b"name", None)], "The length of its value is -1."),
        ("header-of-an-empty-value", [(b"name", b"")], "The length of its value is 0."),
        ("header-of-an-empty-key", [(b"", b"value")], "A key may be empty, and never null."),
        (
            "header-key-twice",
            [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")],
            "A key may come again: all headers stay, in their order.",
        ),
        (
            "header-key-of-two-bytes-per-character",
            [("clé".encode() * 20, b"v")],
            "The length counts bytes of UTF-8, not characters.",
        ),
    ):
        yield encoded(name, why, [rec(0, headers=pairs)])


def timestamps() -> Iterator[VectorCase]:
    yield encoded(
        "times-go-back",
        "The second record is the newest, the third older than the first: deltas have signs.",
        [rec(0, time=T0), rec(1, time=T0 + 500), rec(2, time=T0 - 500)],
    )
    yield encoded(
        "times-far-apart",
        "The times are 2^40 milliseconds apart: the delta is a varlong of six bytes.",
        [rec(0, time=0), rec(1, time=1 << 40)],
    )
    yield encoded(
        "time-0", "The first millisecond of 1970 is a time.", [rec(0, time=0), rec(1, time=1)]
    )


def producers() -> Iterator[VectorCase]:
    two = [rec(0), rec(1)]
    yield encoded("idempotent", "An id, an epoch and a sequence.", two, **IDEMPOTENT)
    yield encoded(
        "idempotent-from-sequence-0",
        "The first batch of a producer.",
        two,
        producer_id=1 << 40,
        producer_epoch=0,
        base_sequence=0,
    )
    yield encoded(
        "idempotent-at-the-end-of-sequences",
        "The second record has sequence 0, after 2^31-1; the batch has the first one's.",
        two,
        producer_id=0,
        producer_epoch=32767,
        base_sequence=2**31 - 1,
    )
    yield encoded(
        "transactional", "The bit of a transaction.", two, is_transactional=True, **IDEMPOTENT
    )


def compressed() -> Iterator[VectorCase]:
    three = [rec(number, b"value " * 20, headers=[(b"h", None)]) for number in range(3)]
    for name, codec in (("gzip", GZIP), ("snappy", SNAPPY), ("lz4", LZ4), ("zstd", ZSTD)):
        yield encoded(
            name, f"All records are compressed with {name}, the header is not.", three, codec
        )
    yield encoded(
        "gzip-transactional",
        "The codec and the transaction are in the same field.",
        three,
        GZIP,
        is_transactional=True,
        **IDEMPOTENT,
    )
