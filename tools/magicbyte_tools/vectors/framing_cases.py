"""Test vectors of framing: ends of log entries and of files, and bytes between log entries."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from magicbyte_tools.vectors.case import ExpectedRow, VectorCase
from magicbyte_tools.vectors.entry_parts import (
    T0,
    EntryPart,
    bad,
    batch,
    cut,
    flipped,
    i32,
    i64,
    message,
    patched,
    rec,
)
from magicbyte_tools.vectors.log_case import FIRST, between, either, invalid, last, valid

FRAME = "FileLogInputStream, ByteBufferLogInputStream"
SECOND = batch(rec(1, b"of the second entry"))
V0 = message(rec(1, b"a message"), magic=0)
V1 = message(rec(1, b"a message"), magic=1)


AS_A_TAIL = (
    "FileRecords finds no room for an entry of this size and takes the bytes for an incomplete "
    "tail; MemoryRecords, which consumers use, refuses them."
)
"""Reason of cases whose last bytes only one of Kafka's two readers refuses."""


def read_by_files(
    name: str,
    why: str,
    parts: Sequence[EntryPart],
    rows: Sequence[ExpectedRow],
    *,
    code: str,
    **fields: Any,
) -> VectorCase:
    """Return the test vector of *parts* with a fault that MemoryRecords refuses, as we do.

    FileRecords reads them, and delivers *rows*.
    """
    fault = next(number for number, part in enumerate(parts) if part.is_faulty)
    return either(
        name,
        why,
        parts,
        doubtful=fault,
        caught_by="grammar",
        code=code,
        rows=tuple(rows),
        has_fields=False,
        is_kafka_refusal=True,
        **fields,
    )


def cases() -> Iterator[VectorCase]:
    return chain(ends(), sizes(), magics(), garbage(), checksums(), offsets(), limits())


def ends() -> Iterator[VectorCase]:
    yield valid(
        "empty",
        "An empty segment is what a broker makes when it rolls: no entries, and nothing wrong.",
        classes=[1],
        source="FileLogInputStream.nextBatch",
    )
    yield valid(
        "several-entries",
        "Entries lie back to back, without a file header, padding or separators.",
        FIRST,
        SECOND,
        last(SECOND),
        source=FRAME,
    )
    yield valid(
        "formats-mixed",
        "A reader that takes the first entry's format for the file's misreads all others.",
        message(rec(0, b"v0"), magic=0),
        message(rec(1, b"v1"), magic=1),
        batch(rec(2, b"v2")),
        message(rec(3, b"v0 again"), magic=0),
        batch(rec(4, b"v2 again")),
        classes=[12],
        source="MessageFormatChangeTest; differences D1",
    )
    yield valid(
        "many-empty-batches",
        "A reader that waits for a record before it moves on never gets past these.",
        *(batch(base_offset=offset) for offset in range(40)),
        last(EntryPart(b"", next_offset=40)),
        classes=[103],
        source="kafka-backup #142",
    )
    tails = {
        "tail-of-11-bytes": (11, "Not even the size is whole: a reader must not ask for it."),
        "tail-of-16-bytes": (16, "The magic is the 17th byte: there is no telling the format."),
        "tail-of-17-bytes": (
            17,
            "The magic is the last byte; the file reader of Kafka stops here.",
        ),
        "tail-in-the-header": (40, "A v2 header is cut: none of its fields may be relied on."),
        "tail-of-the-header-alone": (61, "The header is whole and promises records that are not."),
        "tail-but-one-byte": (
            len(SECOND) - 1,
            "Only the last byte is missing; it is not sound yet.",
        ),
    }
    for name, (keep, why) in tails.items():
        yield valid(
            name,
            why,
            FIRST,
            cut(SECOND, keep),
            classes=[2] if keep < 17 else [3],
            findings=[("incomplete-tail", 1)],
            source="FileRecordsTest; DumpLogSegmentsTest.testPrintDataLogPartialBatches",
        )
    yield valid(
        "tail-alone",
        "The first entry is larger than what was read: a reader that asks again for as much "
        "never ends.",
        cut(SECOND, 50),
        classes=[4],
        findings=[("incomplete-tail", 0)],
        source="KAFKA-6834; kafkajs #562",
    )
    for magic, whole in ((0, V0), (1, V1)):
        fields = {"crc": 16, "attributes": 18, "value": len(whole) - 3}
        for name, keep in fields.items():
            yield valid(
                f"v{magic}-tail-behind-{name}",
                f"A message is cut {'in' if name == 'value' else 'behind'} its {name}; no error, "
                "for a broker may be writing it.",
                message(rec(0, b"whole"), magic=magic),
                cut(whole, keep),
                classes=[3, 40],
                findings=[("incomplete-tail", 1)],
                source="siesta fetch_test; iteratorIgnoresIncompleteEntries",
            )
    zeros = EntryPart(bytes(64))
    for name, parts, why in (
        (
            "zero-tail",
            [FIRST, zeros],
            "A preallocated file ends in zeros; their size 0 is no entry's, and a loop that adds "
            "it to its position never ends.",
        ),
        ("zeros-alone", [zeros], "A preallocated file that nothing was written to yet."),
    ):
        yield either(
            name,
            why,
            parts,
            doubtful=len(parts) - 1,
            caught_by="grammar",
            classes=[6],
            findings=[("zero-tail", -1)],
            source="log.preallocate",
            reason="To Kafka's reader a size of 0 is an error, and a broker that starts cuts the "
            "file there; but that is how every broker leaves such a file that is killed, and no "
            "record is lost.",
            is_kafka_refusal=True,
        )
    yield valid(
        "zero-tail-of-5-bytes",
        "Zeros too few to hold a size are zeros all the same.",
        FIRST,
        EntryPart(bytes(5)),
        classes=[6],
        findings=[("zero-tail", 1)],
        source="log.preallocate",
    )
    yield invalid(
        "zeros-between-entries",
        "Zeros with an entry behind them are a hole, torn by a crash, and no tail.",
        [FIRST, bad(bytes(80)), last(FIRST)],
        code="bad-size",
        classes=[6],
        also=[("found-by-search", 2)],
        source=FRAME,
    )


