"""What becomes of entries and of their records."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, DecodedEntry, Entries, Entry
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte.tables.arrays import (
    Codes,
    Mask,
    constant_array,
    distinct,
    number_array,
    string_array,
    to_numpy,
)
from magicbyte.tables.schemas import DISPOSITIONS

_ALL = string_array(DISPOSITIONS)

CODES = {name: code for code, name in enumerate(DISPOSITIONS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What takes records away from a reader; None is no bound."""

    log_start_offset: int | None
    first: int | None
    """The lowest wanted offset."""
    end: int | None
    """The offset behind the wanted ones."""
    last_stable_offset: int | None

    def cuts(self, offsets: Numbers) -> bool:
        """Return whether any of *offsets* lies outside."""
        lows = [bound for bound in (self.first, self.log_start_offset) if bound is not None]
        highs = [bound for bound in (self.end, self.last_stable_offset) if bound is not None]
        if not len(offsets):
            return False
        is_low = bool(lows) and int(offsets.min()) < max(lows)
        return is_low or (bool(highs) and int(offsets.max()) >= min(highs))


@dataclass(frozen=True, slots=True)
class Examined:
    """An entry, with what its payload and the plan say of it."""

    entry: Entry
    disposition: str
    crc_valid: bool
    decoded: DecodedEntry


@dataclass(frozen=True, slots=True)
class Judged:
    """Decoded entries, and as codes, which are numbers of DISPOSITIONS, what becomes of them."""

    entries: Entries
    decoded: Decoded
    of_entries: Codes
    of_rows: Codes

    def __iter__(self) -> Iterator[Examined]:
        for entry, code, one in zip(
            self.entries, self.of_entries.tolist(), self.decoded.all_results(), strict=True
        ):
            yield Examined(entry, DISPOSITIONS[code], True, one)

    @property
    def bytes(self) -> Counter[str]:
        """Bytes of entries, by disposition."""
        sizes = self.entries.column("size_bytes")
        return Counter(
            {
                DISPOSITIONS[code]: int(sizes[self.of_entries == code].sum())
                for code in distinct(self.of_entries)[0]
            }
        )

    @property
    def records(self) -> Counter[str]:
        """Records by disposition."""
        counts = np.bincount(self.of_rows, minlength=len(DISPOSITIONS)).tolist()
        return Counter({DISPOSITIONS[code]: count for code, count in enumerate(counts) if count})

    @property
    def dispositions(self) -> pa.Array:
        """The disposition of each row."""
        if len(counted := list(self.records)) == 1:
            return constant_array(pa.string(), counted[0], len(self.of_rows))
        return _ALL.take(number_array(pa.int8(), self.of_rows))


def judge(
    entries: Entries,
    decoded: Decoded,
    outcomes: Codes | None,
    bounds: Wanted,
    *,
    is_committed_read: bool,
) -> Judged:
    """Return what becomes of *entries* and of their rows, by *bounds* and isolation level.

    *outcomes* are codes of how the entries' transactions ended; None: there are none. Rows have the
    column `offset`.
    """
    of_entries = np.where(
        entries.column("is_control") != 0, CODES["control"], CODES["delivered"]
    ).astype(np.int8)
    is_held = None
    if outcomes is not None and is_committed_read:
        is_aborted = outcomes == OUTCOME_CODES["aborted"]
        of_entries[is_aborted & (of_entries != CODES["control"])] = CODES["aborted"]
        is_held = (outcomes == OUTCOME_CODES["open"]) | (outcomes == OUTCOME_CODES["undecided"])
    offsets = to_numpy(decoded.rows.column("offset"))
    # An entry without records is judged by its last offset.
    is_empty = decoded.num_rows == 0
    empty = entries.column("last_offset")[is_empty]
    is_cut = bounds.cuts(offsets) or bounds.cuts(empty)
    if not is_cut and (is_held is None or not is_held.any()):
        of_rows = np.repeat(of_entries, decoded.num_rows)
    else:
        places = _Places(offsets, decoded.num_rows, empty)
        of_rows = places.judge(of_entries, bounds, is_held)
    _unsound(of_entries, decoded.results)
    return Judged(entries, decoded, of_entries, of_rows)


class _Places:
    """The offsets of records, and of entries without any."""

    def __init__(self, offsets: Numbers, num_rows: Numbers, empty: Numbers) -> None:
        self.counts = np.maximum(num_rows, 1)
        self.starts = np.cumsum(self.counts) - self.counts
        self.is_row = np.ones(int(self.counts.sum()), np.bool_)
        self.is_row[self.starts[num_rows == 0]] = False
        self.offsets = np.empty(len(self.is_row), np.int64)
        self.offsets[self.is_row] = offsets
        self.offsets[~self.is_row] = empty

    def judge(self, of_entries: Codes, bounds: Wanted, is_held: Mask | None) -> Codes:
        """Return what becomes of the rows; an entry that a bound takes as a whole is altered."""
        codes = np.repeat(of_entries, self.counts)
        for name, applies in reversed(self._applying(bounds, is_held)):
            codes[applies] = CODES[name]
            of_entries[np.logical_and.reduceat(applies, self.starts)] = CODES[name]
        return codes[self.is_row]

    def _applying(self, bounds: Wanted, is_held: Mask | None) -> list[tuple[str, Mask]]:
        nowhere = np.zeros(len(self.offsets), np.bool_)

        def below(bound: int | None) -> Mask:
            return nowhere if bound is None else self.offsets < bound

        def from_on(bound: int | None) -> Mask:
            return nowhere if bound is None else self.offsets >= bound

        withheld = from_on(bounds.last_stable_offset)
        if is_held is not None:
            withheld = withheld | np.repeat(is_held, self.counts)
        return [
            ("below_log_start", below(bounds.log_start_offset)),
            ("outside_range", below(bounds.first) | from_on(bounds.end)),
            ("withheld", withheld),
        ]


def _unsound(of_entries: Codes, results: Mapping[int, DecodedEntry]) -> None:
    for number, one in results.items():
        if not one.is_sound:
            is_large = any(finding.code == "batch-over-limit" for finding in one.findings)
            of_entries[number] = CODES["over_limit" if is_large else "damaged"]
