"""A pass over the bytes of a file: sound entries, and the ranges of bytes that hold none.

The pieces of a pass cover the bytes once and in order. An entry is sound if its frame and its
checksum are right; its payload is decoded later and moves no boundary.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry import HEADER_BYTES, cut_entry, read_entry
from magicbyte.engines.header_scan import MAX_HEADERS
from magicbyte.engines.protocol import BatchHeaders, Chunk, Decoded, Engine, Entries, Entry, Scan
from magicbyte.errors import ChangedError, FormatError, TruncatedError, error_of
from magicbyte.findings import Finding
from magicbyte.limits import MIB, Limits
from magicbyte.logdir.embedded_file import EmbeddedFile
from magicbyte.reading._damage import Damage, DamageFinder, UnsoundRange, with_chunk_findings
from magicbyte.reading._interrupted_run import (
    MAX_SOUND_ENTRIES,
    MIN_PLANNED_RANGES,
    InterruptedRun,
    interrupted_run,
    is_all_readable,
    may_join,
    planned_runs,
)
from magicbyte.reading._offset_order import EntryOffsets, OffsetOrder
from magicbyte.reading._resynchronize import EntrySearch
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.storage import File
from magicbyte.tables.schemas import WIRE_TYPES

CHUNK = 4 * MIB
"""Bytes that are read at a time; only a larger entry takes more."""

FIRST_CHUNK = MIB // 4
"""The same for the first read of a pass that may end soon."""

MAX_SMALL_BYTES = 32 << 10
"""A message up to this size is read as a whole, with its neighbours. Reading a message of 16 KiB takes
1 to 2 us, reading its header alone 8 us: a system call, and Python for each message."""

BLOCK_BYTES = 1 << 20
"""Bytes of small messages that are read at a time, unless these are few messages."""

BLOCK_MESSAGES = 1 << 12
"""Messages that are read at a time: fewer take longer in Python than in the kernel that finds them."""

MAX_BATCH_BYTES = 4 * MIB
"""Decompressed bytes of the entries in an Arrow batch, until which entries are added."""

MAX_NUMBERS_BATCH_BYTES = 16 * MIB
"""The same if all columns are numbers, which are a small part of the entries' bytes."""


@dataclass(frozen=True, slots=True)
class SoundEntries:
    """Consecutive entries whose frames and, in a VerifiedWalk, checksums are right."""

    entries: Entries
    chunk: Chunk
    """Bytes that begin with them; none where only headers were read."""
    findings: tuple[Finding, ...] = ()
    """Offsets out of order: the entries are delivered as they stand."""
    after_damage: Set[int] = frozenset()
    """Indices of entries that follow damage instead of the entry before; none unless runs are joined."""
    decoded: Decoded | None = None
    """Their records, where those were asked for."""
    spans: EntryOffsets | None = None
    """Their offsets, where the walk has compared them."""

    def entry_offsets(self) -> EntryOffsets:
        return self.spans or EntryOffsets.of(self.entries)


Piece = SoundEntries | UnsoundRange | InterruptedRun
"""Consecutive bytes of a file."""


FileNames = tuple[str | None, int | None, str, str | None]
"""Topic, partition, name and replica of a file, which its findings have."""


@dataclass
class Walk:
    """A pass over the entries in [start, end) of a file, whose offsets are within *bounds*."""

    file: File
    _: KW_ONLY
    engine: Engine
    limits: Limits
    bounds: Bounds
    start: int = 0
    end: int = -1
    """-1 is the end of the file."""
    is_last: bool = True
    """True if an incomplete entry at the end is not damage: the log still grows."""
    are_runs_joined: bool = False
    """True if entries may be an InterruptedRun, where many of them have wrong checksums."""

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = self.file.size_bytes
        self._order = OffsetOrder(self.bounds)

    def __iter__(self) -> Iterator[Piece]:
        if isinstance(self.file, EmbeddedFile):
            return with_chunk_findings(self._pieces(), self.file)
        return self._pieces()

    def _pieces(self) -> Iterator[Piece]:
        raise NotImplementedError

    @cached_property
    def _search(self) -> EntrySearch:
        return EntrySearch(
            self.file,
            self.start,
            self.end,
            is_last=self.is_last,
            max_entry_bytes=self.limits.max_entry_bytes,
            order=self._order,
        )

    @cached_property
    def _damage(self) -> DamageFinder:
        return DamageFinder(self._search, self.limits)

    def _read_header(self, position: int) -> Entry:
        """Return the header at *position*; raise FormatError where no whole entry can be there."""
        data = self.file.read_at(position, min(HEADER_BYTES, self.end - position))
        entry = read_entry(data, 0, origin=position)
        self._check_readable(position, position + len(data))
        self._check_size(entry)
        return entry

    def _check_size(self, entry: Entry) -> None:
        if entry.end > self.end:
            left = self.end - entry.position
            raise TruncatedError(cut_entry(entry.position, left, entry.size_bytes))

    def _check_readable(self, start: int, end: int) -> None:
        """Raise FormatError (`unreadable`) if bytes in [start, end) of the file cannot be read."""
        if self.file.unreadable is not None:
            for part in self.file.unreadable.between(start, end):
                raise FormatError(self.file.unreadable.finding(part))

    def _readable(self, entries: Entries) -> Entries:
        """Return the first of *entries*, up to one that has bytes that cannot be read.

        No checksum covers the offset of an entry, so its checksum is right where only the offset
        cannot be read. Raises FormatError (`unreadable`) if that is the first entry.
        """
        unreadable = self.file.unreadable
        if unreadable is None or not len(entries):
            return entries
        positions = entries.column("position")
        ends = positions + entries.column("size_bytes")
        for part in unreadable.between(int(positions[0]), int(ends[-1])):
            number = int(np.searchsorted(ends, part.start, "right"))
            if not number:
                raise FormatError(unreadable.finding(part))
            return entries[:number]
        return entries


