"""Rows of the table `gaps`: offsets that no record has, each range with the reason."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from magicbyte.engines.entry_columns import NO_VALUE, Numbers
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dispositions import DISPOSITION_CODES, ClassifiedEntries
from magicbyte.reading.partial_plan import wanted_offsets
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.results import Report, Tally, examine_counted
from magicbyte.reading.split import ChunkResult, Split
from magicbyte.reading.survey import Survey
from magicbyte.reading.table_rows import int64_or_null
from magicbyte.tables.arrays import Codes, to_numpy

UNSOUND = ("unreadable", "damaged", "over_limit")
"""Dispositions of bytes and entries that give no record, in order of precedence."""

LOWEST_OFFSET = -(1 << 63)
"""Smallest offset that an int64 holds."""


def gap_rows(planner: Planner, log: PartitionLog, report: Report) -> Iterator[dict[str, Any]]:
    """Yield the gaps of *log* that have wanted offsets; add findings and totals to *report*.

    Reads the records of all sound entries, since compaction removes records from within a batch.
    """
    survey = planner.survey(log)
    report.findings.extend(survey.findings)
    first, end = wanted_offsets(planner, log)
    for gap in _GapFinder(survey).gaps(planner, report):
        gap_end = gap["end_offset"]
        is_below = first is not None and gap_end is not None and gap_end <= first
        if not is_below and (end is None or gap["first_offset"] < end):
            yield gap


@dataclass(slots=True)
class _GapFinder:
    """Follows the offsets of a partition's records, and the bytes between two of them."""

    survey: Survey
    next_offset: int | None = None
    """Offset after the highest record so far."""
    next_of_entries: int | None = None
    """Offset after the entries since the last record, as their headers state it."""
    unsound: str | None = None
    """Disposition of unsound bytes since the last record."""
    was_cleaned: bool = False
    """True if the segment of the last record was cleaned."""

    def gaps(self, planner: Planner, report: Report) -> Iterator[dict[str, Any]]:
        survey = self.survey
        self.next_offset = self.next_of_entries = survey.log_start_offset
        engine = planner.new_engine()
        for split in planner.splits(survey, NO_RANGE):
            split = replace(split, options=replace(split.options, on_damage="skip"))
            tally = Tally()
            for piece in examine_counted(planner, split, None, engine, tally):
                if isinstance(piece.entries, ClassifiedEntries):
                    yield from self._of_entries(split, piece.entries)
                else:
                    self._add_unsound(piece)
            report.add(tally)
        end = survey.log_end_offset
        if end is not None and self.next_offset is not None and end > self.next_offset:
            reason = self._reason(end, self.unsound, self.next_of_entries, is_cleaned=False)
            yield self._row(self.next_offset, end, reason)

    def _add_unsound(self, piece: ChunkResult) -> None:
        for name in UNSOUND:
            if piece.bytes[name] and self.unsound is None:
                self.unsound = name

    def _of_entries(self, split: Split, judged: ClassifiedEntries) -> Iterator[dict[str, Any]]:
        """Yield the gaps before the records of *judged*, the next entries of the log."""
        entries, num_rows = judged.entries, judged.decoded.num_rows
        offsets = to_numpy(judged.decoded.rows.column("offset"))
        owners = np.repeat(np.arange(len(entries)), num_rows)  # the entry of each record
        bases, lasts = entries.column("base_offset"), entries.column("last_offset")
        is_cleaned = self.survey.segments[split.segment].is_cleaned
        if self.next_offset is None and len(offsets):
            self.next_offset = int(offsets[0])
        start = max((self.next_offset or 0) - 1, LOWEST_OFFSET)
        before = np.maximum.accumulate(np.concatenate([[start], offsets]))[:-1]
        # The sum may wrap around after the highest offset.
        for row in np.flatnonzero((offsets > before) & (offsets != before + 1)).tolist():
            entry, gap = int(owners[row]), (int(before[row]) + 1, int(offsets[row]))
            previous = int(owners[row - 1]) if row else -1
            reason = "compacted"  # from within a batch
            if previous < entry:
                base = gap[1] if bases[entry] == NO_VALUE else int(bases[entry])
                unsound, covered = self._between(judged.entry_codes, lasts, previous, entry)
                reason = self._reason(base, unsound, covered, is_cleaned=is_cleaned)
            position = int(entries.column("position")[entry])
            yield self._row(*gap, reason, split.file.name, position)
        last = int(owners[-1]) if len(owners) else -1
        self.unsound, self.next_of_entries = self._between(
            judged.entry_codes, lasts, last, len(entries)
        )
        if len(offsets):
            self.next_offset = max(start, int(offsets.max())) + 1
        self.was_cleaned = is_cleaned

    def _between(
        self, codes: Codes, lasts: Numbers, previous: int, end: int
    ) -> tuple[str | None, int | None]:
        """Return the disposition of unsound bytes between two records, and the offset after headers there.

        The entry numbered *previous* has the first record, -1 for an entry of an earlier chunk; the
        entry numbered *end* has the second one.
        """
        unsound = self.unsound if previous < 0 else None
        covered = self.next_of_entries if previous < 0 else None
        for name in UNSOUND:
            if unsound is None and (codes[previous + 1 : end] == DISPOSITION_CODES[name]).any():
                unsound = name
        if (stated := lasts[max(previous, 0) : end]).size:
            covered = max(covered or 0, int(stated.max()) + 1)
        return unsound, covered

    def _reason(
        self, base: int, unsound: str | None, covered: int | None, *, is_cleaned: bool
    ) -> str:
        """Return the reason of a gap before an entry with the base offset *base*.

        Headers before it state the offsets below *covered*; *is_cleaned*: its segment was cleaned.
        """
        if unsound is not None:
            return unsound
        if covered is not None and base <= covered:
            return "compacted"
        cleaner_offset = self.survey.log.cleaner_offset
        if cleaner_offset is not None:
            return "compacted" if base <= cleaner_offset else "missing"
        return "compacted" if is_cleaned or self.was_cleaned else "missing"

    def _row(
        self,
        first: int,
        end: int,
        reason: str,
        file: str | None = None,
        position: int | None = None,
    ) -> dict[str, Any]:
        return {
            "topic": self.survey.log.topic,
            "partition": self.survey.log.partition,
            "first_offset": first,
            "end_offset": int64_or_null(end),
            "offset_count": int64_or_null(end - first),
            "reason": reason,
            "file": file,
            "position": position,
        }
