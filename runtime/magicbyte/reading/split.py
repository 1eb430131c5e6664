"""A split: a part of a segment that can be read by itself, anywhere, in any order."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import (
    BatchHeaders,
    Decoded,
    DecodedEntry,
    Engine,
    Entries,
    Entry,
)
from magicbyte.errors import ChangedError, error_of
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.damage import UnsoundRange
from magicbyte.reading.dispositions import CODES, Examined, Judged, Wanted, judge
from magicbyte.reading.entry_groups import decode_verified
from magicbyte.reading.header_walk import HeaderWalk
from magicbyte.reading.index_outcomes import IndexedOutcomes, OutcomeIndex
from magicbyte.reading.offset_order import Bounds
from magicbyte.reading.outcomes import (
    Outcomes,
    Run,
    outcomes_by_list,
    outcomes_by_markers,
)
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.survey import Opener, open_segment
from magicbyte.reading.walk import CHUNK, SoundEntries, VerifiedWalk
from magicbyte.storage import File
from magicbyte.tables.arrays import Codes, Mask, constant_array, number_array, string_array
from magicbyte.tables.binary_views import filter_rows, with_binary_views
from magicbyte.tables.schemas import OUTCOMES, RECORDS, WIRE_COLUMNS
from magicbyte.transactions import PlannedOutcomes

_OUTCOMES = string_array([*OUTCOMES, None])
"""By code."""

MOST_SLICES = 16
"""Runs of wanted rows that are given as they lie in a record batch; it is as large as they are."""


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
    """The segment's number in its partition, from 0."""
    start: int
    end: int
    bounds: Bounds
    """What the walk knows of offsets at *start*."""
    first: int | None
    """The first offset of the entry at *start*; None where that is the segment's beginning."""
    unsound_ranges: tuple[UnsoundRange, ...]
    """What is no sound entry, where the plan has checked all checksums."""
    is_verified: bool
    has_transactions: bool
    planned_outcomes: PlannedOutcomes
    log_start_offset: int | None
    last_stable_offset: int | None
    options: ReadOptions
    """With the wanted offsets of the partition, and no times."""
    aborted_list: tuple[tuple[int, int], ...] | None = None
    """Producer ids and first offsets that came with a fetch: then they decide, not the markers."""
    outcome_index: OutcomeIndex | None = None
    """Where a transaction index decides, and what it does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Consecutive entries of a split, their rows, and what was found in them."""

    findings: list[Finding]
    entries: Iterable[Examined] = ()
    bytes: Counter[str] = field(default_factory=Counter)
    """Bytes by disposition; damaged ones lie outside of any entry, too."""
    records: Counter[str] = field(default_factory=Counter)
    """Records by disposition."""
    rows: pa.RecordBatch | None = None
    """The wanted columns of all records of sound entries, whatever their disposition."""
    of_rows: Codes | None = None
    """The disposition of each row, as `judged` has it."""

    def are(self, *dispositions: str) -> Mask:
        """Return which rows have one of *dispositions*; none do where there are no rows."""
        if self.of_rows is None:
            return np.zeros(0, np.bool_)
        return np.isin(self.of_rows, [CODES[name] for name in dispositions])

    def delivered(self, *columns: str) -> pa.RecordBatch | None:
        """Return *columns* of the rows that are delivered; None where rows were not asked for."""
        if self.rows is None:
            return None
        return filter_rows(self.rows.select(columns), self.are("delivered"))


def examine(
    split: Split,
    columns: tuple[str, ...] | None,
    *,
    chosen: Engine | None = None,
    open_log: Opener = open_segment,
) -> Iterator[Piece]:
    """Yield the entries of *split* in order, with their records' *columns*.

    *columns* are names of the table records; None decodes all the same, and yields no rows.
    *chosen* is the engine, by default a new one. Raises FormatError or LimitError at the first
    damage where the split says `fail`.
    """
    with open_log(split.file) as log:
        reader = _Reader(split, chosen or engine(split.options.engine), log, columns)
        yield from reader.pieces()


