"""Outcomes of the transactions in a split, by the markers that follow its records.

A plan from index files has read no headers, so a task reads ahead of the records that it delivers.
The next marker of a producer ends the transaction of its records, unless entries between them are
missing or damaged. Then the task gives up, and the whole log is surveyed.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

from magicbyte._transactions import outcome_of
from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.entry import HEADER_BYTES, read_entry
from magicbyte.engines.entry_columns import NO_VALUE, Numbers
from magicbyte.engines.protocol import Chunk, Decoded, Engine, Entries, Scan
from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.limits import MIB, Limits
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading._log_pass import look_cleaned
from magicbyte.reading._offset_order import gap_finding
from magicbyte.reading.outcomes import NO_OUTCOME, OUTCOME_CODES, OutcomeEnd, Outcomes
from magicbyte.reading.survey import Opener
from magicbyte.storage import File
from magicbyte.tables.arrays import Codes, Mask

FIRST_READ_BYTES = 64 << 10
"""Bytes of the first read ahead: most transactions end soon. Each further read is twice as long."""

MAX_READ_BYTES = 4 * MIB

MAX_AHEAD_BYTES = 32 * MIB
"""Bytes that are read ahead of the records; a longer transaction needs a survey of the whole log."""


MAX_OPEN_AHEAD_BYTES = 128 << 10
"""The same with `read_uncommitted` and a range, which delivers the records of open transactions, too."""


class PlanDoubtError(Exception):
    """Raised where a split is not as its plan from index files assumes; the message says why."""

    def __init__(self, message: str, position: int = -1) -> None:
        super().__init__(message)
        self.position = position
        """Position after the last entry that was read as planned; -1: not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AheadPlan:
    """The facts that a split needs whose plan has read index files, but no headers."""

    split_bytes: int
    """Split size of the plan, from which the whole log is divided in the same way."""
    next_file: LogFile | None
    """The next segment, if reading ahead may get there."""
    cleaned_below: int | None
    """The offset below which the log cleaner has removed records: a gap there is no loss. None: unknown."""
    open_transactions: tuple[tuple[int, int], ...]
    """Producer ids and first offsets of transactions that are open at the end of the log."""
    first_offsets: tuple[int, int] | None
    """The entry at the split's start begins above the first offset, and not above the second. None: at
    the beginning of a segment, or at a known offset."""
    is_of_range: bool = False
    """True if the plan is of a range of offsets, and not of the whole log."""
    is_open_allowed: bool = False
    """True if a transaction that has no marker in MAX_OPEN_AHEAD_BYTES counts as open: its records are
    delivered in any case."""

    def gap_findings(self, entries: Entries, last: int | None) -> Iterator[Finding]:
        """Yield a finding for each gap in the offsets of *entries*, which follow the offset *last*."""
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        previous = np.append(firsts[0] - 1 if last is None else last, lasts[:-1])
        is_gap = firsts > previous + 1
        if not is_gap.any():
            return
        is_gap &= (firsts > (self.cleaned_below or 0)) & (entries.column("base_offset") != NO_VALUE)
        is_cleaned = self.cleaned_below is None and bool(look_cleaned(entries).any())
        for number in np.flatnonzero(is_gap).tolist():
            expected, first = int(previous[number]) + 1, int(firsts[number])
            yield gap_finding(entries[number].position, expected, first, is_cleaned=is_cleaned)

    def gap_at_end(self, last: int) -> Finding | None:
        """Return the finding that offsets are missing after *last*, before the next segment; None if none are."""
        base = None if self.next_file is None else self.next_file.base_offset
        if base is None or base <= max(last + 1, self.cleaned_below or 0):
            return None
        return gap_finding(0, last + 1, base, is_cleaned=False)

    def check_first(self, entries: Entries) -> None:
        """Raise PlanDoubtError unless the first of *entries* has an offset that the index allows."""
        if self.first_offsets is None:
            return
        above, latest = self.first_offsets
        first = int(entries.column("first_offset")[0])
        if not above < first <= latest:
            raise PlanDoubtError(f"offset {first} where the index says {above + 1} to {latest}")


