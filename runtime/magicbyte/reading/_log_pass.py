"""A pass over the segments of a partition, for offsets, damage, gaps and boundaries of splits.

The passes in this module read headers only; those in `_survey_passes` also settle transactions.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry_columns import NO_VALUE
from magicbyte.engines.protocol import BatchHeaders, Engine, Entries
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._boundaries import boundaries_at, boundaries_every
from magicbyte.reading._damage import UnsoundRange, tail_kind
from magicbyte.reading._directory_findings import directory_findings
from magicbyte.reading._interrupted_run import InterruptedRun
from magicbyte.reading._joined_pieces import joined_pieces
from magicbyte.reading._offset_order import LogOffsets, gap_finding
from magicbyte.reading._walk import HeaderWalk, Piece, SoundEntries, VerifiedWalk, Walk
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.survey import Boundary, Opener, SegmentSurvey, Survey, open_segment
from magicbyte.storage import File
from magicbyte.tables.arrays import Indices, Mask

MAX_KEPT_HEADERS = 1 << 17
"""Headers kept for each partition, about 25 MB; if there are more, headers are read twice."""


AT_THE_END = ("log-ends-below", "log-start-beyond")
"""Codes of findings that a log ends too early, which is not known where its end cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyOptions:
    """Engine, limits and split size of a survey, and how it opens segments."""

    engine: Engine
    limits: Limits
    split_bytes: int | None = None
    """Bytes between two boundaries, at least; None: a boundary per segment."""
    cuts: Mapping[str, Sequence[int]] | None = None
    """Positions, by path of a segment, from which on the next entry begins a split; None: by *split_bytes*."""
    open_log: Opener = open_segment
    is_part: bool = False
    """True if the log is a part of a log, whose earlier segments are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryBlock:
    """The entries of one piece of a segment, and where their order of offsets is interrupted."""

    segment: SegmentSurvey
    piece: SoundEntries
    is_control: Mask
    boundaries: Sequence[tuple[int, Boundary]]
    """Boundaries between the entries, each with the index of the entry after it."""
    breaks: Sequence[int]
    """Indices of entries that begin or end below the one before."""
    gaps: Sequence[int]
    """Indices of entries before which others are missing, or damaged."""
    cleaned_from: int
    """Index of the first entry that shows cleaning; else the number of entries."""


class LogPass:
    """A pass over the segments of a partition, in order."""

    walk: type[Walk] = HeaderWalk
    are_runs_joined = False
    """True if the walk may join runs of entries with many damaged ones."""

    def __init__(
        self,
        companions: TransactionCompanions,
        options: SurveyOptions,
        cleaned_segments: Sequence[bool] | None = None,
    ) -> None:
        self.log = companions.log
        self.logs = self.log.logs
        self.options = options
        self.cleaned_segments = cleaned_segments
        """True for each segment that was cleaned; None until a gap asks for that."""
        self.offsets = LogOffsets()
        self.is_after_damage = False
        self.survey = Survey(self.log, is_verified=self.walk is VerifiedWalk)
        self.survey.findings += [*self.log.findings, *companions.findings]

    # Methods that subclasses override

    def is_done(self, segment: SegmentSurvey) -> bool:
        """Return whether the pass ends in *segment*, after the piece that was added last."""
        return False

    def begin_segment(self, segment: SegmentSurvey) -> Indices | None:
        """Prepare for the entries of *segment*; return the numbers of the transactions open before it."""
        return None

    def add_block(self, block: EntryBlock) -> None:
        """Follow the transactions of *block*."""

    def add_uncertainty(self) -> None:
        """Note that entries may be missing after the one that was added last."""

    def end_of_records(self, piece: SoundEntries | None, index: int, stated: int) -> int:
        """Return the offset after the records before entry *index* of *piece*; None is the end of the log.

        Headers say that it is *stated*."""
        return stated

    def add_missing(self, first: int, end: int | None) -> None:
        """Note that offsets from *first* to before *end* are missing; None: all later ones."""

    def run(self) -> Survey:
        self.read_segments()
        return self.finish()

    def read_segments(self) -> None:
        for number in range(len(self.logs)):
            segment = self.add_segment(number)
            self.read_segment(segment)
            if self.is_done(segment):
                break
        self.end_segments()

    def add_segment(self, number: int) -> SegmentSurvey:
        """Add the segment with *number* to the survey, and return it; its entries are added later."""
        logs, next_base = self.logs, self.log.next_base
        is_last = number + 1 == len(logs) and next_base is None
        bounds = segment_bounds(logs, number, next_base)
        segment = SegmentSurvey(logs[number], number, bounds, is_last)
        self.survey.segments.append(segment)
        return segment

    def end_segments(self) -> None:
        """Report the gap at the end of the log, if its last segment is empty."""
        for segment in self.survey.segments[-1:]:
            if segment.is_last and not segment.sound_bytes:
                self.add_gap_before_empty_segment(segment)

    def new_walk(self, segment: SegmentSurvey, file: File) -> Walk:
        """Return the walk over the open *file* of *segment*."""
        return self.walk(
            file,
            engine=self.options.engine,
            limits=self.options.limits,
            bounds=segment.bounds,
            start=segment.file.start,
            is_last=segment.is_last,
            are_runs_joined=self.are_runs_joined,
        )

    def pieces(self, segment: SegmentSurvey) -> Generator[Piece, None, None]:
        """Open *segment*, begin it, and yield its pieces."""
        with self.options.open_log(segment.file) as file:
            if file.descriptor is None:
                file.will_read(segment.file.start, file.size_bytes)
            walk = self.new_walk(segment, file)
            start = Boundary(
                segment.file.start, segment.bounds.floor, open_here=self.begin_segment(segment)
            )
            segment.boundaries.append(start)
            yield from joined_pieces(walk) if self.are_runs_joined else walk

    def read_segment(self, segment: SegmentSurvey) -> None:
        with closing(self.pieces(segment)) as pieces:
            for piece in pieces:
                if isinstance(piece, UnsoundRange):
                    self.add_damage(segment, piece)
                elif isinstance(piece, InterruptedRun):
                    self.add_run(segment, piece)
                else:
                    self.add_piece(segment, piece)
                if self.is_done(segment):
                    return

    def add_damage(self, segment: SegmentSurvey, damage: UnsoundRange) -> None:
        segment.unsound_ranges.append(damage)
        self.report(segment, damage.findings)
        if damage.kind == "tail":
            segment.end = tail_kind([damage])
            return
        if damage.end == segment.file.size_bytes and damage.entry is None:
            segment.end = "unreadable" if damage.kind == "unreadable" else "garbage"
        self.add_uncertainty()
        self.is_after_damage = True

    def add_run(self, segment: SegmentSurvey, run: InterruptedRun) -> None:
        """Add the entries of *run*, which begins with a damaged one, to *segment*."""
        for unsound in run.ranges:
            self.add_damage(segment, unsound)
        if len(run.sound):
            piece = SoundEntries(run.sound, run.chunk, after_damage=frozenset(run.part_starts[1:]))
            self.add_piece(segment, piece)
            if run.ranges[-1].end == run.end:
                self.is_after_damage = True
                self.add_uncertainty()

    def add_piece(self, segment: SegmentSurvey, piece: SoundEntries) -> None:
        """Add the sound entries of *piece* to *segment*."""
        entries, offsets = piece.entries, piece.entry_offsets()
        firsts, options = offsets.firsts, self.options
        floor = None if self.offsets.next_offset is None else self.offsets.next_offset - 1
        boundaries: Sequence[tuple[int, Boundary]] = ()
        if options.cuts is not None:
            cuts = options.cuts.get(segment.file.path, ())
            boundaries = list(boundaries_at(segment, cuts, floor, entries, offsets))
        elif options.split_bytes is not None:
            boundaries = list(
                boundaries_every(segment, options.split_bytes, floor, entries, offsets)
            )
        if self.is_after_damage:
            first = int(firsts[0])
            self.add_missing(self.offsets.expected(first) or 0, first)
        gaps, breaks = self.offsets.add(offsets)
        missing: Sequence[int] = ()
        if piece.after_damage:
            for index, expected in gaps:
                if index in piece.after_damage:
                    self.add_missing(expected, int(firsts[index]))
            gaps = [gap for gap in gaps if gap[0] not in piece.after_damage]
        if gaps or piece.findings:
            missing = self.report_gaps(segment, piece, gaps)
        self.is_after_damage = False
        segment.sound_bytes += int(entries.column("size_bytes").sum())
        cleaned_from = len(entries)
        if entries.are_messages:
            is_control = np.zeros(len(entries), np.bool_)  # messages have nothing of what follows
        else:
            epochs = entries.column("leader_epoch")
            segment.leader_epoch = max(segment.leader_epoch, int(epochs.max()))
            is_control = entries.column("is_control") != 0
            if not segment.has_transactions:
                is_transactional = is_control | (entries.column("is_transactional") != 0)
                segment.has_transactions = bool(is_transactional.any())
            if not segment.is_cleaned:
                is_cleaned = look_cleaned(entries)
                if is_cleaned.any():
                    cleaned_from = int(np.argmax(is_cleaned))
        self.add_block(
            EntryBlock(
                segment=segment,
                piece=piece,
                is_control=is_control,
                boundaries=boundaries,
                breaks=breaks,
                gaps=sorted([*missing, *piece.after_damage]) if piece.after_damage else missing,
                cleaned_from=cleaned_from,
            )
        )
        segment.is_cleaned |= cleaned_from < len(entries)

    # Findings

    def report(self, segment: SegmentSurvey, findings: Iterable[Finding]) -> None:
        """Add *findings* about *segment* to the survey's findings."""
        file = segment.file
        names = self.log.topic, self.log.partition, file.name, file.replica
        self.survey.findings += [finding.at(*names) for finding in findings]

    def report_gaps(
        self, segment: SegmentSurvey, piece: SoundEntries, gaps: Sequence[tuple[int, int]]
    ) -> list[int]:
        """Report the findings of *piece* and its *gaps* in the order of their positions.

        Returns the indices of the entries before which others are missing, that is of gaps which
        neither damage nor cleaning explains.
        """
        if self.is_after_damage and gaps and gaps[0][0] == 0:
            gaps = gaps[1:]
        missing: list[int] = []
        num_reported = 0
        indices = [index for index, _ in gaps]
        columns = (
            piece.entries.column(name)[indices].tolist() for name in ("base_offset", "position")
        )
        for (index, stated), base, position in zip(gaps, *columns, strict=True):
            if base == NO_VALUE:
                continue  # a wrapper message: its first offset is in its payload
            expected = self.end_of_records(piece, index, stated)
            if expected >= base:
                continue
            while num_reported < len(piece.findings):
                finding = piece.findings[num_reported]
                if finding.position is not None and finding.position > position:
                    break
                self.report(segment, [finding])
                num_reported += 1
            if self.report_gap(segment, position, expected, base):
                missing.append(index)
        self.report(segment, piece.findings[num_reported:])
        return missing

    def report_gap(self, segment: SegmentSurvey, position: int, expected: int, first: int) -> bool:
        """Report that offsets *expected* to *first* - 1 are missing, unless the log is compacted up to *first*.

        Returns True if cleaning does not explain the gap.
        """
        cleaner_offset = self.log.cleaner_offset
        if cleaner_offset is not None and first <= cleaner_offset:
            return False
        is_cleaned = cleaner_offset is None and self.looks_cleaned(segment, expected, first)
        finding = gap_finding(position, expected, first, is_cleaned=is_cleaned)
        self.report(segment, [finding])
        if not is_cleaned:
            self.add_missing(expected, first)
        return not is_cleaned

    def add_gap_before_empty_segment(self, segment: SegmentSurvey) -> None:
        """Report the offsets that are missing before *segment*, the last one, which has no entry."""
        base = segment.file.base_offset
        if base is None:
            return
        expected = self.offsets.expected(base)
        if self.is_after_damage:
            self.is_after_damage = False
            self.add_missing(expected or 0, base)
        elif expected is not None and base > expected:
            expected = self.end_of_records(None, 0, expected)
            if base > expected and self.report_gap(segment, 0, expected, base):
                self.add_uncertainty()

    def looks_cleaned(self, segment: SegmentSurvey, start: int, end: int) -> bool:
        """Return whether headers show that the segments for offsets *start* to *end* were cleaned."""
        if self.cleaned_segments is None:
            self.cleaned_segments = _cleaned_segments(self.log, self.options)
        number, base = segment.number, segment.file.base_offset
        if base is None or number == 0 or start >= base:
            return self.cleaned_segments[number]
        is_previous_cleaned = self.cleaned_segments[number - 1]
        return is_previous_cleaned and (end <= base or self.cleaned_segments[number])

    # Results of the pass

    def finish(self) -> Survey:
        survey, log = self.survey, self.log
        if self.is_after_damage:
            self.add_missing(self.offsets.next_offset or 0, None)
        bases, ends = [], []
        for file in log.logs:
            if file.base_offset is not None:
                bases.append(file.base_offset)
        survey.log_start_offset = log.log_start_offset
        end = self.offsets.log_end_offset
        is_stopped = bool(survey.segments) and survey.segments[-1].stop_at is not None
        known = (*bases[-1:], log.next_base)
        for offset in (*(() if is_stopped else known), end, survey.log_start_offset):
            if offset is not None:
                ends.append(offset)
        survey.log_end_offset = max(ends, default=None)
        if not is_stopped and not log.is_named_files and log.state is None:
            end_findings = directory_findings(log, bases, end, survey.log_end_offset)
            if survey.segments and survey.segments[-1].unsound_ranges and survey.is_end_unreadable:
                end_findings = (each for each in end_findings if each.code not in AT_THE_END)
            survey.findings += end_findings
        _settle_high_watermark(survey)
        if ends:
            survey.last_stable_offset = max(survey.log_start_offset or 0, *ends)
        return survey


