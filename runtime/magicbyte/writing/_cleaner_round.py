"""Rounds of the log cleaner over a partition: its bounds, its map of keys, and its decisions (Cleaner.doClean)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, Engine, Entries
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.cleanable_range import CleanableRange, cleanable_range
from magicbyte.reading.dispositions import ClassifiedEntries
from magicbyte.reading.last_offsets import LastOffsets, Words, are_in, fingerprints
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.results import examine
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import Mask, null_mask, to_numpy
from magicbyte.writing._cleaner_rules import Decisions, EntryFacts, decide
from magicbyte.writing._cleaner_settings import CleanerSettings
from magicbyte.writing._log_headers import ActiveProducers, LogHeaders
from magicbyte.writing._segment_age import modified_ms
from magicbyte.writing._segment_groups import SegmentSize, group_segments
from magicbyte.writing._transactions_met import AbortedOffsets, TransactionsMet

LOOKUP_ROWS = 1 << 20
"""Records of the clean part whose keys are looked up together."""

KEY_COLUMNS = ("key",)
DECISION_COLUMNS = ("key", "value")


class SegmentEntries(NamedTuple):
    """Entries that were read together from a segment."""

    segment: int
    """Number of the segment in its partition."""
    file: LogFile
    entries: Entries
    decoded: Decoded


class CleanedEntries(NamedTuple):
    """Entries of a segment with a round's decisions about them."""

    segment_entries: SegmentEntries
    decisions: Decisions