class MarkersAhead:
    """Finds outcomes of entries by the markers among and after them. A context manager."""

    def __init__(
        self, ahead_plan: AheadPlan, file: File, *, engine: Engine, limits: Limits, open_log: Opener
    ) -> None:
        self._plan, self._file = ahead_plan, file
        self._engine, self._limits, self._open_log = engine, limits, open_log
        self._controls = ControlReader(large=engine)
        open_transactions = np.array(sorted(ahead_plan.open_transactions), np.int64).reshape(-1, 2)
        self._open_ids, self._open_firsts = open_transactions.T
        self._opened = ExitStack()
        self._file_start = 0
        """Position of the open file: positions in the next segment continue from the split's segment."""
        self._position = 0
        """Position after the last entry that was scanned."""
        self._last_offset: int | None = None
        """Last offset of that entry."""
        self._read_bytes = FIRST_READ_BYTES
        self._markers: list[OutcomeEnd] = []
        """Markers after the entries that were asked for last."""
        self._gaps: list[int] = []
        """Positions of entries, after those entries, before which others are missing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()

    def of(self, entries: Entries, decoded: Decoded, chunk: Chunk) -> Codes | None:
        """Return the code of the outcome of each of *entries*; None if none is in a transaction.

        *decoded* holds their control records; *chunk* begins with them, and has the bytes after them.
        Entries are asked for in order. Raises PlanDoubtError where the log does not tell an outcome.
        """
        positions, producers = entries.column("position"), entries.column("producer_id")
        is_control = (entries.column("is_control") != 0) & (producers >= 0)
        is_data = (producers >= 0) & (entries.column("is_transactional") != 0) & ~is_control
        end = int(positions[-1] + entries.column("size_bytes")[-1])
        self._markers = [each for each in self._markers if each.position >= end]
        self._gaps = [gap for gap in self._gaps if gap >= end]
        if self._position < end:
            self._position, self._last_offset = end, int(entries.column("last_offset")[-1])
        if not is_data.any() and not is_control.any():
            return None
        markers = list(_markers(entries, decoded, is_control))
        is_open = self._is_open(producers, entries.column("first_offset"), is_data)
        is_settled = is_data & ~is_open
        self._read_ahead(producers, positions, is_settled, markers, chunk, end)
        outcomes = Outcomes([*markers, *self._markers], otherwise="open", markers=markers)
        gaps = [*positions[self._gaps_in(entries, None)].tolist(), *self._gaps]
        if gaps:
            ends = outcomes.next_ends(producers[is_settled], positions[is_settled])
            befores = np.searchsorted(gaps, positions[is_settled], "right")
            if (np.searchsorted(gaps, ends, "right") > befores).any():
                raise PlanDoubtError("offsets are missing inside a transaction")
        codes = outcomes.of(entries, decoded)
        codes[is_open] = OUTCOME_CODES["open"]
        codes[~is_data & ~is_control] = NO_OUTCOME
        return codes

    def _is_open(self, producers: Numbers, firsts: Numbers, is_data: Mask) -> Mask:
        """Return a mask of the data of transactions that are open at the end of the log."""
        if not len(self._open_ids):
            return np.zeros(len(producers), np.bool_)
        at = np.minimum(np.searchsorted(self._open_ids, producers), len(self._open_ids) - 1)
        is_open: Mask = (
            is_data & (self._open_ids[at] == producers) & (firsts >= self._open_firsts[at])
        )
        return is_open

    def _read_ahead(
        self,
        producers: Numbers,
        positions: Numbers,
        is_settled: Mask,
        markers: Sequence[OutcomeEnd],
        chunk: Chunk,
        end: int,
    ) -> None:
        """Scan the entries from *end* on, after the ones of *is_settled*, until each producer's last one has a marker."""
        lasts = dict(
            zip(producers[is_settled].tolist(), positions[is_settled].tolist(), strict=True)
        )
        for marker in markers:
            if lasts.get(marker.producer_id, marker.position) < marker.position:
                del lasts[marker.producer_id]
        for marker in self._markers:
            lasts.pop(marker.producer_id, None)
        self._read_bytes = FIRST_READ_BYTES
        while lasts:
            if self._plan.is_open_allowed and (
                self._position >= end + MAX_OPEN_AHEAD_BYTES or self._is_at_end()
            ):
                return
            if self._position >= end + MAX_AHEAD_BYTES:
                raise PlanDoubtError(
                    f"a transaction of producer {next(iter(lasts))} has no marker in "
                    f"{MAX_AHEAD_BYTES} bytes"
                )
            num_known = len(self._markers)
            self._scan_more(chunk)
            for marker in self._markers[num_known:]:
                lasts.pop(marker.producer_id, None)

    def _scan_more(self, chunk: Chunk) -> None:
        """Scan the entries from the position on: in *chunk* if it has them, otherwise in the file."""
        while self._position - self._file_start >= self._file.size_bytes:
            self._open_next()
        position = self._position - self._file_start
        scanned, scan = self._scan_at(position, chunk)
        entries = scan.entries
        gaps = self._gaps_in(entries, self._last_offset)
        starts = entries.column("position") + self._file_start
        self._gaps += starts[gaps].tolist()
        numbers = np.flatnonzero(
            (entries.column("is_control") != 0) & (entries.column("producer_id") >= 0)
        )
        contents = self._controls.read(scanned, entries, numbers, limits=self._limits)
        columns = (starts[numbers].tolist(), entries.column("producer_id")[numbers].tolist())
        for start, producer, content in zip(*columns, contents, strict=True):
            outcome = outcome_of(content.control) if content.is_sound else None
            if outcome is None:
                raise PlanDoubtError(f"the marker at byte {start} is damaged")
            self._markers.append(OutcomeEnd(start, producer, outcome))
        self._position += scan.end
        self._last_offset = int(entries.column("last_offset")[-1])

    def _is_at_end(self) -> bool:
        """Return whether no entry follows the ones that were scanned, in this segment or the next."""
        is_last = self._plan.next_file is None or bool(self._file_start)
        return is_last and self._position - self._file_start >= self._file.size_bytes

    def _open_next(self) -> None:
        following = self._plan.next_file
        if following is None or self._file_start:
            raise PlanDoubtError("a transaction does not end in this segment or the next")
        self._file_start = self._file.size_bytes
        self._file = self._opened.enter_context(self._open_log(following))
        self._file.will_read(0, min(FIRST_READ_BYTES, self._file.size_bytes))

    def _scan_at(self, position: int, chunk: Chunk) -> tuple[Chunk, Scan]:
        """Return the bytes at *position* of the file and their entries, at least one."""
        some = Chunk(memoryview(b""), position)
        if not self._file_start and position >= chunk.position:
            begin = position - chunk.position
            some = Chunk(chunk.data[begin : begin + self._read_bytes], position)
        if len(some.data) < HEADER_BYTES:
            some = self._read(position, self._read_bytes)
        self._read_bytes = min(2 * self._read_bytes, MAX_READ_BYTES)
        scan = self._engine.scan(some, verify=True, limits=self._limits)
        if not scan.entries:
            some = self._read(position, self._size_at(some))
            scan = self._engine.scan(some, verify=True, limits=self._limits)
        if not scan.entries:
            raise PlanDoubtError(f"no sound entry at byte {position} of {self._file.name}")
        return some, scan

    def _read(self, position: int, length: int) -> Chunk:
        length = min(length, self._file.size_bytes - position)
        data = self._file.read_at(position, length)
        unreadable = self._file.unreadable
        if unreadable is not None and any(unreadable.between(position, position + length)):
            raise PlanDoubtError(f"bytes after {position} of {self._file.name} cannot be read")
        return Chunk(memoryview(data), position)

    def _size_at(self, chunk: Chunk) -> int:
        """Return the size of the entry that *chunk* begins with."""
        try:
            size = read_entry(chunk.data[:HEADER_BYTES], 0, origin=chunk.position).size_bytes
        except FormatError as error:
            raise PlanDoubtError(error.finding.message) from error
        if size > self._limits.max_entry_bytes:
            raise PlanDoubtError(f"an entry of {size} bytes is over the limit")
        return size

    def _gaps_in(self, entries: Entries, last: int | None) -> Numbers:
        """Return the indices of *entries*, which follow offset *last*, before which others are missing.

        So does an entry that is out of order.
        """
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        previous = np.append(firsts[0] - 1 if last is None else last, lasts[:-1])
        is_gap = firsts != previous + 1
        is_gap &= (firsts <= previous) | (firsts > (self._plan.cleaned_below or 0))
        gaps: Numbers = np.flatnonzero(is_gap)
        return gaps


def _markers(entries: Entries, decoded: Decoded, is_control: Mask) -> Iterator[OutcomeEnd]:
    """Yield the markers of *entries*; raise PlanDoubtError where one is damaged."""
    numbers = np.flatnonzero(is_control)
    positions = entries.column("position")[numbers].tolist()
    producers = entries.column("producer_id")[numbers].tolist()
    for number, position, producer in zip(numbers.tolist(), positions, producers, strict=True):
        result = decoded.result(number)
        outcome = outcome_of(result.control) if result.is_sound else None
        if outcome is None:
            raise PlanDoubtError(f"the marker at byte {position} is damaged")
        yield OutcomeEnd(position, producer, outcome)
