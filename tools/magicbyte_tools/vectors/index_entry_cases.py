"""Test vectors of entries in indexes, transaction indexes and producer snapshots: their order, damage and rests."""

from collections.abc import Iterator
from itertools import chain

from magicbyte_tools.vectors.case import TRUNCATED, VectorCase
from magicbyte_tools.vectors.companion_cases import (
    LOADED_WITHOUT_A_CHECK,
    offset_index,
    producer,
    producer_snapshot,
    time_index,
    transaction_index,
)
from magicbyte_tools.vectors.entry_parts import T0
from magicbyte_tools.vectors.single_structure import FormatCases

LAST_ENTRY_ALONE = (
    "Kafka compares the last entry alone, and this one is right: it loads the file, and a search in it "
    "ends at a wrong entry. No broker writes it."
)


def cases() -> Iterator[VectorCase]:
    return chain(offset_indexes(), time_indexes(), transaction_indexes(), producer_snapshots())


def offset_indexes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_offset_index", "OffsetIndex.sanityCheck; differences D45")
    for name, entries, why in (
        (
            "offsets-go-back",
            [(71, 8500), (30, 4200), (90, 9000)],
            "Offsets rise from entry to entry.",
        ),
        ("positions-go-back", [(30, 8500), (71, 4200)], "Positions rise with the offsets."),
        ("offset-twice", [(30, 4200), (30, 8500)], "An offset has one entry."),
        ("position-negative", [(30, 4200), (71, -1)], "A position is a byte of the log."),
    ):
        yield form.doubtful(
            name, offset_index(*entries), why, caught_by="directory", reason=LAST_ENTRY_ALONE
        )
    yield form.whole(
        "position-flipped-bit",
        offset_index((30, 4201), (71, 8500)),
        "There is no checksum: the first position is one off, and only the log can tell.",
        made="one bit of a position flipped",
    )
    for name, data, caught_by, why in (
        (
            "last-offset-negative",
            offset_index((30, 4200), (-1, 8500)),
            "directory",
            "The last offset is below that of the segment.",
        ),
        (
            "half-an-entry-of-zeros",
            offset_index((30, 4200), zero_tail=bytes(4)),
            "exact",
            "The size is no multiple of 8.",
        ),
    ):
        yield form.doubtful(
            name,
            data,
            why,
            caught_by=caught_by,
            reason=LOADED_WITHOUT_A_CHECK,
            is_kafka_refusal=True,
        )


def time_indexes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_time_index", "TimeIndex.sanityCheck; differences D45")
    first, second, third = (T0, 30), (T0 + 1, 71), (T0 + 2, 90)
    for name, entries, why in (
        ("times-go-back", [second, (T0, 80), third], "Times rise from entry to entry."),
        ("offsets-go-back", [(T0, 71), (T0 + 1, 30)], "Offsets rise with the times."),
        (
            "time-twice",
            [first, (T0, 71)],
            "A time has one entry, since the next record is no newer.",
        ),
        ("time-negative", [(-5, 30), first], "No record of a negative time gets an entry."),
    ):
        yield form.doubtful(
            name, time_index(*entries), why, caught_by="directory", reason=LAST_ENTRY_ALONE
        )
    yield form.whole(
        "time-flipped-bit",
        time_index((T0 ^ 1, 30), third),
        "There is no checksum: the first time is one off, and only the log can tell.",
        made="one bit of a time flipped",
    )
    for name, data, caught_by, why in (
        (
            "last-time-below-the-first",
            time_index(third, first),
            "directory",
            "The last time is older than the first.",
        ),
        (
            "last-offset-negative",
            time_index(first, (T0 + 1, -1)),
            "directory",
            "The last offset is below that of the segment.",
        ),
        (
            "half-an-entry-of-zeros",
            time_index(first, zero_tail=bytes(6)),
            "exact",
            "The size is no multiple of 12.",
        ),
    ):
        yield form.doubtful(
            name,
            data,
            why,
            caught_by=caught_by,
            reason=LOADED_WITHOUT_A_CHECK,
            is_kafka_refusal=True,
        )


def transaction_indexes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_transaction_index", "TransactionIndex, AbortedTxn")
    code = "txnindex-invalid"
    one = (4000, 20, 30, 31)
    yield form.whole(
        "first-offsets-go-back",
        transaction_index((4001, 25, 28, 20), one),
        "Entries are in the order of their markers: a transaction that ends first may begin later.",
    )
    yield form.whole(
        "two-of-one-producer",
        transaction_index(one, (4000, 31, 40, 41)),
        "A producer aborts one transaction, then the next.",
    )
    yield form.tolerated(
        "entry-twice",
        transaction_index(one, one),
        "A marker ends one transaction.",
        caught_by="directory",
        code=code,
        position=34,
        source="TransactionIndex.append; differences D36",
        reason="TransactionIndex.append refuses such an entry; sanityCheck reads it.",
    )
    yield form.tolerated(
        "five-bytes-behind",
        transaction_index(one) + bytes(5),
        "Five bytes follow the last entry.",
        caught_by="grammar",
        code=code,
        error=TRUNCATED,
        position=34,
        source="TransactionIndex.sanityCheck; differences D46",
        made="five zeros behind the entry",
        reason="TransactionIndex drops an incomplete last entry silently; a reader that refuses it "
        "can ask the markers in the log.",
    )


def producer_snapshots() -> Iterator[VectorCase]:
    form = FormatCases("kafka_producer_snapshot", "ProducerStateManager.readSnapshot")
    later = producer(4001, last_sequence=0, last_offset=27)
    yield form.whole(
        "producer-ids-go-back",
        producer_snapshot(later, producer(4000, last_sequence=3, last_offset=24)),
        "Producers are in no order.",
    )
    yield form.whole(
        "producer-twice",
        producer_snapshot(later, producer(4001, last_sequence=5, last_offset=40)),
        "No broker writes a producer twice; Kafka keeps the last one.",
    )