@dataclass
class HeaderWalk(Walk):
    """A pass over headers alone; checksums are verified only where a search needs them."""

    cached_headers: Sequence[BatchHeaders] = ()
    """Headers that are known already, and are not read again."""

    def _pieces(self) -> Iterator[Piece]:
        position = self.start
        while position < self.end:
            entries: Entries | None = None
            for cached in self.cached_headers:
                if entries := cached.between(position, self.end):
                    break
            entries = entries or self.engine.read_headers(self.file, position, self.end)
            try:
                if not entries:
                    entry = self._read_header(position)
                    entries = self._small_messages(entry) or self._large_messages(entry)
                if self.file.unreadable is not None:
                    entries = self._readable(entries)
            except FormatError as error:
                damage = self._damage.at(position, error.finding)
                yield from damage.ranges
                position = damage.resume
                continue
            nothing = Chunk(memoryview(b""), position)
            spans = EntryOffsets.of(entries)
            findings = self._order.follow(entries, spans)
            yield SoundEntries(entries, nothing, findings, spans=spans)
            position = int(entries.column("position")[-1] + entries.column("size_bytes")[-1])

    def _small_messages(self, first: Entry) -> Entries | None:
        """Return messages from *first* on, read as a whole; None where *first* is a batch or large."""
        if first.magic == 2 or first.size_bytes > MAX_SMALL_BYTES:
            return None
        position = first.position
        length = min(max(BLOCK_BYTES, BLOCK_MESSAGES * first.size_bytes), CHUNK)
        data = self.file.read_at(position, min(length, self.end - position))
        return self.engine.scan(
            Chunk(memoryview(data), position), verify=False, limits=self.limits
        ).entries

    def _large_messages(self, first: Entry) -> Entries:
        """Return *first* and the large messages after it, up to a small message, a batch or damage.

        Following the offsets of many entries takes little more time than of one.
        """
        entries = [first]
        with suppress(FormatError):
            while (
                entries[-1].magic < 2
                and len(entries) < MAX_HEADERS
                and (position := entries[-1].end) < self.end
            ):
                entry = self._read_header(position)
                if entry.magic == 2 or entry.size_bytes <= MAX_SMALL_BYTES:
                    break
                entries.append(entry)
        return Entries(entries)


