"""Test vectors of v2 batches: batches as brokers store them, and impossible batch headers."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import (
    T0,
    EntryPart,
    bad,
    batch,
    i32,
    rec,
    sealed,
    transactional,
)
from magicbyte_tools.vectors.log_case import FIRST, between, either, invalid, last, valid

DAY = 86_400_000


def cases() -> Iterator[VectorCase]:
    return chain(records(), times(), producers(), cleaned(), bits(), counts())


def records() -> Iterator[VectorCase]:
    one = partial(valid, source="DefaultRecord")
    yield one(
        "v2-one-record", "The simplest batch: 61 bytes of header and a record.", batch(rec(0))
    )
    yield one(
        "v2-three-records",
        "Offsets and times are counted from those of the batch.",
        batch(rec(7, b"one"), rec(8, b"two", time=T0 + 70_000), rec(9, b"three", time=T0)),
    )
    yield one(
        "v2-null-key",
        "A length of -1 is no key, which is not an empty one.",
        batch(rec(0, key=None)),
    )
    yield one(
        "v2-tombstone",
        "A record without a value deletes its key: made empty, it would be a value.",
        batch(rec(0, None)),
    )
    yield one(
        "v2-null-and-empty",
        "No key, no value, an empty key, an empty value: four things, and all may come.",
        batch(rec(0, None, None), rec(1, b"", b""), rec(2, b"", None), rec(3, None, b"")),
    )
    yield one(
        "v2-headers",
        "Headers keep their order, and a key may come twice.",
        batch(rec(0, headers=[(b"a", b"1"), (b"b", b"2"), (b"a", b"3")])),
    )
    yield one(
        "v2-headers-null-and-empty",
        "A header's value may be null or empty, its key empty but never null.",
        batch(rec(0, headers=[(b"none", None), (b"empty", b""), (b"", b"no name"), (b"", None)])),
    )
    yield one(
        "v2-headers-not-ascii",
        "Header keys are UTF-8 of one to four bytes.",
        batch(rec(0, headers=[("é€😀".encode(), b"")])),
    )
    wrong = [
        (b"\xff\xfe", "\ufffd\ufffd", "bytes that no UTF-8 has"),
        (b"a\xc3", "a\ufffd", "a character that ends too early"),
        (
            b"\xed\xa0\x80",
            "\ufffd",
            "an encoded surrogate, one character to Java and three to most",
        ),
        (b"\xc0\xaf", "\ufffd\ufffd", "an overlong form"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd", "a character beyond the last"),
    ]
    yield one(
        "v2-header-keys-not-utf-8",
        "Nothing checks header keys when they are written: " + "; ".join(w[2] for w in wrong) + ".",
        batch(
            rec(
                0,
                headers=[(key, b"value") for key, _, _ in wrong],
                shown_headers=[(shown, b"value") for _, shown, _ in wrong],
            )
        ),
        classes=[67],
    )
    yield one(
        "v2-header-key-with-nul",
        "A NUL is a character like any other; in a language of C strings it ends the key.",
        batch(rec(0, headers=[(b"a\0b", b"value")])),
    )
    yield one(
        "v2-headers-200",
        "Their number takes two bytes, and nothing limits it but the record's size.",
        batch(rec(0, headers=[(b"h", b"")] * 200)),
        classes=[104],
    )
    yield one(
        "v2-record-attributes",
        "The byte is not in use, and may be above 0x7f: who reads a varint here shifts the rest.",
        batch(rec(0, attributes=-1), rec(1, attributes=-128)),
        classes=[68],
        findings=[("record-attributes", 0)],
    )
    yield one(
        "v2-lengths-at-the-edges-of-varints",
        "63, 64 and 8192 bytes: a varint of zigzag grows at other places than one without.",
        *(batch(rec(offset, b"x" * length)) for offset, length in enumerate((63, 64, 8192))),
    )
    yield one(
        "v2-value-is-a-batch",
        "A value may hold anything, also what looks like an entry of the log.",
        batch(rec(0, FIRST.data), rec(1)),
    )
    yield one(
        "v2-values-are-binary",
        "Values are bytes; who takes them for text loses what is no character.",
        batch(rec(0, bytes(range(256)), b"\xff\x00")),
    )


def times() -> Iterator[VectorCase]:
    yield valid(
        "v2-no-timestamps",
        "-1 stands for no time: v0 messages that were brought to v2 have none.",
        batch(rec(0, time=-1), rec(1, time=-1)),
        source="RecordBatch.NO_TIMESTAMP",
    )
    yield valid(
        "v2-times-go-back",
        "Deltas may be negative: producers send what their clocks say.",
        batch(rec(0, time=T0), rec(1, time=T0 - 5000), rec(2, time=T0 - 3 * DAY)),
        source="DefaultRecord",
    )
    yield valid(
        "v2-times-far-apart",
        "A delta takes up to 10 bytes, where the offset's takes up to 5.",
        batch(rec(0, time=0), rec(1, time=2**62), rec(2, time=-(2**62))),
        source="DefaultRecord",
    )
    yield valid(
        "v2-time-before-1970",
        "Kafka's reader takes any number of milliseconds, below -1 too.",
        batch(rec(0, time=-2), rec(1, time=-DAY)),
        source="DefaultRecordBatch",
    )
    yield valid(
        "v2-log-append-time",
        "All records have the batch's largest time; base and deltas still say the producer's.",
        batch(rec(7, time=T0), rec(8, time=T0 - 77), append_time=T0 + 5000),
        source="testSetLogAppendTime; KIP-32",
        classes=[56],
    )
    yield valid(
        "v2-log-append-time-of-no-time",
        "The producer gave no time, the broker did: base time -1 says nothing of the records.",
        batch(rec(0, time=-1), append_time=T0),
        source="kafunk fetch_v2_logappendtime_batch_cut",
        classes=[56],
    )
    yield valid(
        "v2-delete-horizon",
        "With bit 6 the base time is when tombstones may go; records count from it all the same.",
        batch(
            rec(0, None, b"k", time=T0),
            rec(2, b"v", b"j", time=T0 + 1),
            base_time=T0 + DAY,
            attributes={"has_delete_horizon": True},
        ),
        source="KIP-534; MemoryRecordsTest",
        classes=[52],
    )
    yield valid(
        "v2-delete-horizon-and-append-time",
        "Both may come together: times are the append time, the horizon is no time of a record.",
        batch(
            rec(0, None, b"k", time=T0),
            base_time=T0 + DAY,
            append_time=T0 + 9,
            attributes={"has_delete_horizon": True},
        ),
        source="KIP-534",
        classes=[52, 56],
    )
    top = 2**63 - 1
    wrapping = batch(rec(1, time=top), rec(2, time=-(2**63), timestamp_delta=1))
    yield either(
        "v2-time-wraps",
        "Base time and delta together pass 2^63-1.",
        between(wrapping),
        caught_by="order",
        classes=[53],
        source="DefaultRecord.readFrom",
        made="base timestamp 2^63-1, delta 1",
        reason="Java's addition wraps around without a word. No broker lets such times in; a "
        "reader may say that they are no times.",
    )


def producers() -> Iterator[VectorCase]:
    one = partial(valid, source="KIP-98")
    yield one(
        "v2-idempotent",
        "Producer id, epoch and sequence tell a retry from a new batch; the records are plain.",
        batch(rec(0), rec(1), producer_id=4000, producer_epoch=5, base_sequence=0),
    )
    yield one(
        "v2-sequence-wraps",
        "The number behind 2147483647 is 0, in the middle of a batch.",
        batch(
            *(rec(n) for n in range(4)),
            producer_id=4000,
            producer_epoch=5,
            base_sequence=2**31 - 2,
        ),
        classes=[54],
    )
    committed = transactional(rec(0), rec(1), producer=4000, epoch=5)
    yield valid(
        "v2-transactional-without-its-end",
        "A transaction that has not ended: read_uncommitted delivers its records.",
        committed,
        findings=[("transaction-open", 0)],
        source="KIP-98",
    )
    yield one(
        "v2-transactional-without-a-producer",
        "The bit alone: a broker refuses it from a client, a reader delivers its records.",
        batch(rec(0), attributes={"is_transactional": True}),
        classes=[51],
    )
    yield one(
        "v2-highest-producer",
        "Ids are 64 bits wide, epochs 16; in a language of doubles the id loses its end.",
        batch(rec(0), producer_id=2**63 - 1, producer_epoch=32767, base_sequence=2**31 - 1),
    )


def cleaned() -> Iterator[VectorCase]:
    one = partial(valid, source="MemoryRecords.filterTo")
    yield one(
        "v2-gaps-between-offsets",
        "The cleaner took records out of the middle: deltas skip, and the count is smaller.",
        batch(rec(10), rec(13), rec(14)),
        classes=[69],
    )
    yield one(
        "v2-first-and-last-removed",
        "Base and last offset are those of records that are gone; who goes on behind the last "
        "record instead reads this batch again for ever.",
        batch(rec(12), rec(13), base_offset=10, last_offset=19),
        batch(rec(20)),
        classes=[17],
    )
    yield one(
        "v2-empty-batch",
        "The cleaner took all records and kept the header, which holds the producer's sequence.",
        batch(
            base_offset=20,
            last_offset=24,
            base_time=-1,
            max_timestamp=T0,
            producer_id=4000,
            producer_epoch=5,
            base_sequence=100,
        ),
        batch(rec(25)),
        classes=[19, 95],
    )
    yield one(
        "v2-empty-batch-without-a-producer",
        "Since 4.0 the last offset of a round of cleaning is kept so.",
        batch(base_offset=0, last_offset=9),
        batch(rec(10)),
        classes=[19],
    )
    yield one(
        "v2-empty-control-batch",
        "A marker without its record: it has no key, so no type, and ends nothing.",
        batch(
            base_offset=4,
            producer_id=4000,
            producer_epoch=5,
            is_control=True,
            attributes={"is_transactional": True},
        ),
        batch(rec(5)),
        classes=[20],
    )
    yield one(
        "v2-offset-deltas-out-of-order",
        "Kafka's reader takes offset deltas as they stand: negative, repeated, above the last.",
        batch(
            rec(10),
            rec(10, b"again"),
            rec(8, b"below the base"),
            rec(15, b"above the last"),
            last_offset=11,
        ),
        classes=[69],
    )


def bits() -> Iterator[VectorCase]:
    yield valid(
        "v2-reserved-bits",
        "Bits 7 to 15 mean nothing yet; bit 6 meant nothing either, until 3.1.",
        batch(rec(0), attributes={"reserved": 0b1_0101_0101}),
        classes=[50],
        source="KIP-98, KIP-534",
    )
    part = batch(rec(1))
    for codec in (5, 6, 7):
        yield invalid(
            f"v2-codec-{codec}",
            "No codec has this number; who masks two bits alone reads another.",
            between(bad(sealed(part, 22, bytes([codec])))),
            code="unknown-codec",
            classes=[49],
            source="CompressionType.forId",
            made=f"codec {codec} in the attributes, and the right checksum",
        )


def counts() -> Iterator[VectorCase]:
    three = batch(rec(1), rec(2), rec(3))

    def count(number: int) -> EntryPart:
        return sealed(three, 57, i32(number))

    made = "the number of records overwritten, and the right checksum"
    for number, name, row, why in (
        (-1, "minus-1", 43, "A loop from 0 to -1 does nothing, or an array of -1 is made."),
        (-(2**31), "least-int32", 43, "The least integer there is: negated, it is still negative."),
        (
            5,
            "5-of-3",
            45,
            "Two records are promised that are not there: who reads on takes the next entry's bytes.",
        ),
        (
            2**31 - 1,
            "largest-int32",
            44,
            "An array made by this count before a record is read takes gigabytes.",
        ),
    ):
        yield invalid(
            f"v2-record-count-{name}",
            why,
            between(bad(count(number))),
            code="bad-record-count",
            classes=[row],
            payload_position=None if number < 0 else len(three) - 61,
            source="KAFKA-5031; kafka-go #1438"
            if number < 0
            else "testInvalidRecordCountTooMany; kafka-protocol-rs PR 156",
            made=made,
        )
    yield invalid(
        "v2-record-count-2-of-3",
        "A record is there that the count does not know: it would be lost in silence.",
        between(bad(count(2))),
        code="bytes-left-over",
        classes=[46],
        payload_position=(len(three) - 61) // 3 * 2,
        source="testInvalidRecordCountTooLittle; differences D4",
        made=made,
    )
    claims = batch(base_offset=1, num_records=5)
    yield invalid(
        "v2-record-count-5-of-none",
        "An empty batch that claims records: there is nothing to read the first one from.",
        between(bad(claims)),
        code="bad-record-count",
        classes=[48],
        payload_position=0,
        source="franz-go TestEmptyBatchClaimingRecords",
        made="records_count 5 and no bytes behind the header",
    )
    nothing = count(0)
    quiet = EntryPart(nothing.data, (), nothing.next_offset)
    yield either(
        "v2-record-count-0-of-3",
        "The count says that the records are not there.",
        [FIRST, quiet, last(quiet)],
        caught_by="exact",
        classes=[47],
        findings=[("bytes-unread", 1)],
        source="differences D3",
        made=made,
        reason="Kafka's reader asks for no record and so never sees that bytes are left; its own "
        "test expects an error for all other wrong counts. Who refuses loses no row either.",
    )
    longer = batch(rec(1), trailing=b"\0\0\0")
    yield invalid(
        "v2-bytes-behind-the-records",
        "Three zeros follow the last record, inside the batch and under its checksum.",
        between(bad(longer)),
        code="bytes-left-over",
        classes=[94],
        payload_position=len(longer) - 61 - 3,
        source="DefaultRecordBatch: records still remaining",
        made="three zeros behind the record, counted in the batch's length",
    )
