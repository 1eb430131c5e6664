"""From a file's bytes to its sound entries, and to the ranges of bytes that hold none.

Whatever happens, the pieces cover the bytes once and in order. An entry is sound where its frame
and its checksum are right; its payload is decoded later and moves no boundary.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

from magicbyte.engines.entry import HEADER_BYTES, cut_entry, read_entry
from magicbyte.engines.protocol import Decoded, Engine, Entries, Entry, Taken
from magicbyte.errors import FormatError, TruncatedError
from magicbyte.findings import Finding
from magicbyte.limits import MIB, Limits
from magicbyte.logdir.embedded_file import EmbeddedFile
from magicbyte.reading.damage import DamageFinder, UnsoundRange
from magicbyte.reading.entry_groups import decode_groups, max_group_bytes
from magicbyte.reading.offset_order import Bounds, OffsetOrder
from magicbyte.reading.resynchronize import EntrySearch
from magicbyte.storage import File

CHUNK = 4 * MIB
"""Bytes that are read at a time; only a larger entry takes more."""

BEHIND_DAMAGE = 256
"""Entries that are scanned after damage, four times as many each time: further damage makes all
entries after it be scanned again."""


@dataclass(frozen=True, slots=True)
class SoundEntries:
    """Entries back to back whose frames and, if asked for, checksums are right."""

    entries: Entries
    buffer: memoryview
    """Bytes that hold them all; empty where only headers were read."""
    origin: int
    """The byte of the file at which *buffer* begins."""
    findings: tuple[Finding, ...] = ()
    """Offsets out of order: the entries are delivered as they stand."""
    decoded: Decoded | None = None
    """Their records, where those were asked for."""


@dataclass
class Walk:
    """A pass over the entries in [start, end) of a file, in which offsets lie within *bounds*."""

    file: File
    _: KW_ONLY
    engine: Engine
    limits: Limits
    bounds: Bounds
    start: int = 0
    end: int = -1
    """-1 is the end of the file."""
    is_last: bool = True
    """Whether an incomplete entry at the end is on its way, not damaged."""

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = self.file.size_bytes
        self._order = OffsetOrder(self.bounds)

    def __iter__(self) -> Iterator[SoundEntries | UnsoundRange]:
        if isinstance(self.file, EmbeddedFile):
            return _with_chunk_findings(self._pieces(), self.file)
        return self._pieces()

    def _pieces(self) -> Iterator[SoundEntries | UnsoundRange]:
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
        self._check_size(entry)
        return entry

    def _check_size(self, entry: Entry) -> None:
        if entry.end > self.end:
            left = self.end - entry.position
            raise TruncatedError(cut_entry(entry.position, left, entry.size_bytes))


def _with_chunk_findings(
    pieces: Iterator[SoundEntries | UnsoundRange], file: EmbeddedFile
) -> Iterator[SoundEntries | UnsoundRange]:
    """Yield *pieces*; the first range in each unreadable chunk of a remote segment says what is wrong."""
    reported: set[int | None] = set()
    for piece in pieces:
        finding = None
        if isinstance(piece, UnsoundRange):
            finding = file.unreadable_chunk(piece.start, piece.end)
        if isinstance(piece, SoundEntries) or finding is None:
            yield piece
            continue
        findings = piece.findings
        if finding.position not in reported:
            reported.add(finding.position)
            finding = replace(finding, position=piece.start, length=piece.length)
            findings = (finding, *findings)
        yield replace(piece, kind="damaged", findings=findings)


@dataclass
class VerifiedWalk(Walk):
    """A pass in which every checksum is verified.

    With wire *columns* the records are decoded at once: what has just been verified is still in
    the processor's cache.
    """

    columns: Sequence[str] | None = None

    def _pieces(self) -> Iterator[SoundEntries | UnsoundRange]:
        buffer, origin = memoryview(b""), self.start
        position, need, most = self.start, self._first_need(), None
        # A scan that verifies has ended at the next damage anyway.
        behind_damage = None if self.columns is None else BEHIND_DAMAGE
        while position < self.end:
            if origin + len(buffer) - position < need:
                length = min(max(need, CHUNK), self.end - position)
                buffer = view = memoryview(b"")  # what was read goes before more comes
                buffer, origin = memoryview(self.file.read_at(position, length)), position
            view = buffer[position - origin :]
            taken = self._taken(view, position)
            if taken is not None:
                if taken.entries:
                    findings = self._order.follow(taken.entries)
                    yield SoundEntries(taken.entries, view, position, findings, taken.decoded)
                position += taken.end
                # What the buffer ends in is read anew, with what follows.
                here = origin + len(buffer) - position
                need = min(here + 1, self.end - position) if taken.is_cut else 1
                if taken.unsound is not None:
                    damage = self._damage.of_entry(taken.unsound, taken.decoded.computed)
                    yield from damage.ranges
                    position, most = damage.resume, behind_damage
                del taken  # rows go before more are made
                continue
            scan = self.engine.scan(
                view,
                origin=position,
                verify=self.columns is None,
                limits=self.limits,
                stop=most,
            )
            wrong = yield from self._sound(scan.entries, view, position)
            unsound, computed = wrong or (scan.unsound, scan.computed)
            position += scan.end
            most = None if most is None or most > 1 << 16 else most * 4
            need = 1
            if unsound is not None:
                damage = self._damage.of_entry(unsound, computed)
                yield from damage.ranges
                position, most = damage.resume, behind_damage
            elif scan.stopped_by is not None and scan.stopped_by.code == "incomplete-entry":
                # The buffer ends in this entry: have all of it read, unless the file ends in it.
                here = origin + len(buffer) - position
                need = min(max(here + 1, HEADER_BYTES), self.end - position)
                try:
                    entry = read_entry(buffer, position - origin, origin=origin)
                    self._check_size(entry)
                    is_large = CHUNK < entry.size_bytes <= self.limits.max_entry_bytes
                    wrong_crc = self._damage.wrong_checksum(entry) if is_large else None
                    need = entry.size_bytes
                    if wrong_crc is not None or need > self.limits.max_entry_bytes:
                        damage = self._damage.of_entry(entry, wrong_crc)
                        yield from damage.ranges
                        position, most, need = damage.resume, behind_damage, 1
                except FormatError as error:
                    if here < self.end - position and here < HEADER_BYTES:
                        continue
                    damage = self._damage.at(position, error.finding)
                    yield from damage.ranges
                    position, most, need = damage.resume, behind_damage, 1
            elif scan.stopped_by is not None:
                damage = self._damage.at(position, scan.stopped_by)
                yield from damage.ranges
                position, most = damage.resume, behind_damage

    def _taken(self, view: memoryview, origin: int) -> Taken | None:
        """Return what *view* begins with, with its records, where that can be had at once."""
        if self.columns is None:
            return None
        return self.engine.take(
            view,
            self.columns,
            origin=origin,
            limits=self.limits,
            most_bytes=max_group_bytes(self.columns),
        )

    def _sound(
        self, entries: Entries, buffer: memoryview, origin: int
    ) -> Generator[SoundEntries, None, tuple[Entry, int] | None]:
        """Yield *entries*, with their records where those are wanted.

        Returns the first of them whose checksum is wrong, and what it should be, where decoding
        finds that.
        """
        if self.columns is None:
            if entries:
                yield SoundEntries(entries, buffer, origin, self._order.follow(entries))
            return None
        count = 0
        for run, decoded in decode_groups(
            self.engine,
            buffer,
            entries,
            self.columns,
            origin=origin,
            limits=self.limits,
            verify=True,
        ):
            if run:
                yield SoundEntries(run, buffer, origin, self._order.follow(run), decoded)
            count += len(run)
            if decoded.computed is not None:
                return entries[count], decoded.computed
            del decoded  # rows go before more are made
        return None

    def _first_need(self) -> int:
        """Return the size of the first entry if it is larger than a chunk: then it is read once."""
        if self.end - self.start <= CHUNK:
            return 1
        entry = self._search.header_at(self.start)
        is_large = entry is not None and CHUNK < entry.size_bytes <= self.limits.max_entry_bytes
        if entry is not None and is_large and self._search.is_plausible(entry.end):
            return entry.size_bytes
        return 1
