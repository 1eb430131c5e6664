"""Test vectors of uncompressed v0 and v1 messages."""

from collections.abc import Iterator
from functools import partial

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import T0, EntryPart, bad, i32, message, rec, sealed
from magicbyte_tools.vectors.log_case import NEGATIVE_LENGTH, between, either, invalid, last, valid

LEGACY = "LegacyRecord, AbstractLegacyRecordBatch"
OFS_LEN_KEY = {0: 18, 1: 26}
"""Position of the key's length in a log entry, by magic."""


def cases() -> Iterator[VectorCase]:
    for magic in (0, 1):
        yield from sound(magic)
        yield from lengths(magic)
        yield from attributes(magic)
    yield from timestamps()


def sound(magic: int) -> Iterator[VectorCase]:
    one = partial(valid, source=LEGACY)
    yield one(
        f"v{magic}-one-message",
        "The simplest entry of its format: a key, a value, and a CRC-32, not a CRC-32C.",
        message(rec(0), magic=magic),
    )
    yield one(
        f"v{magic}-null-key",
        "A length of -1 is no key, which is not an empty one.",
        message(rec(0, key=None), magic=magic),
    )
    yield one(
        f"v{magic}-empty-key-and-value",
        "A length of 0 is an empty key or value, which is not none.",
        message(rec(0, b"", b""), magic=magic),
    )
    yield one(
        f"v{magic}-tombstone",
        "A message without a value deletes its key from a compacted topic.",
        message(rec(0, None), magic=magic),
    )
    yield one(
        f"v{magic}-null-key-and-value",
        "The least message there is: all fixed fields, and nothing else.",
        message(rec(0, None, None), magic=magic),
    )
    yield one(
        f"v{magic}-highest-offset",
        "Offsets are 64 bits wide, with a sign; in a language of doubles they lose their end.",
        message(rec(2**63 - 1, time=T0), magic=magic),
    )


def lengths(magic: int) -> Iterator[VectorCase]:
    part = message(rec(1, b"value", b"key"), magic=magic)
    at_key = OFS_LEN_KEY[magic]
    at_value = at_key + 4 + len(b"key")
    for field, at in (("key", at_key), ("value", at_value)):
        yield invalid(
            f"v{magic}-{field}-beyond-the-message",
            f"The {field} claims bytes of the next entry, under a right checksum.",
            between(bad(sealed(part, at, i32(100))), magic),
            code="bad-message",
            classes=[28],
            source="differences D18; kafka-php v1_magic_cut",
            made=f"the length of the {field} overwritten with 100, and the right checksum",
        )
        yield invalid(
            f"v{magic}-{field}-of-2-gib",
            "A buffer made by this length before it is compared with the bytes takes 2 GiB.",
            between(bad(sealed(part, at, i32(2**31 - 1))), magic),
            code="bad-message",
            classes=[28],
            source="differences D18",
            made=f"the length of the {field} overwritten with 2^31-1, and the right checksum",
        )
    # A null key takes no bytes: the value's length now begins at the key's old bytes.
    nothing = message(rec(1, b"value", None), magic=magic)
    tombstone = message(rec(1, None, b"key"), magic=magic)
    for field, whole, at in (("key", nothing, at_key), ("value", tombstone, at_value)):
        for length, name in ((-2, "minus-2"), (-(2**31), "least-int32")):
            negative = sealed(whole, at, i32(length))
            yield either(
                f"v{magic}-{field}-length-{name}",
                "Any negative length is null to Kafka; a reader that asks for -1 alone goes "
                "backwards, or allocates.",
                [negative, last(negative, magic)],
                doubtful=0,
                caught_by="grammar",
                classes=[27],
                findings=[("negative-length", 0)],
                source="differences D22",
                reason=NEGATIVE_LENGTH,
                made=f"the length of the null {field} overwritten, and the right checksum",
            )
    # Batches of v2 around it, as after an upgrade: a reader that goes on at the byte after the value
    # takes other bytes for the size of the next entry.
    longer = message(rec(1), magic=magic, trailing=b"more")
    yield either(
        f"v{magic}-bytes-behind-the-value",
        "The message goes on behind its value, and the checksum covers that.",
        between(longer),
        caught_by="exact",
        classes=[29],
        findings=[("message-bytes-unread", 1)],
        source="differences D24",
        made="four bytes behind the value, counted in the size",
        reason="Kafka's reader never compares the end of the value with the size. Nothing writes "
        "such bytes; refusing them loses the record, ignoring them the bytes.",
    )
    inexact = sealed(part, at_value, i32(2))
    yield either(
        f"v{magic}-value-shorter-than-its-bytes",
        "The value's length is 2 where 5 bytes are: what is cut off is not seen.",
        between(
            EntryPart(
                inexact.data, message(rec(1, b"va", b"key"), magic=magic).rows, inexact.next_offset
            ),
            magic,
        ),
        caught_by="exact",
        classes=[29],
        findings=[("message-bytes-unread", 1)],
        source="differences D24",
        made="the length of the value overwritten with 2, and the right checksum",
        reason="As with bytes behind a value: Kafka reads what the length says.",
    )