@dataclass
class VerifiedWalk(Walk):
    """A pass in which every checksum is verified.

    With wire *columns* the records are decoded in the same pass, while the verified bytes are still
    in the processor's cache.
    """

    columns: Sequence[str] | None = None
    ends_before: Callable[[memoryview], bool] | None = None
    """If it is given, the pass ends before the first damage, without a search for the next entry, and before
    bytes for which it returns True, as soon as these are read."""

    def _pieces(self) -> Iterator[Piece]:
        chunk = Chunk(memoryview(b""), self.start)
        max_bytes = max_batch_bytes(self.columns or ())
        chunk_bytes = CHUNK if self.ends_before is None else min(CHUNK, FIRST_CHUNK)
        need, num_sound = 1, MAX_SOUND_ENTRIES + 1
        """Sound entries since the last damage, about."""
        if self.end - self.start > chunk_bytes:
            need = self._first_need()
        while chunk.position < self.end:
            position = chunk.position
            if len(chunk.data) < need:
                length = min(max(need, chunk_bytes), self.end - position)
                chunk_bytes = CHUNK
                chunk = Chunk(memoryview(b""), position)  # free the bytes before reading more
                chunk = Chunk(memoryview(self.file.read_at(position, length)), position)
                if self.ends_before is not None and self.ends_before(chunk.data):
                    return
            scan: Scan
            if self.columns is None:
                scan = self.engine.scan(chunk, verify=True, limits=self.limits)
            else:
                scan = self.engine.decode(
                    chunk, self.columns, limits=self.limits, max_bytes=max_bytes
                )
            if self.file.unreadable is not None:
                try:
                    num_readable = len(self._readable(scan.entries))
                except FormatError as error:
                    unread = self._damage.at(position, error.finding)
                    yield from unread.ranges
                    chunk, need = chunk.after(unread.resume - position), 1
                    continue
                if num_readable < len(scan.entries):
                    scan = self._first_entries(chunk, num_readable, max_bytes)
            if scan.entries:
                spans = EntryOffsets.of(scan.entries)
                findings = self._order.follow(scan.entries, spans)
                decoded = scan if isinstance(scan, Decoded) else None
                yield SoundEntries(scan.entries, chunk, findings, decoded=decoded, spans=spans)
                del decoded
            chunk = chunk.after(scan.end)
            num_sound += len(scan.entries)
            unsound, computed, stopped_by = scan.unsound, scan.computed, scan.stopped_by
            del scan  # free the rows before decoding more
            need = 1
            if computed is not None and num_sound <= MAX_SOUND_ENTRIES:
                run = self._interrupted_run(chunk)
                if run is not None:
                    yield run
                    chunk, num_sound = chunk.after(run.end - chunk.position), 0
                    continue
            if unsound is not None or stopped_by is not None:
                if self.ends_before is not None and not self._is_cut(chunk, stopped_by):
                    return
                damage, need = self._judge_stop(chunk, unsound, computed, stopped_by)
                if damage is not None:
                    yield from damage.ranges
                    chunk, num_sound = chunk.after(damage.resume - chunk.position), 0

    def _is_cut(self, chunk: Chunk, stopped_by: Finding | None) -> bool:
        """Return whether a scan was *stopped_by* the end of *chunk*, by all signs inside of a sound entry."""
        if stopped_by is None or stopped_by.code != "incomplete-entry":
            return False
        try:
            entry = read_entry(chunk.data, 0, origin=chunk.position)
        except FormatError:
            return len(chunk.data) < min(HEADER_BYTES, self.end - chunk.position)
        if entry.end > self.end or entry.size_bytes > self.limits.max_batch_bytes:
            return False
        return entry.size_bytes <= CHUNK or self._search.is_plausible(entry.end)

    def _interrupted_run(self, chunk: Chunk) -> InterruptedRun | None:
        """Return the run that *chunk* begins with, whose first entry has a wrong checksum; None if there is none."""
        if not self.are_runs_joined or not is_all_readable(self.file):
            return None
        run = interrupted_run(self.engine, chunk, self._search, limits=self.limits)
        if run is not None:
            self._order.follow(run.sound, EntryOffsets.of(run.sound))
        return run

    def _first_entries(self, chunk: Chunk, num_entries: int, max_bytes: int) -> Scan:
        """Return the first *num_entries* of *chunk*, which have been scanned before."""
        engine, limits = self.engine, self.limits
        if self.columns is None:
            return engine.scan(chunk, verify=False, limits=limits, max_entries=num_entries)
        return engine.decode(
            chunk, self.columns, limits=limits, max_bytes=max_bytes, max_entries=num_entries
        )

    def _judge_stop(
        self,
        chunk: Chunk,
        unsound: Entry | None,
        computed: int | None,
        stopped_by: Finding | None,
    ) -> tuple[Damage | None, int]:
        """Return the damage at which a scan stopped, or None, and how many bytes the next read needs.

        It is None if *chunk*, the bytes from the stop on, is only too short for the next entry.
        """
        position = chunk.position
        if unsound is not None:
            return self._damage.of_entry(unsound, computed, chunk), 1
        assert stopped_by is not None
        if stopped_by.code != "incomplete-entry":
            return self._damage.at(position, stopped_by), 1
        try:
            entry = read_entry(chunk.data, 0, origin=position)
            self._check_size(entry)
            is_large = CHUNK < entry.size_bytes <= self.limits.max_entry_bytes
            computed = self._damage.wrong_checksum(entry) if is_large else None
        except FormatError as error:
            left = self.end - position
            if len(chunk.data) < min(left, HEADER_BYTES):
                return None, min(HEADER_BYTES, left)
            return self._damage.at(position, error.finding), 1
        if computed is not None or entry.size_bytes > self.limits.max_entry_bytes:
            return self._damage.of_entry(entry, computed, chunk), 1
        return None, entry.size_bytes

    def _first_need(self) -> int:
        """Return the size of the first entry if it is larger than a chunk, so that it is read once; else 1."""
        entry = self._search.header_at(self.start)
        is_large = entry is not None and CHUNK < entry.size_bytes <= self.limits.max_entry_bytes
        if entry is not None and is_large and self._search.is_plausible(entry.end):
            return entry.size_bytes
        return 1