class _Reader:
    def __init__(
        self, split: Split, chosen: Engine, log: File, columns: tuple[str, ...] | None
    ) -> None:
        self.split = split
        self.engine = chosen
        self.log = log
        self.columns = columns
        # Which offsets are wanted hangs on each record where an entry straddles a bound.
        self.wire = tuple(
            dict.fromkeys(["offset", *(name for name in columns or () if name in WIRE_COLUMNS)])
        )
        self.is_committed_read = split.options.isolation_level == "read_committed"
        self.bounds = Wanted(
            log_start_offset=split.log_start_offset,
            first=split.options.offsets[0],
            end=min(
                (
                    end
                    for end in (split.options.offsets[1], split.file.end_offset)
                    if end is not None
                ),
                default=None,
            ),
            last_stable_offset=split.last_stable_offset if self.is_committed_read else None,
        )
        self.walked: deque[SoundEntries | UnsoundRange] = deque()
        """What lies in the split, if that has been read and is no more than is read at once."""
        self.outcomes = self._outcomes()

    # Framing

    def walk(self, columns: Sequence[str] | None = None) -> Iterator[SoundEntries | UnsoundRange]:
        """Yield what lies in the split, by the plan's own ranges where it has verified them.

        Records are decoded along where there are *columns*.
        """
        split = self.split
        if not split.is_verified:
            yield from self._walk(split.start, split.end, split.bounds, columns)
            return
        position, floor = split.start, split.bounds.floor
        for unsound in [*split.unsound_ranges, None]:
            stop = split.end if unsound is None else unsound.start
            if position < stop:
                bounds = Bounds(floor=floor, ceiling=split.bounds.ceiling)
                for piece in self._walk(position, stop, bounds, columns):
                    if isinstance(piece, UnsoundRange):
                        raise ChangedError(
                            f"no sound entry at byte {piece.start}",
                            "the one that was there when the read was planned",
                            path=split.file.path,
                        )
                    floor = int(piece.entries.column("last_offset")[-1])
                    yield piece
                    del piece  # rows go before more are made
            if unsound is not None:
                yield unsound
                position = unsound.end

    def _walk(
        self, start: int, end: int, bounds: Bounds, columns: Sequence[str] | None
    ) -> Iterator[SoundEntries | UnsoundRange]:
        walk = VerifiedWalk(
            self.log,
            engine=self.engine,
            limits=self.split.options.limits,
            bounds=bounds,
            start=start,
            end=end,
            is_last=False,  # a tail lies in no split
            columns=columns,
        )
        for piece in walk:
            self._check_first(piece)
            yield piece
            del piece  # rows go before more are made

    def _check_first(self, piece: SoundEntries | UnsoundRange) -> None:
        """Raise ChangedError where *piece* begins the split, and is not what was planned there.

        The cleaner replaces a segment by one of the same name, in which what lay behind *start*
        may lie before it.
        """
        first = self.split.first
        if first is None:
            return
        if isinstance(piece, SoundEntries):
            position = int(piece.entries.column("position")[0])
            found = int(piece.entries.column("first_offset")[0])
        else:
            position = piece.start
            found = -1 if piece.entry is None else piece.entry.first_offset
        if position == self.split.start and found != first:
            raise ChangedError(
                f"no entry of offset {first} at byte {position}",
                "the one that was there when the read was planned",
                path=self.split.file.path,
            )

    def _decoded(self) -> Iterator[SoundEntries | UnsoundRange]:
        """Yield what `walk` does, with the records; what has been walked already is only decoded."""
        if not self.walked:
            yield from self.walk(self.wire)
        while self.walked:
            piece = self.walked.popleft()
            if isinstance(piece, UnsoundRange):
                yield piece
                continue
            for decoded in decode_verified(
                self.engine,
                piece.buffer,
                len(piece.entries),
                self.wire,
                origin=piece.origin,
                limits=self.split.options.limits,
            ):
                yield SoundEntries(decoded.entries, piece.buffer, piece.origin, decoded=decoded)
                del decoded  # free the rows before decoding more

    def _outcomes(self) -> Outcomes | IndexedOutcomes | None:
        """Return the outcomes of the split's transactions, None where it has none."""
        split = self.split
        if not split.has_transactions:
            return None
        if split.outcome_index is not None:
            return IndexedOutcomes.read(split.outcome_index)
        if split.aborted_list is not None:
            return outcomes_by_list(self._runs(), split.aborted_list, end=split.end)
        return outcomes_by_markers(
            self._runs(), split.planned_outcomes, segment=split.segment, end=split.end
        )

    def _runs(self) -> Iterator[Run]:
        reader = ControlReader()
        is_kept = self.split.end - self.split.start <= CHUNK
        for piece in self.walk():
            if is_kept:
                self.walked.append(piece)
            if isinstance(piece, SoundEntries):
                entries = piece.entries
                numbers = np.flatnonzero(entries.column("is_control"))
                said = reader.read(
                    piece.buffer,
                    entries,
                    numbers,
                    origin=piece.origin,
                    limits=self.split.options.limits,
                )
                places = (entries.column(name)[numbers] for name in ("position", "producer_id"))
                controls = [one.control for one in said]
                yield entries, zip(*(of.tolist() for of in places), controls, strict=True)
            del piece  # bytes go before more are read

    # Payloads

    def pieces(self) -> Iterator[Piece]:
        for piece in self._decoded():
            if isinstance(piece, UnsoundRange):
                yield self._unsound_range(piece)
                continue
            assert piece.decoded is not None
            if not self.split.is_verified and piece.findings:
                yield Piece(findings=self._named(piece.findings))
            yield self._judged(piece.entries, piece.decoded)
            del piece  # rows go before more are made, and bytes before more are read

    def _named(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return *findings* with the names of the split's file."""
        names = self.split.topic, self.split.partition, self.split.file.name
        return [finding.at(*names) for finding in findings]

    def _unsound_range(self, unsound: UnsoundRange) -> Piece:
        findings = self._named(unsound.findings)
        if self.split.options.on_damage == "fail" and unsound.kind != "tail":
            raise error_of(findings[0])
        kind, entries = "damaged", []
        if unsound.entry is not None:
            kind = unsound.kind
            entries.append(_unread(unsound.entry, kind, crc_valid=kind != "damaged"))
        return Piece(
            # A plan that has verified the split has reported its ranges.
            findings=[] if self.split.is_verified else findings,
            entries=entries,
            bytes=Counter({kind: unsound.length}),
        )

    def _judged(self, entries: Entries, found: Decoded) -> Piece:
        findings = []
        for _, one in sorted(found.results.items()):
            for finding in self._named(one.counted_findings()) if one.findings else ():
                if finding.severity == "error" and self.split.options.on_damage == "fail":
                    raise error_of(finding)
                findings.append(finding)
        outcomes = self._outcomes_of(entries, found)
        judged = judge(
            entries, found, outcomes, self.bounds, is_committed_read=self.is_committed_read
        )
        return Piece(
            findings=findings,
            entries=judged,
            bytes=judged.bytes,
            records=judged.records,
            rows=None if self.columns is None else self._rows(judged, outcomes),
            of_rows=judged.of_rows,
        )

    def _outcomes_of(self, entries: Entries, found: Decoded) -> Codes | None:
        if isinstance(self.outcomes, IndexedOutcomes):
            return self.outcomes.of(entries, found)
        return None if self.outcomes is None else self.outcomes.of(entries)

    def _rows(self, judged: Judged, outcomes: Codes | None) -> pa.RecordBatch:
        """Return the wire columns with those of context beside them, in the wanted order."""
        split, wire = self.split, judged.decoded.rows
        columns = tuple(self.columns or ())
        schema = RECORDS.schema(columns) if columns else pa.schema([])
        if self.engine.views:
            schema = with_binary_views(schema)
        arrays = []
        for name in columns:
            kind = schema.field(name).type
            if name in self.wire:
                arrays.append(wire.column(name))
            elif name == "disposition":
                arrays.append(judged.dispositions)
            elif name == "outcome" and outcomes is not None:
                of_rows = number_array(pa.int8(), np.repeat(outcomes, judged.decoded.num_rows))
                arrays.append(_OUTCOMES.take(of_rows))
            else:
                values = {"file": split.file.name, "outcome": None}
                value = values[name] if name in values else getattr(split, name)
                arrays.append(constant_array(kind, value, wire.num_rows))
        if not arrays:
            return wire.select([])
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def quick_pieces(
    split: Split,
    *,
    chosen: Engine,
    known: Sequence[BatchHeaders] = (),
    open_log: Opener = open_segment,
) -> Iterator[Piece]:
    """Yield the entries of *split* by their headers alone: no checksum, nothing of payloads.

    Headers that are *known* are not read again.
    """
    for entries in quick_entries(split, chosen=chosen, known=known, open_log=open_log):
        yield Piece(findings=[], entries=[_unread(entry, "delivered") for entry in entries])


def quick_entries(
    split: Split,
    *,
    chosen: Engine,
    known: Sequence[BatchHeaders] = (),
    open_log: Opener = open_segment,
) -> Iterator[Entries]:
    """Yield the same as they stand in the file."""
    with open_log(split.file) as log:
        walk = HeaderWalk(
            log,
            engine=chosen,
            limits=split.options.limits,
            bounds=split.bounds,
            start=split.start,
            end=split.end,
            is_last=False,
            cached_headers=known,
        )
        for piece in walk:
            if isinstance(piece, SoundEntries):
                yield piece.entries


def _unread(entry: Entry, disposition: str, *, crc_valid: bool = True) -> Examined:
    """Return *entry* as it stands where its payload was not looked at."""
    decoded = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
    return Examined(entry, disposition, crc_valid, decoded)


def read_split(
    split: Split,
    columns: tuple[str, ...] | None = None,
    *,
    dispositions: tuple[str, ...] = ("delivered",),
    findings: list[Finding] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read the records of one split, in order, on any machine that has the files.

    Args:
        split: A split of `plan`.
        columns: Columns of the table `records`. Default: the eight of `Dataset.records`.
        dispositions: Dispositions of the records to return. Default: those that a consumer would
            get.
        findings: A list that findings are appended to. Default: they are dropped.
    Returns:
        Arrow record batches.
    Raises:
        InputError: A column does not exist.
        ChangedError: The file is not what it was when the read was planned.
        FormatError: The split is damaged, and `on_damage` is ``"fail"``; so for LimitError.
    Example:
        >>> splits = mb.open("log-0", topics=["fenced"]).plan()
        >>> [batch.num_rows for batch in mb.read_split(splits[1], ("offset", "value"))]
        [4]
    """
    wanted = RECORDS.check(tuple(columns if columns is not None else RECORDS.default))
    for piece in examine(split, wanted):
        if findings is not None:
            findings.extend(piece.findings)
        yield from chosen_rows(piece, dispositions)


def chosen_rows(piece: Piece, dispositions: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *piece* that have one of *dispositions*, if there are any."""
    if piece.rows is None:
        return
    count = sum(piece.records[name] for name in set(dispositions))
    if count == piece.rows.num_rows:
        if count:
            yield piece.rows
    elif count:
        # Without columns there is nothing to filter but the number of rows.
        if not piece.rows.num_columns:
            yield piece.rows.slice(0, count)
        else:
            yield from _where(piece.rows, piece.are(*dispositions), count)


def _where(rows: pa.RecordBatch, is_chosen: Mask, count: int) -> Iterator[pa.RecordBatch]:
    """Yield the *count* chosen ones of *rows*."""
    edges = np.flatnonzero(np.diff(is_chosen, prepend=False, append=False))
    if len(edges) > 2 * MOST_SLICES or count < rows.num_rows // 2:
        yield filter_rows(rows, is_chosen)
        return
    # Often a few markers are all that is left out: a copy of the rest would cost more than reading.
    for begin, end in edges.reshape(-1, 2).tolist():
        yield rows.slice(begin, end - begin)
