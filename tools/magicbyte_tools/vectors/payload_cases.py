"""Test vectors of compressed v2 payloads with too few bytes, too many, or far too many."""

from collections.abc import Iterator

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import bad, batch, i32, payload, rec, sealed
from magicbyte_tools.vectors.framers import (
    GZIP,
    LZ4,
    SNAPPY,
    ZSTD,
    gzip,
    lz4,
    lz4_packed,
    lz4_sequence,
    snappy,
    snappy_copy,
    zstd,
    zstd_raw,
    zstd_run,
)
from magicbyte_tools.vectors.log_case import between, invalid, valid
from magicbyte_tools.vectors.sections import HALF, PLAIN, RECORDS, CodecCases, of

LONG = rec(1, bytes(100_000))
BOMB = (
    "1f8b0800000000000203edc6211100201405b0a750d44491802aa4f929c8c31d29109bdad93d499b63d51b"
    + "00" * 96
    + "f0ab0b8cdadb42ae860100"
)
"""The record LONG as a gzip member in hex, compressed by zlib at its highest level."""


def cases() -> Iterator[VectorCase]:
    yield from counts()
    yield from bombs()


def counts() -> Iterator[VectorCase]:
    whole = of(GZIP, gzip(PLAIN))
    for number, code, position, row in (
        (2, "bytes-left-over", HALF, 46),
        (5, "bad-record-count", len(PLAIN), 45),
    ):
        at = len(payload(*RECORDS[:2])) if number == 2 else position
        yield invalid(
            f"v2-gzip-record-count-{number}-of-3",
            "The count is wrong, which is seen only when all is decompressed.",
            between(bad(sealed(whole, 57, i32(number)))),
            code=code,
            caught_by="codec",
            classes=[row, 94] if number == 2 else [row],
            payload_position=at,
            source="testInvalidRecordCountTooLittleCompressedV2 and TooMany",
            made="the number of records overwritten, and the right checksum",
        )
    yield valid(
        "v2-gzip-empty-with-count-0",
        "A compressed section that holds no records, as the count says; nobody reads it.",
        batch(codec=GZIP, section=gzip(b""), base_offset=0),
        classes=[95],
        findings=[("bytes-unread", 0)],
        source="KAFKA-5443",
    )
    spoiled = payload(rec(1), rec(2, len_key=105), rec(3))
    yield CodecCases(GZIP, "DefaultRecordBatch.CompressedRecordIterator").refused(
        "v2-gzip-bad-record",
        gzip(spoiled),
        "The fault lies in the second record, and shows once all is decompressed.",
        "the key of the second record claims 105 bytes",
        classes=[60],
        code="bad-record",
        payload_position=len(payload(rec(1))),
    )


def bombs() -> Iterator[VectorCase]:
    plain = payload(LONG)
    at = plain.index(bytes(100_000)) + 8
    left = 100_000 - 8
    copies = b"".join(snappy_copy(offset=1, length=min(64, left - n)) for n in range(0, left, 64))
    head, tail = plain[:at], plain[at + left :]
    forms = {
        "gzip": (GZIP, bytes.fromhex(BOMB)),
        "snappy": (SNAPPY, snappy(head, claimed=len(plain)) + copies + snappy(tail)[1:]),
        "lz4": (
            LZ4,
            lz4(
                plain,
                bd=0x50,
                blocks=[
                    lz4_packed(
                        lz4_sequence(head, offset=1, length=left - 8)
                        + lz4_sequence(bytes(8) + tail)
                    )
                ],
            ),
        ),
        "zstd": (
            ZSTD,
            zstd(zstd_raw(head, is_last=False), zstd_run(b"\0", left), zstd_raw(tail)),
        ),
    }
    for name, (codec, section) in forms.items():
        yield invalid(
            f"v2-{name}-over-limit",
            f"{len(section)} bytes come to 100 kB, and the reader was told to take 50: with no "
            "such limit a batch of 1 MiB comes to gigabytes.",
            between(bad(of(codec, section, [LONG]))),
            code="batch-over-limit",
            classes=[80],
            limits={"max_batch_bytes": 50_000},
            source="KAFKA-4090; kafkajs #1795; sarama ErrDecompressedBatchTooLarge",
            made="a value of 100000 zeros, read with a limit of 50000",
        )