@dataclass(slots=True, kw_only=True)
class PlannedWalk:
    """A pass over [start, end) of a segment."""

    file: File
    engine: Engine
    limits: Limits
    bounds: Bounds
    """Bounds of the offsets from *start* on."""
    start: int
    end: int
    first: int | None
    """First offset of the entry at *start*; None at the beginning of a segment."""
    unsound_ranges: Sequence[UnsoundRange] | None
    """All ranges without a sound entry; None if the plan has verified nothing."""
    has_transactions: bool
    path: str
    file_names: FileNames
    are_runs_joined: bool = False
    """True if entries may be an InterruptedRun, where many of them are damaged."""

    def pieces(self, columns: Sequence[str] | None) -> Iterator[Piece]:
        """Yield the entries, with wire *columns* of their records, and the ranges without a sound entry.

        The entries of an InterruptedRun have no columns. Raises ChangedError where the file is not as planned.
        """
        planned = self.unsound_ranges or ()
        position, floor, num_passed = self.start, self.bounds.floor, 0
        join_from = self.start  # after a position from which runs could not be joined
        while True:
            unsound = planned[num_passed] if num_passed < len(planned) else None
            stop = self.end if unsound is None else unsound.start
            if position < stop:
                for piece in self._walk(position, stop, floor, columns):
                    if self.unsound_ranges is not None and isinstance(piece, SoundEntries):
                        floor = int(piece.entries.column("last_offset")[-1])
                    yield piece
                    del piece  # frees the rows before more are decoded
            if unsound is None:
                return
            position = unsound.start
            if (
                self.are_runs_joined
                and position >= join_from
                and may_join(self.file, planned[num_passed : num_passed + MIN_PLANNED_RANGES])
            ):
                data = self.file.read_at(position, min(CHUNK, self.end - position))
                join_from = position + len(data) // 4  # so that no byte is read often
                chunk = Chunk(memoryview(data), position)
                for run in planned_runs(
                    self.engine, self.file, planned[num_passed:], chunk, limits=self.limits
                ):
                    if len(run.sound):
                        floor = int(run.sound.column("last_offset")[-1])
                    position, num_passed = run.end, num_passed + len(run.ranges)
                    yield run
                del chunk, data
                if position > unsound.start:
                    continue
            yield unsound
            position, num_passed = unsound.end, num_passed + 1

    def _walk(
        self, start: int, end: int, floor: int | None, columns: Sequence[str] | None
    ) -> Iterator[Piece]:
        """Yield the entries in [start, end), in which the plan has found no other range."""
        is_verified = self.unsound_ranges is not None
        is_first = start == self.start and self.first is not None
        for piece in VerifiedWalk(
            self.file,
            engine=self.engine,
            limits=self.limits,
            bounds=replace(self.bounds, floor=floor),
            start=start,
            end=end,
            is_last=False,  # a tail is in no split
            are_runs_joined=self.are_runs_joined and not is_verified,
            columns=columns,
        ):
            if is_first and not isinstance(piece, InterruptedRun):
                self._check_first(piece)
                is_first = False
            if is_verified and isinstance(piece, UnsoundRange):
                self._check_known(piece)
            yield piece
            del piece  # frees the rows before more are decoded

    def _check_known(self, unsound_range: UnsoundRange) -> None:
        """Raise an error for a range in which the plan, which has verified all checksums, found none.

        Bytes that cannot be read any more are a finding like any other, unless they may hold the
        marker of a transaction.
        """
        if not unsound_range.has_unreadable_bytes:
            raise self._changed(f"no sound entry at byte {unsound_range.start}")
        if self.has_transactions:
            raise error_of(unsound_range.findings[0].at(*self.file_names))

    def _check_first(self, piece: SoundEntries | UnsoundRange) -> None:
        """Raise ChangedError if *piece* begins the split with another offset than planned.

        The log cleaner replaces a segment by one of the same name, in which entries may begin earlier.
        """
        if isinstance(piece, SoundEntries):
            position = int(piece.entries.column("position")[0])
            first = int(piece.entries.column("first_offset")[0])
        elif piece.has_unreadable_bytes:
            return
        else:
            position = piece.start
            first = -1 if piece.entry is None else piece.entry.first_offset
        if position == self.start and first != self.first:
            raise self._changed(f"no entry of offset {self.first} at byte {position}")

    def _changed(self, found: str) -> ChangedError:
        expected = "the entry that was there when the read was planned"
        return ChangedError(found, expected, path=self.path)


def max_batch_bytes(columns: Sequence[str]) -> int:
    """Return how many decompressed bytes of entries go into an Arrow batch of the wire *columns*."""
    for name in columns:
        if not pa.types.is_primitive(WIRE_TYPES[name]):
            return MAX_BATCH_BYTES
    return MAX_NUMBERS_BATCH_BYTES
