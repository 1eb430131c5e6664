"""Test vectors of LZ4 in v2 batches: frames that Kafka's Lz4BlockInputStream accepts or refuses."""

from collections.abc import Iterator

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import payload, rec
from magicbyte_tools.vectors.framers import (
    BLOCK_CHECKSUM,
    CONTENT_CHECKSUM,
    CONTENT_SIZE,
    LZ4,
    lz4,
    lz4_packed,
    lz4_plain,
    lz4_sequence,
)
from magicbyte_tools.vectors.sections import AGAIN, HALF, PLAIN, REALLY, CodecCases

EVERYTHING = BLOCK_CHECKSUM | CONTENT_SIZE | CONTENT_CHECKSUM
"""Flags of all options of a frame that Kafka reads."""

EMPTY_BLOCK = lz4_packed(lz4_sequence(b""))
"""A compressed block that decompresses to no bytes."""


def cases() -> Iterator[VectorCase]:
    codec = CodecCases(LZ4, "Lz4BlockInputStream")
    whole = lz4(PLAIN)
    yield codec.sound("v2-lz4", whole, "A frame of independent blocks, as Java writes it.")
    yield codec.sound(
        "v2-lz4-really-compressed",
        lz4(payload(*AGAIN), blocks=[lz4_packed(bytes.fromhex(REALLY["lz4"]))]),
        "What lz4 writes: literals and copies, in a frame.",
        records=AGAIN,
    )
    flags = {
        "block-checksums": (BLOCK_CHECKSUM, "4 bytes behind each block, which Kafka verifies."),
        "content-size": (CONTENT_SIZE, "8 bytes in the header, which Kafka does not look at."),
        "content-checksum": (
            CONTENT_CHECKSUM,
            "4 bytes behind the end mark, which are no other frame.",
        ),
        "all-options": (
            EVERYTHING,
            "All that a frame may have beside its blocks: each moves what comes behind it.",
        ),
    }
    for name, (flag, why) in flags.items():
        yield codec.sound(
            f"v2-lz4-{name}",
            lz4(PLAIN, flg=0x60 | flag),
            why,
            classes=[90],
            source="KAFKA-9203; librdkafka v2_lz4",
        )
    yield codec.sound(
        "v2-lz4-blocks-of-4-mib",
        lz4(PLAIN, bd=0x70),
        "The largest size of blocks that a frame may announce: 4 MiB, which it need not fill.",
    )
    literals = lz4_packed(lz4_sequence(PLAIN[HALF:]))
    yield codec.sound(
        "v2-lz4-two-blocks",
        lz4(PLAIN, blocks=[lz4_plain(PLAIN[:HALF]), literals]),
        "A block as it is and a compressed one, cut inside a record.",
    )
    yield codec.sound(
        "v2-lz4-end-mark-with-the-high-bit",
        lz4(PLAIN, end_mark=b"\0\0\0\x80"),
        "A block of no bytes, uncompressed: Kafka takes the high bit away before it compares.",
    )
    run = rec(1, b"a" * 300)
    head = payload(run)
    at = head.index(b"a" * 300) + 1
    yield codec.sound(
        "v2-lz4-copy-that-overlaps",
        lz4(
            head,
            blocks=[
                lz4_packed(
                    lz4_sequence(head[:at], offset=1, length=290) + lz4_sequence(head[at + 290 :])
                )
            ],
        ),
        "A copy from one byte back, 290 bytes long: it reads what it has just written.",
        records=[run],
    )
    yield codec.doubtful(
        "v2-lz4-bytes-behind-the-end-mark",
        whole + b"bytes behind the frame",
        "Something follows the end mark of the frame, and the batch counts it.",
        classes=[90],
        made="text behind the end mark",
        reason="Kafka's reader ends with the frame and ignores what follows, even another frame; "
        "liblz4 leaves it to its caller.",
    )
    yield codec.doubtful(
        "v2-lz4-content-checksum-wrong",
        lz4(PLAIN, flg=0x60 | CONTENT_CHECKSUM, content_checksum=0x12345678),
        "The checksum over all that the frame holds is wrong.",
        classes=[90],
        source="differences D32; KAFKA-20528",
        made="a content checksum of 0x12345678",
        reason="Kafka reads over the 4 bytes (newer releases compare them with something else "
        "than the format defines); a reader that verifies them refuses.",
    )
    yield codec.doubtful(
        "v2-lz4-content-size-wrong",
        lz4(PLAIN, flg=0x60 | CONTENT_SIZE, content_size=len(PLAIN) + 1),
        "The frame says that it holds a byte more than it does.",
        classes=[90],
        made="a content size of one more",
        reason="Kafka skips the field; the frame format says that it must be right.",
    )
    checked = lz4(PLAIN, flg=0x60 | BLOCK_CHECKSUM)
    flipped = bytes([checked[-5] ^ 1])
    for name, section, why, classes, made in (
        (
            "wrong-magic",
            b"\5" + whole[1:],
            "No frame begins so: what it is nobody knows.",
            [87],
            "the magic altered",
        ),
        (
            "header-checksum",
            lz4(PLAIN, checksum=0),
            "The checksum of the frame's header is wrong: its flags cannot be relied on.",
            [87],
            "a header checksum of 0",
        ),
        (
            "kafka-3160",
            lz4(PLAIN, is_kafka_3160=True),
            "The checksum covers the frame's magic too, which is legal in v0 alone.",
            [41, 87],
            "the header checksum that Kafka wrote in v0",
        ),
        (
            "version-0",
            lz4(PLAIN, flg=0x20),
            "The version of frames is 1; of another one no field is known.",
            [87],
            "FLG 0x20",
        ),
        (
            "reserved-flag",
            lz4(PLAIN, flg=0x62),
            "A bit that may mean more fields in a later format.",
            [87],
            "FLG 0x62",
        ),
        (
            "reserved-in-bd",
            lz4(PLAIN, bd=0x41),
            "A bit that may mean larger blocks in a later format.",
            [87],
            "BD 0x41",
        ),
        (
            "dictionary",
            lz4(PLAIN, flg=0x61),
            "Kafka has no dictionaries: the frame's first bytes would be an id.",
            [87],
            "FLG 0x61",
        ),
        (
            "dependent-blocks",
            lz4(PLAIN, flg=0x40),
            "Blocks that may copy from the one before: Kafka reads none of them.",
            [90],
            "FLG 0x40",
        ),
        (
            "block-size-3",
            lz4(PLAIN, bd=0x30),
            "Sizes of blocks go from 4 to 7: how much a block may come to is not known.",
            [88],
            "BD 0x30",
        ),
        (
            "block-above-the-largest",
            lz4(PLAIN, blocks=[(16 << 20).to_bytes(4, "little") + PLAIN]),
            "The frame announced blocks of 64 KiB, and this one claims 16 MiB.",
            [88],
            "a block of 16 MiB, by its length alone",
        ),
        (
            "copy-from-before-the-start",
            lz4(
                PLAIN,
                blocks=[
                    lz4_packed(
                        lz4_sequence(PLAIN[:9], offset=60_000, length=20) + lz4_sequence(PLAIN[:9])
                    )
                ],
            ),
            "A copy from before the first byte reads memory that is not the reader's.",
            [88],
            "nine literals and a copy from 60000 bytes back",
        ),
        (
            "literals-beyond-the-block",
            lz4(PLAIN, blocks=[lz4_packed(b"\xf0\xff\xff\xff\x00" + PLAIN)]),
            "The block promises 780 literals, and has a few.",
            [88],
            "a sequence of 780 literals in a shorter block",
        ),
        (
            "no-end-mark",
            lz4(PLAIN, end_mark=b""),
            "The frame does not end: whether blocks are missing nobody can tell.",
            [89],
            "no end mark",
        ),
        (
            "cut",
            whole[:-9],
            "The section ends inside a block; its first records would still come out.",
            [89],
            "9 bytes are missing",
        ),
        (
            "header-alone",
            whole[:7],
            "A header and nothing else: neither a block nor an end mark.",
            [89],
            "the first 7 bytes",
        ),
        (
            "empty",
            b"",
            "No bytes are no frame: even an empty one has its magic.",
            [89],
            "no bytes where records are counted",
        ),
        (
            "block-checksum-wrong",
            checked[:-5] + flipped + checked[-4:],
            "The checksum of the block is wrong, and the batch's right: it was damaged before.",
            [90],
            "one bit of the block's checksum flipped",
        ),
        (
            "content-checksum-missing",
            lz4(PLAIN, flg=0x60 | CONTENT_CHECKSUM)[:-4],
            "The header promises a checksum behind the end mark.",
            [89],
            "FLG 0x64 and nothing behind the end mark",
        ),
    ):
        yield codec.refused(
            f"v2-lz4-{name}", section, why, made, classes=classes, source="Lz4CompressionTest"
        )
    yield from _several_blocks(codec)
    yield from _empty_blocks(codec)
    yield from _empty_and_further_frames(codec)