class HeaderPass(LogPass):
    """A pass over headers, without transactions."""

    def looks_cleaned(self, segment: SegmentSurvey, start: int, end: int) -> bool:
        return True  # benefit of the doubt: a second pass over the log would cost as much again


class KeptHeaderPass(HeaderPass):
    """A pass over headers that caches them in the survey, so that they are not read again."""

    num_kept_headers = MAX_KEPT_HEADERS
    """Headers that may still be kept."""

    def add_block(self, block: EntryBlock) -> None:
        headers = block.piece.entries
        if isinstance(headers, BatchHeaders) and len(headers) <= self.num_kept_headers:
            self.num_kept_headers -= len(headers)
            block.segment.heads.append(headers)


class HeadersSufficePass(HeaderPass):
    """A pass over headers that ends at the first transaction or damage, which headers cannot settle."""

    def is_done(self, segment: SegmentSurvey) -> bool:
        return segment.has_transactions or bool(segment.unsound_ranges)


def _settle_high_watermark(survey: Survey) -> None:
    """Add the high watermark to *survey*, whose log end offset is known, or a finding that it is stale."""
    log, end = survey.log, survey.log_end_offset
    stored = log.high_watermark_checkpoint
    if stored is None or log.log_dir is None:
        return
    if log.log_dir.clean_shutdown:
        survey.high_watermark = stored
        return
    if stored == end:
        return
    survey.findings.append(
        log.finding(
            "high-watermark-stale",
            f"the high watermark was {stored} at its last checkpoint, before the broker "
            f"stopped without a clean shutdown; the log ends at {end}",
            found=str(stored),
            expected=str(end),
        )
    )


