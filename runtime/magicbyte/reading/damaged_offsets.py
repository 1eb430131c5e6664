"""The offsets in damaged ranges, by the sound entries before and after each.

A consumer fails at a damaged range and stays there. It can go on at the next sound offset, if the
broker finds that: a broker looks an offset up in the offset index, and follows size fields from there.
"""

from dataclasses import dataclass

import numpy as np

from magicbyte.logdir.indexes import read_positions
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.dispositions import DISPOSITION_CODES, ClassifiedEntries
from magicbyte.reading.survey import SegmentSurvey, Survey

DAMAGED_KINDS = ("damaged", "unreadable")
"""Kinds of unsound ranges that stop a consumer. Kafka has no limit, so `over_limit` does not."""


@dataclass(slots=True)
class DamagedRange:
    """Consecutive damaged bytes of a segment, and the offsets that they may hold."""

    file: str
    position: int
    length: int
    first_offset: int
    """The lowest offset that may be in the range."""
    end_offset: int | None = None
    """The offset after the highest one that may be in the range; None if nothing bounds it."""
    next_offset: int | None = None
    """The next sound offset; None if there is none."""
    seek_offset: int | None = None
    """The first sound offset after the range that a broker can deliver; None if there is none."""
    is_framed: bool = True
    """True if size fields lead over the range, so that a broker finds what follows it."""

    @property
    def end(self) -> int:
        return self.position + self.length


@dataclass(slots=True)
class _Stretch:
    """Consecutive bytes of a segment: sound entries with their offsets, or damage without."""

    begin: int
    end: int
    first_offset: int | None = None
    last_offset: int | None = None
    is_framed: bool = True


class DamagedOffsets:
    """Collects where the sound entries of a partition begin and end, in order."""

    def __init__(self) -> None:
        self._stretches: dict[str, list[_Stretch]] = {}

    def add(self, segment: LogFile, classified: ClassifiedEntries) -> None:
        """Collect *classified*, the log's next framed entries, in *segment*."""
        entries = classified.entries
        is_damaged = classified.entry_codes == DISPOSITION_CODES["damaged"]
        begins = entries.column("position")
        ends = begins + entries.column("size_bytes")
        # Damaged entries may have been between these, in the same chunk.
        is_cut = np.append(True, is_damaged[1:] | is_damaged[:-1] | (begins[1:] != ends[:-1]))
        cuts = np.flatnonzero(is_cut[: len(entries)])
        lasts = np.append(cuts[1:], len(entries))[: len(cuts)] - 1
        columns = (
            is_damaged[cuts],
            begins[cuts],
            ends[lasts],
            entries.column("first_offset")[cuts],
            entries.column("last_offset")[lasts],
        )
        stretches = self._stretches.setdefault(segment.path, [])
        for damaged, *numbers in zip(*(column.tolist() for column in columns), strict=True):
            stretch = _Stretch(*numbers[:2]) if damaged else _Stretch(*numbers)
            _append_stretch(stretches, stretch)

    def ranges(self, survey: Survey) -> list[DamagedRange]:
        """Return the damaged ranges of the log with their offsets, in order.

        Ranges below the log start are left out, since no consumer meets them; so are those whose
        neighbors are out of order, since these tell nothing.
        """
        damaged_ranges: list[DamagedRange] = []
        open_ranges: list[DamagedRange] = []  # no sound entry has followed yet
        next_offset = survey.log_start_offset or 0
        for segment in survey.segments:
            base_offset = segment.file.base_offset
            next_offset = max(next_offset, base_offset or 0)
            for damaged in open_ranges:
                damaged.end_offset = (
                    base_offset if damaged.end_offset is None else damaged.end_offset
                )
            for stretch in self._in_order(segment):
                if stretch.first_offset is None or stretch.last_offset is None:
                    _append(open_ranges, segment.file.name, stretch, next_offset)
                    continue
                for damaged in open_ranges:
                    damaged.next_offset = stretch.first_offset
                    if damaged.end_offset is None:
                        damaged.end_offset = stretch.first_offset
                damaged_ranges += filter(_has_offsets, open_ranges)
                open_ranges = []
                next_offset = max(next_offset, stretch.last_offset + 1)
        acknowledged = survey.log.acknowledged_offset
        for damaged in open_ranges:
            is_above = acknowledged is not None and acknowledged > damaged.first_offset
            if damaged.end_offset is None and is_above:
                damaged.end_offset = acknowledged
        damaged_ranges += filter(_has_offsets, open_ranges)
        for damaged in damaged_ranges:
            damaged.seek_offset = damaged.next_offset
            if not damaged.is_framed and damaged.next_offset is not None:
                damaged.seek_offset = self._findable_offset(survey, damaged)
        return damaged_ranges

    def _findable_offset(self, survey: Survey, damaged: DamagedRange) -> int | None:
        """Return the first offset after *damaged* that a broker finds without reading the range."""
        is_later = False
        for segment in survey.segments:
            stretches = self._in_order(segment) if is_later else []
            if stretches and stretches[0].begin == 0 and stretches[0].first_offset is not None:
                return stretches[0].first_offset
            if segment.file.name == damaged.file and segment.file.base_offset is not None:
                is_later = True
                positions = read_positions(survey.log, segment.file)
                after = positions[positions["ofs_batch"] >= damaged.end]
                if len(after):
                    # An entry has the last offset of its batch: lower offsets are looked up before it.
                    return segment.file.base_offset + int(after["relative_offset"][0])
        return None

    def _in_order(self, segment: SegmentSurvey) -> list[_Stretch]:
        """Return the sound and the damaged stretches of *segment*, by position."""
        damaged = [
            _Stretch(unsound.start, unsound.end, is_framed=unsound.entry is not None)
            for unsound in segment.unsound_ranges
            if unsound.kind in DAMAGED_KINDS
        ]
        stretches = [*self._stretches.get(segment.file.path, ()), *damaged]
        return sorted(stretches, key=lambda stretch: stretch.begin)


def _append_stretch(stretches: list[_Stretch], stretch: _Stretch) -> None:
    """Append *stretch* to *stretches*, or extend the last one if both are sound and back to back."""
    last = stretches[-1] if stretches else None
    if (
        last is not None
        and last.end == stretch.begin
        and last.last_offset is not None
        and stretch.last_offset is not None
    ):
        last.end, last.last_offset = stretch.end, stretch.last_offset
    else:
        stretches.append(stretch)


def _has_offsets(damaged: DamagedRange) -> bool:
    return damaged.end_offset is None or damaged.end_offset > damaged.first_offset


def _append(
    open_ranges: list[DamagedRange], file: str, stretch: _Stretch, first_offset: int
) -> None:
    """Append the damage *stretch*, or extend the last range if *stretch* follows it directly."""
    length = stretch.end - stretch.begin
    last = open_ranges[-1] if open_ranges else None
    if last is not None and last.file == file and last.end == stretch.begin:
        last.length += length
        last.is_framed &= stretch.is_framed
    else:
        damaged = DamagedRange(file, stretch.begin, length, first_offset)
        damaged.is_framed = stretch.is_framed
        open_ranges.append(damaged)
