"""A split: a part of a segment that can be read by itself, on any machine and in any order."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter

import numpy as np
import pyarrow as pa

from magicbyte._transactions import PlannedOutcomes
from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.protocol import (
    Decoded,
    DecodedEntry,
    Engine,
    Entries,
    Entry,
)
from magicbyte.errors import error_of
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._index_outcomes import IndexedOutcomes, OutcomeIndex
from magicbyte.reading._interrupted_run import InterruptedRun
from magicbyte.reading._markers_ahead import AheadPlan, MarkersAhead, PlanDoubtError
from magicbyte.reading._verified_records import decode_verified
from magicbyte.reading._walk import (
    CHUNK,
    Piece,
    PlannedWalk,
    SoundEntries,
    max_batch_bytes,
)
from magicbyte.reading.dispositions import (
    DISPOSITION_CODES,
    ClassifiedEntries,
    DeliveryBounds,
    ExaminedEntry,
    classify,
)
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.outcomes import (
    Outcomes,
    Run,
    outcome_names,
    outcomes_by_list,
    outcomes_by_markers,
)
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.survey import Opener
from magicbyte.storage import File
from magicbyte.tables.arrays import Codes, Mask, constant_array
from magicbyte.tables.binary_views import filter_rows, with_binary_views
from magicbyte.tables.schemas import RECORDS, WIRE_COLUMNS

MAX_CHUNK_ROWS = 1 << 16
"""Rows of a ChunkResult. A batch may have many more, and constant columns take up to 250 bytes per row."""

MAX_RANGES = 1 << 10
"""Consecutive ranges without sound entries in a ChunkResult."""

MAX_SLICES = 16
"""Runs of selected rows that are returned as slices of an Arrow batch; each keeps all of its memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A part of a segment that a task reads by itself. Small, and can be pickled.

    Attributes:
        topic: Topic of the partition, None outside of a partition folder.
        partition: Number of the partition.
        file: The segment.
        start: Position at which the split begins.
        end: Position after its last byte.
        options: The options of the read, with the wanted offsets of the partition.
    Example:
        >>> split = mb.open("log-0", topics=["fenced"]).plan()[0]
        >>> split.file.name, split.start, split.end
        ('00000000000000000000.log', 0, 275)
    """

    topic: str | None
    partition: int | None
    file: LogFile
    segment: int
    """Number of the segment in its partition, from 0."""
    start: int
    end: int
    bounds: Bounds
    """Bounds of the offsets from *start* on."""
    first: int | None
    """First offset of the entry at *start*; None at the beginning of a segment."""
    unsound_ranges: tuple[UnsoundRange, ...]
    """Ranges without a sound entry, if the plan has verified all checksums."""
    is_verified: bool
    has_transactions: bool
    planned_outcomes: PlannedOutcomes
    log_start_offset: int | None
    last_stable_offset: int | None
    options: ReadOptions
    """Options of the read, with the wanted offsets of the partition and no times."""
    aborted_list: tuple[tuple[int, int], ...] | None = None
    """Producer ids and first offsets of a fetch response, which decide instead of the markers."""
    outcome_index: OutcomeIndex | None = None
    """The transaction index, if that decides, and the transactions that it does not list."""
    ahead: AheadPlan | None = None
    """If no headers were read for the plan: the facts with which the task finds outcomes by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """The entries and rows of a chunk of a split, or of a range without sound entries."""

    findings: list[Finding]
    entries: Iterable[ExaminedEntry] = ()
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes by disposition; damaged bytes may be outside of any entry."""
    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition."""
    rows: pa.RecordBatch | None = None
    """The requested columns of all records of sound entries, of any disposition."""
    row_codes: Codes | None = None
    """The code of the disposition of each row."""
    aborted_delivered: int = 0
    """Delivered records of aborted transactions."""

    def has_disposition(self, *dispositions: str) -> Mask:
        """Return a mask of the rows that have one of *dispositions*; it is empty without rows."""
        if self.row_codes is None:
            return np.zeros(0, np.bool_)
        return np.isin(self.row_codes, [DISPOSITION_CODES[name] for name in dispositions])

    def delivered(self, *columns: str) -> pa.RecordBatch | None:
        """Return *columns* of the delivered rows; None if no rows were requested."""
        if self.rows is None:
            return None
        return filter_rows(self.rows.select(columns), self.has_disposition("delivered"))


@dataclass(frozen=True, slots=True)
class UnsoundEntries:
    """The entries of *ranges* that have a header: each is made when it is asked for."""

    ranges: Sequence[UnsoundRange]

    def __iter__(self) -> Iterator[ExaminedEntry]:
        for unsound in self.ranges:
            if unsound.entry is not None:
                yield _undecoded(unsound.entry, unsound.kind, unsound.crc_valid)


