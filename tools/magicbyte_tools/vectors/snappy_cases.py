"""Test vectors of snappy in v2 batches: raw blocks, and streams of xerial's snappy-java."""

from collections.abc import Iterator

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import i32
from magicbyte_tools.vectors.framers import SNAPPY, XERIAL, snappy, snappy_copy, xerial
from magicbyte_tools.vectors.sections import AGAIN, HALF, PLAIN, REALLY, CodecCases


def cases() -> Iterator[VectorCase]:
    codec = CodecCases(SNAPPY, "SnappyInputStream")
    block = snappy(PLAIN)
    yield codec.sound(
        "v2-snappy",
        xerial(block),
        "xerial's stream around a block, as Java writes it; most libraries know the block alone.",
    )
    yield codec.sound(
        "v2-snappy-raw",
        block,
        "One raw block, as librdkafka writes it; who waits for xerial's magic fails.",
        classes=[86],
    )
    yield codec.sound(
        "v2-snappy-really-compressed",
        bytes.fromhex(REALLY["snappy"]),
        "What snappy really writes: literals, and copies of what came before.",
        records=AGAIN,
    )
    yield codec.sound(
        "v2-snappy-xerial-two-chunks",
        xerial(snappy(PLAIN[:HALF]), snappy(PLAIN[HALF:])),
        "Java cuts at 32 KiB, in the middle of a record.",
    )
    yield codec.sound(
        "v2-snappy-xerial-empty-chunk",
        xerial(snappy(b""), block),
        "A chunk of no bytes adds none, and is not the end.",
    )
    yield codec.doubtful(
        "v2-snappy-xerial-two-streams",
        xerial(snappy(PLAIN[:HALF])) + xerial(snappy(PLAIN[HALF:])),
        "A second header in the place of a chunk's length begins another stream.",
        reason="snappy-java reads on. No producer writes two streams, and other clients safely "
        "refuse the second.",
        source="SnappyInputStream.hasNextChunk",
    )
    little = xerial(block, versions=b"\1\0\0\0\1\0\0\0")
    yield codec.doubtful(
        "v2-snappy-xerial-versions-little-endian",
        little,
        "An old Redpanda wrote the two versions of xerial's header the other way round.",
        classes=[85],
        source="Redpanda PR 25092; differences D11",
        made="versions 01000000 01000000",
        reason="snappy-java compares nothing in the first header. A reader that compares the "
        "versions for equality takes the stream for a raw block, and fails.",
    )
    yield codec.doubtful(
        "v2-snappy-xerial-version-2",
        xerial(block, versions=b"\0\0\0\2\0\0\0\2"),
        "A version of xerial's stream that was never written.",
        classes=[85],
        source="SnappyInputStream.readHeader",
        made="versions 2 and 2",
        reason="snappy-java does not compare the versions of the first header; a reader that "
        "knows version 1 alone may refuse.",
    )
    for count in (1, 3):
        yield codec.doubtful(
            f"v2-snappy-xerial-{count}-bytes-left",
            xerial(block) + b"\0" * count,
            "Too few bytes for the length of a chunk follow the last one.",
            code="codec-error",
            classes=[84],
            source="differences D12; franz-go compression_test",
            made=f"{count} zeros behind the last chunk",
            reason="snappy-java ends its stream without a word; librdkafka and others refuse. "
            "Nothing writes such bytes.",
        )
    yield codec.doubtful(
        "v2-snappy-xerial-second-header-wrong",
        xerial(block) + XERIAL[:4] + b"nothing else",
        "What looks like the header of a second stream is none.",
        code="codec-error",
        classes=[84],
        source="SnappyInputStream.hasNextChunk; differences D12",
        made="behind the first stream the first half of xerial's magic, then text",
        reason="snappy-java ends its stream without a word, and what follows is lost.",
    )
    for name, section, why, classes, made in (
        (
            "empty",
            b"",
            "No bytes are no block: even an empty one has its length.",
            [84],
            "no bytes where records are counted",
        ),
        (
            "raw-claims-4-gib",
            snappy(PLAIN, claimed=2**32 - 1),
            "A buffer made by what the block claims takes 4 GiB.",
            [82],
            "the block claims to hold 2^32-1 bytes",
        ),
        (
            "raw-claims-less",
            snappy(PLAIN, claimed=len(PLAIN) - 1),
            "More comes out than was claimed: into a buffer of that size it would overflow.",
            [82],
            "the block claims to hold a byte less than it does",
        ),
        (
            "raw-claims-more",
            snappy(PLAIN, claimed=len(PLAIN) + 1),
            "Less comes out than was claimed: the rest of the buffer would be old memory.",
            [82],
            "the block claims to hold a byte more than it does",
        ),
        (
            "raw-copy-from-before-the-start",
            snappy(PLAIN[:10], claimed=20) + snappy_copy(offset=50, length=10),
            "A copy from before the first byte reads memory that is not the reader's.",
            [82],
            "ten literals and a copy from 50 bytes back",
        ),
        (
            "raw-length-of-6-bytes",
            b"\x80" * 5 + b"\x01" + block,
            "The length that begins a block has 32 bits, and so 5 bytes at most.",
            [82],
            "a length that does not end in 5 bytes",
        ),
        (
            "xerial-chunk-length-negative",
            XERIAL + b"\0\0\0\1\0\0\0\1" + i32(-1) + block,
            "Added to a position, the length leads backwards.",
            [83],
            "a chunk of -1 bytes",
        ),
        (
            "xerial-chunk-of-2-gib",
            XERIAL + b"\0\0\0\1\0\0\0\1" + i32(2**31 - 1) + block,
            "A buffer made by a chunk's length takes 2 GiB (CVE-2023-43642).",
            [83],
            "a chunk of 2^31-1 bytes",
        ),
        (
            "xerial-chunk-cut",
            xerial(block)[:-5],
            "The last chunk is shorter than it says, and must not be taken for the end.",
            [84],
            "the last 5 bytes are missing",
        ),
        (
            "xerial-second-version-0",
            xerial(block) + xerial(snappy(b""), versions=bytes(8)),
            "snappy-java compares the version of a second header, not that of the first.",
            [85],
            "a second stream of version 0",
        ),
    ):
        yield codec.refused(f"v2-snappy-{name}", section, why, made, classes=classes)
    yield codec.refused(
        "v2-snappy-xerial-header-alone",
        xerial(),
        "A stream without chunks is a stream of no bytes: the records are missing.",
        "xerial's header and nothing behind it",
        classes=[84],
        source="franz-go compression_test",
        code="bad-record-count",
        payload_position=0,
    )
