"""A split: a part of a segment that can be read by itself, anywhere, in any order."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines import Control, DecodedEntry, Engine, Entry, Problem, engine
from magicbyte.errors import ChangedError
from magicbyte.findings import Finding, raised
from magicbyte.limits import MIB, Limits
from magicbyte.logdir.live import LogFile
from magicbyte.reading.survey import Opener, finding_of, open_segment
from magicbyte.reading.walk import Bounds, Note, Sound, Stretch, Walk
from magicbyte.storage import File
from magicbyte.tables.schemas import RECORDS, WIRE_COLUMNS
from magicbyte.transactions import Fates, Place, outcomes_by_list, outcomes_of

MAX_GROUP_BYTES = 4 * MIB
"""Bytes of entries that go into one record batch; only a larger entry makes a larger batch."""

EXPANSION = 16
"""What a byte of a compressed entry counts for there, as nobody knows what it comes to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What it takes to read the bytes [start, end) of a segment. Small, and can be pickled."""

    topic: str | None
    partition: int | None
    file: LogFile
    segment: int
    """The segment's number in its partition, from 0."""
    start: int
    end: int
    bounds: Bounds
    """What the walk knows of offsets at *start*."""
    stretches: tuple[Stretch, ...]
    """What is no sound entry, where the plan has checked all checksums."""
    is_verified: bool
    has_transactions: bool
    fates: Fates
    log_start_offset: int | None
    last_stable_offset: int | None
    offsets: tuple[int | None, int | None]
    """The wanted offsets, half-open; None is no bound."""
    isolation_level: str
    on_damage: str
    engine: str
    limits: Limits
    aborted_list: tuple[tuple[int, int], ...] | None = None
    """Producer ids and first offsets that came with a fetch: then they decide, not the markers."""


@dataclass(slots=True)
class Examined:
    """An entry, with what its payload and the plan say of it."""

    entry: Entry
    disposition: str
    crc_valid: bool
    decoded: DecodedEntry
    outcome: str | None
    records: Counter[str] = field(default_factory=Counter)
    """Records per disposition."""