def sizes() -> Iterator[VectorCase]:
    wrong = {
        "size-0": (0, [5], "An entry of size 0 leads to itself: a reader that follows it hangs."),
        "size-10": (10, [5], "Smaller than any message; nothing in it can be what it should."),
        "size-13": (13, [5], "One byte less than the least message there is."),
        "size-minus-1": (-1, [7], "Added to a position without a check, it leads backwards."),
        "size-least-int32": (-(2**31), [7], "The least integer: even its negation is negative."),
        "v2-size-14": (14, [11], "Enough for a message, not for the header of a batch."),
        "v2-size-48": (48, [11], "One byte less than a batch without records has."),
    }
    for name, (size, classes, why) in wrong.items():
        yield invalid(
            name,
            why,
            between(bad(patched(SECOND, 8, i32(size)))),
            code="bad-size",
            classes=classes,
            also=[("found-by-search", 2)],
            source="iteratorRaisesOnTooSmallRecords; differences D20",
            made="bytes 8 to 11 of the second entry overwritten",
        )
    for keep in (12, 16):
        yield read_by_files(
            f"size-1-in-a-cut-entry-of-{keep}-bytes",
            "The entry is cut off before its magic, but its size is there and wrong: that is no "
            "tail.",
            [FIRST, bad(patched(cut(SECOND, keep), 8, i32(1)))],
            FIRST.rows,
            reason=AS_A_TAIL,
            code="bad-size",
            classes=[5],
            source="ByteBufferLogInputStream.nextBatchSize; differences D28, D43",
            made="bytes 8 to 11 of the cut entry overwritten",
        )
    yield invalid(
        "v1-size-21",
        "Enough for a message of v0, but one of v1 has a timestamp too.",
        between(bad(patched(V1, 8, i32(21))), 1),
        code="bad-size",
        classes=[11],
        also=[("found-by-search", 2)],
        source="LegacyRecord.RECORD_OVERHEAD_V1",
        made="bytes 8 to 11 of the second entry overwritten",
    )
    top = 2**31 - 1
    hidden = {
        "size-largest-int32": (top, "With its 12 bytes added, the size overflows 32 bits."),
        "size-beyond-the-end": (5000, "The size leads past the end, though sound entries follow."),
    }
    for name, (size, why) in hidden.items():
        entries = between(patched(SECOND, 8, i32(size)))
        yield either(
            name,
            why,
            [FIRST, bad(entries[1]), entries[2]],
            caught_by="order",
            code="incomplete-entry",
            findings=[("found-by-search", 2)],
            classes=[8],
            source="differences D19",
            made="bytes 8 to 11 of the second entry overwritten",
            reason="Kafka's reader takes an entry that does not end before the file does for the "
            "end of the file, and so hides what follows; at the largest sizes its sum overflows, "
            "and it fails with an error that is not its own. A reader that searches behind it "
            "finds a sound entry, and then the size was wrong.",
            is_kafka_refusal=size == top,
            rows=FIRST.rows,
        )
    overflowing = replace(patched(SECOND, 8, i32(top)), rows=())
    yield either(
        "size-largest-int32-at-the-end",
        "The size with its 12 bytes overflows 32 bits; a reader that wraps it goes backwards "
        "or allocates two gigabytes.",
        [FIRST, overflowing],
        caught_by="grammar",
        classes=[8],
        findings=[("incomplete-tail", 1)],
        source="differences D19; Dekaf hostile_max_length",
        made="bytes 8 to 11 of the second entry overwritten",
        reason="Any other entry that is cut off is the end of the file. Kafka's reader overflows "
        "here, and fails with an error that is not its own; no entry was ever so large.",
        is_kafka_refusal=True,
    )


