"""A dataset: some partitions, how they are to be read, and the tables they give."""

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow as pa

from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import BatchHeaders, Engine, Entries
from magicbyte.errors import InputError
from magicbyte.limits import MIB, Limits
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.discover import PartitionLog, check_one_log_each
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.logdir.log_file import LogFile
from magicbyte.logdir.log_selection import find_logs
from magicbyte.reading.checks import all_checks
from magicbyte.reading.disposition_tally import Tally, bytes_of_no_split
from magicbyte.reading.dispositions import Judged
from magicbyte.reading.lost_times import PLACES, lost_times_of_piece, lost_times_of_rows
from magicbyte.reading.ordered_threads import Item, Task, in_order
from magicbyte.reading.partial_plan import offset_at as offset_in_log
from magicbyte.reading.partial_plan import part_for
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.split import Piece, Split, chosen_rows, examine, quick_entries, quick_pieces
from magicbyte.reading.survey import Boundary, Opener, SegmentSurvey, Survey, open_segment, survey
from magicbyte.reading.table_rows import (
    batch_rows,
    partition_row,
    problem_rows,
    record_batch,
    segment_row,
    transaction_rows,
)
from magicbyte.reading.times import Time, milliseconds, offset_at
from magicbyte.storage import MemoryFile, Storage, StorageOptions
from magicbyte.tables import schemas
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.stored_types import stored_schema, to_stored_batch
from magicbyte.transactions import Fates, cut_off

ISOLATION_LEVELS = ("read_committed", "read_uncommitted")
ON_DAMAGE = ("fail", "skip", "stop")
TRANSACTIONS = ("markers", "index")

SPLIT_BYTES = 4 * MIB
"""Bytes of a segment that are read as one task, if not told otherwise."""

BEHIND_ALL = (1 << 63) - 1
"""An offset that no record has."""

ROW_BYTES = 1024
"""What a row of `batches` is taken to hold while it waits as a dict."""

Row = dict[str, Any]
OffsetRange = tuple[int | None, int | None]
"""Offsets, half-open; None is no bound."""
T = TypeVar("T", pa.RecordBatch, list[Row])


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the partitions of a dataset are read."""

    isolation_level: str = "read_committed"
    on_damage: str = "fail"
    transactions: str = "markers"
    """What says how they ended."""
    offsets: OffsetRange = (None, None)
    times: tuple[int | None, int | None] = (None, None)
    """Milliseconds since the Unix epoch, half-open."""
    engine: str = "auto"
    threads: int = 1
    """How many read records and batches."""
    split_bytes: int = SPLIT_BYTES
    """What one of them reads at a time. It does not hang on their number, so nothing else does."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, allowed in (
            ("isolation_level", ISOLATION_LEVELS),
            ("on_damage", ON_DAMAGE),
            ("transactions", TRANSACTIONS),
        ):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} {getattr(self, name)!r}", " or ".join(allowed))
        for name in ("offsets", "times"):
            low, high = getattr(self, name)
            if low is not None and high is not None and low > high:
                raise InputError(f"{name} from {low} to {high}", "the lower bound first")
        if self.threads < 1:
            raise InputError(f"threads {self.threads}", "at least 1")
        if self.transactions == "index" and self.on_damage == "stop":
            raise InputError(
                "transactions 'index' with on_damage 'stop'", "markers: indexes know of no such end"
            )
        engine(self.engine)


