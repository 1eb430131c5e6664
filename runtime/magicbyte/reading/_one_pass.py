"""Reads a log in one pass: its records are delivered while the log is surveyed, while its entries are plain.

A log is plain up to the first transaction, damage, gap or offset out of order. No later entry changes
what becomes of a plain record: no transaction began before it, and the log start offset and the ends of
segments are known from file names and checkpoints. From the end of the plain entries on, the log is read
like any other: it is surveyed as a whole, and divided into splits.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa

from magicbyte._transactions import PlannedOutcomes
from magicbyte.engines.protocol import Engine, Entries
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._log_pass import HeadersSufficePass, SurveyOptions
from magicbyte.reading._walk import SoundEntries, VerifiedWalk, Walk
from magicbyte.reading.planner import Planner, do_headers_suffice
from magicbyte.reading.read_options import NO_RANGE, ReadOptions
from magicbyte.reading.results import (
    ReadPosition,
    Report,
    Rows,
    Tally,
    bytes_outside,
    examine_counted,
    read_splits,
)
from magicbyte.reading.split import ChunkResult, EntryResults, Split, select_rows
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.storage import File
from magicbyte.tables import schemas
from magicbyte.tables.binary_views import with_binary_views
from magicbyte_formats.wire import EntryHeader, RecordBatchHeader

SelectRows = Callable[[ChunkResult], Iterator[pa.RecordBatch]]
"""Yields the wanted rows of a result."""


ReadTable = Callable[[Report], Iterator[Any]]
"""Yields the rows of a table, or Arrow batches of them, and fills in the report."""


def after_findings(findings: Sequence[Finding], read: ReadTable) -> ReadTable:
    """Return *read*, changed so that it first reports *findings*."""

    def read_all(report: Report) -> Iterator[Any]:
        report.findings.extend(findings)
        yield from read(report)

    return read_all


class PlainPass(HeadersSufficePass):
    """A pass that decodes verified entries, up to the first one that is not plain.

    Its survey has the findings and offsets that a pass over headers finds, if all entries are plain.
    """

    def __init__(
        self,
        companions: TransactionCompanions,
        options: SurveyOptions,
        read_options: ReadOptions,
        columns: tuple[str, ...],
    ) -> None:
        super().__init__(companions, options)
        self._read_options, self._columns = read_options, columns
        self._wire_columns: tuple[str, ...] = ()
        self.end = ReadPosition(segment=0, position=0, last_offset=None)
        """The position after the last plain entry."""

    def results(self) -> Iterator[ChunkResult]:
        """Yield the results of the plain entries."""
        for number, file in enumerate(self.logs):
            segment = self.add_segment(number)
            self.end = ReadPosition(segment=number, position=file.start, last_offset=None)
            yield from self._results_of(segment)
            if self.end.position < file.size_bytes:
                return
        self.end_segments()

    def _results_of(self, segment: SegmentSurvey) -> Iterator[ChunkResult]:
        entry_results = EntryResults(self._split(segment), self.options.engine, self._columns)
        self._wire_columns = entry_results.wire_columns
        with closing(self.pieces(segment)) as pieces:
            for piece in pieces:
                if not isinstance(piece, SoundEntries) or not self._is_plain(segment, piece):
                    return
                yield from entry_results.of_piece(piece)
                assert piece.decoded is not None
                self.end = ReadPosition(
                    segment=segment.number,
                    position=piece.chunk.position + piece.decoded.end,
                    last_offset=int(piece.entry_offsets().lasts[-1]),
                )
                del piece  # frees the rows and bytes before more are read

    def new_walk(self, segment: SegmentSurvey, file: File) -> Walk:
        return VerifiedWalk(
            file,
            engine=self.options.engine,
            limits=self.options.limits,
            bounds=segment.bounds,
            start=segment.file.start,
            is_last=segment.is_last,
            columns=self._wire_columns,
            ends_before=_begin_with_transaction,
        )

    def _is_plain(self, segment: SegmentSurvey, piece: SoundEntries) -> bool:
        """Add *piece* to the survey; return whether its entries are plain, and their records sound."""
        assert piece.decoded is not None
        if not all(result.is_sound for result in piece.decoded.results.values()):
            return False
        is_usual = not piece.findings and not _has_transactions(piece.entries)
        if is_usual and self.offsets.add_consecutive(piece.entry_offsets()):
            # Nothing else is asked of a survey whose log is not divided into splits.
            segment.sound_bytes += piece.decoded.end
            return True
        num_findings = len(self.survey.findings)
        self.add_piece(segment, piece)
        return not segment.has_transactions and len(self.survey.findings) == num_findings

    def _split(self, segment: SegmentSurvey) -> Split:
        """Return the split that is all of *segment*."""
        file, log = segment.file, self.log
        return Split(
            topic=log.topic,
            partition=log.partition,
            file=file,
            segment=segment.number,
            start=file.start,
            end=file.size_bytes,
            bounds=segment.bounds,
            first=None,
            unsound_ranges=(),
            is_verified=False,
            has_transactions=False,
            planned_outcomes=PlannedOutcomes(),
            log_start_offset=log.log_start_offset,
            last_stable_offset=None,
            options=self._read_options,
        )

    @property
    def is_log_plain(self) -> bool:
        """True if all entries of the log are plain, once all results were asked for."""
        logs = self.logs
        is_all = len(self.survey.segments) == len(logs) and all(
            self.end.position == file.size_bytes for file in logs[-1:]
        )
        return is_all and do_headers_suffice(self)


def _begin_with_transaction(data: memoryview) -> bool:
    """Return whether *data* begin with a transactional or control batch."""
    if len(data) < RecordBatchHeader.SIZE or data[EntryHeader.POSITIONS["magic"]] != 2:
        return False
    header = RecordBatchHeader.unpack_from(data)
    return bool(header.is_transactional or header.is_control)


def _has_transactions(entries: Entries) -> bool:
    if entries.are_messages:
        return False
    is_marked = entries.column("is_transactional") | entries.column("is_control")
    return bool(is_marked.any())


def read_records(
    planner: Planner,
    logs: Sequence[PartitionLog],
    columns: tuple[str, ...],
    select: SelectRows,
    report: Report,
    *,
    views: bool,
    only_wanted: bool,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that *select* selects of *logs*, each read in one pass where that is possible.

    The report is complete after all rows. See `read_splits` for *views* and *only_wanted*.
    """
    read_ordinary = partial(
        read_splits,
        planner,
        read_split=split_reader(planner, columns, select),
        views=views,
        only_wanted=only_wanted,
    )
    if not _allow_one_pass(planner) or any(_is_assembled(log) for log in logs):
        yield from read_ordinary(logs=logs, report=report)
        return
    options = SurveyOptions(
        engine=planner.new_engine(views=views),
        limits=planner.options.limits,
        open_log=planner.open_log,
    )
    for log in logs:
        companions = planner.companions(log)
        survey = planner.known_survey(log)
        if companions.begins_in_transaction or (survey is not None and survey.is_verified):
            yield from read_ordinary(logs=[log], report=report)
            continue
        plain = PlainPass(companions, options, planner.options, columns)
        yield from _read_plain_log(planner, plain, select, report, read_ordinary)


