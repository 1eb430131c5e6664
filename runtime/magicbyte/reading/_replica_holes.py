"""The holes in a replica's log: offsets that it has no sound entry for, and its damaged bytes there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.errors import MissingError
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._log_pass import LogPass, SurveyOptions
from magicbyte.reading._walk import SoundEntries, VerifiedWalk
from magicbyte.reading.survey import SegmentSurvey

FIELDS = ("first_offset", "last_offset", "crc", "size_bytes", "leader_epoch", "position")
ENTRY_ROW = np.dtype([(name, np.int64) for name in (*FIELDS, "file", "is_whole")])
"""The identity of an entry, and where it is; `file` is the number of its segment. `is_whole` is 1
unless the log cleaner has removed records from it."""

EntryRows = np.ndarray[tuple[int], np.dtype[np.void]]


def entry_rows(entries: Entries, file_number: int) -> EntryRows:
    """Return an ENTRY_ROW for each of *entries*."""
    rows: EntryRows = np.empty(len(entries), ENTRY_ROW)
    for name in FIELDS:
        rows[name] = entries.column(name)
    counts = entries.column("record_count")
    is_cleaned = (counts >= 0) & (counts <= rows["last_offset"] - rows["first_offset"])
    is_cleaned |= entries.column("has_delete_horizon") != 0
    rows["is_whole"] = ~is_cleaned
    rows["file"] = file_number
    return rows


@dataclass(slots=True)
class Hole:
    """Offsets between two sound entries of a log for which it has no sound entry."""

    before: np.void | None
    """The ENTRY_ROW before it; None at the beginning of the log."""
    after: np.void | None
    """The ENTRY_ROW after it; None at the end of the log."""
    damage: list[tuple[int, UnsoundRange]] = field(default_factory=list)
    """The bytes between the two, with the number of their segment; none if entries are missing."""

    @property
    def damaged_bytes(self) -> int:
        """Bytes that held entries: a tail may be zeros."""
        return sum(unsound.length for _, unsound in self.damage if unsound.kind != "tail")


class HolePass(LogPass):
    """A pass that verifies every checksum of a replica, and collects the holes in its log.

    The first hole is before the first entry, the last one after the last entry. Offsets that
    compaction explains are no hole.
    """

    walk = VerifiedWalk

    def __init__(self, log: PartitionLog, options: SurveyOptions) -> None:
        super().__init__(TransactionCompanions(log, 0), options)
        self.holes: list[Hole] = []
        self._damage: list[tuple[int, UnsoundRange]] = []
        self._last: np.void | None = None
        self._rows: EntryRows = np.empty(0, ENTRY_ROW)
        self._position = 0

    def find_holes(self) -> list[Hole]:
        self.read_segments()
        self._add_hole(None)
        return self.holes

    def read_segment(self, segment: SegmentSurvey) -> None:
        self._position = segment.file.start
        try:
            super().read_segment(segment)
        except MissingError:
            end = segment.file.size_bytes
            self._damage.append(
                (segment.number, UnsoundRange(self._position, end, "unreadable", ()))
            )
            self.is_after_damage = True

    def add_damage(self, segment: SegmentSurvey, damage: UnsoundRange) -> None:
        super().add_damage(segment, damage)
        self._position = damage.end
        if damage.kind == "over_limit" and damage.entry is not None:
            # It may be sound, and another replica has it in the same size.
            rows = entry_rows(Entries([damage.entry]), segment.number)
            self._begin_rows(rows)
            self._last = rows[-1]
        else:
            self._damage.append((segment.number, damage))

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        self._rows = entry_rows(piece.entries, segment.number)
        self._begin_rows(self._rows)
        super().add_piece(segment, piece)
        self._last = self._rows[-1]
        self._position = int(self._last["position"] + self._last["size_bytes"])

    def report_gaps(
        self, segment: SegmentSurvey, piece: SoundEntries, gaps: Sequence[tuple[int, int]]
    ) -> list[int]:
        missing = super().report_gaps(segment, piece, gaps)
        for index in missing:
            self._add_hole(self._rows[index], self._rows[index - 1] if index else self._last)
        return missing

    def _begin_rows(self, rows: EntryRows) -> None:
        if self._damage or self._last is None:
            self._add_hole(rows[0])

    def _add_hole(self, after: np.void | None, before: np.void | None = None) -> None:
        self.holes.append(Hole(self._last if before is None else before, after, self._damage))
        self._damage = []
