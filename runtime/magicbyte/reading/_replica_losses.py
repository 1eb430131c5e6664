"""Offsets that no replica of a partition gives, although a replica that cannot be read may have held them.

The log that is read has offsets that are missing: below its first entry, between two entries, and
above its last one. A replica that was not chosen may have held them in bytes that are damaged or
cannot be read, or in a segment whose file is missing; or its high watermark says that there were some.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from magicbyte.findings import Finding, offsets_are
from magicbyte.logdir.clusters import replica_name
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.logdir.log_file import MAX_ACKNOWLEDGED_OFFSET, PartitionLog
from magicbyte.reading._log_pass import LogPass, SurveyOptions
from magicbyte.reading._replica_fill import HIGHEST, UnsoundBytes
from magicbyte.reading._walk import SoundEntries
from magicbyte.reading.read_options import OffsetRange
from magicbyte.reading.survey import SegmentSurvey

COMPANIONS = ("index", "timeindex", "txnindex")
"""Kinds of files that a broker creates together with a segment, or for one."""


MAX_RANGES = 1_000
"""Ranges of a replica that are compared one by one with the log that is read."""


@dataclass(frozen=True, slots=True)
class ReplicaEvidence:
    """Everything that one replica tells about offsets that it may have lost."""

    log: PartitionLog
    end_offset: int | None
    """Offset after its last sound entry; None if it has none."""
    lineage: Sequence[tuple[int, int]]
    """Leader epochs of its checkpoint with their start offsets; none without one."""
    unsound: Sequence[UnsoundBytes]

    @property
    def last_epoch(self) -> int:
        """Last leader epoch in its checkpoint; -1 without one."""
        return self.lineage[-1][0] if self.lineage else -1

    @property
    def high_watermark(self) -> int | None:
        """High watermark when its broker wrote the checkpoint: all offsets below were acknowledged."""
        mark = None if self.log.is_named_files else self.log.high_watermark_checkpoint
        return mark if mark is not None and mark < MAX_ACKNOWLEDGED_OFFSET else None

    @property
    def final_high_watermark(self) -> int | None:
        """High watermark when its broker stopped cleanly; None if it did not."""
        log_dir = self.log.log_dir
        return self.high_watermark if log_dir is not None and log_dir.clean_shutdown else None


@dataclass(frozen=True, slots=True)
class _LostRange:
    """Offsets that a replica may have held where it has no sound entry."""

    first: int
    end: int
    """The offset after the last one; HIGHEST if nothing bounds it."""
    num_bytes: int | None
    """Bytes that are there; None if their file is missing."""
    finding: Finding
    """The finding about the first of these bytes."""


def lost_offset_findings(
    log: PartitionLog,
    others: Sequence[ReplicaEvidence],
    log_start_offset: int,
    wanted: OffsetRange,
    options: SurveyOptions,
) -> Iterator[Finding]:
    """Yield a finding for each range of *wanted* offsets that *log* lacks and one of *others* may have held.

    *log* is read; records below *log_start_offset* were deleted. A replica of *others* has lost nothing
    above the end of *log* if its broker stopped cleanly with a high watermark that is not above it, or
    if *log* goes on in a later leader epoch than that replica knows.
    """
    if not others:
        return
    lost_ranges = {evidence.log.key: _limited(list(_lost_ranges(evidence))) for evidence in others}
    ends = [evidence.end_offset for evidence in others if evidence.end_offset is not None]
    mark_holder = max(others, key=lambda evidence: evidence.high_watermark or 0)
    is_below = (mark_holder.high_watermark or 0) > max(ends, default=0)
    if not is_below and not any(lost_ranges.values()):
        return
    spans = [(one.first, one.end) for ranges in lost_ranges.values() for one in ranges]
    read_offsets = _ReadOffsets(log, log_start_offset, spans, options)
    read_offsets.read_segments()
    is_explained = False
    for evidence in others:
        for lost in lost_ranges[evidence.log.key]:
            lacking = read_offsets.lacking(evidence, lost, wanted)
            if lacking is not None:
                is_explained = True
                yield _explained(lost.finding, *lacking)
    if is_below and not is_explained:
        yield from _below_high_watermark(read_offsets, mark_holder, wanted)


def _explained(finding: Finding, first: int, end: int) -> Finding:
    """Return *finding* with the offsets from *first* to before *end* that may be lost."""
    offsets = f"from {first} on" if end == HIGHEST else f"{first} to {end - 1}"
    message = f"{finding.message}; offsets {offsets}, which no replica gives, may have been there"
    return replace(finding, message=message)


def _below_high_watermark(
    read_offsets: "_ReadOffsets", evidence: ReplicaEvidence, wanted: OffsetRange
) -> Iterator[Finding]:
    """Yield a finding if *evidence* says that *wanted* offsets above the end of the log were acknowledged."""
    mark, end = evidence.high_watermark or 0, read_offsets.end_offset
    if mark <= max(end, read_offsets.log.acknowledged_offset or 0) or not _overlaps(
        wanted, end, mark
    ):
        return
    yield evidence.log.finding(
        "log-ends-below",
        f"the high watermark of {replica_name(evidence.log)} is {mark}, and no replica goes beyond offset "
        f"{end - 1}: {offsets_are(end, mark - 1, 'lost')}",
        found=str(end),
        expected=str(mark),
    )


def _lost_ranges(replica: ReplicaEvidence) -> Iterator[_LostRange]:
    """Yield the ranges of offsets that *replica* may have held where it has no sound entry."""
    by_bounds: dict[tuple[int | None, int | None], list[UnsoundBytes]] = {}
    for each in sorted(replica.unsound, key=lambda each: (each.file, each.start)):
        if each.finding.code == "zero-tail":
            continue
        by_bounds.setdefault((each.floor, each.ceiling), []).append(each)
    for (floor, ceiling), parts in by_bounds.items():
        first = 0 if floor is None else floor + 1
        end = HIGHEST if ceiling is None else ceiling
        if first < end:
            size = sum(part.end - part.start for part in parts)
            log = replica.log
            finding = replace(parts[0].finding, topic=log.topic, partition=log.partition)
            yield _LostRange(first, end, size, finding)
    yield from _missing_segments(replica.log)


def _limited(lost_ranges: list[_LostRange]) -> list[_LostRange]:
    """Return at most MAX_RANGES ranges: those in the middle are joined, with an unknown number of bytes."""
    if len(lost_ranges) <= MAX_RANGES:
        return lost_ranges
    *first, joined = lost_ranges[: MAX_RANGES - 1]
    rest, last = lost_ranges[MAX_RANGES - 1 : -1], lost_ranges[-1]
    bounded = [each for each in (joined, *rest) if each.end != HIGHEST]
    begin = min(each.first for each in (joined, *rest))
    end = max((each.end for each in bounded), default=HIGHEST)
    return [*first, replace(joined, first=begin, end=end, num_bytes=None), last]


def _missing_segments(log: PartitionLog) -> Iterator[_LostRange]:
    """Yield the offsets of segments of *log* whose companion files are there without them."""
    live = [file for file in log.files if file.live and file.base_offset is not None]
    bases = sorted({file.base_offset or 0 for file in live if file.kind == "log"})
    orphans = {
        file.base_offset or 0: file
        for file in live
        if file.kind in COMPANIONS and file.base_offset not in bases
    }
    for base, file in sorted(orphans.items()):
        end = min((each for each in (*bases, *orphans) if each > base), default=HIGHEST)
        message = f"{file.name} has no segment"
        finding = log.finding("segment-missing", message, file=file.name, found=str(base))
        yield _LostRange(base, end, None, finding)


def _overlaps(wanted: OffsetRange, first: int, end: int) -> bool:
    low, high = wanted
    return (low is None or low < end) and (high is None or first < high)


class _ReadOffsets(LogPass):
    """A pass over the headers of the log that is read, for the offsets that it lacks."""

    def __init__(
        self,
        log: PartitionLog,
        log_start_offset: int,
        spans: Sequence[tuple[int, int]],
        options: SurveyOptions,
    ) -> None:
        super().__init__(TransactionCompanions(log, 0), options)
        self._log_start_offset = log_start_offset
        self._spans = np.array(spans, np.int64).reshape(-1, 2)
        self._num_bytes = np.zeros(len(spans), np.int64)
        """Bytes of the entries that have offsets in each of the spans."""
        self._missing: list[tuple[int, int]] = []
        self._has_entries = False
        self._leader_epoch = -1

    @property
    def end_offset(self) -> int:
        """Offset after the last entry; the log start offset if there is none."""
        return max(self.offsets.log_end_offset or 0, self._log_start_offset)

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        entries = piece.entries
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        if not self._has_entries:
            self._has_entries = True
            self.add_missing(self._log_start_offset, int(firsts[0]))
        super().add_piece(segment, piece)
        self._leader_epoch = max(self._leader_epoch, int(entries.column("leader_epoch").max()))
        is_near = (self._spans[:, 0] <= lasts.max()) & (self._spans[:, 1] > firsts.min())
        for index in np.flatnonzero(is_near).tolist():
            first, end = self._spans[index]
            is_inside = (lasts >= first) & (firsts < end)
            self._num_bytes[index] += int(entries.column("size_bytes")[is_inside].sum())

    def add_missing(self, first: int, end: int | None) -> None:
        if end is not None and first < end:
            self._missing.append((first, end))

    def lacking(
        self, evidence: ReplicaEvidence, lost: _LostRange, wanted: OffsetRange
    ) -> tuple[int, int] | None:
        """Return the first and the end of the *wanted* offsets in *lost* of *evidence* that this log lacks.

        Where this log has as many bytes as *lost*, that held nothing else: a follower copies its
        leader's batches byte by byte.
        """
        if lost.num_bytes is not None and self._is_same_log(evidence, lost):
            index = np.flatnonzero((self._spans == (lost.first, lost.end)).all(axis=1))[0]
            if self._num_bytes[index] >= lost.num_bytes:
                return None
        missing = np.array(self._missing, np.int64).reshape(-1, 2)
        if not self._has_all_of(evidence):
            missing = np.append(missing, [(self.end_offset, HIGHEST)], axis=0)
        low, high = wanted
        firsts = np.maximum(missing[:, 0], max(lost.first, low or 0))
        ends = np.minimum(missing[:, 1], lost.end if high is None else min(lost.end, high))
        is_lacking = firsts < ends
        if not is_lacking.any():
            return None
        is_open = ends[is_lacking].max() == high
        return int(firsts[is_lacking].min()), int(lost.end if is_open else ends[is_lacking].max())

    def _is_same_log(self, evidence: ReplicaEvidence, lost: _LostRange) -> bool:
        """Return whether a sound entry or a checkpoint shows that *evidence* holds the same log in *lost*."""
        if not evidence.lineage:
            return evidence.end_offset is not None
        last_epoch, start = evidence.lineage[-1]
        return lost.end != HIGHEST or last_epoch <= self._leader_epoch or start == self.end_offset

    def _has_all_of(self, evidence: ReplicaEvidence) -> bool:
        """Return whether *evidence* cannot have acknowledged offsets above the end of this log.

        A broker writes a new leader epoch to its checkpoint before it appends, so a log with a later one
        replaces what *evidence* has in the epochs that it knows (KIP-101).
        """
        mark = evidence.final_high_watermark
        if mark is not None and mark <= self.end_offset:
            return True
        return -1 < evidence.last_epoch < self._leader_epoch
