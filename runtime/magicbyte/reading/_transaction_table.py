"""The transactions of a partition as columns, since a log may have millions of them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from magicbyte._transactions import LogPosition, Transaction
from magicbyte.reading._growing_rows import GrowingRows
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte.tables.arrays import Indices, Mask, StructuredRows
from magicbyte.tables.schemas import OUTCOMES

EVIDENCE = (None, "marker", "later-marker", "txnindex", "snapshot")
"""Kinds of evidence for an outcome, in the order of the codes in the column `evidence`."""

EVIDENCE_CODES = {name: code for code, name in enumerate(EVIDENCE)}

COLUMNS = np.dtype(
    [
        ("producer_id", np.int64),
        ("first_offset", np.int64),
        ("last_offset", np.int64),
        ("first_timestamp", np.int64),
        ("record_count", np.int64),
        ("size_bytes", np.int64),
        ("first_position", np.int64),
        ("last_position", np.int64),
        ("marker_offset", np.int64),
        ("marker_timestamp", np.int64),
        ("first_segment", np.int32),
        ("last_segment", np.int32),
        ("coordinator_epoch", np.int32),
        ("producer_epoch", np.int16),
        ("marker_epoch", np.int16),
        ("outcome", np.int8),
        ("evidence", np.int8),
        ("begun_before_log", np.bool_),
        ("is_continuation", np.bool_),
        ("is_uncertain", np.bool_),
        ("has_data", np.bool_),
        ("has_marker", np.bool_),
        ("has_marker_offset", np.bool_),
        ("has_coordinator_epoch", np.bool_),
        ("is_left_out", np.bool_),
    ]
)
"""The fields of Transaction. *has_data* is false where only a producer snapshot states a transaction;
*marker_epoch* is the producer epoch of its marker; an index knows the offset of a marker alone; a transaction
that *is_left_out* is not listed."""

BLOCK_ROWS = 4096
"""Transactions that are converted to objects together."""

OPEN = OUTCOME_CODES["open"]


class TransactionTable:
    """The transactions of a partition, 106 bytes each, by number: in the order in which they begin.

    Iterated and counted are those that are listed, by first offset and then by producer id.
    """

    def __init__(self) -> None:
        self._all = GrowingRows(COLUMNS)
        self._listed: Indices = np.zeros(0, np.intp)

    @property
    def rows(self) -> StructuredRows:
        """The columns of all transactions so far, without a copy."""
        return self._all.rows

    def add(self, count: int) -> StructuredRows:
        """Add *count* open transactions; return their rows, in which all other columns are 0."""
        rows = self._all.add(count)
        rows["outcome"] = OPEN
        return rows

    def list_transactions(self, listed: Indices | None = None) -> None:
        """List the transactions with the numbers *listed*; None: all that are not left out."""
        rows = self.rows
        chosen = np.flatnonzero(~rows["is_left_out"]) if listed is None else listed
        firsts = rows["first_offset"][chosen]
        if not (firsts[1:] > firsts[:-1]).all():
            chosen = chosen[np.lexsort((rows["producer_id"][chosen], firsts))]
        self._listed = chosen

    @property
    def listed(self) -> Indices:
        """The numbers of the transactions that are listed, in order."""
        return self._listed

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[Transaction]:
        for begin in range(0, len(self._listed), BLOCK_ROWS):
            yield from self.at(self._listed[begin : begin + BLOCK_ROWS])

    def at(self, numbers: Indices) -> list[Transaction]:
        """Return the transactions with *numbers*."""
        rows = self.rows[numbers].tolist()
        return [_transaction(dict(zip(COLUMNS.names or (), row, strict=True))) for row in rows]

    def with_outcome(self, *outcomes: str) -> list[Transaction]:
        """Return the listed transactions that have one of *outcomes*."""
        found = self.rows["outcome"][self._listed]
        masks = [found == OUTCOME_CODES[outcome] for outcome in outcomes]
        return self._filtered(np.logical_or.reduce(masks))

    def only_open(self) -> "TransactionTable":
        """Return a table of the listed transactions that are open, without positions of their data."""
        codes = self.rows["outcome"][self._listed]
        opened, table = self._listed[codes == OPEN], TransactionTable()
        copies = table.add(len(opened))
        copies[:] = self.rows[opened]
        copies["has_data"] = False
        table.list_transactions()
        return table

    def uncertain(self) -> list[Transaction]:
        """Return the listed transactions after whose last data entries may be missing."""
        return self._filtered(self.rows["is_uncertain"][self._listed])

    def _filtered(self, mask: Mask) -> list[Transaction]:
        return self.at(self._listed[mask])


NO_TRANSACTIONS = TransactionTable()


def _transaction(fields: Mapping[str, Any]) -> Transaction:
    """Return the transaction in *fields*, which has the columns as Python values."""
    has_data, has_marker = fields["has_data"], fields["has_marker"]
    return Transaction(
        producer_id=fields["producer_id"],
        producer_epoch=fields["producer_epoch"],
        first_offset=fields["first_offset"],
        last_offset=fields["last_offset"],
        begun_before_log=fields["begun_before_log"],
        first_timestamp=fields["first_timestamp"] if has_data else None,
        record_count=fields["record_count"],
        size_bytes=fields["size_bytes"],
        first_position=LogPosition(fields["first_segment"], fields["first_position"])
        if has_data
        else None,
        last_position=LogPosition(fields["last_segment"], fields["last_position"])
        if has_data
        else None,
        is_continuation=fields["is_continuation"],
        is_uncertain=fields["is_uncertain"],
        outcome=OUTCOMES[fields["outcome"]],
        evidence=EVIDENCE[fields["evidence"]],
        marker_offset=fields["marker_offset"] if fields["has_marker_offset"] else None,
        marker_timestamp=fields["marker_timestamp"] if has_marker else None,
        coordinator_epoch=fields["coordinator_epoch"] if fields["has_coordinator_epoch"] else None,
    )