def _read_plain_log(
    planner: Planner,
    plain: PlainPass,
    select: SelectRows,
    report: Report,
    read_ordinary: Callable[..., Iterator[pa.RecordBatch]],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the log of *plain*; read the rest of it by *read_ordinary*."""
    tally = Tally()
    for piece in plain.results():
        tally.count(piece)
        yield from select(piece)
        del piece  # frees the memory before the next piece is made
    rest = Report()
    if plain.is_log_plain:
        survey = plain.finish()
        rest.findings += survey.findings
        rest.bytes = bytes_outside(survey, 0)
    else:
        survey = planner.survey(plain.log, for_records=True)
        yield from read_ordinary(logs=[plain.log], report=rest, read_from=plain.end)
    num_findings = len(survey.findings)
    rest.findings[num_findings:num_findings] = tally.findings  # in the order of the log
    tally.findings = []
    report.add(tally)
    report.add(rest)


def split_reader(
    planner: Planner, columns: tuple[str, ...], select: SelectRows
) -> Callable[[Split, Engine, Tally], Iterator[pa.RecordBatch]]:
    """Return a function, as `read_splits` calls it, that yields the rows which *select* selects of a split."""

    def read_split(split: Split, engine: Engine, tally: Tally) -> Iterator[pa.RecordBatch]:
        for piece in examine_counted(planner, split, columns, engine, tally, ordered=False):
            yield from select(piece)
            del piece  # frees the memory before the next piece is made

    return read_split


def _allow_one_pass(planner: Planner) -> bool:
    """Return whether the options ask for whole logs, by the markers in them, in one thread."""
    options = planner.options
    return (
        options.threads == 1
        and options.on_damage != "stop"
        and options.transactions != "index"
        and (options.offsets, options.times) == (NO_RANGE, NO_RANGE)
        and planner.aborted_list is None
    )


def _is_assembled(log: PartitionLog) -> bool:
    """Return whether *log* is more, or less, than the segments in one local folder."""
    return (
        bool(log.measured_replicas or log.left_out)
        or log.is_filled
        or log.next_base is not None
        or log.state is not None
        or any(
            file.store is not None or file.embedded is not None or file.start or file.is_remote
            for file in log.logs
        )
    )


def record_rows(
    planner: Planner,
    logs: Sequence[PartitionLog],
    names: tuple[str, ...],
    dispositions: tuple[str, ...],
    *,
    unreadable: Sequence[Finding] = (),
    views: bool = False,
) -> Rows:
    """Return the columns *names* of the records of *logs* with *dispositions*; reports begin with *unreadable*.

    Raises InputError for a disposition that does not exist.
    """
    check_dispositions(dispositions)
    only_wanted = "outside_range" not in dispositions
    select = partial(select_rows, dispositions=dispositions)
    of_split = split_reader(planner, names, select)
    read: ReadTable = partial(
        read_splits, planner, logs, of_split, views=views, only_wanted=only_wanted
    )
    read_all: ReadTable = partial(
        read_records, planner, logs, names, select, views=views, only_wanted=only_wanted
    )
    if unreadable:
        read, read_all = after_findings(unreadable, read), after_findings(unreadable, read_all)
    schema = schemas.RECORDS.schema(names) if names else pa.schema([])
    return Rows(with_binary_views(schema) if views else schema, read, read_all)


def check_dispositions(names: Sequence[str]) -> None:
    """Raise InputError for a name that is no disposition."""
    for name in names:
        if name not in schemas.DISPOSITIONS:
            raise InputError(f"disposition {name!r}", f"some of {', '.join(schemas.DISPOSITIONS)}")