class Dataset:
    """The partitions that some paths name. Made by `magicbyte.open` and `magicbyte.from_bytes`."""

    def __init__(
        self,
        logs: Sequence[PartitionLog],
        log_dirs: Sequence[LogDir],
        options: Options,
        *,
        num_internal: int = 0,
        all_logs: Sequence[PartitionLog] | None = None,
        open_log: Opener = open_segment,
        aborted_list: tuple[tuple[int, int], ...] | None = None,
    ) -> None:
        self.logs = tuple(logs)
        """The partitions whose records are read, by topic and number."""
        self.all_logs = tuple(logs if all_logs is None else all_logs)
        """Those, and the internal and half-deleted ones that `segments` and `partitions` show."""
        self.log_dirs = tuple(log_dirs)
        self.options = options
        self.num_internal = num_internal
        """Internal topics' partitions that were left out because nobody named them."""
        self._open_log = open_log
        self._aborted_list = aborted_list
        self._surveys: dict[tuple[str, int, bool, bool, bool], Survey] = {}
        self._heads: dict[str, Sequence[BatchHeaders]] = {}
        """By the path of a segment, headers that a quick plan has read."""

    def _new_engine(self, *, views: bool = False) -> Engine:
        """Return an engine for one thread."""
        return engine(self.options.engine, views=views)

    def only(self, is_wanted: Callable[[PartitionLog], bool]) -> "Dataset":
        """Return a dataset of those partitions that *is_wanted* says."""
        return self.of(list(filter(is_wanted, self.logs)), list(filter(is_wanted, self.all_logs)))

    def of(
        self, logs: Sequence[PartitionLog], all_logs: Sequence[PartitionLog] | None = None
    ) -> "Dataset":
        """Return a dataset of *logs* that is read as this one is."""
        return Dataset(
            logs,
            self.log_dirs,
            self.options,
            num_internal=self.num_internal,
            all_logs=all_logs,
            open_log=self._open_log,
            aborted_list=self._aborted_list,
        )

    def between(self, first: int | None, end: int | None) -> "Dataset":
        """Return a dataset of the same logs of which the offsets in [*first*, *end*) are wanted."""
        wanted = self.of(self.logs, self.all_logs)
        wanted.options = replace(self.options, offsets=(first, end), times=(None, None))
        return wanted

    def __repr__(self) -> str:
        return f"<Dataset of {len(self.logs)} partitions, {self.options.isolation_level}>"

    # Tables

    def records(
        self,
        columns: Sequence[str] | None = None,
        *,
        dispositions: Sequence[str] = ("delivered",),
        binary_view: bool = False,
    ) -> Rows:
        """Return the records, by default those that a consumer would have got, eight columns.

        Rows come by topic, partition and offset. With *binary_view* keys and values are of that
        type: those of uncompressed batches are not copied, and a row keeps the bytes that were
        read with it, some MiB. Raises InputError for a column or a disposition that does not
        exist; iterating raises as `on_damage` says.
        """
        wanted = schemas.RECORDS.check(
            tuple(schemas.RECORDS.default if columns is None else columns)
        )
        for name in dispositions:
            if name not in schemas.DISPOSITIONS:
                raise InputError(
                    f"disposition {name!r}", f"some of {', '.join(schemas.DISPOSITIONS)}"
                )

        def of_split(split: Split, own: Engine, tally: Tally) -> Iterator[pa.RecordBatch]:
            for piece in self._examine(split, wanted, own, tally):
                yield from chosen_rows(piece, tuple(dispositions))
                del piece  # rows go before more are made: they come into the same memory

        only_wanted = "outside_range" not in dispositions

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            return self._pass(of_split, report, views=binary_view, only_wanted=only_wanted)

        schema = schemas.RECORDS.schema(wanted) if wanted else pa.schema([])
        return Rows(with_binary_views(schema) if binary_view else schema, read)

    def batches(self, columns: Sequence[str] | None = None, *, quick: bool = False) -> Rows:
        """Return every entry of the live files, whatever its disposition.

        *quick* reads headers alone: what only the payload tells is null.
        """

        def of_split(split: Split, own: Engine, tally: Tally) -> Iterator[list[Row]]:
            if quick:
                known = self._heads.get(split.file.path, ())
                pieces = quick_pieces(split, chosen=own, known=known, open_log=self._open_log)
            else:
                pieces = self._examine(split, None, own, tally)
            for piece in pieces:
                yield list(batch_rows(split, piece, quick=quick))

        def read(report: Report) -> Iterator[Row]:
            for rows in self._pass(of_split, report, quick=quick):
                yield from rows

        return _rows(schemas.BATCHES, columns, read)

    def segments(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the files of the partitions, with what became of each live log's bytes."""

        def read(report: Report) -> Iterator[Row]:
            for log in self.all_logs:
                found, tallies = self.tallied(log, report)
                for file in log.files:
                    yield segment_row(log, file, found, tallies.get(file.path))

        return _rows(schemas.SEGMENTS, columns, read)

    def transactions(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the transactions of the partitions, by first offset."""

        def read(report: Report) -> Iterator[Row]:
            for log in self.logs:
                found = self._survey(log, by_markers=True)
                report.findings.extend(found.findings)
                yield from transaction_rows(found)

        return _rows(schemas.TRANSACTIONS, columns, read)

    def partitions(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the partitions with their offsets and the fate of their records."""
        counts = columns is None or any(name.startswith("records_") for name in columns)

        def read(report: Report) -> Iterator[Row]:
            for log in self.all_logs:
                if log.state is not None:
                    continue
                if counts:
                    found, tallies = self.tallied(log, report)
                    records = sum((tally.records for tally in tallies.values()), Counter())
                else:
                    found, records = self._survey(log), None
                    report.findings.extend(found.findings)
                yield partition_row(found, records)

        return _rows(schemas.PARTITIONS, columns, read)

    def problems(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the findings of a whole read, by partition, file and position."""

        def read(report: Report) -> Iterator[Row]:
            for log_dir in self.log_dirs:
                report.findings.extend(log_dir.findings)
            yield from problem_rows(report.findings)
            for log in self.logs:
                own = Report()
                self.tallied(log, own)
                report.findings.extend(own.findings)
                yield from problem_rows(own.findings)

        return _rows(schemas.PROBLEMS, columns, read)

    def stored(self, table: str, columns: Sequence[str] | None = None) -> Rows:
        """Return the rows of *table* as files of them are written: times are microseconds.

        By default with all columns; of records those that are delivered. A time that 64-bit
        microseconds do not hold is null, with a finding.
        """
        chosen = schemas.table_named(table)
        wanted = chosen.check(tuple(chosen.names if columns is None else columns))
        schema = stored_schema(chosen, wanted)
        if chosen is schemas.RECORDS:
            return Rows(schema, self._stored_records(wanted))
        has_times = any(pa.types.is_timestamp(field.type) for field in schema)
        places = [name for name in PLACES if has_times and name in chosen.names]
        rows = getattr(self, table)(tuple(dict.fromkeys([*wanted, *places])))

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            for batch in rows.read_into(report):
                report.findings.extend(lost_times_of_rows(batch))
                yield to_stored_batch(batch.select(wanted))

        return Rows(schema, read)

    def _stored_records(
        self, wanted: tuple[str, ...]
    ) -> Callable[[Report], Iterator[pa.RecordBatch]]:
        has_times = "timestamp" in wanted
        read = tuple(dict.fromkeys([*wanted, "position"])) if has_times else wanted

        def of_split(split: Split, own: Engine, tally: Tally) -> Iterator[pa.RecordBatch]:
            for piece in self._examine(split, read, own, tally):
                if has_times:
                    tally.findings.extend(lost_times_of_piece(split, piece))
                for rows in chosen_rows(piece, ("delivered",)):
                    yield to_stored_batch(rows.select(wanted))
                    del rows
                del piece

        return lambda report: self._pass(of_split, report, only_wanted=True)

    # Plans

    def plan(
        self,
        max_partition_bytes: int | None = None,
        *,
        ranges: Callable[[Survey], Iterable[OffsetRange]] | None = None,
    ) -> list[Split]:
        """Return the splits that together give the records, in order of rows.

        A split spans at least one entry and, where it can, at most *max_partition_bytes* of a
        segment; None: a split per segment. By default the splits cover all bytes, and say which
        offsets are wanted; *ranges* gives those of a partition, each range has splits of its own,
        and none that is all outside. Findings of the plan are in `surveys`.
        """
        if max_partition_bytes is not None and max_partition_bytes < 1:
            raise InputError(f"max_partition_bytes {max_partition_bytes}", "at least 1")
        is_by_segment = max_partition_bytes is None
        splits: list[Split] = []
        for found in self.surveys(max_partition_bytes):
            if ranges is None:
                offsets = self._offsets(partial(self.offset_at, found))
                splits += self._splits(found, offsets, by_segment=is_by_segment)
                continue
            for offsets in ranges(found):
                splits += self._splits(found, offsets, by_segment=is_by_segment, only_wanted=True)
        return splits

    def offset_at(self, found: Survey, time: int) -> int | None:
        """Return the first offset of a partition whose record is of *time* or later, as Kafka does.

        *time* is in milliseconds since the Unix epoch. None: there is no such record.
        """
        return offset_at(
            found,
            time,
            engine=self._new_engine(),
            limits=self.options.limits,
            open_log=self._open_log,
        )

    def surveys(self, max_partition_bytes: int | None = None) -> list[Survey]:
        """Return what the plan knows of each partition that is read."""
        return [self._survey(log, max_partition_bytes) for log in self.logs]

    def quick_survey(self, log: PartitionLog) -> Survey:
        """Return what a pass over the headers of *log* alone settles."""
        return self._survey(log, quick=True)

    def headers(self, found: Survey) -> Iterator[tuple[LogFile, Entries]]:
        """Yield the entries of the log that was *found*, by their headers alone, and their segments."""
        own = self._new_engine()
        for split in self._splits(found, (None, None)):
            known = self._heads.get(split.file.path, ())
            for entries in quick_entries(split, chosen=own, known=known, open_log=self._open_log):
                yield split.file, entries

    def keep_survey(self, log: PartitionLog, found: Survey, max_partition_bytes: int) -> None:
        """Keep what `surveys` has *found* of *log* elsewhere, in a dataset of the same options."""
        self._surveys[self._survey_key(log, max_partition_bytes)] = replace(found, log=log)

    def _survey_key(
        self,
        log: PartitionLog,
        split_bytes: int,
        *,
        verify: bool = False,
        quick: bool = False,
        by_markers: bool = False,
    ) -> tuple[str, int, bool, bool, bool]:
        by_index = self.options.transactions == "index" and not by_markers
        return log.place, split_bytes, verify, quick, by_index

    def _survey(
        self,
        log: PartitionLog,
        split_bytes: int | None = None,
        *,
        verify: bool = False,
        quick: bool = False,
        by_markers: bool = False,
    ) -> Survey:
        """Return what a pass over *log* settles, with *split_bytes*, or those of the options.

        What has been settled once counts: files that have changed since are found out.
        """
        split_bytes = split_bytes or self.options.split_bytes
        key = self._survey_key(log, split_bytes, verify=verify, quick=quick, by_markers=by_markers)
        *_, by_index = key
        if key not in self._surveys:
            self._surveys[key] = survey(
                log,
                engine=self._new_engine(),
                limits=self.options.limits,
                split_bytes=split_bytes,
                stop_at_damage=self.options.on_damage == "stop",
                verify=verify,
                quick=quick,
                by_index=by_index,
                open_log=self._open_log,
            )
            self._heads |= {one.file.path: one.heads for one in self._surveys[key].segments}
        return self._surveys[key]

    def _splits(
        self,
        found: Survey,
        offsets: OffsetRange,
        *,
        by_segment: bool = False,
        only_wanted: bool = False,
    ) -> Iterator[Split]:
        """Yield the splits of a partition; if *only_wanted*, those that may hold wanted *offsets*."""
        only_wanted = only_wanted and found.is_in_order
        exceptions = cut_off(found.transactions)
        for number, segment in enumerate(found.segments):
            following = found.segments[number + 1] if number + 1 < len(found.segments) else None
            after = following.boundaries[0] if following else None
            inside = segment.boundaries[:1] if by_segment else segment.boundaries
            boundaries: list[Boundary | None] = [*inside, after]
            end = _end_of_data(segment)
            begins = [stretch.start for stretch in segment.stretches]
            for here, there in pairwise(boundaries):
                assert here is not None
                stop = end if there is after or there is None else there.position
                if here.position >= stop or (only_wanted and _is_outside(here, there, offsets)):
                    continue
                yield Split(
                    topic=found.log.topic,
                    partition=found.log.partition,
                    file=segment.file,
                    segment=number,
                    start=here.position,
                    end=stop,
                    bounds=replace(segment.bounds, floor=here.floor),
                    first=here.first,
                    # A tail lies behind all splits.
                    stretches=tuple(
                        segment.stretches[
                            bisect_left(begins, here.position) : bisect_left(begins, stop)
                        ]
                    ),
                    is_verified=found.is_verified,
                    has_transactions=segment.has_transactions and found.settles_transactions,
                    fates=Fates()
                    if found.aborted is not None
                    else Fates(found.outcomes_at(there), exceptions),
                    listed=found.listed_at(segment, there),
                    log_start_offset=found.log_start_offset,
                    # Where nothing is open, no record waits for its outcome, wherever it lies.
                    last_stable_offset=(
                        found.last_stable_offset
                        if self._aborted_list is None
                        and found.last_stable_offset != found.log_end_offset
                        else None
                    ),
                    offsets=offsets,
                    isolation_level=self.options.isolation_level,
                    on_damage=self.options.on_damage,
                    engine=self.options.engine,
                    limits=self.options.limits,
                    aborted_list=self._aborted_list,
                )

    def _offsets(self, offset_at: Callable[[int], int | None]) -> OffsetRange:
        """Return the wanted offsets of a partition; a range of times is one of offsets."""
        low, high = self.options.offsets

        begin, end = self.options.times
        if begin is not None:
            first = offset_at(begin)
            if first is None:
                first = BEHIND_ALL
            low = first if low is None else max(low, first)
        if end is not None:
            last = offset_at(end)
            if last is not None:
                high = last if high is None else min(high, last)
        return low, high

    def offsets_of(self, log: PartitionLog) -> OffsetRange:
        """Return the wanted offsets of *log*; to look a time up, it reads as little as it can."""
        return self._offsets(partial(offset_in_log, self, log))

    def _whole(self, log: PartitionLog, *, quick: bool = False) -> tuple[Survey, OffsetRange]:
        """Return what a pass over *log* settles, and the offsets that are wanted of it."""
        found = self._survey(log, quick=quick)
        return found, self._offsets(partial(self.offset_at, found))

    def _wanted_part(self, log: PartitionLog) -> tuple[Survey, OffsetRange]:
        """Return what a pass over the segments settles that hold the wanted offsets, and these.

        Of the rest nothing is read, unless damage in it is to end the log.
        """
        if self.options.on_damage == "stop":
            return self._whole(log)
        offsets = self.offsets_of(log)
        if offsets == (None, None):
            return self._whole(log)
        (found,) = part_for(self, log, offsets).surveys()
        return found, offsets

    # Passes

    def _pass(
        self,
        of_split: Callable[[Split, Engine, Tally], Iterator[T]],
        report: Report,
        *,
        quick: bool = False,
        views: bool = False,
        only_wanted: bool = False,
    ) -> Iterator[T]:
        """Yield what *of_split* yields for each split, in order, whichever thread reads it.

        It is given the split, an engine that no other thread has, and a tally of the split, which
        comes to *report* when the split is done. With *views* that engine gives some. If
        *only_wanted*, only what it takes to read the wanted offsets is looked at.
        """

        def one(split: Split, own: Engine) -> Generator[T | Tally, None, None]:
            tally = Tally()
            yield from of_split(split, own, tally)
            yield tally

        def of_log(log: PartitionLog) -> Iterator[Task[Engine, T | Tally]]:
            found, offsets = (
                self._wanted_part(log) if only_wanted else self._whole(log, quick=quick)
            )
            yield lambda _: _only(Tally(findings=found.findings))
            size = sum(file.size_bytes for file in log.logs)
            for split in self._splits(found, offsets, only_wanted=only_wanted):
                size -= split.end - split.start
                yield partial(one, split)
            rest = sum(bytes_of_no_split(found).values(), Counter[str]())
            rest["outside_range"] += size - rest.total()
            yield lambda _: _only(Tally(bytes=rest))

        items: Generator[T | Tally, None, None] = in_order(
            (task for log in self.logs for task in of_log(log)),
            threads=1 if quick else self.options.threads,  # headers alone are no work to share
            make_tool=partial(self._new_engine, views=views),
            size_of=_size,
        )
        with closing(items):
            for item in items:
                if isinstance(item, Tally):
                    report.add(item)
                else:
                    yield item
                del item

    def _examine(
        self,
        split: Split,
        columns: tuple[str, ...] | None,
        own: Engine,
        tally: Tally,
    ) -> Iterator[Piece]:
        for piece in examine(split, columns, chosen=own, open_log=self._open_log):
            tally.count(piece)
            yield piece
            del piece

    def tallied(
        self,
        log: PartitionLog,
        report: Report,
        *,
        verify: bool = False,
        quick: bool = False,
        columns: tuple[str, ...] | None = None,
        look: Callable[[LogFile, Judged], None] | None = None,
    ) -> tuple[Survey, dict[str, Tally]]:
        """Read all of *log* and return what became of the bytes of each live segment, by path.

        *verify* checks all checksums in the plan, and does `all_checks`; *quick* reads headers alone
        and tallies nothing. *look* is given all entries that could be framed, with *columns* of
        their records and `offset`.
        """
        found = self._survey(log, verify=verify, quick=quick)
        offsets = self._offsets(partial(self.offset_at, found))
        own = self._new_engine()
        tallies: dict[str, Tally] = {}
        report.findings.extend(found.findings)
        if quick or log.state is not None:
            return found, tallies
        checks = all_checks(log) if verify else []
        for split in self._splits(found, offsets):
            tally = tallies.setdefault(split.file.path, Tally())
            for piece in self._examine(replace(split, on_damage="skip"), columns, own, tally):
                if isinstance(piece.entries, Judged):
                    if look is not None:
                        look(split.file, piece.entries)
                    for check in checks:
                        check.take(split.file, piece.entries.entries)
        for check in checks:
            report.findings.extend(check.finish(found.segments))
        for path, rest in bytes_of_no_split(found).items():
            tallies.setdefault(path, Tally()).bytes.update(rest)
        for tally in tallies.values():
            report.add(tally)
        return found, tallies


def _only(item: Item) -> Generator[Item, None, None]:
    yield item


def _size(item: pa.RecordBatch | list[Row] | Tally) -> int:
    """Return the bytes that *item*, of a pass, holds; nothing worth counting in a tally."""
    if isinstance(item, list):
        return len(item) * ROW_BYTES
    return 0 if isinstance(item, Tally) else int(item.nbytes)


def _is_outside(here: Boundary, there: Boundary | None, offsets: OffsetRange) -> bool:
    """Return whether all offsets from *here* to *there* lie outside of *offsets*, in a log in order."""
    first, end = offsets
    last = None if there is None else there.floor
    if last is not None and first is not None and last < first:
        return True
    return here.floor is not None and end is not None and here.floor + 1 >= end


def _end_of_data(segment: SegmentSurvey) -> int:
    """Return the byte behind the last one that splits cover: where the tail begins, or the stop."""
    if segment.stop_at is not None:
        return segment.stop_at
    tails = [stretch.start for stretch in segment.stretches if stretch.kind == "tail"]
    return min([*tails, segment.file.size_bytes])


def _rows(
    table: schemas.TableDefinition,
    columns: Sequence[str] | None,
    read: Callable[[Report], Iterator[Row]],
) -> Rows:
    """Return the dicts that *read* yields as rows of *table*."""
    wanted = table.check(tuple(table.names if columns is None else columns))
    schema = table.schema(wanted)

    def batches(report: Report) -> Iterator[pa.RecordBatch]:
        rows: list[Row] = []
        for row in read(report):
            rows.append({name: row[name] for name in wanted})
            if len(rows) == 4096:
                yield record_batch(rows, schema)
                rows = []
        if rows:
            yield record_batch(rows, schema)

    return Rows(schema, batches)


def open_paths(
    *paths: str | os.PathLike[str],
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    offsets: tuple[int | None, int | None] | None = None,
    times: tuple[Time | None, Time | None] | None = None,
    isolation_level: str = "read_committed",
    on_damage: str = "fail",
    transactions: str = "markers",
    include_internal: bool = False,
    replica: str | None = None,
    engine: str = "auto",
    threads: int = 1,
    limits: Limits | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Dataset:
    """Return the dataset of all logs that *paths* name; nothing but names and headers is read yet.

    A path is a segment, a partition's folder, a log.dir, or a tree that holds some; or the URL of
    one in a store, such as s3://bucket/name, which *storage_options* open: arguments of its file
    system in pyarrow, such as `region` or `access_key`, by default what the environment gives.
    They are never shown, and a dataset keeps them. *topics* and
    *partitions* choose among them; *offsets* and *times* are half-open ranges, None is no bound,
    and a range of times is one of offsets by Kafka's offsetsForTimes. *on_damage* is `fail`
    (raise at the first), `skip` (deliver what is sound before and after) or `stop` (end the
    partition there, as a broker's recovery would). *transactions* is what says how they ended:
    `markers`, or `index`, the indexes of aborted ones, where these are sound and contradict
    nothing that headers say: then no payload is read before records are. *threads* is how many read records and
    batches, ahead of who takes them; 1, the default, is the caller's own. Their number changes
    neither rows, nor their order, nor the report.

    Raises InputError where a path is no log or an argument is not what it must be, StoreError
    where a store cannot be reached or refuses.
    """
    storage_options = StorageOptions.of(storage_options)  # out of every trace that shows arguments
    if not paths:
        raise InputError("no path", "at least one")
    begin, end = times or (None, None)
    options = Options(
        isolation_level=isolation_level,
        on_damage=on_damage,
        transactions=transactions,
        offsets=offsets or (None, None),
        times=(
            None if begin is None else milliseconds(begin),
            None if end is None else milliseconds(end),
        ),
        engine=engine,
        threads=threads,
        limits=limits or Limits(),
    )
    wanted, log_dirs = find_logs(
        paths,
        topics=topics,
        partitions=partitions,
        storage=Storage(storage_options),
        strict=on_damage == "fail",
        choose=partial(check_one_log_each, replica=replica),
    )
    names = set(topics or ())
    read, num_internal = [], 0
    for log in wanted:
        if log.state is not None:
            continue
        is_internal = log.topic in INTERNAL_TOPICS
        if is_internal and not include_internal and not log.is_named and log.topic not in names:
            num_internal += 1
        else:
            read.append(log)
    return Dataset(read, log_dirs, options, num_internal=num_internal, all_logs=wanted)


def every_log(
    paths: Iterable[str | os.PathLike[str]],
    *,
    topics: Iterable[str] | None,
    partitions: Iterable[int] | None,
    engine: str,
    limits: Limits | None,
    storage_options: StorageOptions,
) -> Dataset:
    """Return the dataset of all that *paths* name, for who looks at what is there: every replica,
    internal topics and half-deleted partitions, whatever a consumer would get, and past all damage.
    """
    options = Options(
        isolation_level="read_uncommitted",
        on_damage="skip",
        engine=engine,
        limits=limits or Limits(),
    )
    logs, log_dirs = find_logs(
        paths,
        topics=topics,
        partitions=partitions,
        storage=Storage(storage_options),
        strict=False,
    )
    return Dataset(logs, log_dirs, options)


def from_memory(
    data: bytes,
    *,
    topic: str | None = None,
    partition: int | None = None,
    aborted: Iterable[tuple[int, int]] = (),
    offsets: tuple[int | None, int | None] | None = None,
    isolation_level: str = "read_uncommitted",
    on_damage: str = "fail",
    engine: str = "auto",
    limits: Limits | None = None,
) -> Dataset:
    """Return the dataset of entries that are in memory: the records of a fetch, a segment's bytes.

    *aborted* is the list that comes with a fetch response: producer ids and first offsets of
    aborted transactions. With read_committed it alone decides, as in Kafka's consumer: the broker
    has already cut the bytes at the last stable offset.
    """
    options = Options(
        isolation_level=isolation_level,
        on_damage=on_damage,
        offsets=offsets or (None, None),
        engine=engine,
        limits=limits or Limits(),
    )
    name = "memory"
    file = LogFile(name, name, "log", None, len(data))
    log = PartitionLog(topic, partition, "", None, (file,), is_named=True, is_named_files=True)
    held = bytes(data)
    is_committed_read = isolation_level == "read_committed"
    return Dataset(
        [log],
        (),
        options,
        open_log=lambda _: MemoryFile(held, name),
        aborted_list=tuple(aborted) if is_committed_read else None,
    )
