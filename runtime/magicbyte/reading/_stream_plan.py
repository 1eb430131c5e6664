"""Surveys of a growing log that read few bytes: up to where it may be read, and for a range of offsets.

Which transactions are open at the end of a log is told by the headers of the entries that were appended and by
their markers. How the transactions of a range ended, the tasks that read it find by themselves
(`_markers_ahead`), so no byte is read in advance and again by a task.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from magicbyte._transactions import LogPosition
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading import segment_range
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._index_outcomes import HeaderTransactions
from magicbyte.reading._indexed_range import may_use_indexes, unread_finding
from magicbyte.reading._log_pass import EntryBlock, HeaderPass, SurveyOptions, segment_bounds
from magicbyte.reading._offset_positions import EntryStart, OffsetPositions, WrongIndexError
from magicbyte.reading._part_markers import PartMarkers, UntrustedPartError
from magicbyte.reading._survey_passes import finish_transactions
from magicbyte.reading._walk import SoundEntries, VerifiedWalk
from magicbyte.reading.planner import Planner
from magicbyte.reading.segment_range import bounded
from magicbyte.reading.survey import Boundary, SegmentSurvey, Survey
from magicbyte.tables.arrays import Indices


class AppendedPass(HeaderPass):
    """A pass over headers that tells which transactions are open at the end; their markers are read."""

    def __init__(
        self, companions: TransactionCompanions, options: SurveyOptions, *, reads_markers: bool
    ) -> None:
        super().__init__(companions, options)
        self.transactions = HeaderTransactions()
        self.markers = PartMarkers(options) if reads_markers else None
        self.last: LogPosition | None = None
        """Position of the last entry."""

    def begin_segment(self, segment: SegmentSurvey) -> Indices:
        return self.transactions.open_numbers()

    def add_block(self, block: EntryBlock) -> None:
        """Follow the transactions of *block*. Raises UntrustedPartError where a marker is damaged."""
        if self.markers is not None:
            self.markers.add(block)
        self.transactions.add(block.piece.entries, block.segment.number)
        self.last = LogPosition(block.segment.number, block.piece.entries[-1].position)

    def finish(self) -> Survey:
        survey = super().finish()
        table = self.transactions.transaction_table
        table.list_transactions(self.transactions.open_numbers())
        survey.transactions = table
        return finish_transactions(survey)


def survey_of_appended(planner: Planner, log: PartitionLog, stable_offset: int) -> Survey | None:
    """Return a survey of *log* from *stable_offset* on, before which no transaction began that is open.

    Headers and markers are read. From the last stable offset on all checksums are verified; the bytes before it are
    verified by the tasks that read them. None: few bytes would be left out, the index is wrong, or something is
    damaged, out of order or missing.
    """
    if not may_use_indexes(planner, log):
        return None
    options = _survey_options(planner)
    try:
        start = OffsetPositions(log, options).first_from(stable_offset)
    except WrongIndexError:
        return None
    if start.is_end and start.first_offset != stable_offset:
        return None  # the log was truncated
    num_whole = sum(file.size_bytes for file in log.logs[start.segment :])
    is_less = (num_whole - start.position) * segment_range.MIN_SAVED_PART <= num_whole
    if not is_less or start.position < segment_range.MIN_SAVED_BYTES:
        return None
    is_committed = planner.options.isolation_level == "read_committed"
    part = _from(log, start)
    companions = TransactionCompanions(part, start.first_offset)
    attempt = AppendedPass(companions, options, reads_markers=is_committed)
    try:
        survey = attempt.run()
    except UntrustedPartError:
        return None
    return survey if _is_certain(survey) and _is_end_sound(attempt, is_committed) else None


def _survey_options(planner: Planner) -> SurveyOptions:
    return SurveyOptions(
        engine=planner.new_engine(), limits=planner.options.limits, open_log=planner.open_log
    )


def _from(log: PartitionLog, start: EntryStart) -> PartitionLog:
    """Return *log* from *start* on, without companion files."""
    first, *others = log.logs[start.segment :]
    first = replace(first, start=start.position, base_offset=start.first_offset)
    return bounded(log, (first, *others), start.first_offset, None)


def _is_certain(survey: Survey) -> bool:
    """Return whether *survey* shows no damage, no offsets out of order, and no gap that may hide a marker."""
    ranges = [unsound for segment in survey.segments for unsound in segment.unsound_ranges]
    has_transactions = any(segment.has_transactions for segment in survey.segments)
    has_gaps = any(finding.code == "offset-gap" for finding in survey.findings)
    is_sound = all(unsound.kind == "tail" for unsound in ranges)
    return is_sound and survey.is_in_order and not (has_gaps and has_transactions)


def _is_end_sound(attempt: AppendedPass, is_committed: bool) -> bool:
    """Return whether the entries from the last stable offset on, or at least the last one, have right checksums.

    A marker that is damaged there may look like data, and hold back the stable offset for ever.
    """
    if attempt.last is None:
        return True
    begin = attempt.last
    opened = attempt.survey.transactions.with_outcome("open") if is_committed else []
    for transaction in opened:
        assert transaction.first_position is not None
        begin = min(begin, transaction.first_position)
    part, options, last = attempt.log, attempt.options, -1
    logs = part.logs
    for number, file in enumerate(logs[begin.segment :], begin.segment):
        with options.open_log(file) as opened_file:
            for piece in VerifiedWalk(
                opened_file,
                engine=options.engine,
                limits=options.limits,
                bounds=segment_bounds(logs, number, part.next_base),
                start=begin.position if number == begin.segment else file.start,
                is_last=number + 1 == len(logs),
            ):
                if isinstance(piece, SoundEntries) and not piece.findings:
                    last = piece.entries[-1].position
                elif not isinstance(piece, UnsoundRange) or piece.kind != "tail":
                    return False
    return last == attempt.last.position


def survey_of_ranges(
    planner: Planner, log: PartitionLog, bounded_ranges: Sequence[tuple[int, int]], split_bytes: int
) -> Survey | None:
    """Return a survey for splits of consecutive *bounded_ranges* of *log*, which reads nothing but a few headers.

    All transactions that begin before the end of the ranges must have ended, with `read_committed`. None: the
    segments are small, or their index is wrong.
    """
    if not may_use_indexes(planner, log):
        return None
    positions = OffsetPositions(log, _survey_options(planner))
    try:
        range_starts = [positions.first_from(first) for first, _ in bounded_ranges]
        range_end = positions.first_after(bounded_ranges[-1][1])
        touched = log.logs[range_starts[0].segment : range_end.segment + 1]
        if sum(file.size_bytes for file in touched) < segment_range.MIN_SAVED_BYTES:
            return None
        segments = _divided(positions, range_starts, range_end, split_bytes)
    except WrongIndexError:
        return None
    # The boundary at the end keeps the entries after it out of the splits of the ranges.
    end = segments[range_end.segment - range_starts[0].segment]
    end.boundaries.append(replace(range_end.boundary(), floor=bounded_ranges[-1][1] - 1))
    num_bytes = sum(
        segment.boundaries[-1].position - segment.boundaries[0].position for segment in segments
    )
    survey = Survey(
        log,
        is_verified=False,
        segments=segments,
        split_bytes_by_index=split_bytes,
        is_of_range=True,
    )
    survey.log_start_offset = log.log_start_offset
    survey.findings.append(unread_finding(log, num_bytes))
    return survey


def _divided(
    positions: OffsetPositions,
    range_starts: Sequence[EntryStart],
    range_end: EntryStart,
    split_bytes: int,
) -> list[SegmentSurvey]:
    """Return the segments from the first of *range_starts* to the one after *range_end*, with boundaries.

    They are at each of *range_starts*, and *split_bytes* apart at most, if the index has enough entries.
    """
    log, logs = positions.log, positions.log.logs
    segments: list[SegmentSurvey] = []
    for number in range(range_starts[0].segment, min(range_end.segment + 2, len(logs))):
        file, bounds = logs[number], segment_bounds(logs, number, log.next_base)
        segment = SegmentSurvey(file, len(segments), bounds, number + 1 == len(logs))
        segments.append(segment)
        boundaries = [start.boundary() for start in range_starts if start.segment == number]
        if number > range_starts[0].segment:
            boundaries.insert(0, Boundary(0, bounds.floor))
        ends = [boundary.position for boundary in boundaries[1:]]
        ends.append(range_end.position if number == range_end.segment else file.size_bytes)
        for boundary, end in zip(boundaries, ends, strict=True):
            segment.boundaries.append(boundary)
            if number <= range_end.segment:
                segment.boundaries += _inside(
                    positions, number, boundary.position, end, split_bytes
                )
    return segments


def _inside(
    positions: OffsetPositions, segment: int, begin: int, end: int, split_bytes: int
) -> Iterator[Boundary]:
    """Yield boundaries between the positions *begin* and *end* of *segment*, *split_bytes* apart or a little more."""
    while end - begin > split_bytes:
        start = positions.at_entry_from(segment, begin + split_bytes)
        if start is None or start.position >= end:
            return
        yield start.boundary()
        begin = start.position
