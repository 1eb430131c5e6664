"""Test vectors of fetched bytes: the records of one partition in a fetch response, with its aborted transactions.

The bytes may also be of a remote segment that a consumer reads by itself (KIP-1248): they then begin at
an entry of the offset index, below the wanted offset, and the aborted transactions come from the
segment's transaction index. The judge is the consumer, with isolation.level=read_committed.
"""

from collections.abc import Iterator, Sequence

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.control_cases import CONTENTS, control, control_batch
from magicbyte_tools.vectors.directory_cases import hidden, one
from magicbyte_tools.vectors.entry_parts import (
    ABORT,
    COMMIT,
    EntryPart,
    Rec,
    batch,
    marker,
    rec,
    transactional,
)
from magicbyte_tools.vectors.framers import GZIP

FETCH = "CompletedFetch, FetchResponse.json"

A, B = 4000, 4001
"""Ids of the producers."""


def cases() -> Iterator[VectorCase]:
    yield from whole_transactions()
    yield from parts_of_transactions()
    yield from markers()
    yield from offsets()


def fetched(
    name: str,
    why: str,
    parts: Sequence[EntryPart],
    listed_transactions: Sequence[tuple[int, int]] | None = (),
    *,
    fetch_offset: int = 0,
    source: str = FETCH,
) -> VectorCase:
    """Return the test vector of the entries *parts*, asked for from *fetch_offset* on.

    *listed_transactions* are the producer ids and first offsets of the aborted transactions in the response.
    """
    rows = [row for part in parts for row in part.rows if row.offset >= fetch_offset]
    return VectorCase(
        format="kafka_fetched",
        name=name,
        why=why,
        verdict="valid",
        data=b"".join(part.data for part in parts),
        source=source,
        rows=tuple(rows),
        fetch_offset=fetch_offset,
        aborted_transactions=None if listed_transactions is None else tuple(listed_transactions),
    )


def written(*records: Rec, producer: int = A) -> EntryPart:
    """Return a batch of a transaction that commits."""
    return transactional(*records, producer=producer)


def undone(*records: Rec, producer: int = A) -> EntryPart:
    """Return a batch of a transaction that aborts, none of whose records is delivered."""
    return hidden(written(*records, producer=producer))


def ended(kind: int, offset: int, producer: int = A) -> EntryPart:
    return marker(kind, offset, producer=producer)


def whole_transactions() -> Iterator[VectorCase]:
    yield fetched(
        "committed",
        "A transaction that commits, among records of no transaction.",
        [one(0), written(rec(1), rec(2)), ended(COMMIT, 3), one(4)],
    )
    yield fetched(
        "committed-and-a-null-list",
        "The list of aborted transactions is null: there are none.",
        [one(0), written(rec(1), rec(2)), ended(COMMIT, 3), one(4)],
        None,
    )
    yield fetched(
        "aborted",
        "The list names the transaction: its records are not delivered, those around it are.",
        [one(0), undone(rec(1), rec(2)), ended(ABORT, 3), one(4)],
        [(A, 1)],
    )
    yield fetched(
        "aborted-twice",
        "A producer aborts, aborts again, and commits: each marker ends one transaction.",
        [
            undone(rec(0)),
            ended(ABORT, 1),
            undone(rec(2)),
            ended(ABORT, 3),
            written(rec(4)),
            ended(COMMIT, 5),
        ],
        [(A, 0), (A, 2)],
    )
    yield fetched(
        "committed-then-aborted",
        "The list names the second transaction: what the producer wrote before its first offset counts.",
        [written(rec(0)), ended(COMMIT, 1), undone(rec(2)), ended(ABORT, 3)],
        [(A, 2)],
    )
    yield fetched(
        "interleaved",
        "The batches of two producers are interleaved: one commits, the other aborts.",
        [
            undone(rec(0)),
            written(rec(1), producer=B),
            undone(rec(2)),
            written(rec(3), producer=B),
            ended(COMMIT, 4, B),
            ended(ABORT, 5),
        ],
        [(A, 0)],
    )
    yield fetched(
        "list-in-the-order-of-markers",
        "The first to end began last: brokers list transactions in the order of their markers, so "
        "first offsets go back.",
        [
            undone(rec(0, None, None)),
            undone(rec(1), producer=B),
            ended(ABORT, 2, B),
            ended(ABORT, 3),
        ],
        [(B, 1), (A, 0)],
        source="TransactionIndex.collectAbortedTxns",
    )
    yield fetched(
        "idempotent-records-of-an-aborting-producer",
        "The producer has the id of an aborted transaction, and its batch is in none: it is delivered.",
        [undone(rec(0)), batch(rec(1), producer_id=A, producer_epoch=0, base_sequence=1), one(2)],
        [(A, 0)],
    )
    yield fetched(
        "aborted-by-the-next-epoch",
        "The marker has the epoch of the records plus one: the producer's id decides.",
        [
            hidden(transactional(rec(0), producer=A, epoch=5)),
            marker(ABORT, 1, producer=A, epoch=6),
            transactional(rec(2), producer=A, epoch=6),
            marker(COMMIT, 3, producer=A, epoch=6),
        ],
        [(A, 0)],
        source="KIP-890",
    )


