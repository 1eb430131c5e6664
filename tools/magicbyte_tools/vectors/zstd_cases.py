"""Test vectors of zstd in v2 batches: frames of RFC 8878 that zstd-jni accepts or refuses."""

from collections.abc import Iterator

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import payload, rec
from magicbyte_tools.vectors.framers import (
    ZSTD,
    zstd,
    zstd_block,
    zstd_raw,
    zstd_run,
    zstd_skippable,
)
from magicbyte_tools.vectors.sections import AGAIN, HALF, PLAIN, REALLY, CodecCases


def cases() -> Iterator[VectorCase]:
    codec = CodecCases(ZSTD, "ZstdInputStream")
    whole = zstd(zstd_raw(PLAIN))
    yield codec.sound(
        "v2-zstd",
        whole,
        "A frame that does not say how much it holds, as Java streams it: one call with a size fails.",
    )
    yield codec.sound(
        "v2-zstd-really-compressed",
        bytes.fromhex(REALLY["zstd"]),
        "What zstd writes: a compressed block, and a checksum behind it.",
        records=AGAIN,
    )
    yield codec.sound(
        "v2-zstd-content-size",
        zstd(zstd_raw(PLAIN), content_size=len(PLAIN)),
        "A frame that says how much it holds, as librdkafka writes it.",
    )
    run = rec(1, b"z" * 3000)
    head = payload(run)
    at = head.index(b"z" * 3000)
    pieces = [
        zstd_raw(head[:at], is_last=False),
        zstd_run(b"z", 3000),
        zstd_raw(head[at + 3000 :]),
    ]
    yield codec.sound(
        "v2-zstd-run",
        zstd(*pieces, content_size=len(head)),
        "A block of one byte that stands for 3000, and counts as 3000 against a limit.",
        source="RFC 8878",
        records=[run],
    )
    yield codec.sound(
        "v2-zstd-two-frames",
        zstd(zstd_raw(PLAIN[:HALF])) + zstd(zstd_raw(PLAIN[HALF:])),
        "Frames one after another are one stream; many libraries stop behind the first.",
        classes=[92],
    )
    yield codec.sound(
        "v2-zstd-skippable-frames",
        zstd_skippable(b"before") + whole + zstd_skippable(b""),
        "Frames that decoders skip, before and behind.",
        classes=[92],
        source="RFC 8878",
    )
    huge = b"\x28\xb5\x2f\xfd\xe0" + (8 << 30).to_bytes(8, "little")
    yield codec.refused(
        "v2-zstd-claims-8-gib",
        huge + zstd_raw(PLAIN),
        "A buffer made by what the frame claims takes 8 GiB.",
        "a content size of 8 GiB",
        classes=[81],
        source="franz-go TestDecompressZstdHugeClaim; redpanda #1726",
        code="batch-over-limit",
    )
    yield codec.refused(
        "v2-zstd-empty",
        b"",
        "No frame at all is a stream of no bytes: the records are missing.",
        "no bytes where records are counted",
        classes=[92],
        code="bad-record-count",
        payload_position=0,
    )
    for name, section, why, classes, made in (
        (
            "wrong-magic",
            b"\0" + whole[1:],
            "No frame begins so: what it is nobody knows.",
            [92],
            "the magic altered",
        ),
        (
            "cut",
            whole[:-5],
            "The frame is cut, and some clients return what there is without an error.",
            [92],
            "5 bytes are missing",
        ),
        (
            "without-a-last-block",
            zstd(zstd_raw(PLAIN, is_last=False)),
            "All records are there; the frame has not ended.",
            [92],
            "no block is flagged as the last",
        ),
        (
            "content-size-wrong",
            zstd(zstd_raw(PLAIN), content_size=len(PLAIN) + 1),
            "The frame says that it holds a byte more than it does.",
            [92],
            "a content size of one more",
        ),
        (
            "reserved-block",
            zstd(zstd_block(3, len(PLAIN), PLAIN)),
            "Blocks are of the kinds 0 to 2: where this one ends nobody knows.",
            [92],
            "a block of kind 3",
        ),
        (
            "garbage-behind",
            whole + b"garbage behind",
            "What follows the frame begins no other; all records came out before it.",
            [92],
            "text behind the frame",
        ),
        (
            "second-frame-cut",
            zstd(zstd_raw(PLAIN[:HALF])) + zstd(zstd_raw(PLAIN[HALF:]))[:-4],
            "Whether Java sees it hangs on where the cut is; here never half a stream is given.",
            [92],
            "two frames, the last 4 bytes missing",
        ),
        (
            "checksum-wrong",
            bytes.fromhex(REALLY["zstd"])[:-1] + b"\0",
            "The frame's own checksum is wrong, though all of it decompresses.",
            [92],
            "the last byte of the checksum is 0",
        ),
        (
            "window-of-4-gib",
            b"\x28\xb5\x2f\xfd\x00\xb0" + zstd_raw(PLAIN),
            "The window that a decoder must keep is larger than zstd allows unasked.",
            [92],
            "a window of 2^32 bytes",
        ),
    ):
        yield codec.refused(f"v2-zstd-{name}", section, why, made, classes=classes)
