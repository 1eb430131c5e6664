"""Test vectors of single companion files: indexes, producer snapshots and checkpoints."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import magicbyte_construct as twin
from magicbyte_tools.vectors.case import CHECKSUM, TRUNCATED, VectorCase
from magicbyte_tools.vectors.entry_parts import T0
from magicbyte_tools.vectors.single_structure import FormatCases

ALL_BITS = (
    "Of most entries a single byte is not 0: who looks at less than all of an entry takes it for "
    "the zeros at the end."
)

FRAMING_ALONE = (
    "As entries alone the bytes are sound: they try the reader's framing. Offsets or times that "
    "decrease are in no broker's file, and sanityCheck refuses them."
)
"""Reason of cases whose entries no broker writes."""

LOADED_WITHOUT_A_CHECK = (
    "A broker loads the indexes of its own segments without sanityCheck, and reads the whole entries. The "
    "cache of remote indexes calls sanityCheck, which refuses the file."
)

INCOMPLETE_ENTRY: dict[str, Any] = {
    "caught_by": "exact",
    "reason": LOADED_WITHOUT_A_CHECK,
    "is_kafka_refusal": True,
    "source": "AbstractIndex, sanityCheck",
}
"""Fields of cases of an index that ends inside an entry."""

TOPIC_ID = "MkTv-x9ERN6gwVYOfqE3Ag"


def cases() -> Iterator[VectorCase]:
    return chain(
        offset_indexes(),
        time_indexes(),
        transaction_indexes(),
        producer_snapshots(),
        offset_checkpoints(),
        leader_epoch_checkpoints(),
        partition_metadata(),
    )


def offset_index(*entries: tuple[int, int], **rest: bytes) -> bytes:
    """Encode an offset index of *entries*, each a relative offset and a position."""
    pairs = [{"relative_offset": offset, "position": at} for offset, at in entries]
    return bytes(twin.OffsetIndex.build({"entries": pairs, **rest}))


def time_index(*entries: tuple[int, int], **rest: bytes) -> bytes:
    """Encode a time index of *entries*, each a timestamp and a relative offset."""
    pairs = [{"timestamp": time, "relative_offset": offset} for time, offset in entries]
    return bytes(twin.TimeIndex.build({"entries": pairs, **rest}))


def transaction_index(*entries: tuple[int, int, int, int], **raw: Any) -> bytes:
    """Encode a transaction index of producer ids and first, marker and last stable offsets."""
    names = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
    aborted = [dict(zip(names, entry, strict=True)) | raw for entry in entries]
    return bytes(twin.TransactionIndex.build({"entries": aborted}))


def producer(producer_id: int, **fields: Any) -> dict[str, Any]:
    return {"producer_id": producer_id, "epoch": 0, "timestamp": T0, **fields}


def producer_snapshot(*producer_entries: dict[str, Any], **raw: Any) -> bytes:
    return bytes(twin.ProducerSnapshot.build({"producers": producer_entries, **raw}))


def checkpoint(*entries: tuple[str, int, int], **raw: Any) -> bytes:
    """Encode an offset checkpoint of *entries*, each a topic, a partition and an offset."""
    lines = [{"topic": topic, "partition": n, "offset": at} for topic, n, at in entries]
    return bytes(twin.OffsetCheckpoint.build({"entries": lines, **raw}))


def epochs(*entries: tuple[int, int], **raw: Any) -> bytes:
    """Encode a leader epoch checkpoint of *entries*, each an epoch and its start offset."""
    lines = [{"epoch": epoch, "start_offset": start} for epoch, start in entries]
    return bytes(twin.LeaderEpochCheckpoint.build({"entries": lines, **raw}))


def offset_indexes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_offset_index", "OffsetIndex")
    yield form.whole("empty", b"", "A segment of less than 4096 bytes has none.")
    yield form.whole(
        "three-entries",
        offset_index((30, 4200), (71, 8500), (2**31 - 1, 1_000_000)),
        "Offsets are counted from the segment's name, which the file does not hold.",
    )
    yield form.whole(
        "zero-tail",
        offset_index((30, 4200), zero_tail=bytes(80)),
        "The broker allocates the file before it fills it: what follows is not entries of 0.",
        classes=[96],
        source="AbstractIndex",
    )
    yield form.whole(
        "zeros-alone",
        bytes(80),
        "Allocated and nothing written yet: not one entry of offset 0.",
        classes=[96],
        source="AbstractIndex",
    )
    yield form.whole(
        "one-entry",
        offset_index((0, 5)),
        "The first four bytes are zeros, and yet an entry begins.",
    )
    yield form.doubtful(
        "single-bits",
        offset_index((2**24, 0), (2**24, 0), (1, 0), (-1, -2)),
        ALL_BITS,
        caught_by="directory",
        reason=FRAMING_ALONE,
        is_kafka_refusal=True,
        source="OffsetIndex.sanityCheck; differences D45",
    )
    yield form.whole(
        "zeros-alone-of-one-entry",
        bytes(8),
        "Allocated for one entry, and nothing written yet.",
        source="AbstractIndex",
    )
    yield form.whole(
        "zeros-of-one-entry",
        offset_index((30, 4200), zero_tail=bytes(8)),
        "Room for one more entry, which is not one of offset 0.",
        source="AbstractIndex",
    )
    yield form.doubtful(
        "byte-1-at-the-end",
        offset_index((30, 4200)) + b"\x01",
        "The size is no multiple of 8, and the byte too many is no zero.",
        classes=[96],
        made="a byte behind the last entry",
        **INCOMPLETE_ENTRY,
    )
    yield form.doubtful(
        "cut",
        offset_index((30, 4200), (71, 8500))[:-3],
        "The size is no multiple of 8: the last entry is not whole.",
        classes=[96],
        made="the last three bytes are missing",
        **INCOMPLETE_ENTRY,
    )


def time_indexes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_time_index", "TimeIndex")
    zeros_of_a_killed_broker: dict[str, Any] = {
        "caught_by": "exact",
        "reason": "A killed broker leaves the zeros. TimeIndex.sanityCheck compares the last entry "
        "with the first, finds a timestamp of 0, and a broker builds the file again; the entries "
        "before the zeros are right.",
        "is_kafka_refusal": True,
        "source": "TimeIndex.sanityCheck; differences D44",
    }
    yield form.whole(
        "empty",
        b"",
        "A segment of v0 messages has no times, so no entries; neither has an empty one.",
    )
    yield form.whole(
        "two-entries",
        time_index((T0, 30), (T0 + 60_000, 71)),
        "The largest time so far, and an offset that has it.",
    )
    yield form.doubtful(
        "zero-tail",
        time_index((T0, 30), zero_tail=bytes(120)),
        "The broker allocates the file before it fills it.",
        classes=[96],
        **zeros_of_a_killed_broker,
    )
    yield form.whole(
        "time-0",
        time_index((0, 5), (1, 6)),
        "The first millisecond of 1970 is a time: only a whole entry of zeros is the end.",
    )
    yield form.whole(
        "one-entry", time_index((5, 0)), "The first four bytes are zeros, and yet an entry begins."
    )
    yield form.whole(
        "one-entry-of-time-0",
        time_index((0, 2**24)),
        "The first eight bytes are zeros, and yet an entry begins.",
    )
    yield form.doubtful(
        "single-bits",
        time_index((2**56, 0), (0, 2**24), (5, 0), (0, 5), (2**56, 0), (-1, -2)),
        ALL_BITS,
        caught_by="directory",
        reason=FRAMING_ALONE,
        is_kafka_refusal=True,
        source="TimeIndex.sanityCheck; differences D45",
    )
    yield form.whole(
        "zeros-alone",
        bytes(12),
        "Allocated and nothing written yet: not one entry of 1970.",
        source="AbstractIndex",
    )
    yield form.doubtful(
        "zeros-of-one-entry",
        time_index((T0, 30), zero_tail=bytes(12)),
        "Room for one more entry, which is not one of 1970.",
        **zeros_of_a_killed_broker,
    )
    yield form.doubtful(
        "byte-1-at-the-end",
        time_index((T0, 30)) + b"\x01",
        "The size is no multiple of 12, and the byte too many is no zero.",
        classes=[96],
        made="a byte behind the last entry",
        **INCOMPLETE_ENTRY,
    )
    yield form.doubtful(
        "cut",
        time_index((T0, 30), (T0 + 1, 31))[:-5],
        "The size is no multiple of 12: the last entry is not whole.",
        classes=[96],
        made="the last five bytes are missing",
        **INCOMPLETE_ENTRY,
    )


def transaction_indexes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_transaction_index", "TransactionIndex, AbortedTxn")
    code = "txnindex-invalid"
    one, two = (4000, 20, 30, 31), (4001, 25, 40, 25)
    yield form.whole(
        "empty", b"", "No transaction was aborted; mostly there is no such file at all."
    )
    yield form.whole(
        "one-entry", transaction_index(one), "34 bytes, and neither a header nor a checksum."
    )
    yield form.whole(
        "two-entries", transaction_index(one, two), "The second began before the first had ended."
    )
    yield form.tolerated(
        "cut",
        transaction_index(one, two)[:-1],
        "The last entry is not whole; a reader that takes what is there misses an abort.",
        caught_by="grammar",
        code=code,
        error=TRUNCATED,
        position=34,
        classes=[100],
        source="TransactionIndex.sanityCheck; differences D46",
        made="the last byte is missing",
        reason="TransactionIndex drops an incomplete last entry silently; a reader that refuses it "
        "can ask the markers in the log.",
    )
    yield form.tolerated(
        "version-1",
        transaction_index(one, version=1),
        "There is no version 1: what its fields would be nobody knows.",
        caught_by="grammar",
        code=code,
        classes=[100],
        source="AbortedTxn; differences D47",
        is_kafka_refusal=True,
        reason="Releases before 4.4 read the first of the two bytes alone, and accept the file; "
        "4.4 refuses it. No release has written another version.",
    )
    for name, entries, position, why in (
        (
            "marker-before-the-data",
            [(4000, 30, 20, 31)],
            0,
            "Its marker lies before its first record: no search finds either.",
        ),
        ("markers-go-back", [two, one], 34, "Entries lie in the order of their markers."),
        (
            "producer-minus-1",
            [(-1, 20, 30, 31)],
            0,
            "Nobody's transaction: -1 stands for no producer.",
        ),
        (
            "stable-offset-above-the-marker",
            [(4000, 20, 30, 32)],
            0,
            "At most the offset behind the marker was stable: a search that believes this one "
            "ends too early.",
        ),
    ):
        yield form.tolerated(
            name,
            transaction_index(*entries),
            why,
            caught_by="directory",
            code=code,
            position=position,
            classes=[100],
            source="TransactionIndex.append, collectAbortedTxns; differences D36",
            reason="TransactionIndex reads the entry, and sanityCheck does not compare its numbers; "
            "no broker writes them.",
        )
    yield form.broken(
        "negative-offsets",
        transaction_index((4000, -3, -2, -1)),
        "Offsets have signs, but are never negative.",
        caught_by="directory",
        code=code,
        classes=[100],
        source="TransactionIndex.append, collectAbortedTxns",
    )


def producer_snapshots() -> Iterator[VectorCase]:
    form = FormatCases("kafka_producer_snapshot", "ProducerStateManager, ProducerSnapshot.json")
    code = "snapshot-invalid"
    idle = producer(
        4000, epoch=5, last_sequence=104, last_offset=24, offset_delta=4, coordinator_epoch=7
    )
    busy = producer(4001, last_sequence=0, last_offset=27, current_transaction_first_offset=26)
    only_marker = producer(4002, epoch=1, coordinator_epoch=7)
    both = producer_snapshot(idle, busy)
    yield form.whole(
        "no-producers", producer_snapshot(), "Ten bytes: nobody idempotent has written."
    )
    yield form.whole(
        "two-producers",
        both,
        "The second has a transaction open, since offset 26: no other file says so.",
    )
    yield form.whole(
        "producer-known-by-its-marker-alone",
        producer_snapshot(only_marker),
        "No batch of it is in memory: -1 stands for no offset and no sequence.",
    )
    yield form.whole(
        "signed",
        producer_snapshot(
            producer(
                -1,
                epoch=-2,
                last_sequence=-3,
                last_offset=-4,
                offset_delta=-5,
                timestamp=-6,
                coordinator_epoch=-7,
                current_transaction_first_offset=-8,
            )
        ),
        "All numbers of a producer have signs.",
    )
    for name, at, why in (
        ("crc", 5, "A broker deletes the file, and takes an older one."),
        ("epoch", 19, "An epoch that is one off fences the producer, or lets a fenced one in."),
    ):
        yield form.broken(
            f"{name}-flipped-bit",
            both[:at] + bytes([both[at] ^ 1]) + both[at + 1 :],
            why,
            caught_by="checksum",
            code=code,
            error=CHECKSUM,
            position=2,
            classes=[99],
            source="ProducerStateManager.readSnapshot",
            made=f"one bit of byte {at} flipped",
        )
    for name, data, caught_by, error, position, why in (
        ("empty", b"", "grammar", TRUNCATED, 0, "A file of no bytes, as a crash leaves it."),
        ("header-cut", both[:7], "grammar", TRUNCATED, 0, "It ends in the number of producers."),
        (
            "cut",
            both[:-10],
            "grammar",
            CHECKSUM,
            2,
            "The last producer is not whole; the checksum tells first.",
        ),
        ("version-0", b"\0\0" + both[2:], "grammar", None, 0, "The only version is 1."),
        ("version-2", b"\0\2" + both[2:], "grammar", None, 0, "The only version is 1."),
        (
            "count-3-of-2",
            producer_snapshot(idle, busy, num_producers=3),
            "grammar",
            TRUNCATED,
            10,
            "A third producer is claimed, under a right checksum.",
        ),
        (
            "count-largest-int32",
            producer_snapshot(idle, num_producers=2**31 - 1),
            "grammar",
            TRUNCATED,
            10,
            "An array made by this count takes a hundred gigabytes.",
        ),
        (
            "count-minus-1",
            producer_snapshot(num_producers=-1),
            "grammar",
            TRUNCATED,
            10,
            "A negative count of producers, under a right checksum.",
        ),
    ):
        yield form.broken(
            name,
            data,
            why,
            caught_by=caught_by,
            code=code,
            error=error,
            position=position,
            classes=[99],
            source="ProducerStateManagerTest",
        )
    yield form.tolerated(
        "bytes-behind",
        producer_snapshot(idle, trailing=b"more"),
        "Bytes follow the last producer, under a right checksum.",
        caught_by="exact",
        code=code,
        error=TRUNCATED,
        position=10,
        classes=[99],
        source="ProducerStateManager.readSnapshot; differences D48",
        reason="ProducerStateManager reads the producers that are counted and ignores the rest; no "
        "broker writes more.",
    )


def offset_checkpoints() -> Iterator[VectorCase]:
    form = FormatCases("kafka_offset_checkpoint", "CheckpointFile, OffsetCheckpointFile")
    yield form.whole("empty", b"", "A broker makes the file before it writes one.")
    yield form.whole("no-entries", checkpoint(), "Version 0, a count of 0, and no lines.")
    yield form.whole(
        "two-entries",
        checkpoint(("a-topic-with-dashes", 11, 42), ("t", 0, 2**63 - 1)),
        "Topic, partition and offset, each behind a space.",
    )
    yield form.broken(
        "version-1",
        checkpoint(("t", 0, 5), version=1),
        "The only version is 0: a later one may mean other offsets.",
        code="checkpoint-invalid",
    )
    yield form.broken(
        "count-1-of-2",
        checkpoint(("t", 0, 5), ("t", 1, 6), num_entries=1),
        "An entry more than announced: the file was not written in one go.",
        caught_by="exact",
        code="checkpoint-invalid",
    )
    yield form.broken(
        "field-missing",
        b"0\n1\nt 0\n",
        "An entry has three fields.",
        code="checkpoint-invalid",
        made="text",
    )
    for name, count, offset, why in (
        ("count-2-of-1", "2", "5", "An entry is missing."),
        ("count-no-number", "many", "5", "The count is a decimal number."),
        ("offset-no-number", "1", "five", "An offset is a decimal number."),
        ("offset-with-an-underscore", "1", "1_0", "Python takes it for 10, Java for no number."),
        ("offset-above-int64", "1", str(2**63), "Offsets have 64 bits."),
    ):
        line = {"topic": "t", "partition": "0", "offset": offset}
        yield form.broken(
            name,
            f"0\n{count}\nt 0 {offset}\n".encode(),
            why,
            caught_by="exact",
            code="checkpoint-invalid",
            fields={"version": "0", "num_entries": count, "entries": [line]},
            made="text",
        )
    for name, data, why in (
        ("crlf", b"0\r\n1\r\nt 0 5\r\n", "Lines end as on Windows."),
        ("last-line-not-ended", b"0\n1\nt 0 5", "The last line has no end."),
        ("tabs", b"0\n1\nt\t0\t5\n", "Fields lie behind tabs."),
    ):
        yield form.doubtful(
            name,
            data,
            why,
            caught_by="grammar",
            made="text, as someone may have edited it",
            reason="Java's readLine and split take it; no broker writes it.",
        )


def leader_epoch_checkpoints() -> Iterator[VectorCase]:
    form = FormatCases("kafka_leader_epoch_checkpoint", "LeaderEpochCheckpointFile")
    yield form.whole("empty", b"", "No epoch yet: a broker makes the file before it leads.")
    yield form.whole(
        "three-epochs",
        epochs((0, 0), (3, 120), (4, 2**40)),
        "Epochs 1 and 2 wrote nothing, and are not there.",
    )
    yield form.broken(
        "version-1",
        epochs((0, 0), version=1),
        "The only version is 0: a later one may mean other offsets.",
    )
    yield form.broken(
        "count-1-of-2",
        epochs((0, 0), (1, 5), num_entries=1),
        "An entry more than announced.",
        caught_by="exact",
    )
    yield form.broken("field-missing", b"0\n1\n7\n", "An epoch without its offset.", made="text")


def partition_metadata() -> Iterator[VectorCase]:
    form = FormatCases("kafka_partition_metadata", "PartitionMetadataFile")
    text = twin.PartitionMetadata.build({"topic_id": TOPIC_ID})
    yield form.whole(
        "as-written",
        text,
        "Two lines; the second has no end. The id is 16 bytes in base64 of the URL kind.",
    )
    yield form.doubtful(
        "version-1",
        text.replace(b"version: 0", b"version: 1"),
        "Kafka takes a later version for 0, so that a broker can be downgraded.",
        caught_by="exact",
        source="PartitionMetadataReadBuffer; differences D49",
        made="text",
        reason="2.8 refuses every version but 0. No release has written another one.",
    )
    yield form.doubtful(
        "last-line-ended",
        text + b"\n",
        "An editor ended the last line.",
        caught_by="exact",
        made="a line feed behind the id",
        reason="Java's readLine takes it; no broker writes it.",
    )
    yield form.doubtful(
        "last-line-ended-twice",
        text + b"\n\n",
        "An empty line follows the id.",
        caught_by="exact",
        made="two line feeds behind the id",
        reason="PartitionMetadataFile reads two lines and no further; no broker writes a third.",
    )
    for name, data, why in (
        ("id-cut", text[:-4], "The id has 22 characters."),
        ("without-an-id", b"version: 0\n", "The second line is missing."),
        ("keys-swapped", b"topic_id: " + TOPIC_ID.encode() + b"\nversion: 0", "Version first."),
    ):
        yield form.broken(name, data, why, made="text")
