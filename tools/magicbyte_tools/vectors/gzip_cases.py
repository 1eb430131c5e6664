"""Test vectors of gzip in v2 batches: records that Java's GZIPInputStream accepts or refuses."""

from collections.abc import Iterator

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.framers import GZIP, gzip, gzip_trailer
from magicbyte_tools.vectors.sections import AGAIN, HALF, PLAIN, REALLY, CodecCases


def cases() -> Iterator[VectorCase]:
    codec = CodecCases(GZIP, "GZIPInputStream")
    yield codec.sound(
        "v2-gzip",
        gzip(PLAIN),
        "One member of RFC 1952, as Java writes it, but for the compression.",
    )
    yield codec.sound(
        "v2-gzip-really-compressed",
        bytes.fromhex(REALLY["gzip"]),
        "What zlib writes: a deflate block with copies.",
        records=AGAIN,
    )
    yield codec.sound(
        "v2-gzip-header-with-all-fields",
        gzip(PLAIN, flags=0b11100, extra_fields=b"\x04\0AB\0\0" + b"name\0" + b"comment\0"),
        "The header may hold an extra field, a name and a comment, which a reader passes over.",
        source="RFC 1952",
    )
    yield codec.sound(
        "v2-gzip-two-members",
        gzip(PLAIN[:HALF]) + gzip(PLAIN[HALF:]),
        "Two members are one stream, and the first ends inside a record.",
        classes=[91],
    )
    yield codec.doubtful(
        "v2-gzip-garbage-behind",
        gzip(PLAIN) + b"what follows is no gzip member",
        "Bytes behind a whole member that begin no other are ignored.",
        reason="Java ignores such bytes. Nothing writes them, and the inflaters of most other "
        "languages safely refuse them.",
        classes=[91],
        source="GZIPInputStream.readTrailer; differences D33",
    )
    whole = gzip(PLAIN)
    trailer = len(whole) - 8
    for name, section, why, made in (
        (
            "bad-crc",
            whole[:trailer] + bytes(4) + whole[trailer + 4 :],
            "The member's own checksum is wrong, though the batch's is right.",
            "the CRC-32 at the member's end is 0",
        ),
        (
            "bad-length",
            whole[:-4] + bytes(4),
            "The member says that it holds 0 bytes, and holds more.",
            "the length at the member's end is 0",
        ),
        (
            "cut",
            whole[:-12],
            "The member ends in its data, and a lenient inflater gives what there was.",
            "the last 12 bytes are missing",
        ),
        (
            "without-its-trailer",
            whole[:-8],
            "All records are there, and what proves them is not.",
            "the last 8 bytes are missing",
        ),
        (
            "cut-header",
            whole[:7],
            "The member ends in its header: there is no byte of data.",
            "the first 7 bytes alone",
        ),
        (
            "empty",
            b"",
            "No bytes are no member: the records that are counted must not silently be none.",
            "no bytes where records are counted",
        ),
        (
            "bad-block",
            whole[:10] + b"\x07" + gzip_trailer(PLAIN),
            "Deflate has no block of type 3: nobody knows where it ends.",
            "a block of type 3",
        ),
        (
            "method-7",
            whole[:2] + b"\x07" + whole[3:],
            "The only method of gzip is 8; who does not look inflates something else.",
            "byte 2 overwritten with 7",
        ),
        (
            "second-member-cut",
            gzip(PLAIN[:HALF]) + gzip(PLAIN[HALF:])[:-4],
            "A second member begins and does not end: half of the records would be lost.",
            "two members, the last 4 bytes missing",
        ),
    ):
        yield codec.refused(f"v2-gzip-{name}", section, why, made, classes=[91])
