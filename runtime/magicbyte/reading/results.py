"""Results of a read: rows that can be iterated more than once, a report, and the passes that give both."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Engine
from magicbyte.errors import MagicbyteError
from magicbyte.findings import Finding, Severity, worst
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._markers_ahead import AheadPlan, PlanDoubtError
from magicbyte.reading._ordered_threads import in_order
from magicbyte.reading._range_check import range_findings
from magicbyte.reading._whole_log_plan import planned_by_survey
from magicbyte.reading.partial_plan import survey_of_wanted, wanted_offsets
from magicbyte.reading.plan_ahead import plan_ahead
from magicbyte.reading.planner import SPLIT_BYTES, Planner
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.split import ChunkResult, Split, SplitReader
from magicbyte.reading.survey import Opener, Survey, open_segment
from magicbyte.tables.json_values import json_values
from magicbyte.tables.schemas import LOST

DICT_BYTES = 1024
"""Estimated memory of a row of `batches` while it waits as a dict."""

Row = dict[str, Any]
Output = TypeVar("Output", pa.RecordBatch, list[Row])


@dataclass(slots=True)
class Report:
    """Totals and findings of a read: every byte and every record has a disposition.

    Attributes:
        records: Records by disposition.
        bytes: Bytes of live segments by disposition, and of their `tail`.
        findings: Findings, in the order of the read.
        aborted_delivered: Delivered records of aborted transactions; 0 with ``"read_committed"``.
    Example:
        >>> rows = mb.open("log-0", topics=["fenced"]).records()
        >>> table = rows.to_table()
        >>> print(rows.report)
        8 aborted, 3 control, 4 delivered
    """

    records: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    aborted_delivered: int = 0

    def add(self, other: "Report") -> None:
        """Add the totals and findings of another read.

        Args:
            other: Its findings go to the end.
        Example:
            >>> report = mb.Report()
            >>> for batch in mb.open("log-0", topics=["fenced"]).records().read_into(report):
            ...     pass
            >>> total = mb.Report()
            >>> total.add(report)
            >>> total.records["delivered"]
            4
        """
        self.records.update(other.records)
        self.bytes.update(other.bytes)
        self.findings.extend(other.findings)
        self.aborted_delivered += other.aborted_delivered

    @property
    def severity(self) -> Severity | None:
        """The gravest severity of the findings; None if there are none."""
        return worst(self.findings)

    def __str__(self) -> str:
        counts = [f"{count} {name}" for name, count in sorted(self.records.items()) if count]
        return ", ".join(counts) or "no records"


@dataclass(slots=True)
class Tally(Report):
    """Bytes and records by disposition, and findings, of a split or of a live segment."""

    sound_bytes: int = 0

    def count(self, piece: ChunkResult) -> None:
        self.findings.extend(piece.findings)
        self.bytes.update(piece.bytes)
        self.records.update(piece.records)
        self.aborted_delivered += piece.aborted_delivered
        for disposition, num_bytes in piece.bytes.items():
            if disposition not in LOST:
                self.sound_bytes += num_bytes


ReadBatches = Callable[[Report], Iterator[pa.RecordBatch]]
"""Yields Arrow batches, and adds totals and findings to a report."""


class Rows:
    """A table that is read while it is iterated. pyarrow, pandas, Polars and DuckDB can read it.

    Each iteration reads the files again.

    Attributes:
        schema: The Arrow schema.
        error: The error that ended the last read by another library, which shows its text only.
            None if there was none.
    Example:
        >>> import pyarrow as pa
        >>> pa.table(mb.open("log-0", topics=["fenced"]).records(["offset"])).num_rows
        4
    """

    def __init__(
        self, schema: pa.Schema, read_batches: ReadBatches, read_all: ReadBatches | None = None
    ) -> None:
        """*read_all* is used where a report is needed only after all rows, as in an iteration."""
        self.schema = schema
        self._read_batches = read_batches
        self._read_all = read_all or read_batches
        self._report: Report | None = None
        self.error: MagicbyteError | None = None

    @property
    def report(self) -> Report:
        """The report of the last complete iteration. RuntimeError if there was none."""
        if self._report is None:
            raise RuntimeError("no report yet: iterate all rows first")
        return self._report

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        report = Report()
        yield from self._read_all(report)
        self._report = report

    def read_into(self, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the rows, and keep a report up to date, also if the iteration ends early.

        Args:
            report: Gets totals and findings while the rows are read.
        Returns:
            Arrow record batches.
        Example:
            >>> report = mb.Report()
            >>> first = next(mb.open("log-0").records().read_into(report))
            >>> report.severity is None
            True
        """
        yield from self._read_batches(report)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def to_table(self) -> pa.Table:
        """Return all rows as an Arrow table in memory."""
        return pa.Table.from_batches(list(self), schema=self.schema)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return all rows as dicts.

        A time is a datetime; if Python's calendar does not have it, milliseconds since the Unix
        epoch.
        """
        return [row for batch in self for row in _dicts(batch)]

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._keeping_error())
        return reader.__arrow_c_stream__(requested_schema)

    def _keeping_error(self) -> Iterator[pa.RecordBatch]:
        self.error = None
        try:
            yield from self
        except MagicbyteError as error:
            # Arrow appends the traceback to the message, and its frames would keep memory alive.
            self.error = error
            error.__traceback__ = None
            raise

    def __repr__(self) -> str:
        return f"Rows({', '.join(self.schema.names)})"


def _dicts(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    columns = [_values(column) for column in batch.columns]
    names = batch.schema.names
    if not names:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
        return values
    except (OverflowError, ValueError):  # a time outside of the years 1 to 9999
        if pa.types.is_nested(column.type):
            return json_values(column)
        return [_value(cell) for cell in column]


def _value(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return cell.value


# The pass over the splits of some partitions


def bytes_outside_splits(survey: Survey) -> dict[str, Counter[str]]:
    """Return the bytes of each live segment, by path, that are in no split.

    They are its tail, everything from the damage at which the read stops, and what a filled log leaves
    out.
    """
    outside: dict[str, Counter[str]] = {}
    for number, file in enumerate(survey.log.logs):
        counts = outside.setdefault(file.path, Counter())
        if number >= len(survey.segments):
            counts["outside_range"] += file.size_bytes - file.start
            continue
        segment = survey.segments[number]
        counts["tail"] += segment.tail_bytes
        if segment.stop_at is not None and segment.stop_end is not None:
            counts[segment.stop_kind] += segment.stop_end - segment.stop_at
            counts["outside_range"] += file.size_bytes - segment.stop_end
    for left_out in survey.log.left_out:
        counts = outside.setdefault(left_out.path, Counter())
        counts[left_out.disposition] += left_out.end - left_out.start
    return outside


def bytes_outside(survey: Survey, num_unread: int) -> Counter[str]:
    """Return the bytes of a partition that are in no split, by disposition: *num_unread* altogether."""
    outside = sum(bytes_outside_splits(survey).values(), Counter[str]())
    outside["outside_range"] += num_unread - outside.total()
    return outside


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPosition:
    """A position in a log, between two entries, before which all entries are delivered."""

    segment: int
    """The number of the segment, counted from 0."""
    position: int
    last_offset: int | None
    """The last offset before it in the segment; None at the beginning of the segment."""

    def rest_of(self, split: Split) -> Split | None:
        """Return *split* from this position on; None if nothing is left."""
        if (split.segment, split.end) <= (self.segment, self.position):
            return None
        if split.segment > self.segment or split.start >= self.position:
            return split
        bounds = split.bounds
        if split.is_verified and self.position in [one.start for one in split.unsound_ranges]:
            bounds = replace(
                bounds, floor=self.last_offset
            )  # as in a read from the split's start on
        return replace(split, start=self.position, first=None, bounds=bounds)


def read_splits(
    planner: Planner,
    logs: Sequence[PartitionLog],
    read_split: Callable[[Split, Engine, Tally], Iterator[Output]],
    report: Report,
    *,
    quick: bool = False,
    views: bool = False,
    only_wanted: bool = False,
    read_from: ReadPosition | None = None,
) -> Iterator[Output]:
    """Yield the outputs of *read_split* for each split of *logs*, in order, on any thread.

    Args:
        read_split: Gets a split, an engine of the thread's own, and a tally, which is added to
            *report* when the split is done.
        quick: Survey headers only, in the caller's thread.
        views: Have the engines return binary views.
        only_wanted: Survey and read only the segments that the wanted offsets need.
        read_from: Position in the only log from which it is read, and before which no bytes are counted.
    """
    work = _splits_and_tallies(
        planner, logs, quick=quick, only_wanted=only_wanted, read_from=read_from
    )
    if quick or planner.options.threads == 1:
        engine = planner.new_engine(views=views)
        for unit in work:
            tally = unit if isinstance(unit, Tally) else Tally()
            if isinstance(unit, Split):
                yield from read_split(unit, engine, tally)
            report.add(tally)
        return

    def items_of(unit: Split | Tally, engine: Engine) -> Generator[Output | Tally, None, None]:
        tally = unit if isinstance(unit, Tally) else Tally()
        if isinstance(unit, Split):
            yield from read_split(unit, engine, tally)
        yield tally

    items: Generator[Output | Tally, None, None] = in_order(
        (partial(items_of, unit) for unit in work),
        threads=planner.options.threads,
        make_tool=partial(planner.new_engine, views=views),
        size_of=_num_bytes,
    )
    with closing(items):
        for item in items:
            if isinstance(item, Tally):
                report.add(item)
            else:
                yield item
            del item  # frees the memory before the next item is made


def _splits_and_tallies(
    planner: Planner,
    logs: Sequence[PartitionLog],
    *,
    quick: bool,
    only_wanted: bool,
    read_from: ReadPosition | None,
) -> Iterator[Split | Tally]:
    """Yield the splits of *logs*, and tallies of survey findings and of bytes outside all splits."""
    has_range = (planner.options.offsets, planner.options.times) != (NO_RANGE, NO_RANGE)
    in_turn: Iterable[PartitionLog] = logs
    if logs and logs[0].files and logs[0].files[0].store is not None:
        in_turn = map(PartitionLog.unpacked, logs)
        if len(logs) > 1 and not has_range:
            survey_ahead = partial(planner.survey, quick=quick, for_records=not quick)
            in_turn = (log for log, _ in plan_ahead(logs, survey_ahead))  # surveys are cached
    for log in in_turn:
        if only_wanted and has_range:
            survey, offsets = survey_of_wanted(planner, log)
        else:
            survey = planner.survey(log, quick=quick, for_records=not quick)
            offsets = planner.options.offsets
            if has_range:
                offsets = wanted_offsets(planner, log)
        yield Tally(findings=[*survey.findings, *planner.index_findings])
        planner.index_findings.clear()
        if has_range:
            yield Tally(findings=range_findings(survey, log, offsets, planner.options))
        num_unread = 0
        for file in log.logs:
            num_unread += file.size_bytes - file.start
        for left_out in log.left_out:
            num_unread += left_out.end - left_out.start
        # A range is divided into small pieces, which are joined up to the size of a usual split.
        joined_bytes = SPLIT_BYTES if only_wanted and has_range else 0
        for split in planner.splits(
            survey, offsets, only_wanted=only_wanted, joined_bytes=joined_bytes
        ):
            num_unread -= split.end - split.start
            rest = split if read_from is None else read_from.rest_of(split)
            if rest is not None:
                yield rest
        yield Tally(bytes=bytes_outside(survey, num_unread))


def _num_bytes(item: pa.RecordBatch | list[Row] | Tally) -> int:
    """Return the size of *item* in memory, in bytes; 0 for a tally."""
    if isinstance(item, list):
        return len(item) * DICT_BYTES
    return 0 if isinstance(item, Tally) else int(item.nbytes)


def examine(
    split: Split,
    columns: tuple[str, ...] | None,
    *,
    chosen: Engine | None = None,
    open_log: Opener = open_segment,
    ordered: bool = True,
) -> Iterator[ChunkResult]:
    """Yield the entries of *split* in order, with *columns* of their records.

    *columns* are names of the table `records`; None: decode the records, but return no rows.
    *chosen* is the engine, by default a new one. Unless *ordered*, damaged entries may come before sound
    ones, which is faster where there are many. Raises FormatError or LimitError at the first
    damage if the options say `fail`.
    """
    with open_log(split.file) as log:
        if log.descriptor is None:
            log.will_read(split.start, split.end)
        reader = SplitReader(split, chosen or engine(split.options.engine), log, columns)
        reader.walk.are_runs_joined = not ordered and split.options.on_damage == "skip"
        if split.ahead is None:
            yield from reader.results()
            return
        try:
            yield from reader.results_ahead(split.ahead, open_log)
            return
        except PlanDoubtError as error:
            doubt = error
    yield ChunkResult(findings=[_doubted(split, split.ahead, doubt)])
    for planned in planned_by_survey(split, split.ahead, doubt.position, open_log):
        yield from examine(planned, columns, chosen=chosen, open_log=open_log, ordered=ordered)


def _doubted(split: Split, ahead: AheadPlan, doubt: PlanDoubtError) -> Finding:
    read = "all bytes of the range" if ahead.is_of_range else "all headers of the partition"
    return Finding(
        code="index-doubted",
        message=f"{doubt}; {read} were read",
        topic=split.topic,
        partition=split.partition,
        file=split.file.name,
        replica=split.file.replica,
        position=doubt.position,
    )


def examine_counted(
    planner: Planner,
    split: Split,
    columns: tuple[str, ...] | None,
    engine: Engine,
    tally: Tally,
    *,
    ordered: bool = True,
) -> Iterator[ChunkResult]:
    """Yield the pieces of *split*, and count them in *tally*. See `examine` for *ordered*."""
    for piece in examine(split, columns, chosen=engine, open_log=planner.open_log, ordered=ordered):
        tally.count(piece)
        yield piece
        del piece  # frees the memory before the next piece is made
