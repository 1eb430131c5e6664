"""A survey that reads offset indexes and the end of a log, and no header before it.

An offset index has an entry for each 4 KiB of a segment, which is enough to divide it. How the
transactions of a split ended, its task finds by itself (`_markers_ahead`). Only the end of the log
must be known in advance: where it is, and which transactions are open there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte._transactions import Transaction, last_stable_offset
from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import FormatError, MissingError, UnreadableError
from magicbyte.findings import TAILS, Finding
from magicbyte.limits import MIB
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, check_below, read_producer_snapshot
from magicbyte.logdir.indexes import position_of, read_positions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._damage import UnsoundRange, tail_kind
from magicbyte.reading._directory_findings import directory_findings
from magicbyte.reading._log_pass import SurveyOptions, segment_bounds
from magicbyte.reading._survey_passes import unfinished_transactions
from magicbyte.reading._transaction_table import TransactionTable
from magicbyte.reading._transaction_tracker import add_open_in_snapshot
from magicbyte.reading._walk import SoundEntries, VerifiedWalk
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.segment_range import from_offset
from magicbyte.reading.survey import Boundary, SegmentSurvey, Survey
from magicbyte_formats.wire import ProducerSnapshotEntry

PLANNED_BY_INDEX = "planned-by-index"
"""Code of the finding that a log was planned in this way."""

MIN_LOG_BYTES = 4 * MIB
"""Bytes of a log that is planned by index: reading all of a smaller one takes fewer requests."""

MAX_OPEN_TRANSACTIONS = 32
"""Transactions of a snapshot that are looked up in the log; for more, the last segment is surveyed."""

LOOK_UP_BYTES = 256 << 10
"""Bytes from an entry of an offset index on, in which the batch of an offset is."""

SurveyPart = Callable[[PartitionLog], Survey | None]
"""Surveys the last segments of a log; None if the whole log is needed."""


def survey_of_indexed_log(
    log: PartitionLog, options: SurveyOptions, survey_part: SurveyPart
) -> Survey | None:
    """Return a survey of *log* from its offset indexes and its end; None if these do not suffice."""
    assert options.split_bytes is not None
    if not _is_plain(log):
        return None
    segments, logs = [], log.logs
    for number, file in enumerate(logs):
        is_last = number + 1 == len(logs)
        bounds = segment_bounds(logs, number, log.next_base)
        segment = SegmentSurvey(file, number, bounds, is_last)
        segment.boundaries.append(Boundary(0, segment.bounds.floor))
        segments.append(segment)
        index = None
        if is_last or file.size_bytes > options.split_bytes:
            index = SegmentPositions.read(log, segment)
            if index is None or not index.divide(segment, options.split_bytes):
                return None
    end = _end_by_snapshot(log, segments[-1], index, options) or _end_by_survey(log, survey_part)
    if end is None:
        return None
    segments[-1].unsound_ranges, segments[-1].end = end.tail, end.kind
    return _survey(log, segments, end, options.split_bytes)


def _survey(
    log: PartitionLog, segments: list[SegmentSurvey], log_end: "LogEnd", split_bytes: int
) -> Survey:
    """Return the survey of *log* with *segments* and *log_end*."""
    survey = Survey(log, is_verified=False, segments=segments, split_bytes_by_index=split_bytes)
    bases = [file.base_offset for file in log.logs if file.base_offset is not None]
    start = survey.log_start_offset = log.log_start_offset
    survey.log_end_offset = max(bases[-1], log_end.offset, start or 0)
    survey.transactions = log_end.opened
    survey.last_stable_offset = last_stable_offset(
        survey.transactions, log_start=start or 0, log_end=survey.log_end_offset
    )
    survey.findings = [
        *log.findings,
        *log_end.findings,
        *directory_findings(log, bases, log_end.offset, survey.log_end_offset),
        *unfinished_transactions(survey),
        log.finding(
            PLANNED_BY_INDEX,
            "splits begin where the offset indexes say, and batches before the end of the log were "
            "not read in advance",
        ),
    ]
    return survey


def index_boundaries(log: PartitionLog, split_bytes: int) -> dict[str, list[int]]:
    """Return positions, by path of a segment, at which the offset indexes of *log* divide it into splits."""
    boundaries, logs = {}, log.logs
    for number, file in enumerate(logs):
        bounds = segment_bounds(logs, number, log.next_base)
        segment = SegmentSurvey(file, number, bounds, is_last=False)
        segment.boundaries.append(Boundary(0, segment.bounds.floor))
        index = SegmentPositions.read(log, segment) if file.size_bytes > split_bytes else None
        if index is not None:
            index.divide(segment, split_bytes)
        boundaries[file.path] = [boundary.position for boundary in segment.boundaries]
    return boundaries


def _is_plain(log: PartitionLog) -> bool:
    """Return whether *log* is the folder of one replica, as a broker writes it, and is not small."""
    files = log.logs
    bases = [file.base_offset for file in files]
    is_whole = all(
        file.embedded is None and not file.start and file.end_offset is None for file in files
    )
    known = [base for base in bases if base is not None]
    return (
        sum(file.size_bytes for file in files) > MIN_LOG_BYTES
        and is_whole
        and len(known) == len(bases)
        and len(set(known)) == len(known)
        and log.state is None
        and log.next_base is None
        and not (log.is_filled or log.is_named_files or log.replica or log.uploads)
        and not any(finding.severity == "error" for finding in log.findings)
    )


@dataclass(frozen=True, slots=True)
class SegmentPositions:
    """The offset index of a segment: positions of entries, and offsets at or above their first ones."""

    positions: Numbers
    offsets: Numbers

    @classmethod
    def read(cls, log: PartitionLog, segment: SegmentSurvey) -> "SegmentPositions | None":
        """Return the index of *segment*; None if there is none, or if it is not sound."""
        base, ceiling = segment.file.base_offset, segment.bounds.ceiling
        assert base is not None
        table = read_positions(log, segment.file)
        positions = table["ofs_batch"].astype(np.int64)
        offsets = table["relative_offset"].astype(np.int64) + base
        is_increasing = (positions[1:] > positions[:-1]) & (offsets[1:] > offsets[:-1])
        is_inside = ceiling is None or not len(offsets) or int(offsets[-1]) < ceiling
        return cls(positions, offsets) if is_increasing.all() and is_inside else None

    def divide(self, segment: SegmentSurvey, split_bytes: int) -> bool:
        """Add boundaries to *segment*, *split_bytes* apart at most; return False if the index has too few."""
        while True:
            start = segment.boundaries[-1].position
            if segment.file.size_bytes - start <= split_bytes:
                return True
            number = int(np.searchsorted(self.positions, start + split_bytes, "right")) - 1
            if number < 0 or int(self.positions[number]) <= start:
                number += 1  # the next entry makes a split that is too large
            if number == len(self.positions):
                return segment.file.size_bytes - start <= 2 * split_bytes
            if int(self.positions[number]) - start > 2 * split_bytes:
                return False
            segment.boundaries.append(self.boundary(segment, number))

    def boundary(self, segment: SegmentSurvey, number: int) -> Boundary:
        """Return the boundary at entry *number* of the index."""
        if number < 0:
            return segment.boundaries[0]
        before = int(self.offsets[number - 1]) if number else segment.bounds.floor
        return Boundary(int(self.positions[number]), before, latest=int(self.offsets[number]))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnd:
    """The end of a log, and the transactions that are open there."""

    offset: int
    """Offset after the last entry."""
    opened: TransactionTable
    tail: list[UnsoundRange]
    kind: str
    """`clean`, `incomplete` or `zeros`."""
    findings: list[Finding]


def _end_by_snapshot(
    log: PartitionLog,
    last_segment: SegmentSurvey,
    index_of_last: SegmentPositions | None,
    options: SurveyOptions,
) -> LogEnd | None:
    """Return the end of *log* by the producer snapshot there, which a broker writes when it stops.

    *index_of_last* is the offset index of the last segment. None if there is no sound snapshot at the end.
    """
    assert index_of_last is not None and last_segment.file.base_offset is not None
    snapshots = [file for file in log.files if file.live and file.kind == "snapshot"]
    newest = max(snapshots, key=lambda file: file.base_offset or 0, default=None)
    if (
        newest is None
        or newest.base_offset is None
        or newest.base_offset < last_segment.file.base_offset
    ):
        return None
    start = index_of_last.boundary(last_segment, len(index_of_last.positions) - 2)
    tail: list[UnsoundRange] = []
    last_entries: list[Entry] = []
    with options.open_log(last_segment.file) as file:
        file.will_read(start.position, file.size_bytes)
        for piece in VerifiedWalk(
            file,
            engine=options.engine,
            limits=options.limits,
            bounds=Bounds(floor=start.floor, ceiling=None),
            start=start.position,
        ):
            if isinstance(piece, UnsoundRange) and piece.kind == "tail":
                tail.append(piece)
            elif isinstance(piece, SoundEntries) and not piece.findings:
                last_entries += piece.entries
            else:
                return None
    if last_entries and start.latest is not None and last_entries[0].first_offset > start.latest:
        return None
    offset = last_entries[-1].last_offset + 1 if last_entries else last_segment.file.base_offset
    if offset != newest.base_offset:
        return None
    try:
        producers = read_producer_snapshot(newest.read_small(MAX_COMPANION_BYTES))
        check_below(producers, offset)
    except (FormatError, MissingError, UnreadableError):
        return None
    opened = TransactionTable()
    add_open_in_snapshot(opened, producers)
    opened.list_transactions()
    if not _agree(producers, last_entries) or not _are_in_log(opened, log, options):
        return None
    names = log.topic, log.partition, last_segment.file.name, last_segment.file.replica
    return LogEnd(
        offset=offset,
        opened=opened,
        tail=tail,
        kind=tail_kind(tail),
        findings=[finding.at(*names) for each in tail for finding in each.findings],
    )


def _agree(producers: Sequence[ProducerSnapshotEntry], last_entries: Iterable[Entry]) -> bool:
    """Return whether a snapshot with *producers* agrees with *last_entries* of the log."""
    by_id = {producer.producer_id: producer for producer in producers}
    last_of_each = {entry.producer_id: entry for entry in last_entries if entry.producer_id >= 0}
    for producer_id, entry in last_of_each.items():
        is_open = entry.is_transactional and not entry.is_control
        producer = by_id.get(producer_id)
        if producer is None:
            if is_open:
                return False
            continue  # the broker has forgotten an idle producer
        if (
            producer.epoch != entry.producer_epoch
            or is_open != (producer.current_transaction_first_offset >= 0)
            or (not entry.is_control and producer.last_offset != entry.last_offset)
        ):
            return False
    return True


def _are_in_log(opened: TransactionTable, log: PartitionLog, options: SurveyOptions) -> bool:
    """Return whether *log* has data of each transaction in *opened* at its first offset."""
    return len(opened) <= MAX_OPEN_TRANSACTIONS and all(
        _is_in_log(transaction, log, options) for transaction in opened
    )


def _is_in_log(transaction: Transaction, log: PartitionLog, options: SurveyOptions) -> bool:
    first = transaction.first_offset
    if first < (log.log_start_offset or 0):
        return False
    segments = [
        file for file in log.logs if file.base_offset is not None and file.base_offset <= first
    ]
    segment = segments[-1]
    assert segment.base_offset is not None
    position = position_of(read_positions(log, segment), first - segment.base_offset)
    with options.open_log(segment) as file:
        length = min(LOOK_UP_BYTES, file.size_bytes - position)
        file.will_read(position, position + length)
        data = file.read_at(position, length)
    scan = options.engine.scan(
        Chunk(memoryview(data), position), verify=True, limits=options.limits
    )
    for entry in scan.entries:
        if entry.last_offset >= first:
            return (
                entry.first_offset == first
                and entry.producer_id == transaction.producer_id
                and entry.is_transactional
                and not entry.is_control
            )
    return False


def _end_by_survey(log: PartitionLog, survey_part: SurveyPart) -> LogEnd | None:
    """Return the end of *log* by a survey of its last segment; None if that does not suffice."""
    base = log.logs[-1].base_offset
    assert base is not None
    part = from_offset(log, base)  # back to where a snapshot tells which transactions were open
    survey = None if part is log else survey_part(part)
    if survey is None or survey.log_end_offset is None or survey.disputes_start:
        return None
    ranges = [unsound for segment in survey.segments for unsound in segment.unsound_ranges]
    transactions = survey.transactions
    is_uncertain = transactions.uncertain() or transactions.with_outcome("undecided")
    if is_uncertain or not survey.is_in_order or any(each.kind != "tail" for each in ranges):
        return None
    return LogEnd(
        offset=survey.log_end_offset,
        opened=transactions.only_open(),
        tail=survey.segments[-1].unsound_ranges,
        kind=survey.segments[-1].end,
        findings=[finding for finding in survey.findings if finding.code in TAILS],
    )
