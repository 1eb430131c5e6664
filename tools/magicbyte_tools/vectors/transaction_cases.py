"""Test vectors of log directories with transactions, transaction indexes and producer snapshots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from magicbyte_tools.vectors.case import ExpectedFinding, VectorCase
from magicbyte_tools.vectors.companion_cases import producer, producer_snapshot, transaction_index
from magicbyte_tools.vectors.directory_cases import PartitionFiles, hidden, log_dir, log_name, one
from magicbyte_tools.vectors.entry_parts import (
    ABORT,
    COMMIT,
    EntryPart,
    flipped,
    marker,
    rec,
    transactional,
)

PRODUCER = 4000
ABORTED_INDEX = "00000000000000000000.txnindex"


def cases() -> Iterator[VectorCase]:
    yield from transactions()
    yield from snapshots()


def transactions() -> Iterator[VectorCase]:
    data = transactional(rec(1), rec(2), producer=PRODUCER, epoch=5)
    gone = hidden(data)
    commit = marker(COMMIT, 3, producer=PRODUCER, epoch=5)
    abort = marker(ABORT, 3, producer=PRODUCER, epoch=5)
    right = transaction_index((PRODUCER, 1, 3, 4))

    def of(
        name: str,
        why: str,
        parts: Sequence[EntryPart],
        files: Mapping[str, bytes] | None = None,
        source: str = "KIP-98",
        **fields: Any,
    ) -> VectorCase:
        partition = PartitionFiles({0: parts}, files=files or {})
        return log_dir(f"transaction-{name}", why, partition, source=source, **fields)

    yield of(
        "committed",
        "The marker commits: the records count, the marker is none.",
        [one(0), data, commit, one(4)],
    )
    yield of(
        "aborted",
        "The marker aborts: who does not look ahead for it delivers what never happened.",
        [one(0), gone, abort, one(4)],
        files={ABORTED_INDEX: right},
    )
    yield of(
        "aborted-by-the-next-epoch",
        "The marker has the epoch of its data plus one, and the producer's id decides.",
        [one(0), gone, marker(ABORT, 3, producer=PRODUCER, epoch=6), one(4)],
        files={ABORTED_INDEX: right},
        source="KIP-890",
    )
    yield of(
        "open",
        "It has not ended: nothing from its first offset on is stable, records of others included.",
        [one(0), gone, hidden(one(3)), hidden(one(4))],
        findings=[ExpectedFinding("transaction-open", len(one(0)), log_name(0))],
    )
    yield of(
        "without-its-index",
        "A broker that lost the index delivers the aborted records. The marker is in the log.",
        [one(0), gone, abort, one(4)],
        findings=[ExpectedFinding("txnindex-missing", file=ABORTED_INDEX)],
        source="differences D35",
    )
    yield of(
        "index-cut",
        "The index is not whole, and counts for nothing; the marker decides.",
        [one(0), gone, abort, one(4)],
        findings=[ExpectedFinding("txnindex-invalid", 0, ABORTED_INDEX)],
        files={ABORTED_INDEX: right[:-1]},
        classes=[100],
        source="LogSegmentTest.testRecoverTransactionIndex; differences D36",
    )
    yield of(
        "index-of-another",
        "The index names another producer: it is another log's, and the marker decides.",
        [one(0), gone, abort, one(4)],
        findings=[
            ExpectedFinding("txnindex-mismatch", file=ABORTED_INDEX),
            ExpectedFinding("txnindex-mismatch", file=ABORTED_INDEX),
        ],
        files={ABORTED_INDEX: transaction_index((PRODUCER + 1, 1, 3, 4))},
        classes=[100],
        source="differences D36",
    )
    yield of(
        "index-of-a-committed-one",
        "The index calls aborted what its marker commits.",
        [one(0), data, commit, one(4)],
        findings=[ExpectedFinding("txnindex-mismatch", file=ABORTED_INDEX)],
        files={ABORTED_INDEX: right},
        classes=[100],
        source="differences D36",
    )
    second = "00000000000000000003.txnindex"
    yield log_dir(
        "transaction-aborted-in-the-next-segment",
        "The marker lies in the segment behind: who reads each file alone delivers the records.",
        PartitionFiles(
            {0: [one(0), gone], 3: [abort, one(4)]},
            files={
                second: right,
                "00000000000000000003.snapshot": producer_snapshot(
                    producer(
                        PRODUCER,
                        epoch=5,
                        last_sequence=1,
                        last_offset=2,
                        offset_delta=1,
                        current_transaction_first_offset=1,
                    )
                ),
            },
        ),
        source="KIP-98",
    )
    aborting = flipped(abort, len(abort) - 1)
    place = len(one(0)) + len(data)
    mismatch = ExpectedFinding("checksum-mismatch", place, log_name(0))
    yield log_dir(
        "transaction-undecided",
        "The marker is damaged: nobody can tell whether the records count, so they are "
        "withheld, and those behind are not.",
        PartitionFiles({0: [one(0), gone, hidden(aborting), one(4)]}),
        findings=[mismatch, ExpectedFinding("transaction-undecided", len(one(0)), log_name(0))],
        error=mismatch,
        caught_by="checksum",
        records_before=1,
        source="a rule of magicbyte; differences D37",
        made="one bit of the marker's last byte flipped",
    )
    yield log_dir(
        "transaction-of-a-damaged-marker-in-its-index",
        "The marker is damaged, and the index says that it was an abort.",
        PartitionFiles({0: [one(0), gone, hidden(aborting), one(4)]}, files={ABORTED_INDEX: right}),
        error=mismatch,
        caught_by="checksum",
        records_before=1,
        source="a rule of magicbyte",
        made="one bit of the marker's last byte flipped",
    )


def snapshots() -> Iterator[VectorCase]:
    mine = transactional(rec(5), producer=PRODUCER, epoch=5, sequence=7)
    ended = [mine, marker(COMMIT, 6, producer=PRODUCER, epoch=5), one(7)]
    base = "00000000000000000005.snapshot"

    def of(
        name: str, why: str, data: bytes, code: str, position: int | None = None, **fields: Any
    ) -> VectorCase:
        """Return the test vector of a log from offset 5 on with *data* as its producer snapshot."""
        return log_dir(
            f"snapshot-{name}",
            why,
            PartitionFiles({5: ended}, files={base: data}),
            findings=[ExpectedFinding(code, position, base)],
            classes=[99],
            **{"source": "ProducerStateManager"} | fields,
        )

    opened = producer(
        PRODUCER, epoch=5, last_sequence=6, last_offset=4, current_transaction_first_offset=3
    )
    yield log_dir(
        "snapshot-tells-what-was-open",
        "The log begins inside a transaction; the snapshot knows where it began.",
        PartitionFiles(
            {5: [hidden(mine), marker(ABORT, 6, producer=PRODUCER, epoch=5), one(7)]},
            files={
                base: producer_snapshot(opened),
                "00000000000000000005.txnindex": transaction_index((PRODUCER, 3, 6, 7)),
            },
        ),
        source="ProducerStateManager",
    )
    yield log_dir(
        "snapshot-missing",
        "The log begins at 5 without a snapshot there: what was open before is not known.",
        PartitionFiles({5: ended}),
        findings=[ExpectedFinding("snapshot-missing", file=base)],
        source="ProducerStateManager",
    )
    idle = producer(PRODUCER, epoch=5, last_sequence=6, last_offset=4)
    whole = producer_snapshot(idle)
    for name, data, position, why in (
        ("cut", whole[:-10], 2, "The snapshot is not whole; its checksum says so."),
        ("empty", b"", 0, "A snapshot of no bytes, as a crash leaves it."),
        ("version-2", b"\0\2" + whole[2:], 0, "A snapshot of a version that nobody knows."),
    ):
        yield of(
            name,
            why + " The log is read all the same.",
            data,
            "snapshot-invalid",
            position,
            source="ProducerStateManagerTest",
        )
    second = "00000000000000000002.snapshot"
    snapshot = producer_snapshot(producer(77, last_sequence=0, last_offset=0))
    yield log_dir(
        "snapshot-of-another-log",
        "The snapshot says that producer 77 wrote offset 0, and producer 1 did.",
        PartitionFiles(
            {0: [transactional(rec(0), producer=1), marker(COMMIT, 1, producer=1)], 2: [one(2)]},
            files={second: snapshot},
        ),
        findings=[ExpectedFinding("snapshot-mismatch", file=second)],
        classes=[99],
        source="ProducerStateManager",
    )
    yield of(
        "knows-the-future",
        "A snapshot at 5 holds what was below 5, and names offset 5.",
        producer_snapshot(producer(PRODUCER, last_sequence=6, last_offset=5)),
        "snapshot-mismatch",
        0,
    )
    yield of(
        "of-a-later-epoch",
        "The snapshot at the log's beginning gives a producer epoch 6, and it goes on with 5.",
        producer_snapshot(producer(PRODUCER, epoch=6, last_sequence=6, last_offset=4)),
        "snapshot-mismatch",
        source="ProducerAppendInfo.checkProducerEpoch",
    )
    yield of(
        "of-strangers",
        "Nothing in the log knows producer 77: it has expired, or wrote to another log.",
        producer_snapshot(producer(77, last_sequence=6, last_offset=4)),
        "snapshot-unconfirmed",
    )
    later = "00000000000000000006.snapshot"
    yield log_dir(
        "snapshot-transaction-of-one-alone",
        "One snapshot calls a transaction open, the next one does not know it, and no marker "
        "lies between: believed, it would withhold the whole log.",
        PartitionFiles(
            {5: [one(5)], 6: [one(6)]},
            files={base: producer_snapshot(opened), later: producer_snapshot()},
        ),
        findings=[ExpectedFinding("snapshot-transaction-ignored", file=base)],
        source="a rule of magicbyte; differences D38",
    )