def _several_blocks(codec_cases: CodecCases) -> Iterator[VectorCase]:
    """Yield frames of stored and compressed blocks, with checksums and sizes around them."""
    stored = [lz4_plain(PLAIN[:HALF]), lz4_plain(PLAIN[HALF:])]
    packed = [lz4_packed(lz4_sequence(part)) for part in (PLAIN[:HALF], PLAIN[HALF:])]
    for name, blocks, flag, why in (
        ("two-stored-blocks", stored, 0, "Two blocks as they are: no byte of them is compressed."),
        (
            "two-stored-blocks-all-options",
            stored,
            EVERYTHING,
            "A checksum behind each block, and one behind the end mark.",
        ),
        (
            "two-compressed-blocks-all-options",
            packed,
            EVERYTHING,
            "A block's checksum covers the compressed bytes, the content's the others.",
        ),
    ):
        frame = lz4(PLAIN, blocks=blocks, flg=0x60 | flag)
        yield codec_cases.sound(f"v2-lz4-{name}", frame, why, classes=[90])


def _empty_blocks(codec_cases: CodecCases) -> Iterator[VectorCase]:
    """Yield frames with a block that decompresses to no bytes, before, among and after others."""
    first, second = lz4_plain(PLAIN[:HALF]), lz4_plain(PLAIN[HALF:])
    whole = lz4_plain(PLAIN)
    made = "a block of the token 0"
    for name, flag in (("behind", 0), ("behind-all-options", EVERYTHING)):
        yield codec_cases.doubtful(
            f"v2-lz4-empty-block-{name}",
            lz4(PLAIN, blocks=[whole, EMPTY_BLOCK], flg=0x60 | flag),
            "A block that decompresses to nothing, behind all records.",
            classes=[90],
            made=made,
            reason="Releases since 3.9 accept it; in 2.8 a BufferUnderflowException refuses it.",
        )
    yield codec_cases.doubtful(
        "v2-lz4-empty-block-between",
        lz4(PLAIN, blocks=[first, EMPTY_BLOCK, second]),
        "A block that decompresses to nothing, inside a record; the frame's format allows it.",
        classes=[90],
        made=made,
        code="bad-record",
        is_kafka_refusal=True,
        reason="Releases since 3.9 take it for the end of the payload, and refuse; 2.8 reads on.",
    )
    yield codec_cases.refused(
        "v2-lz4-empty-block-before",
        lz4(PLAIN, blocks=[EMPTY_BLOCK, whole]),
        "A block that decompresses to nothing, before all records: no release of Kafka reads on.",
        made,
        code="bad-record-count",
        classes=[90],
    )
    yield codec_cases.refused(
        "v2-lz4-empty-stored-block-between",
        lz4(PLAIN, blocks=[first, lz4_plain(b""), second]),
        "A stored block of no bytes is an end mark to Kafka: the records behind it are missing.",
        "a block length of 0x80000000 between two stored blocks",
        code="bad-record",
        classes=[90],
    )


