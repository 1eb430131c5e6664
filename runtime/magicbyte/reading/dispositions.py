"""Dispositions of entries and of their records: delivered, aborted, withheld, damaged, ..."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, DecodedEntry, Entries, Entry
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte.tables.arrays import (
    Codes,
    Mask,
    constant_array,
    number_array,
    string_array,
    to_numpy,
)
from magicbyte.tables.schemas import DISPOSITIONS

_NAMES = string_array(DISPOSITIONS)

DISPOSITION_CODES = {name: code for code, name in enumerate(DISPOSITIONS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryBounds:
    """Bounds of the offsets to deliver; a bound that is None does not apply."""

    log_start_offset: int | None
    first: int | None
    """The lowest wanted offset."""
    end: int | None
    """The offset after the highest wanted one."""
    last_stable_offset: int | None

    def exclude_any(self, offsets: Numbers) -> bool:
        """Return whether any of *offsets* is outside of the bounds."""
        if not len(offsets):
            return False
        for bound in (self.first, self.log_start_offset):
            if bound is not None and int(offsets.min()) < bound:
                return True
        for bound in (self.end, self.last_stable_offset):
            if bound is not None and int(offsets.max()) >= bound:
                return True
        return False


@dataclass(frozen=True, slots=True)
class ExaminedEntry:
    """An entry with its disposition and the result of decoding it."""

    entry: Entry
    disposition: str
    crc_valid: bool | None
    """None if the checksum was not computed."""
    decoded: DecodedEntry


@dataclass(frozen=True, slots=True)
class ClassifiedEntries:
    """Decoded entries, and the codes of the dispositions of entries and rows: indices of DISPOSITIONS."""

    entries: Entries
    decoded: Decoded
    entry_codes: Codes
    row_codes: Codes
    is_all_delivered: bool = False
    """True if all rows of all entries are delivered."""

    def __iter__(self) -> Iterator[ExaminedEntry]:
        for entry, code, result in zip(
            self.entries, self.entry_codes.tolist(), self.decoded.all_results(), strict=True
        ):
            yield ExaminedEntry(entry, DISPOSITIONS[code], True, result)

    def num_records(self, row_codes: Codes) -> Counter[str]:
        """Return the number of rows with these codes, some or all of `row_codes`, by disposition."""
        if self.is_all_delivered and len(row_codes):
            return Counter(delivered=len(row_codes))
        return totals(row_codes)

    @property
    def num_control_records(self) -> int:
        """Number of records of control batches, with any disposition."""
        if self.is_all_delivered or self.entries.are_messages:
            return 0
        is_control = self.entries.column("is_control") != 0
        return int(np.sum(self.decoded.num_rows[is_control]))

    def num_bytes(self) -> Counter[str]:
        """Return the bytes of the entries by disposition."""
        if self.is_all_delivered:
            return Counter(delivered=self.decoded.end)
        return totals(self.entry_codes, self.entries.column("size_bytes"))

    def num_aborted(self, outcome_codes: Codes) -> int:
        """Return how many delivered rows are in aborted transactions; *outcome_codes* are of the entries."""
        is_aborted = np.repeat(outcome_codes == OUTCOME_CODES["aborted"], self.decoded.num_rows)
        is_delivered = self.row_codes == DISPOSITION_CODES["delivered"]
        return int(np.count_nonzero(is_aborted & is_delivered))

    def row_dispositions(self, begin: int = 0, end: int | None = None) -> pa.Array:
        """Return the disposition of each row, or of the rows [begin, end)."""
        codes = self.row_codes[begin:end]
        if len(codes) and (codes == codes[0]).all():
            return constant_array(pa.string(), DISPOSITIONS[codes[0]], len(codes))
        return _NAMES.take(number_array(pa.int8(), codes))


def totals(codes: Codes, weights: Numbers | None = None) -> Counter[str]:
    """Return the number of *codes*, or the sum of their *weights*, by disposition."""
    by_name: Counter[str] = Counter()
    if len(codes) and (codes == codes[0]).all():  # counting takes forty times as long
        by_name[DISPOSITIONS[codes[0]]] = len(codes) if weights is None else int(weights.sum())
        return by_name
    for code, total in enumerate(np.bincount(codes, weights).tolist()):
        if total:
            by_name[DISPOSITIONS[code]] = int(total)
    return by_name


def classify(
    entries: Entries,
    decoded: Decoded,
    outcomes: Codes | None,
    bounds: DeliveryBounds,
    *,
    is_committed_read: bool,
) -> ClassifiedEntries:
    """Return the dispositions of *entries* and of their rows, by *bounds* and isolation level.

    *outcomes* are the codes of the outcomes of the entries' transactions; None: no entry is in one.
    Rows have the column `offset`.
    """
    offsets = to_numpy(decoded.rows.column("offset"))
    # An entry without records is classified by its last offset.
    empty = offsets[:0] if decoded.num_rows.all() else _offsets_without_rows(entries, decoded)
    is_cut = bounds.exclude_any(offsets) or bounds.exclude_any(empty)
    is_control = None if entries.are_messages else entries.column("is_control") != 0
    has_control = is_control is not None and bool(is_control.any())
    if outcomes is None and not (is_cut or has_control or decoded.results):
        delivered = DISPOSITION_CODES["delivered"]
        return ClassifiedEntries(
            entries,
            decoded,
            np.full(len(entries), delivered, np.int8),
            np.full(len(offsets), delivered, np.int8),
            is_all_delivered=True,
        )
    entry_codes = np.full(len(entries), DISPOSITION_CODES["delivered"], np.int8)
    if is_control is not None:
        entry_codes[is_control] = DISPOSITION_CODES["control"]
    is_withheld = None
    if outcomes is not None and is_committed_read:
        is_aborted = outcomes == OUTCOME_CODES["aborted"]
        is_aborted &= entry_codes != DISPOSITION_CODES["control"]
        entry_codes[is_aborted] = DISPOSITION_CODES["aborted"]
        is_withheld = (outcomes == OUTCOME_CODES["open"]) | (outcomes == OUTCOME_CODES["undecided"])
    if not is_cut and (is_withheld is None or not is_withheld.any()):
        row_codes = np.repeat(entry_codes, decoded.num_rows)
    else:
        records = _RecordOffsets(offsets, decoded.num_rows, empty)
        row_codes = records.classify(entry_codes, bounds, is_withheld)
    for number, result in decoded.results.items():
        if not result.is_sound:
            is_large = any(finding.code == "batch-over-limit" for finding in result.findings)
            entry_codes[number] = DISPOSITION_CODES["over_limit" if is_large else "damaged"]
    return ClassifiedEntries(entries, decoded, entry_codes, row_codes)


def _offsets_without_rows(entries: Entries, decoded: Decoded) -> Numbers:
    """Return the last offsets of the entries that have no rows."""
    offsets: Numbers = entries.column("last_offset")[decoded.num_rows == 0]
    return offsets


class _RecordOffsets:
    """The offsets of records, and the last offsets of entries without records."""

    def __init__(self, offsets: Numbers, num_rows: Numbers, empty: Numbers) -> None:
        self.counts = np.maximum(num_rows, 1)
        self.starts = np.cumsum(self.counts) - self.counts
        self.is_row = np.ones(int(self.counts.sum()), np.bool_)
        self.is_row[self.starts[num_rows == 0]] = False
        self.offsets = np.empty(len(self.is_row), np.int64)
        self.offsets[self.is_row] = offsets
        self.offsets[~self.is_row] = empty

    def classify(
        self, entry_codes: Codes, bounds: DeliveryBounds, is_withheld: Mask | None
    ) -> Codes:
        """Return the codes of the rows; change the code of each entry that a bound excludes as a whole."""
        codes = np.repeat(entry_codes, self.counts)
        below, beyond = partial(self._mask, np.less), partial(self._mask, np.greater_equal)
        withheld = beyond(bounds.last_stable_offset)
        if is_withheld is not None:
            withheld = withheld | np.repeat(is_withheld, self.counts)
        # The last disposition that applies wins.
        for name, applies in (
            ("withheld", withheld),
            ("outside_range", below(bounds.first) | beyond(bounds.end)),
            ("below_log_start", below(bounds.log_start_offset)),
        ):
            codes[applies] = DISPOSITION_CODES[name]
            entry_codes[np.logical_and.reduceat(applies, self.starts)] = DISPOSITION_CODES[name]
        return codes[self.is_row]

    def _mask(self, compare: np.ufunc, bound: int | None) -> Mask:
        """Return a mask of the offsets for which *compare* with *bound* is true; all False without a bound."""
        if bound is None:
            return np.zeros(len(self.offsets), np.bool_)
        mask: Mask = compare(self.offsets, bound)
        return mask