def parts_of_transactions() -> Iterator[VectorCase]:
    yield fetched(
        "begins-inside-an-aborted-one",
        "The transaction began below the first entry, at an offset that no entry here has.",
        [undone(rec(5)), undone(rec(6)), ended(ABORT, 7), written(rec(8)), ended(COMMIT, 9)],
        [(A, 2)],
        fetch_offset=5,
    )
    yield fetched(
        "begins-inside-a-committed-one",
        "The transaction began below the first entry, and the list does not name it.",
        [written(rec(5)), ended(COMMIT, 6), undone(rec(7)), ended(ABORT, 8)],
        [(A, 7)],
        fetch_offset=5,
    )
    yield fetched(
        "ends-before-the-marker",
        "The bytes end inside an aborted transaction: the list alone says so.",
        [one(0), undone(rec(1)), one(2), undone(rec(3))],
        [(A, 1)],
    )
    yield fetched(
        "inside-a-transaction-from-end-to-end",
        "The bytes begin and end inside an aborted transaction, and hold records of others.",
        [undone(rec(5)), written(rec(6), producer=B), undone(rec(7)), ended(COMMIT, 8, B)],
        [(A, 2)],
        fetch_offset=5,
    )
    yield fetched(
        "list-beyond-the-bytes",
        "The list names a transaction that begins behind the last entry, as a broker gives it for the "
        "whole range that it looked at.",
        [written(rec(0)), ended(COMMIT, 1)],
        [(A, 2)],
    )
    yield fetched(
        "aborted-records-compacted-away",
        "The cleaner removed the aborted records; the marker is left, and ends what the list names.",
        [one(0), ended(ABORT, 3), written(rec(4)), ended(COMMIT, 5)],
        [(A, 1)],
    )
    yield fetched(
        "aborted-records-compacted-into-an-empty-batch",
        "The cleaner keeps the last batch of a producer without its records.",
        [
            one(0),
            batch(
                base_offset=1,
                last_offset=2,
                producer_id=A,
                producer_epoch=0,
                base_sequence=0,
                attributes={"is_transactional": True},
            ),
            ended(ABORT, 3),
            written(rec(4)),
            ended(COMMIT, 5),
        ],
        [(A, 1)],
    )


def markers() -> Iterator[VectorCase]:
    yield fetched(
        "markers-alone",
        "Only markers are left: nothing is delivered, and the next offset is behind them.",
        [ended(ABORT, 3), ended(COMMIT, 7, B), ended(COMMIT, 9)],
        [(A, 1)],
    )
    yield fetched(
        "marker-of-a-transaction-that-is-not-listed",
        "An abort marker without a listed transaction, as after a compaction: it ends nothing.",
        [written(rec(0)), ended(COMMIT, 1), ended(ABORT, 2), written(rec(3)), ended(COMMIT, 4)],
    )
    kind, value = CONTENTS["leader-change"]
    yield fetched(
        "leader-change-between",
        "A control batch of another type ends no transaction.",
        [undone(rec(0)), control_batch(control(kind, value, offset=1)), undone(rec(2))],
        [(A, 0)],
    )


def offsets() -> Iterator[VectorCase]:
    remote = "KIP-1248; CompletedFetch"
    whole = batch(rec(0), rec(1), rec(2), rec(3))
    yield fetched(
        "offset-inside-a-batch",
        "The batch begins below the wanted offset: its first records are not delivered.",
        [whole, one(4)],
        fetch_offset=2,
    )
    yield fetched(
        "offset-inside-a-compressed-batch",
        "The batch begins below the wanted offset, and is compressed as a whole.",
        [batch(rec(0), rec(1), rec(2), rec(3), codec=GZIP), one(4)],
        fetch_offset=2,
    )
    yield fetched(
        "offset-inside-an-aborted-batch",
        "The wanted offset is inside a batch that aborts.",
        [undone(rec(1), rec(2), rec(3)), ended(ABORT, 4), one(5)],
        [(A, 1)],
        fetch_offset=2,
    )
    yield fetched(
        "offset-behind-whole-batches",
        "Whole batches are below the wanted offset, as where an index entry leads.",
        [one(0), whole_from(1), one(5)],
        fetch_offset=5,
        source=remote,
    )
    yield fetched(
        "offset-behind-an-aborted-one",
        "An aborted transaction ends below the wanted offset, and its producer commits above it.",
        [undone(rec(0, None, None)), ended(ABORT, 1), written(rec(2)), ended(COMMIT, 3)],
        [(A, 0)],
        fetch_offset=2,
        source=remote,
    )
    yield fetched(
        "offset-behind-an-aborted-one-that-is-not-listed",
        "The list begins at the wanted offset; the transaction below it is not in it.",
        [undone(rec(0)), ended(ABORT, 1), written(rec(2)), ended(COMMIT, 3)],
        fetch_offset=2,
        source=remote,
    )
    yield fetched(
        "offset-behind-an-unlisted-one-then-a-listed-one",
        "The marker below the wanted offset ends a transaction that is not listed; the listed one of the "
        "same producer comes after it.",
        [undone(rec(0)), ended(ABORT, 1), undone(rec(2)), ended(ABORT, 3), one(4)],
        [(A, 2)],
        fetch_offset=2,
        source=remote,
    )
    yield fetched(
        "offset-on-a-marker",
        "The wanted offset is that of a marker: the first record is the one behind it.",
        [ended(ABORT, 3), written(rec(4)), ended(COMMIT, 5)],
        [(A, 1)],
        fetch_offset=3,
    )
    yield fetched(
        "offset-in-a-gap",
        "No record has the wanted offset: the next one is delivered.",
        [batch(rec(0), rec(5)), one(6)],
        fetch_offset=3,
    )
    yield fetched(
        "offset-behind-the-last-record-of-its-batch",
        "The batch reaches to offset 9, and its last record is 5: nothing of it is delivered.",
        [batch(rec(0), rec(5), last_offset=9), one(10)],
        fetch_offset=7,
    )


def whole_from(offset: int) -> EntryPart:
    return batch(*(rec(offset + number) for number in range(4)))