def _cleaned_segments(log: PartitionLog, options: SurveyOptions) -> list[bool]:
    """Return, for each segment of *log*, whether its headers show that the log cleaner rewrote it."""
    are_cleaned, logs = [], log.logs
    for number, file in enumerate(logs):
        with options.open_log(file) as opened:
            walk = HeaderWalk(
                opened,
                engine=options.engine,
                limits=options.limits,
                bounds=segment_bounds(logs, number, log.next_base),
                start=file.start,
                is_last=number + 1 == len(logs) and log.next_base is None,
            )
            sound = (piece for piece in walk if isinstance(piece, SoundEntries))
            are_cleaned.append(any(look_cleaned(piece.entries).any() for piece in sound))
    return are_cleaned


def segment_bounds(logs: Sequence[LogFile], number: int, next_base: int | None) -> Bounds:
    """Return the offsets that segment *number* of *logs* may hold; *next_base* follows the last one."""
    base, is_last = logs[number].base_offset, number + 1 == len(logs)
    ceiling = next_base if is_last else logs[number + 1].base_offset
    return Bounds(floor=None if base is None else base - 1, ceiling=ceiling)


def look_cleaned(entries: Entries) -> Mask:
    """Return a mask of batches that the log cleaner rewrote: they lack records or have a delete horizon."""
    span = entries.column("last_offset") - entries.column("first_offset")
    counts = entries.column("record_count")
    is_cleaned: Mask = (counts >= 0) & (counts <= span)
    is_cleaned |= entries.column("has_delete_horizon") != 0
    return is_cleaned
