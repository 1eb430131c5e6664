"""Test vectors of wrappers: v0 and v1 messages whose value is a compressed set of messages."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import (
    T0,
    EntryPart,
    bad,
    batch,
    flipped,
    i32,
    message,
    patched,
    rec,
    sealed,
    wrapper,
)
from magicbyte_tools.vectors.framers import GZIP, LZ4, SNAPPY, compress, gzip, lz4, snappy
from magicbyte_tools.vectors.log_case import between, either, invalid, last, valid

WRAPPER = "AbstractLegacyRecordBatch.DeepRecordsIterator"
CODECS = {"gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4}
THREE = rec(4, b"four"), rec(5, b"five"), rec(6, b"six")


def cases() -> Iterator[VectorCase]:
    for magic in (0, 1):
        for name, codec in CODECS.items():
            yield valid(
                f"v{magic}-{name}",
                "The wrapper has the offset of the last message; those inside have "
                + ("their own." if magic == 0 else "relative ones, counted from the first."),
                wrapper(*THREE, codec=codec, magic=magic),
                source=WRAPPER,
            )
        yield from offsets(magic)
        yield from contents(magic)
    yield from timestamps()
    yield from framings()


def offsets(magic: int) -> Iterator[VectorCase]:
    how = "absolute" if magic == 0 else "relative"
    one, _, three = THREE
    yield valid(
        f"v{magic}-wrapper-with-gaps",
        f"The cleaner took the middle message: the others keep their {how} offsets.",
        wrapper(one, three, codec=GZIP, magic=magic),
        classes=[36],
        source="MemoryRecords.filterTo; KAFKA-5365",
    )
    if magic == 0:
        part = wrapper(*THREE, codec=GZIP, magic=0, offset=0)
        yield valid(
            "v0-wrapper-offset-0",
            "Offsets inside a v0 wrapper are absolute: the wrapper's own changes none.",
            part,
            classes=[35],
            source="testIterateCompressedRecordWithWrapperOffsetZero",
        )
        return
    start = rec(0, b"zero"), rec(1, b"one"), rec(2, b"two")
    yield valid(
        "v1-wrapper-offset-0",
        "Old librdkafka left the wrapper's offset 0; counted from the last message, the first "
        "would have -2.",
        wrapper(*start, codec=GZIP, offset=0),
        classes=[35],
        source="testIterateCompressedRecordWithWrapperOffsetZero",
    )
    yield valid(
        "v1-wrapper-last-removed",
        "The last message left defines the base: its relative offset is 1, the wrapper's 5.",
        wrapper(*THREE[:2], codec=GZIP, offset=5),
        classes=[36],
        source=WRAPPER,
    )
    yield valid(
        "v1-wrapper-absolute-offsets-inside",
        "A producer wrote absolute offsets inside: the same formula gives them back.",
        wrapper(*THREE, codec=GZIP, relative_from=0),
        classes=[35],
        source=WRAPPER,
    )
    low = wrapper(rec(1), rec(2), rec(3), codec=GZIP, offset=1, relative_from=1)
    yield invalid(
        "v1-wrapper-offset-below-the-last-inside",
        "The last message inside has the relative offset 2: the first would lie at -1.",
        between(bad(low), magic),
        code="bad-wrapper",
        classes=[34],
        payload_position=0,
        source="testInvalidWrapperOffsetV1; differences D5",
        made="a wrapper of three with the offset of the first",
    )


def contents(magic: int) -> Iterator[VectorCase]:
    def refused(name: str, part: EntryPart, why: str, made: str, **fields: Any) -> VectorCase:
        defaults: dict[str, Any] = {
            "code": "bad-wrapper",
            "caught_by": "codec",
            "payload_position": 0,
        }
        parts = between(bad(part), magic)
        return invalid(
            f"v{magic}-{name}", why, parts, source=WRAPPER, made=made, **defaults | fields
        )

    def of(inside: bytes, codec: int = GZIP) -> EntryPart:
        return wrapper(rec(1), codec=codec, magic=magic, inside=inside)

    inner = message(rec(0 if magic else 1), magic=magic)
    yield refused(
        "wrapper-null-value",
        wrapper(rec(1), codec=GZIP, magic=magic, value=None),
        "A compressed message must hold something to decompress.",
        "the value is null",
        classes=[32],
        payload_position=None,
    )
    yield refused(
        "wrapper-around-nothing",
        of(b""),
        "The wrapper's offset is taken, and no message is there for it.",
        "a gzip member of no bytes",
        classes=[33],
    )
    nested = wrapper(rec(0 if magic else 1), codec=GZIP, magic=magic)
    yield refused(
        "wrapper-in-a-wrapper",
        of(nested.data),
        "Each level may multiply the size by a thousand; Kafka reads one and no more.",
        "a gzip wrapper inside a gzip wrapper",
        classes=[38],
    )
    yield refused(
        "wrapper-inner-crc",
        of(flipped(inner, len(inner) - 1).data),
        "The wrapper's checksum covers the compressed bytes; a producer's bug lies below it.",
        "the last letter of the message inside is another",
        classes=[25],
        code="record-checksum-mismatch",
    )
    yield refused(
        "wrapper-inner-size-13",
        of(patched(inner, 8, i32(13)).data),
        "The size of a message inside is checked like that of one outside.",
        "the size of the message inside is 13",
        classes=[5],
    )
    yield refused(
        "wrapper-inner-v2",
        of(batch(rec(0 if magic else 1)).data),
        "A batch of v2 has its own compression, and never lies in a wrapper.",
        "a v2 batch inside",
        classes=[37],
    )
    yield refused(
        "wrapper-inner-key-beyond",
        of(sealed(inner, 18 if magic == 0 else 26, i32(100)).data),
        "The key of a message inside claims bytes of the next one.",
        "the length of the inner key overwritten with 100, and the right checksum",
        classes=[28],
        code="bad-message",
    )
    yield refused(
        "wrapper-of-zstd",
        wrapper(rec(1), codec=4, magic=magic, section=compress(4, inner.data)),
        "zstd needs v2: a broker refuses this, though one client writes it.",
        "codec 4, and a zstd frame as the value",
        classes=[31],
        payload_position=None,
        code="codec-not-allowed",
    )
    yield refused(
        "wrapper-value-plain",
        wrapper(rec(1), codec=GZIP, magic=magic, section=inner.data),
        "The attributes say gzip, and the value was never compressed.",
        "the messages as they are, and codec 1",
        classes=[93],
        payload_position=None,
        code="codec-error",
    )
    other = 1 - magic
    mixed = wrapper(*THREE, codec=GZIP, magic=magic, inner_magic=other)
    yield either(
        f"v{magic}-wrapper-around-v{other}",
        "An old cleaner wrote wrappers of a new format around old messages; the wrapper's "
        "format says how offsets count, the message's own where its fields lie.",
        [mixed, last(mixed, magic)],
        doubtful=0,
        caught_by="codec",
        reason="Kafka reads both formats silently. Only an old cleaner wrote such wrappers, and "
        "many clients refuse them, which loses no record silently.",
        classes=[37],
        findings=[("inner-magic-differs", 0)],
        source="KAFKA-4298; differences D8",
    )
    second = message(rec(1 if magic else 2, b"cut off"), magic=magic)
    torn = wrapper(
        rec(1, b"whole"),
        codec=GZIP,
        magic=magic,
        inside=message(rec(0 if magic else 1, b"whole", time=T0 + 1), magic=magic).data
        + second.data[:-3],
    )
    yield valid(
        f"v{magic}-wrapper-ends-inside-a-message",
        "The set inside ends in the middle of a message. Kafka drops that one without a word.",
        torn,
        last(torn, magic),
        classes=[39],
        findings=[("inner-message-cut", 0)],
        source="differences D25",
        made="the last three bytes of the messages inside are missing",
    )
    keyed = wrapper(*THREE, codec=GZIP, magic=magic, key=b"a key")
    yield valid(
        f"v{magic}-wrapper-with-a-key",
        "A wrapper is written without a key; nothing checks it, and it belongs to no record.",
        keyed,
        source=WRAPPER,
    )


def timestamps() -> Iterator[VectorCase]:
    yield valid(
        "v1-wrapper-create-time",
        "Each message inside keeps its own time; the wrapper's is only the largest.",
        wrapper(rec(0, time=T0 + 500), rec(1, time=T0), codec=GZIP),
        source="KIP-32",
    )
    yield valid(
        "v1-wrapper-log-append-time",
        "The wrapper's time is that of every message inside, whatever they say themselves.",
        wrapper(*THREE, codec=GZIP, append_time=T0 + 9000),
        source="KIP-32",
    )
    inside = b"".join(
        message(replace(one, offset=number), attributes={"timestamp_type": 1}).data
        for number, one in enumerate(THREE)
    )
    yield valid(
        "v1-wrapper-append-time-bit-inside",
        "The messages inside claim the append time; the wrapper decides, and says otherwise.",
        wrapper(*THREE, codec=GZIP, inside=inside),
        classes=[42],
        source=WRAPPER,
    )
    yield valid(
        "v1-wrapper-no-timestamps",
        "No message has a time, so the largest is none too.",
        wrapper(rec(0, time=-1), rec(1, time=-1), codec=GZIP),
        source="KIP-32",
    )


def framings() -> Iterator[VectorCase]:
    for magic in (0, 1):
        inside = b"".join(
            message(replace(one, offset=one.offset if magic == 0 else n), magic=magic).data
            for n, one in enumerate(THREE)
        )
        yield valid(
            f"v{magic}-snappy-raw",
            "librdkafka writes one raw snappy block, Java xerial's stream: only the bytes "
            "tell them apart.",
            wrapper(*THREE, codec=SNAPPY, magic=magic, section=snappy(inside)),
            classes=[86],
            source="kafka-formats: snappy; SnappyInputStream.readHeader",
        )
        yield valid(
            f"v{magic}-gzip-two-members",
            "gzip members one after another are one stream; the first ends inside a message.",
            wrapper(*THREE, codec=GZIP, magic=magic, section=gzip(inside[:40]) + gzip(inside[40:])),
            classes=[91],
            source="GZIPInputStream",
        )
    inside = b"".join(message(one, magic=0).data for one in THREE)
    right = wrapper(*THREE, codec=LZ4, magic=0, section=lz4(inside))
    yield valid(
        "v0-lz4-right-header-checksum",
        "Kafka does not look at the header's checksum in v0, so the right one does as well as "
        "the one that covers the frame's magic too.",
        right,
        classes=[41],
        source="KAFKA-3160; differences D9",
    )
    neither = wrapper(*THREE, codec=LZ4, magic=0, section=lz4(inside, checksum=0x00))
    yield either(
        "v0-lz4-no-header-checksum-at-all",
        "The header's checksum is neither the right one nor Kafka's old one.",
        [neither, last(neither, 0)],
        doubtful=0,
        caught_by="codec",
        classes=[41],
        source="KAFKA-3160",
        made="a header checksum of 0",
        reason="Kafka since 0.10 skips the byte in v0; 0.8 and 0.9 wanted the old value. A reader "
        "may accept both values and no other.",
    )
    relative = message(replace(rec(1), offset=0)).data
    old = wrapper(rec(1), codec=LZ4, section=lz4(relative, is_kafka_3160=True))
    yield invalid(
        "v1-lz4-kafka-3160",
        "The old header checksum is legal in v0 alone; 'magic below 2' is a common mistake.",
        between(bad(old), 1),
        code="codec-error",
        classes=[41, 87],
        source="KIP-57; differences D9",
        made="an LZ4 header checksum that covers the frame's magic",
    )