def magics() -> Iterator[VectorCase]:
    unknown = (
        "No checksum covers the magic of a batch, and a reader that takes every magic but "
        "0 and 1 for v2 delivers what it cannot know."
    )
    for magic, name in ((0xFF, "minus-1"), (0x82, "0x82")):
        yield invalid(
            f"magic-{name}",
            unknown,
            between(bad(patched(SECOND, 16, bytes([magic])))),
            code="unknown-magic",
            classes=[10],
            source="iteratorRaisesOnInvalidMagic; differences D2",
            made="byte 16 of the second entry overwritten",
        )
    for name, new, why, source in (
        ("magic-3", b"\x03", unknown, "iteratorRaisesOnInvalidMagic; differences D2, D43"),
        ("magic-37", b"\x25", unknown, "iteratorRaisesOnInvalidMagic; differences D2, D43"),
        (
            "magic-of-kip-931",
            b"\x03",
            "A third format was proposed and discarded; no log holds it.",
            "KIP-931; differences D43",
        ),
    ):
        entries = between(bad(patched(SECOND, 16, new)))
        yield read_by_files(
            name,
            why,
            entries,
            (*FIRST.rows, *SECOND.rows, *entries[2].rows),
            reason="FileRecords takes every magic above 2 for 2 and delivers the record; "
            "MemoryRecords, which consumers use, refuses it.",
            code="unknown-magic",
            classes=[10],
            source=source,
            made="byte 16 of the second entry overwritten",
        )
    yield read_by_files(
        "magic-37-in-a-cut-entry",
        "The entry is cut off, but its magic is there and wrong: that is no tail.",
        [FIRST, bad(patched(cut(SECOND, 50), 16, b"\x25"))],
        FIRST.rows,
        reason=AS_A_TAIL,
        code="unknown-magic",
        classes=[13],
        source="ByteBufferLogInputStream.nextBatchSize; differences D43",
        made="byte 16 of the cut entry overwritten",
    )
    yield invalid(
        "v2-batch-with-magic-1",
        "Read as a message, the batch has another checksum over other bytes.",
        between(bad(patched(SECOND, 16, b"\x01"))),
        code="checksum-mismatch",
        classes=[24],
        has_fields=False,
        source=FRAME,
        made="byte 16 of the second entry overwritten",
    )