@dataclass(slots=True)
class CleanerRound:
    """A round of the cleaner over a partition without damage. `decisions` gives its result.

    The map takes 32 bytes for each of at most `max_keys` keys, and about 150 while it grows; each superseded record below the first dirty
    offset takes 8 bytes.
    """

    planner: Planner
    survey: Survey
    settings: CleanerSettings
    headers: LogHeaders
    bounds: CleanableRange
    upper_bound: int
    """Base offset of the first segment that may not be cleaned."""
    latest_offset: int = -1
    """Last offset that the map covers; -1: nothing is to be cleaned."""
    last_offsets: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    """Last offsets of the keys in the dirty part, sorted."""
    superseded: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    """Offsets in the clean part whose key has a record in the dirty part, sorted."""
    num_keys: int = 0
    is_map_full: bool = False

    @property
    def log(self) -> PartitionLog:
        return self.survey.log

    @property
    def end_offset(self) -> int:
        """Offset up to which the partition is clean after the round."""
        return max(self.latest_offset + 1, self.bounds.first_dirty_offset)

    @property
    def num_segments(self) -> int:
        """Segments from the first one on that the round cleans."""
        bases = segment_bases(self.survey)
        return sum(base <= self.latest_offset for base in bases[: self.bounds.end_segment])

    @property
    def clean_bytes(self) -> int:
        """Bytes of the segments that begin below the first dirty offset."""
        return self._bytes_of(range(self._num_clean))

    @property
    def dirty_bytes(self) -> int:
        """Bytes of the segments with dirty offsets that may be cleaned."""
        return self._bytes_of(range(self.bounds.first_dirty_segment, self.bounds.end_segment))

    @property
    def cleanable_ratio(self) -> float:
        """Dirty bytes in those that a round reads; 0.0 if there are none (LogToClean.cleanableRatio)."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    @property
    def is_overdue(self) -> bool:
        """True if a dirty record is older than `max_compaction_lag_ms` (LogCleanerManager.maxCompactionDelay)."""
        lag = self.settings.max_compaction_lag_ms
        if lag is None:
            return False
        num_closed = len(self.survey.segments) - (not self.settings.includes_active_segment)
        firsts = []
        for segment in self.survey.segments[self.bounds.first_dirty_segment : num_closed]:
            times = self.headers.segment_times.get(segment.file.path)
            if times is not None and times.first is not None and times.first > 0:
                firsts.append(times.first)
        return bool(firsts) and min(firsts) < self.settings.now_ms - lag

    @property
    def is_due(self) -> bool:
        """True if a broker would choose the partition for a round."""
        is_dirty = self.cleanable_ratio > self.settings.min_cleanable_dirty_ratio
        return is_dirty or (self.is_overdue and self.dirty_bytes > 0)

    @property
    def _num_clean(self) -> int:
        first = self.bounds.first_dirty_offset
        return sum(base < first for base in segment_bases(self.survey))

    def _bytes_of(self, segment_numbers: range) -> int:
        return sum(self.survey.segments[number].sound_bytes for number in segment_numbers)

    def groups(self) -> list[list[int]]:
        """Return the numbers of the cleaned segments, in groups that become one segment each."""
        sizes = [
            SegmentSize(segment.file.base_offset or 0, segment.sound_bytes)
            for segment in self.survey.segments[: self.num_segments]
        ]
        return group_segments(
            sizes, segment_bytes=self.settings.segment_bytes, upper_bound=self.upper_bound
        )

    def decisions(self, columns: Sequence[str] = DECISION_COLUMNS) -> Iterator[CleanedEntries]:
        """Yield the entries of the cleaned segments with the round's decisions about them.

        *columns* of their records are decoded; they contain `key` and `value`.
        """
        settings = self.settings
        transactions = TransactionsMet(AbortedOffsets(self.survey))
        active = self._active_producers()
        keeps_old_tombstones = [
            self._keeps_old_tombstones(number) for number in range(self.num_segments)
        ]
        for read in read_entries(self.planner, self.survey, columns, end=self.num_segments):
            facts = EntryFacts(
                entries=read.entries,
                decoded=read.decoded,
                is_removable=transactions.removable(read.entries, read.decoded),
                holds_producer_state=active.have_last_batch(read.entries),
                is_last_of_key=self._are_last(to_numpy(read.decoded.rows.column("offset"))),
                latest_offset=self.latest_offset,
                upper_bound=self.upper_bound,
                keeps_old_tombstones=keeps_old_tombstones[read.segment],
            )
            yield CleanedEntries(read, decide(facts, settings))
            del read, facts  # frees the rows before more are read

    def _active_producers(self) -> ActiveProducers:
        """Return the producers that the broker remembers, by the whole log."""
        opened = self.survey.transactions.with_outcome("open")
        return self.headers.active_producers(
            self.settings.now_ms,
            self.settings.producer_id_expiration_ms,
            (transaction.producer_id for transaction in opened),
        )

    def _are_last(self, offsets: Numbers) -> Mask:
        """Return for which of *offsets* the map has no later one of the same key."""
        is_dirty = offsets >= self.bounds.first_dirty_offset
        is_last: Mask = np.where(
            is_dirty, are_in(offsets, self.last_offsets), ~are_in(offsets, self.superseded)
        )
        return is_last

    def _keeps_old_tombstones(self, number: int) -> bool:
        """Return whether tombstones in v0 and v1 messages of a segment stay, by the times of the files."""
        segments = self.survey.segments
        file = segments[number].file
        times = self.headers.segment_times.get(file.path)
        if times is None or not times.has_messages:
            return True
        horizon = 0
        if self._num_clean:
            last_clean = modified_ms(segments[self._num_clean - 1].file, self.settings.now_ms)
            horizon = last_clean - self.settings.delete_retention_ms
        return modified_ms(file, self.settings.now_ms) > horizon

    def num_leftovers(self) -> int:
        """Return the records in the clean part that earlier rounds should have removed.

        Those have no key, a later record of the clean part has their key, or their transaction was aborted. If the
        map becomes full, the records after that are not counted. Costs a pass over the clean part.
        """
        first, aborted = self.bounds.first_dirty_offset, AbortedOffsets(self.survey)
        last_offsets, num_records = LastOffsets(self.settings.max_keys), 0
        for read in read_entries(self.planner, self.survey, KEY_COLUMNS, end=self._num_clean):
            entries, decoded = read.entries, read.decoded
            offsets = to_numpy(decoded.rows.column("offset"))
            is_control = np.repeat(entries.column("is_control") != 0, decoded.num_rows)
            is_aborted = np.repeat(aborted.mask(entries), decoded.num_rows)
            is_data = (offsets < first) & ~is_control
            keys = decoded.rows.column("key")
            rows = np.flatnonzero(is_data & ~is_aborted & ~null_mask(keys))
            num_entered = last_offsets.put(keys.take(pa.array(rows)), offsets[rows])
            if num_entered < len(rows):
                num_records += int(is_data[: rows[num_entered]].sum())
                break
            num_records += int(is_data.sum())
            del read, decoded, keys  # frees the rows before more are read
        return num_records - len(last_offsets)

    # The map of keys

    def build_map(self) -> None:
        """Read the keys of the dirty part, and then find the records of the clean part that they supersede."""
        last_offsets = LastOffsets(self.settings.max_keys)
        aborted = AbortedOffsets(self.survey)
        bases = segment_bases(self.survey)
        begin, end = self.bounds.first_dirty_segment, self.bounds.end_segment
        for number in range(begin, end):
            for read in read_entries(
                self.planner, self.survey, KEY_COLUMNS, begin=number, end=number + 1
            ):
                self.is_map_full = self._enter(read, last_offsets, aborted)
                if self.is_map_full:
                    break
                del read  # frees the rows before more are read
            if self.is_map_full:
                break
            # There may be no entry just before the next segment.
            self.latest_offset = bases[number + 1] - 1 if number + 1 < end else self.upper_bound - 1
        self.num_keys = len(last_offsets)
        self.last_offsets = last_offsets.offsets()
        self.superseded = self._superseded_offsets(last_offsets)

    def _enter(
        self, segment_entries: SegmentEntries, last_offsets: LastOffsets, aborted: AbortedOffsets
    ) -> bool:
        """Enter the keys of *read* into the map; return whether it is full."""
        entries, decoded = segment_entries.entries, segment_entries.decoded
        first = self.bounds.first_dirty_offset
        offsets = to_numpy(decoded.rows.column("offset"))
        keys = decoded.rows.column("key")
        is_data = (entries.column("is_control") == 0) & ~aborted.mask(entries)
        enters = np.repeat(is_data, decoded.num_rows) & ~null_mask(keys) & (offsets >= first)
        rows = np.flatnonzero(enters)
        num_entered = last_offsets.put(keys.take(pa.array(rows)), offsets[rows])
        ends = entries.column("last_offset")
        if num_entered == len(rows):
            self.latest_offset = max(self.latest_offset, int(ends[-1]))
            return False
        # The map covers the batches before the first refused record, and the records entered from its batch.
        refused_entry = int(
            np.searchsorted(np.cumsum(decoded.num_rows), int(rows[num_entered]), side="right")
        )
        covered = [self.latest_offset]
        covered += [int(end) for end in ends[:refused_entry][-1:] if end >= first]
        covered += offsets[rows[:num_entered]][-1:].tolist()
        self.latest_offset = max(covered)
        return True

    def _superseded_offsets(self, last_offsets: LastOffsets) -> Numbers:
        """Return the offsets below the first dirty one whose keys are in the map."""
        first = self.bounds.first_dirty_offset
        superseded_parts: list[Numbers] = [np.zeros(0, np.int64)]
        waiting_keys: list[Words] = []
        waiting_offsets: list[Numbers] = []
        num_waiting = 0

        def look_up() -> None:
            is_in_map = last_offsets.contain(np.concatenate(waiting_keys))
            superseded_parts.append(np.concatenate(waiting_offsets)[is_in_map])
            waiting_keys.clear()
            waiting_offsets.clear()

        if self.latest_offset < 0:
            return superseded_parts[0]
        for read in read_entries(self.planner, self.survey, KEY_COLUMNS, end=self._num_clean):
            offsets = to_numpy(read.decoded.rows.column("offset"))
            keys = read.decoded.rows.column("key")
            rows = np.flatnonzero((offsets < first) & ~null_mask(keys))
            waiting_keys.append(fingerprints(keys.take(pa.array(rows))))
            waiting_offsets.append(offsets[rows])
            num_waiting += len(rows)
            if num_waiting >= LOOKUP_ROWS:
                look_up()
                num_waiting = 0
        if num_waiting:
            look_up()
        return np.sort(np.concatenate(superseded_parts))


def plan_round(planner: Planner, log: PartitionLog, settings: CleanerSettings) -> CleanerRound:
    """Return a round over *log*, whose keys are not read yet.

    Raises FormatError or LimitError, while it is read, at the first damage.
    """
    survey = planner.survey(log)
    headers = LogHeaders()
    for file, entries in planner.headers(survey):
        if len(entries):
            headers.add(file, entries)
    bases = segment_bases(survey) or [survey.log_start_offset or 0]
    if settings.includes_active_segment:
        bases.append(max(survey.log_end_offset or 0, bases[-1]))
    checkpoint = settings.first_dirty_offset
    if checkpoint is None:
        checkpoint = log.cleaner_offset
    find = partial(
        cleanable_range,
        bases,
        checkpoint=checkpoint,
        log_start_offset=survey.log_start_offset or 0,
        log_end_offset=survey.log_end_offset,
    )
    limit = survey.last_stable_offset
    bounds = find(first_uncleanable_offset=limit)
    young = _first_young_segment(survey, headers, settings, bounds)
    if young is not None:
        limit = bases[young] if limit is None else min(limit, bases[young])
        bounds = find(first_uncleanable_offset=limit)
    upper_bound = bases[bounds.end_segment]
    return CleanerRound(planner, survey, settings, headers, bounds, upper_bound)


def _first_young_segment(
    survey: Survey, headers: LogHeaders, settings: CleanerSettings, bounds: CleanableRange
) -> int | None:
    """Return the number of the first dirty segment whose newest record is too young to be cleaned."""
    if settings.min_compaction_lag_ms <= 0:
        return None
    limit = settings.now_ms - settings.min_compaction_lag_ms
    for number in range(bounds.first_dirty_segment, len(survey.segments)):
        file = survey.segments[number].file
        times = headers.segment_times.get(file.path)
        largest = None if times is None else times.largest
        if largest is None or largest < 0:
            largest = modified_ms(file, settings.now_ms)
        if largest > limit:
            return number
    return None


def segment_bases(survey: Survey) -> list[int]:
    """Return the base offsets of the segments of a partition."""
    return [segment.file.base_offset or 0 for segment in survey.segments]


def read_entries(
    planner: Planner,
    survey: Survey,
    columns: Sequence[str],
    *,
    begin: int = 0,
    end: int | None = None,
    engine: Engine | None = None,
) -> Iterator[SegmentEntries]:
    """Yield the entries of the segments from number *begin* to *end*, of every disposition, with *columns*.

    Damage raises FormatError or LimitError where the options say `fail`.
    """
    engine = engine or planner.new_engine()
    for split in planner.splits(survey, NO_RANGE):
        if split.segment < begin or (end is not None and split.segment >= end):
            continue
        for piece in examine(split, tuple(columns), chosen=engine, open_log=planner.open_log):
            if isinstance(piece.entries, ClassifiedEntries) and len(piece.entries.entries):
                classified = piece.entries
                yield SegmentEntries(
                    split.segment, split.file, classified.entries, classified.decoded
                )
                del classified
            del piece  # frees the rows before more are read