class EntryResults:
    """Makes the results of sound entries of a split from their records."""

    def __init__(self, split: Split, engine: Engine, columns: tuple[str, ...] | None) -> None:
        self.split, self.engine, self.columns = split, engine, columns
        self.file_names = split.topic, split.partition, split.file.name, split.file.replica
        # Offsets are always decoded: a bound may be inside of an entry.
        wire_columns = ["offset"]
        for name in columns or ():
            if name in WIRE_COLUMNS and name not in wire_columns:
                wire_columns.append(name)
        self.wire_columns = tuple(wire_columns)
        self.is_committed_read = split.options.isolation_level == "read_committed"
        first, end = split.options.offsets
        if end is None or (split.file.end_offset is not None and split.file.end_offset < end):
            end = split.file.end_offset
        self.bounds = DeliveryBounds(
            log_start_offset=split.log_start_offset,
            first=first,
            end=end,
            last_stable_offset=split.last_stable_offset if self.is_committed_read else None,
        )

    def of_piece(
        self, piece: SoundEntries, outcomes: Outcomes | IndexedOutcomes | None = None
    ) -> Iterator[ChunkResult]:
        """Yield the results of the entries of *piece*, with *outcomes* of their transactions."""
        assert piece.decoded is not None
        findings = []
        if piece.decoded.results:
            findings = [finding for _, finding in self.findings(piece.decoded)]
        codes = None if outcomes is None else outcomes.of(piece.entries, piece.decoded)
        yield from self.of_entries(piece.entries, piece.decoded, codes, findings)

    def with_names(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return *findings* with the topic, partition and file name of the split."""
        return [finding.at(*self.file_names) for finding in findings]

    def findings(self, decoded: Decoded) -> Iterator[tuple[int, Finding]]:
        """Yield the findings of *decoded* in order, each with the number of its entry."""
        for number, result in sorted(decoded.results.items()):
            if result.findings:
                for finding in self.with_names(result.counted_findings()):
                    yield number, finding

    def of_entries(
        self,
        entries: Entries,
        decoded: Decoded,
        outcome_codes: Codes | None,
        findings: list[Finding],
    ) -> Iterator[ChunkResult]:
        """Yield the results of *entries* with *outcome_codes*: all of them and *findings* with the first rows, then further rows."""
        if self.split.options.on_damage == "fail":
            for finding in findings:
                if finding.severity == "error":
                    raise error_of(finding)
        classified = classify(
            entries, decoded, outcome_codes, self.bounds, is_committed_read=self.is_committed_read
        )
        num_aborted = 0
        if outcome_codes is not None and not self.is_committed_read:
            num_aborted = classified.num_aborted(outcome_codes)
        num_rows = max(decoded.rows.num_rows, 1)
        step = num_rows if self.columns is None else MAX_CHUNK_ROWS
        for begin in range(0, num_rows, step):
            row_codes = classified.row_codes[begin : begin + step]
            rows = None
            if self.columns is not None:
                rows = self._rows(classified, outcome_codes, begin, step)
            if begin:
                records = classified.num_records(row_codes)
                yield ChunkResult(findings=[], records=records, rows=rows, row_codes=row_codes)
                continue
            yield ChunkResult(
                findings=findings,
                entries=classified,
                bytes=classified.num_bytes(),
                records=classified.num_records(row_codes),
                rows=rows,
                row_codes=row_codes,
                aborted_delivered=num_aborted,
            )

    def _rows(
        self, classified: ClassifiedEntries, outcomes: Codes | None, begin: int, num_rows: int
    ) -> pa.RecordBatch:
        """Return the requested columns of the table `records` for *num_rows* of *classified* from *begin* on."""
        split, wire = self.split, classified.decoded.rows
        if begin or wire.num_rows > num_rows:
            wire = wire.slice(begin, num_rows)
        if not self.columns:
            return wire.select([])
        schema = RECORDS.schema(self.columns)
        if self.engine.views:
            schema = with_binary_views(schema)
        if self.columns == self.wire_columns and wire.schema.equals(schema, check_metadata=True):
            return wire
        arrays = []
        for name in self.columns:
            if name in self.wire_columns:
                arrays.append(wire.column(name))
            elif name == "disposition":
                arrays.append(classified.row_dispositions(begin, begin + num_rows))
            elif name == "outcome" and outcomes is not None:
                codes = np.repeat(outcomes, classified.decoded.num_rows)[begin : begin + num_rows]
                arrays.append(outcome_names(codes))
            else:
                values = {"file": split.file.name, "outcome": None}
                value = values[name] if name in values else getattr(split, name)
                arrays.append(constant_array(schema.field(name).type, value, wire.num_rows))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


class SplitReader:
    """Reads one split from its open file."""

    def __init__(
        self, split: Split, engine: Engine, log: File, columns: tuple[str, ...] | None
    ) -> None:
        self.split, self.engine, self.log = split, engine, log
        self.entry_results = EntryResults(split, engine, columns)
        self.wire_columns = self.entry_results.wire_columns
        self.walk = PlannedWalk(
            file=log,
            engine=engine,
            limits=split.options.limits,
            bounds=split.bounds,
            start=split.start,
            end=split.end,
            first=split.first,
            unsound_ranges=split.unsound_ranges if split.is_verified else None,
            has_transactions=split.has_transactions,
            path=split.file.path,
            file_names=self.entry_results.file_names,
        )
        reported = split.unsound_ranges if split.is_verified else ()
        self.reported_ranges = {(unsound.start, unsound.end) for unsound in reported}

    def results_ahead(self, ahead: AheadPlan, open_log: Opener) -> Iterator[ChunkResult]:
        """Yield the results of a split whose plan has read no headers, with markers that are read ahead.

        Raises PlanDoubtError where the bytes are not as that plan assumes.
        """
        position, end, last = self.split.start, self.split.end, None
        try:
            with MarkersAhead(
                ahead,
                self.log,
                engine=self.engine,
                limits=self.split.options.limits,
                open_log=open_log,
            ) as markers:
                for piece in self.walk.pieces(self.wire_columns):
                    if not isinstance(piece, SoundEntries) or piece.findings:
                        raise PlanDoubtError(f"no entry in order is at byte {position}")
                    if position == self.split.start:
                        ahead.check_first(piece.entries)
                    assert piece.decoded is not None
                    codes = markers.of(piece.entries, piece.decoded, piece.chunk)
                    findings = self.entry_results.with_names(
                        ahead.gap_findings(piece.entries, last)
                    )
                    findings += [
                        finding for _, finding in self.entry_results.findings(piece.decoded)
                    ]
                    yield from self.entry_results.of_entries(
                        piece.entries, piece.decoded, codes, findings
                    )
                    position, last = piece.entries[-1].end, piece.entries[-1].last_offset
                    del piece  # frees the rows and bytes before more are read
        except PlanDoubtError as error:
            raise PlanDoubtError(str(error), position) from error
        if position != end:
            raise PlanDoubtError(f"the last entry ends at byte {position}, not at {end}", position)
        if last is not None and end == self.split.file.size_bytes:
            gap = ahead.gap_at_end(last)
            if gap is not None:
                yield ChunkResult(findings=self.entry_results.with_names([gap]))

    def results(self) -> Iterator[ChunkResult]:
        """Yield the results of all chunks and unsound ranges, in order."""
        outcomes: Outcomes | IndexedOutcomes | None = None
        pieces: Iterator[Piece] | None = None
        if self.split.has_transactions:
            # A small split is read once: its markers first, then its records from the same bytes.
            scanned = None
            if self.split.end - self.split.start <= CHUNK and self.split.outcome_index is None:
                scanned = list(self.walk.pieces(None))
                pieces = self._decode(scanned)
            outcomes = self.read_outcomes(scanned)
        most_ranges = 1 if self.split.options.on_damage == "fail" else MAX_RANGES
        ranges: list[UnsoundRange] = []
        for piece in pieces or self.walk.pieces(self.wire_columns):
            if isinstance(piece, UnsoundRange):
                ranges.append(piece)
            if ranges and (not isinstance(piece, UnsoundRange) or len(ranges) >= most_ranges):
                yield self._ranges_result(ranges)
                ranges = []
            if isinstance(piece, UnsoundRange):
                continue
            if isinstance(piece, InterruptedRun):
                yield from self._run_results(piece, outcomes)
                continue
            if piece.findings and not self.split.is_verified:
                yield ChunkResult(findings=self.entry_results.with_names(piece.findings))
            yield from self.entry_results.of_piece(piece, outcomes)
            del piece  # frees the rows and bytes before more are read
        if ranges:
            yield self._ranges_result(ranges)

    # Bytes

    def _decode(self, scanned: list[Piece]) -> Iterator[Piece]:
        """Yield the *scanned* entries with their records, and the unsound ranges unchanged."""
        for piece in scanned:
            if not isinstance(piece, SoundEntries):
                yield piece
                continue
            for decoded in decode_verified(
                self.engine,
                piece.chunk,
                len(piece.entries),
                self.wire_columns,
                limits=self.split.options.limits,
            ):
                yield SoundEntries(decoded.entries, piece.chunk, decoded=decoded)
                del decoded  # frees the rows before more are decoded

    def read_outcomes(self, scanned: list[Piece] | None = None) -> Outcomes | IndexedOutcomes:
        """Return the outcomes of the split's transactions, from *scanned* or, if None, the file."""
        split = self.split
        if split.outcome_index is not None:
            return IndexedOutcomes.read(split.outcome_index)
        runs = self._runs(self.walk.pieces(None) if scanned is None else scanned)
        if split.aborted_list is not None:
            return outcomes_by_list(runs, split.aborted_list, end=split.end)
        return outcomes_by_markers(
            runs, split.planned_outcomes, segment=split.segment, end=split.end
        )

    def _runs(self, pieces: Iterable[Piece]) -> Iterator[Run]:
        """Yield the entries of *pieces*, with the contents of the control batches among them."""
        reader = ControlReader(large=self.engine)
        for piece in pieces:
            if not isinstance(piece, UnsoundRange):
                entries = piece.entries if isinstance(piece, SoundEntries) else piece.sound
                numbers = np.flatnonzero(entries.column("is_control"))
                limits = self.split.options.limits
                contents = reader.read(piece.chunk, entries, numbers, limits=limits)
                positions = entries.column("position")[numbers].tolist()
                producers = entries.column("producer_id")[numbers].tolist()
                controls = [content.control for content in contents]
                yield entries, zip(positions, producers, controls, strict=True)
            del piece  # frees the bytes before more are read

    # Results

    def _ranges_result(self, ranges: Sequence[UnsoundRange]) -> ChunkResult:
        """Return the result for consecutive *ranges*: damage may be a range per message."""
        findings: list[Finding] = []
        num_bytes: Counter[str] = Counter()
        is_fatal = self.split.options.on_damage == "fail"
        for unsound in ranges:
            # A plan that has verified the split has reported its ranges.
            if is_fatal or (unsound.start, unsound.end) not in self.reported_ranges:
                of_range = self.entry_results.with_names(unsound.findings)
                if is_fatal and unsound.kind != "tail" and of_range:
                    raise error_of(of_range[0])
                findings += of_range
            is_kind = unsound.entry is not None or unsound.kind == "unreadable"
            num_bytes[unsound.kind if is_kind else "damaged"] += unsound.length
        return ChunkResult(findings=findings, entries=UnsoundEntries(ranges), bytes=num_bytes)

    def _run_results(
        self, run: InterruptedRun, outcomes: Outcomes | IndexedOutcomes | None
    ) -> Iterator[ChunkResult]:
        """Yield the results of *run*: damaged entries come before sound ones, but findings are in order."""
        ranges = run.ranges
        for decoded in run.decode(
            self.engine,
            self.wire_columns,
            limits=self.split.options.limits,
            max_bytes=max_batch_bytes(self.wire_columns),
        ):
            positions = decoded.entries.column("position")
            num_ranges = bisect_left(ranges, int(positions[-1]), key=attrgetter("start"))
            result = self._ranges_result(ranges[:num_ranges])
            findings = [(finding.position or 0, finding) for finding in result.findings]
            findings += [
                (int(positions[number]), finding)
                for number, finding in self.entry_results.findings(decoded)
            ]
            result.findings[:] = [each for _, each in sorted(findings, key=itemgetter(0))]
            yield result
            codes = None if outcomes is None else outcomes.of(decoded.entries, decoded)
            yield from self.entry_results.of_entries(decoded.entries, decoded, codes, [])
            ranges = ranges[num_ranges:]
            del decoded  # frees the rows before more are decoded
        if ranges:
            yield self._ranges_result(ranges)


def header_result(entries: Entries) -> ChunkResult:
    """Return the result for *entries* whose headers alone were read; no checksum is verified."""
    undecoded = [_undecoded(entry, "delivered", None) for entry in entries]
    return ChunkResult(findings=[], entries=undecoded)


def _undecoded(entry: Entry, disposition: str, crc_valid: bool | None) -> ExaminedEntry:
    decoded = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
    return ExaminedEntry(entry, disposition, crc_valid, decoded)


def select_rows(result: ChunkResult, dispositions: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *result* that have one of *dispositions*, if there are any."""
    if result.rows is None:
        return
    count = 0
    for name in set(dispositions):
        count += result.records[name]
    if count == result.rows.num_rows:
        if count:
            yield result.rows
    elif count and not result.rows.num_columns:
        yield result.rows.slice(0, count)  # nothing to filter but the number of rows
    elif count:
        yield from _filter(result.rows, result.has_disposition(*dispositions), count)


def _filter(rows: pa.RecordBatch, mask: Mask, count: int) -> Iterator[pa.RecordBatch]:
    """Yield the *count* rows that *mask* selects: as slices, or copied if they are scattered."""
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    if len(edges) > 2 * MAX_SLICES or count < rows.num_rows // 2:
        yield filter_rows(rows, mask)
        return
    # Often only a few markers are left out: copying all other rows would cost more than reading them.
    for begin, end in edges.reshape(-1, 2).tolist():
        yield rows.slice(begin, end - begin)