def garbage() -> Iterator[VectorCase]:
    noise = bytes(range(1, 200))
    yield read_by_files(
        "garbage-at-the-end",
        "What was read before stays; what is left is no incomplete entry, and must be said.",
        [FIRST, SECOND, bad(noise)],
        (*FIRST.rows, *SECOND.rows),
        reason=AS_A_TAIL,
        code="unknown-magic",
        classes=[14],
        source="LogSegmentTest.testRecoveryWithCorruptMessage; differences D43",
        made="the numbers 1 to 199 behind two sound entries",
    )
    yield read_by_files(
        "garbage-between-entries",
        "A reader that gives up loses everything behind the first bad byte.",
        [FIRST, bad(noise), last(FIRST)],
        FIRST.rows,
        reason=f"{AS_A_TAIL} What follows is hidden.",
        code="unknown-magic",
        classes=[14],
        findings=[("found-by-search", 2)],
        source="LogSegmentTest.testRecoveryWithCorruptMessage; differences D27, D43",
        made="the numbers 1 to 199 between two sound entries",
    )
    decoy = batch(rec(7, b"no record of this log"))
    carrier = batch(rec(1, decoy.data))
    yield invalid(
        "entry-inside-a-damaged-entry",
        "The value of a damaged record is a sound batch, copied from a log; a search that "
        "begins inside the entry delivers it as the log's own.",
        between(bad(flipped(carrier, 22))),
        code="checksum-mismatch",
        classes=[14, 22],
        source="a rule of magicbyte: reading goes on where the damaged entry's size leads",
        made="a batch as the value of a record; one bit of byte 22 flipped",
    )


def checksums() -> Iterator[VectorCase]:
    flips = {
        "v2-crc-flipped-bit": (SECOND, 17, [22], "The stored checksum itself is altered."),
        "v2-attributes-flipped-bit": (
            SECOND,
            21,
            [22],
            "One bit of the attributes is flipped, an unused one; only the CRC can tell.",
        ),
        "v2-timestamp-flipped-bit": (
            SECOND,
            27,
            [22],
            "A time two million years off, which nothing but the checksum gives away.",
        ),
        "v2-value-flipped-bit": (
            SECOND,
            len(SECOND) - 3,
            [22],
            "A letter of the value is another: delivered, it is somebody's wrong number.",
        ),
        "v0-crc-flipped-bit": (V0, 12, [21], "The stored checksum itself is altered."),
        "v0-value-flipped-bit": (
            V0,
            len(V0) - 1,
            [21],
            "The last letter of the value is another: who sums up less than all misses it.",
        ),
        "v1-timestamp-flipped-bit": (
            V1,
            18,
            [21],
            "The checksum of v1 covers the timestamp: who sums up as in v0 refuses sound messages too.",
        ),
        "v1-key-flipped-bit": (V1, 31, [21], "One letter of the key: compaction keeps it apart."),
    }
    for name, (part, at, classes, why) in flips.items():
        yield invalid(
            name,
            why,
            between(bad(flipped(part, at)), part.data[16]),
            code="checksum-mismatch",
            classes=classes,
            source="DefaultRecordBatchTest.testInvalidCrc"
            if name.startswith("v2")
            else "LegacyRecordTest.testChecksum",
            made=f"one bit of byte {at} of the second entry flipped",
        )
    for magic, part, at in ((0, V0, 12), (2, SECOND, 17)):
        yield invalid(
            f"v{magic}-crc-never-computed",
            "Some published fixtures carry a checksum of 0; a reader that takes that for "
            "'not computed' takes torn writes too.",
            between(bad(patched(part, at, bytes(4))), magic),
            code="checksum-mismatch",
            classes=[23],
            source="ruby-kafka's and kayrock's fixtures; differences D23",
            made="the checksum of the second entry overwritten with zeros",
        )