def attributes(magic: int) -> Iterator[VectorCase]:
    part = message(rec(1), magic=magic)
    at = 17
    for codec in (5, 6, 7):
        yield invalid(
            f"v{magic}-codec-{codec}",
            "No codec has this number: the value is compressed by nobody knows what.",
            between(bad(sealed(part, at, bytes([codec]))), magic),
            code="unknown-codec",
            classes=[30],
            source="CompressionType.forId",
            made=f"codec {codec} in the attributes, and the right checksum",
        )
    yield valid(
        f"v{magic}-reserved-bits",
        "Bits 4 to 7 mean nothing; a reader that compares the whole byte sees another codec.",
        message(rec(0), magic=magic, attributes={"reserved": 0b1010}),
        classes=[50],
        source=LEGACY,
    )


def timestamps() -> Iterator[VectorCase]:
    yield valid(
        "v1-no-timestamp",
        "-1 stands for no time; it is not a millisecond before 1970.",
        message(rec(0, time=-1)),
        source="RecordBatch.NO_TIMESTAMP",
    )
    yield valid(
        "v1-log-append-time",
        "Bit 3 says that the broker's clock gave the time.",
        message(rec(0), append_time=T0 + 5000),
        source="KIP-32",
    )
    yield valid(
        "v1-timestamp-0",
        "0 is the first millisecond of 1970, and not no time.",
        message(rec(0, time=0)),
        source=LEGACY,
    )
    yield valid(
        "v1-timestamp-negative",
        "Writers refuse times below -1, readers take them as they are.",
        message(rec(0, time=-2)),
        message(rec(1, time=-(2**63))),
        classes=[42],
        source="LegacyRecord.validateTimestamp",
    )
    yield valid(
        "v1-timestamp-farthest",
        "The last millisecond of 64 bits lies beyond every calendar library.",
        message(rec(0, time=2**63 - 1)),
        classes=[42],
        source=LEGACY,
    )
    bit = message(rec(1), magic=0, attributes={"timestamp_type": 1})
    yield valid(
        "v0-timestamp-type-bit",
        "v0 has no timestamp, so its bit 3 says nothing.",
        bit,
        classes=[50],
        source="LegacyRecord.timestampType",
    )
    far = message(rec(0, time=400_000 * 365 * 86_400_000))
    yield valid(
        "v1-timestamp-beyond-spark",
        "Spark counts microseconds in 64 bits, so this time overflows there and becomes null, "
        "with the finding timestamp-out-of-range; every other front gives it as it is.",
        far,
        front="spark",
        front_code="timestamp-out-of-range",
        source="a limit of Spark",
    )