def _empty_and_further_frames(codec_cases: CodecCases) -> Iterator[VectorCase]:
    """Yield sections of an empty frame, and of several frames one after the other."""
    empty = lz4(b"", blocks=[])
    empty_with_options = lz4(b"", blocks=[], flg=0x60 | EVERYTHING)
    one_frame = "Kafka reads nothing behind an end mark"
    for name, code, section, why, made in (
        (
            "empty-frame",
            "bad-record-count",
            empty,
            "A header and an end mark: records are counted, and none is there.",
            "a frame without blocks",
        ),
        (
            "empty-frame-all-options",
            "bad-record-count",
            empty_with_options,
            "A content size of 0 and the checksum of no bytes: records are counted, none is there.",
            "a frame without blocks, FLG 0x7c",
        ),
        (
            "empty-frame-before",
            "bad-record-count",
            empty + lz4(PLAIN),
            f"{one_frame}: the records lie in the second frame.",
            "an empty frame before another",
        ),
        (
            "two-frames",
            "bad-record",
            lz4(PLAIN[:HALF]) + lz4(PLAIN[HALF:]),
            f"{one_frame}: the second half of the records is lost.",
            "a frame for each half",
        ),
    ):
        yield codec_cases.refused(f"v2-lz4-{name}", section, why, made, code=code, classes=[90])
    yield codec_cases.doubtful(
        "v2-lz4-empty-frame-behind",
        lz4(PLAIN) + empty,
        "An empty frame follows that of the records.",
        classes=[90],
        made="a frame without blocks behind the end mark",
        reason="Kafka's reader ends with the first frame and ignores what follows.",
    )