@dataclass(slots=True)
class Piece:
    """Consecutive entries of a split, their rows, and what was found in them."""

    entries: list[Examined]
    rows: pa.RecordBatch | None
    """The wanted columns of all records of sound entries, whatever their disposition."""
    dispositions: pa.Array | None
    """The disposition of each row."""
    findings: list[Finding]
    damaged_bytes: int = 0
    """Bytes outside of any framed entry."""


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
        reader = _Reader(split, chosen or engine(split.engine), log, columns)
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
        self.outcomes = self._outcomes()

    # Framing

    def walk(self) -> Iterator[Sound | Stretch]:
        """Yield what lies in the split, by the plan's own stretches where it has verified them."""
        split = self.split
        if not split.is_verified:
            yield from self._walk(split.start, split.end, split.bounds)
            return
        position, floor = split.start, split.bounds.floor
        for stretch in [*split.stretches, None]:
            stop = split.end if stretch is None else stretch.start
            if position < stop:
                bounds = Bounds(floor=floor, ceiling=split.bounds.ceiling)
                for piece in self._walk(position, stop, bounds):
                    if isinstance(piece, Stretch):
                        raise ChangedError(
                            f"no sound entry at byte {piece.start}",
                            "the one that was there when the read was planned",
                            path=split.file.path,
                        )
                    floor = piece.entries[-1].last_offset
                    yield piece
            if stretch is not None:
                yield stretch
                position = stretch.end

    def _walk(self, start: int, end: int, bounds: Bounds) -> Iterator[Sound | Stretch]:
        yield from Walk(
            self.log,
            engine=self.engine,
            limits=self.split.limits,
            bounds=bounds,
            start=start,
            end=end,
            is_last=False,  # a tail lies in no split
        )

    def _outcomes(self) -> dict[Place, str]:
        """Return the outcome of each transactional entry of the split, from its own markers."""
        if not self.split.has_transactions:
            return {}
        seen: list[tuple[Place, Entry, Control | None]] = []
        for piece in self.walk():
            if isinstance(piece, Stretch):
                continue
            for entry in piece.entries:
                if entry.producer_id >= 0:
                    place = Place(self.split.segment, entry.position)
                    seen.append((place, entry, self._control(piece, entry)))
        if self.split.aborted_list is not None:
            return dict(outcomes_by_list(seen, self.split.aborted_list))
        return dict(outcomes_of(seen, self.split.fates))

    def _control(self, piece: Sound, entry: Entry) -> Control | None:
        if not entry.is_control:
            return None
        decoded = self.engine.decode(
            piece.buffer, [entry], (), origin=piece.origin, limits=self.split.limits
        )
        return decoded.entries[0].control

    # Payloads

    def pieces(self) -> Iterator[Piece]:
        for piece in self.walk():
            if isinstance(piece, Stretch):
                yield self._stretch(piece)
                continue
            if not self.split.is_verified and piece.notes:
                findings = [self._finding(note) for note in piece.notes]
                yield Piece([], None, None, findings)
            group: list[Entry] = []
            size = 0
            for entry in piece.entries:
                weight = entry.size_bytes * (EXPANSION if entry.codec else 1)
                if group and size + weight > MAX_GROUP_BYTES:
                    yield self._decode(piece, group)
                    group, size = [], 0
                group.append(entry)
                size += weight
            if group:
                yield self._decode(piece, group)

    def _finding(self, note: Note) -> Finding:
        return finding_of(note, self.split.topic, self.split.partition, self.split.file.name)

    def _stretch(self, stretch: Stretch) -> Piece:
        findings = [self._finding(note) for note in stretch.notes]
        if self.split.on_damage == "fail" and stretch.kind != "tail":
            raise raised(findings[0])
        entries = []
        if stretch.entry is not None:
            entries.append(
                _unread(stretch.entry, stretch.kind, crc_valid=stretch.kind != "damaged")
            )
        # A plan that has verified the split has reported its stretches.
        return Piece(
            entries,
            None,
            None,
            [] if self.split.is_verified else findings,
            0 if stretch.entry is not None else stretch.length,
        )

    def _decode(self, piece: Sound, entries: list[Entry]) -> Piece:
        decoded = self.engine.decode(
            piece.buffer, entries, self.wire, origin=piece.origin, limits=self.split.limits
        )
        offsets = decoded.rows.column("offset").to_numpy(zero_copy_only=False)
        examined: list[Examined] = []
        findings: list[Finding] = []
        codes = np.zeros(len(offsets), np.int8)
        row = 0
        for entry, one in zip(entries, decoded.entries, strict=True):
            found, of_rows = self._judge(entry, one, offsets[row : row + one.num_rows])
            codes[row : row + one.num_rows] = of_rows
            row += one.num_rows
            examined.append(found)
            for problem in one.problems:
                finding = self._problem(entry, problem, one.repeats(problem.code))
                if problem.is_fatal and self.split.on_damage == "fail":
                    raise raised(finding)
                findings.append(finding)
        rows = dispositions = None
        if self.columns is not None:
            dispositions = ROW_DISPOSITIONS.take(pa.array(codes))
            rows = self._rows(decoded.rows, examined, dispositions)
        return Piece(examined, rows, dispositions, findings)

    def _problem(self, entry: Entry, problem: Problem, repeated: int) -> Finding:
        split = self.split
        more = f"; {repeated} more in this entry" if repeated else ""
        return Finding(
            code=problem.code,
            message=problem.message + more,
            topic=split.topic,
            partition=split.partition,
            file=split.file.name,
            position=entry.position,
            payload_position=problem.payload_position,
            length=entry.size_bytes,
            base_offset=entry.first_offset,
            field=problem.field,
            found=problem.found,
            expected=problem.expected,
        )

    def _judge(
        self, entry: Entry, one: DecodedEntry, offsets: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    ) -> tuple[Examined, "np.ndarray[tuple[int], np.dtype[np.int8]]"]:
        """Return the disposition of *entry* and, as codes, of its records at *offsets*."""
        split = self.split
        outcome = self.outcomes.get(Place(split.segment, entry.position))
        if not one.is_sound:
            is_large = any(problem.code == "batch-over-limit" for problem in one.problems)
            name = "over_limit" if is_large else "damaged"
            return Examined(entry, name, True, one, outcome), np.zeros(0, np.int8)
        is_committed_read = split.isolation_level == "read_committed"
        aborted = is_committed_read and outcome == "aborted" and not entry.is_control
        rest = CODE["aborted" if aborted else "control" if entry.is_control else "delivered"]
        # An entry without records is judged by its last offset.
        places = offsets if len(offsets) else np.array([entry.last_offset], np.int64)
        if self._is_within_bounds(places) and outcome not in ("open", "undecided"):
            counted = Counter({NAME[rest]: len(offsets)} if len(offsets) else {})
            of_rows = np.full(len(offsets), rest, np.int8)
            return Examined(entry, NAME[rest], True, one, outcome, counted), of_rows
        low, high = split.offsets
        nowhere = np.zeros(len(places), np.bool_)
        below = nowhere if split.log_start_offset is None else places < split.log_start_offset
        outside = nowhere
        if low is not None:
            outside = outside | (places < low)
        if high is not None:
            outside = outside | (places >= high)
        withheld = nowhere
        if is_committed_read:
            if outcome in ("open", "undecided"):
                withheld = ~nowhere
            elif split.last_stable_offset is not None:
                withheld = places >= split.last_stable_offset
        codes = np.full(len(places), rest, np.int8)
        codes[withheld] = CODE["withheld"]
        codes[outside] = CODE["outside_range"]
        codes[below] = CODE["below_log_start"]
        name = NAME[rest]
        for judged, applies in (
            ("below_log_start", below),
            ("outside_range", outside),
            ("withheld", withheld),
        ):
            if applies.all():
                name = judged
                break
        of_rows = codes if len(offsets) else np.zeros(0, np.int8)
        counted = Counter({NAME[int(c)]: int((of_rows == c).sum()) for c in np.unique(of_rows)})
        return Examined(entry, name, True, one, outcome, counted), of_rows

    def _is_within_bounds(self, places: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> bool:
        """Whether no bound of the split takes any of the offsets *places* away."""
        split = self.split
        low, high = split.offsets
        lows = [bound for bound in (low, split.log_start_offset) if bound is not None]
        highs = [bound for bound in (high, split.last_stable_offset) if bound is not None]
        is_low = bool(lows) and int(places.min()) < max(lows)
        is_high = bool(highs) and int(places.max()) >= min(highs)
        return not is_low and not is_high

    def _rows(
        self, wire: pa.RecordBatch, examined: list[Examined], dispositions: pa.Array
    ) -> pa.RecordBatch:
        """Return *wire* with the columns of context beside it, in the wanted order."""
        split, count = self.split, wire.num_rows
        columns = tuple(self.columns or ())
        schema = RECORDS.schema(columns) if columns else pa.schema([])
        arrays = []
        for name in columns:
            kind = schema.field(name).type
            if name in self.wire:
                arrays.append(wire.column(name))
            elif name == "disposition":
                arrays.append(dispositions)
            elif name == "outcome":
                outcomes = [e.outcome for e in examined for _ in range(e.decoded.num_rows)]
                arrays.append(pa.array(outcomes, kind))
            else:
                value = split.file.name if name == "file" else getattr(split, name)
                arrays.append(pa.array([value] * count, kind))
        if not arrays:
            return wire.select([])
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


ROW_DISPOSITIONS = pa.array(
    ["below_log_start", "outside_range", "withheld", "aborted", "control", "delivered"]
)
"""The dispositions that a record of a sound entry can have, by their codes here."""

CODE = {name: code for code, name in enumerate(ROW_DISPOSITIONS.to_pylist())}
NAME = {code: name for name, code in CODE.items()}


def quick_pieces(
    split: Split, *, chosen: Engine, open_log: Opener = open_segment
) -> Iterator[Piece]:
    """Yield the entries of *split* by their headers alone: no checksum, nothing of payloads."""
    with open_log(split.file) as log:
        walk = Walk(
            log,
            engine=chosen,
            limits=split.limits,
            bounds=split.bounds,
            start=split.start,
            end=split.end,
            is_last=False,
            verify=False,
        )
        for piece in walk:
            if isinstance(piece, Sound):
                yield Piece(
                    [_unread(entry, "delivered") for entry in piece.entries], None, None, []
                )


def _unread(entry: Entry, disposition: str, *, crc_valid: bool = True) -> Examined:
    """Return *entry* as it stands where its payload was not looked at."""
    decoded = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
    return Examined(entry, disposition, crc_valid, decoded, None)


def read_split(
    split: Split,
    columns: tuple[str, ...] | None = None,
    *,
    dispositions: tuple[str, ...] = ("delivered",),
    findings: list[Finding] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the records of *split* that have one of *dispositions*, in order.

    *columns* are names of the table records, by default its eight default ones. What was found
    wrong is appended to *findings*.
    """
    wanted = RECORDS.check(tuple(columns if columns is not None else RECORDS.default))
    for piece in examine(split, wanted):
        if findings is not None:
            findings.extend(piece.findings)
        yield from chosen_rows(piece, dispositions)


def chosen_rows(piece: Piece, dispositions: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *piece* that have one of *dispositions*, if there are any."""
    if piece.rows is None or piece.dispositions is None or not piece.rows.num_rows:
        return
    mask = pc.is_in(piece.dispositions, pa.array(dispositions, pa.string()))
    count = pc.sum(mask).as_py()
    if count == piece.rows.num_rows:
        yield piece.rows
    elif count:
        # Without columns there is nothing to filter but the number of rows.
        has_columns = bool(piece.rows.num_columns)
        yield piece.rows.filter(mask) if has_columns else piece.rows.slice(0, count)