def offsets() -> Iterator[VectorCase]:
    def stray(part: EntryPart) -> EntryPart:
        """Mark *part* as out of order: it is the fault, and its records are still delivered."""
        return replace(part, is_faulty=True)

    order = partial(
        invalid, code="offset-out-of-order", source="UnifiedLog.append; differences D29"
    )
    ten, eleven = batch(rec(10, b"ten")), batch(rec(11, b"eleven"))
    yield order(
        "offset-repeated",
        "Two entries of one offset: one of them is not what a consumer was given.",
        [ten, stray(batch(rec(10, b"ten again"))), eleven],
        classes=[15],
        made="the second entry has the offset of the first",
    )
    yield order(
        "offset-goes-back",
        "An offset below the one before: a reader that searches by offset misses it.",
        [ten, eleven, stray(batch(rec(5, b"five"))), batch(rec(12, b"twelve"))],
        classes=[15],
        made="the third entry has a lower offset",
    )
    yield order(
        "v2-base-offset-damaged",
        "The base offset is outside the checksum, and negative here: only order tells.",
        [ten, stray(_moved(eleven, -1)), batch(rec(12, b"twelve"))],
        classes=[15, 24],
        also=[("offset-gap", -1)],
        made="bytes 0 to 7 of the second entry overwritten with -1",
    )
    negative = batch(rec(11, b"eleven"), last_offset_delta=-5)
    yield order(
        "last-offset-delta-negative",
        "The entry ends before it begins; who goes on behind its last offset reads it for ever.",
        [ten, stray(negative), batch(rec(12, b"twelve"))],
        classes=[18],
        also=[("offset-gap", -1)],
        made="last_offset_delta -5, and the right checksum",
    )
    top = 2**63 - 1
    yield order(
        "last-offset-above-int64",
        "The last offset overflows 64 bits, and the next one to fetch is negative.",
        [
            batch(rec(top - 1, b"the last but one", time=T0)),
            stray(batch(rec(top, b"the last offset there is", time=T0), last_offset_delta=1)),
        ],
        classes=[18],
        made="base offset 2^63-1, last_offset_delta 1",
    )
    yield either(
        "offsets-missing",
        "Offsets 11 to 13 are in no entry, and nothing shows that the cleaner was here.",
        [ten, batch(rec(14, b"fourteen"))],
        caught_by="order",
        code="offset-gap",
        is_delivered=True,
        source="a rule of magicbyte",
        reason="Kafka's reader passes over any gap. Offsets of aborted appends and of cleaning are "
        "missing by right; a reader that looks for holes cannot tell this one from lost entries.",
    )
    cleaned = batch(rec(10, b"ten"), last_offset=12)
    yield valid(
        "offsets-missing-in-a-cleaned-log",
        "The first entry shows that the cleaner was here: it has fewer records than offsets.",
        cleaned,
        batch(rec(14, b"fourteen")),
        findings=[("offset-gap-cleaned", 1)],
        source="a rule of magicbyte",
    )
    epoch = patched(SECOND, 12, i32(1234567))
    yield valid(
        "leader-epoch-damaged",
        "The leader epoch lies outside the checksum: no reader can tell, none may refuse.",
        FIRST,
        epoch,
        last(SECOND),
        classes=[24, 55],
        source="DefaultRecordBatch",
        made="bytes 12 to 15 of the second entry overwritten",
    )
    yield valid(
        "leader-epoch-none",
        "-1 is what producers write, 0 is the first epoch: neither is missing.",
        batch(rec(0, b"from a producer"), partition_leader_epoch=-1),
        batch(rec(1, b"from the first leader"), partition_leader_epoch=0),
        classes=[55],
        source="DefaultRecordBatch; KIP-101",
    )


def _moved(part: EntryPart, offset: int) -> EntryPart:
    """Return *part* with the base offset *offset*, both in its bytes and in its only record."""
    moved = patched(part, 0, i64(offset))
    return replace(moved, rows=tuple(replace(row, offset=offset) for row in part.rows))


def limits() -> Iterator[VectorCase]:
    large = batch(rec(1, b"x" * 400))
    yield invalid(
        "entry-over-limit",
        "Sound, and larger than the reader was told to take: not damage, and not a reason to "
        "lose what follows.",
        between(bad(large)),
        code="entry-over-limit",
        classes=[9],
        limits={"max_entry_bytes": 300},
        source="KIP-498",
        made="an entry of 479 bytes or so, read with a limit of 300",
    )
    yield invalid(
        "search-passes-candidates-over",
        "Behind damage lie headers that all claim the rest of the file. Who checks each one's "
        "checksum spends the square of the file's size.",
        [FIRST, *_decoys()],
        code="bad-size",
        classes=[9],
        findings=[("bad-size", 1), ("candidate-passed-over", 1), ("found-by-search", 3)],
        source="a rule of magicbyte: work on false candidates is bounded",
        made="a size of 0, then 60 headers of v0 over 24 kB, then a sound entry",
    )


def _decoys() -> list[EntryPart]:
    """Return a damaged batch, 60 headers that each claim the following 24 kB, and a sound batch."""
    end = batch(rec(1, b"behind the decoys"))
    filler = b"\xaa" * 24_000
    headers = b""
    count, length = 60, 26
    for number in range(count):
        left = (count - number) * length + len(filler)
        headers += i64(100) + i32(left - 12) + b"\0\0\0\0" + bytes(10)
    return [bad(patched(SECOND, 8, i32(0))), EntryPart(headers + filler), end]
