"""Transactions that a pass of the log cleaner meets: which batches and markers it may remove."""

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from magicbyte.engines.protocol import Decoded, Entries
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import Mask
from magicbyte.tables.schemas import OUTCOMES
from magicbyte_formats.wire import ControlType

ABORTED = OUTCOMES.index("aborted")


class AbortedOffsets:
    """Offsets of the aborted transactions of each producer."""

    def __init__(self, survey: Survey) -> None:
        table = survey.transactions
        rows = table.rows[table.listed]
        rows = rows[rows["outcome"] == ABORTED]
        self._firsts: defaultdict[int, list[int]] = defaultdict(list)
        self._lasts: defaultdict[int, list[int]] = defaultdict(list)
        columns = (rows[name].tolist() for name in ("producer_id", "first_offset", "last_offset"))
        for producer_id, first, last in sorted(zip(*columns, strict=True)):
            self._firsts[producer_id].append(first)
            self._lasts[producer_id].append(last)

    def contain(self, producer_id: int, offset: int) -> bool:
        """Return whether *offset*, of a transactional batch of a producer, is in an aborted transaction."""
        firsts = self._firsts.get(producer_id)
        if firsts is None:
            return False
        index = bisect_right(firsts, offset) - 1
        return index >= 0 and offset <= self._lasts[producer_id][index]

    def mask(self, entries: Entries) -> Mask:
        """Return which of *entries* are data of aborted transactions."""
        is_aborted = np.zeros(len(entries), np.bool_)
        if not self._firsts:
            return is_aborted
        is_data = (entries.column("is_transactional") != 0) & (entries.column("is_control") == 0)
        ids, offsets = entries.column("producer_id"), entries.column("last_offset")
        for index in np.flatnonzero(is_data).tolist():
            is_aborted[index] = self.contain(int(ids[index]), int(offsets[index]))
        return is_aborted


@dataclass(slots=True)
class TransactionsMet:
    """State of the cleaner's pass: producers with data since their last marker."""

    aborted: AbortedOffsets
    _with_data: set[int] = field(default_factory=set)

    def removable(self, entries: Entries, decoded: Decoded) -> Mask:
        """Return which of *entries*, the next ones of the pass, may be removed for their transactions.

        Data of aborted transactions may be, and a marker whose transaction has no batch left.
        Sources: CleanedTransactionMetadata.onBatchRead and onControlBatchRead.
        """
        is_control = entries.column("is_control") != 0
        is_transactional = entries.column("is_transactional") != 0
        removable = self.aborted.mask(entries)
        indices = np.flatnonzero(is_control | is_transactional)
        producer_ids = entries.column("producer_id")[indices].tolist()
        are_controls = is_control[indices].tolist()
        for index, producer_id, is_marker in zip(
            indices.tolist(), producer_ids, are_controls, strict=True
        ):
            if not is_marker:
                self._with_data.add(producer_id)
                continue
            result = decoded.result(index)
            if result.num_rows == 0:
                removable[index] = True  # an earlier round has emptied it
            elif result.control is not None and result.control.type in (
                ControlType.ABORT,
                ControlType.COMMIT,
            ):
                removable[index] = producer_id not in self._with_data
                self._with_data.discard(producer_id)
        return removable
