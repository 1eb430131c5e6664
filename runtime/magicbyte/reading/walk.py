"""From a file's bytes to its sound entries and the stretches between them.

Whatever happens, the pieces that come out cover the bytes that went in, each byte once and in
order. What counts as sound here is an entry's frame and checksum; its payload is decoded later
and moves no boundary.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from magicbyte.checksum import crc32, crc32c
from magicbyte.engines.entry import (
    HEADER_BYTES,
    LEAST_SIZE,
    LEAST_SIZES,
    OVERHEAD,
    checksum_of,
    cut_entry,
    read_entry,
    stored_size,
)
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.header_scan import MAX_HEADERS
from magicbyte.engines.protocol import (
    BatchHeaders,
    Decoded,
    Engine,
    Entries,
    Entry,
    Taken,
)
from magicbyte.errors import FormatError, TruncatedError
from magicbyte.findings import Finding
from magicbyte.limits import MIB, Limits
from magicbyte.logdir.embedded_file import InsideFile
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.reading.entry_groups import decode_groups, max_group_bytes
from magicbyte.reading.resynchronize import STEP, candidates
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader, MessageHeader, RecordBatchHeader

CHUNK = 4 * MIB
"""Bytes that are read at a time; only a larger entry takes more."""

BEHIND_DAMAGE = 256
"""Entries that are scanned behind damage, and four times as many each time: where there is more of
it, what lies behind that is scanned again."""

MOST_SMALL, BLOCK = 4096, 1 << 20
"""Bytes of a message that is read along with others, and what is read of those at a time."""

FEW = 8
"""Entries that are looked at one by one: less work than columns of them."""

WRAPPER_SPAN = 1 << 20
"""Messages that a wrapper may be expected to hold."""

FREE_CHECKS = MIB
CHECKS_PER_BYTE = 16
"""Checksum work on candidates that prove false: at most so many bytes per byte passed, and the
free ones per file. What lies beyond is passed over, and the search stays linear."""


@dataclass(frozen=True, slots=True)
class Sound:
    """Entries back to back whose frames and, if asked for, checksums are right."""

    entries: Entries
    buffer: memoryview
    """Bytes that hold them all; empty where headers alone were read."""
    origin: int
    """The byte of the file at which *buffer* begins."""
    findings: tuple[Finding, ...] = ()
    """Offsets out of order: the entries are delivered as they stand."""
    decoded: Decoded | None = None
    """Their records, where those were asked for."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes of the file that hold no sound entry."""

    start: int
    end: int
    kind: str
    """`damaged`, `over_limit` or `tail`."""
    findings: tuple[Finding, ...]
    entry: Entry | None = None
    """The header, where the bytes are framed like an entry."""

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The offsets that a file may hold: above *floor*, below *ceiling*; None is no bound."""

    floor: int | None
    ceiling: int | None


class Walk:
    """A pass over the entries in [start, end) of *file*.

    *is_last* says that an incomplete end is the log's, not damage. Without *verify* headers alone
    are read, and checksums only where a search needs them. With *columns* of the wire the records
    are decoded along: what has just been verified is still in the processor's cache. Headers that
    are *known* are not read again.
    """

    def __init__(
        self,
        file: File,
        *,
        engine: Engine,
        limits: Limits,
        bounds: Bounds,
        start: int = 0,
        end: int | None = None,
        is_last: bool = True,
        verify: bool = True,
        columns: Sequence[str] | None = None,
        known: Sequence[BatchHeaders] = (),
    ) -> None:
        self.file = file
        self.engine = engine
        self.limits = limits
        self.floor = bounds.floor
        """The last sound offset."""
        self._sure = bounds.floor
        """The highest of them that the next entry has confirmed: a damaged offset jumps too."""
        self.ceiling = bounds.ceiling
        self.start = start
        self.end = file.size_bytes if end is None else end
        self.is_last = is_last
        self.verify = verify
        self.columns = columns
        self.known = known
        self._strayed: int | None = None
        self._zeros: int | None = None
        self._barren_from: int | None = None
        """From here on a search has found no sound entry."""
        self._passed = 0
        self._checked = 0
        self._hunted = 0
        self._reported_chunks: set[int | None] = set()
        """Chunks that could not be had, and of which that has been said."""

    def __iter__(self) -> Iterator[Sound | Stretch]:
        pieces = self._verified() if self.verify else self._headers()
        return map(self._explained, pieces) if isinstance(self.file, InsideFile) else pieces

    def _explained(self, piece: Sound | Stretch) -> Sound | Stretch:
        """Return *piece*; of damage that is a chunk of a remote segment with what is wrong with that."""
        if isinstance(piece, Sound) or not isinstance(self.file, InsideFile):
            return piece
        why = self.file.why_unread(piece.start, piece.end)
        if why is None:
            return piece
        piece = replace(piece, kind="damaged")
        if why.position in self._reported_chunks:
            return piece
        self._reported_chunks.add(why.position)
        finding = replace(why, position=piece.start, length=piece.length)
        return replace(piece, findings=(finding, *piece.findings))

    # Sound entries

    def _headers(self) -> Iterator[Sound | Stretch]:
        position = self.start
        while position < self.end:
            parts = (heads.between(position, self.end) for heads in self.known)
            heads = next(filter(len, parts), None)
            heads = heads or self.engine.read_headers(self.file, position, self.end)
            if heads:
                findings = tuple(self._run_in_order(heads))
                yield Sound(heads, memoryview(b""), position, findings)
                position = heads[-1].end
                continue
            head = self.file.read_at(position, min(HEADER_BYTES, self.end - position))
            try:
                entry = read_entry(head, 0, origin=position)
                self._judge_size(entry)
            except FormatError as error:
                yield from self._damaged(position, error.finding, None)
                position = self._resume
                continue
            entries = self._messages(entry) or self._large(entry)
            findings = tuple(self._run_in_order(entries))
            yield Sound(entries, memoryview(b""), position, findings)
            position = entries[-1].end

    def _messages(self, first: Entry) -> Entries | None:
        """Return messages from *first* on that are read as they lie; None where that is no use.

        Of small ones there are many: to read all of them takes less than to read each header.
        """
        if first.magic == 2 or first.size_bytes > MOST_SMALL:
            return None
        at = first.position
        view = memoryview(self.file.read_at(at, min(BLOCK, self.end - at)))
        return self.engine.scan(view, origin=at, verify=False, limits=self.limits).entries

    def _large(self, first: Entry) -> Entries:
        """Return *first*, and the large messages behind it: to look at many takes little more than at one.

        Ends in front of what is none, which is for who can say why.
        """
        found = [first]
        with suppress(FormatError):
            while first.magic < 2 and len(found) < MAX_HEADERS and (at := found[-1].end) < self.end:
                head = self.file.read_at(at, min(HEADER_BYTES, self.end - at))
                entry = read_entry(head, 0, origin=at)
                self._judge_size(entry)
                if entry.magic == 2 or entry.size_bytes <= MOST_SMALL:
                    break
                found.append(entry)
        return Entries(found)

    def _verified(self) -> Iterator[Sound | Stretch]:
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
                    findings = tuple(self._run_in_order(taken.entries))
                    yield Sound(taken.entries, view, position, findings, taken.decoded)
                position += taken.end
                # What the buffer ends in is read anew, with what follows.
                here = origin + len(buffer) - position
                need = min(here + 1, self.end - position) if taken.is_cut else 1
                if taken.unsound is not None:
                    yield from self._bad_entry(taken.unsound, taken.decoded.computed)
                    position, most = self._resume, behind_damage
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
                yield from self._bad_entry(unsound, computed)
                position, most = self._resume, behind_damage
            elif scan.stopped_by is not None and scan.stopped_by.code == "incomplete-entry":
                # The buffer ends in this entry: have all of it read, unless the file ends in it.
                here = origin + len(buffer) - position
                need = min(max(here + 1, HEADER_BYTES), self.end - position)
                try:
                    entry = read_entry(buffer, position - origin, origin=origin)
                    self._judge_size(entry)
                    wrong_crc = self._crc_if_wrong(entry)
                    need = entry.size_bytes
                    if wrong_crc is not None or need > self.limits.max_entry_bytes:
                        yield from self._bad_entry(entry, wrong_crc)
                        position, most, need = self._resume, behind_damage, 1
                except FormatError as error:
                    if here < self.end - position and here < HEADER_BYTES:
                        continue
                    yield from self._damaged(position, error.finding, None)
                    position, most, need = self._resume, behind_damage, 1
            elif scan.stopped_by is not None:
                yield from self._damaged(position, scan.stopped_by, None)
                position, most = self._resume, behind_damage

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
    ) -> Generator[Sound, None, tuple[Entry, int] | None]:
        """Yield *entries*, with their records where those are wanted.

        Returns the first of them whose checksum is wrong, and what it should be, where decoding
        finds that.
        """
        if self.columns is None:
            if entries:
                yield Sound(entries, buffer, origin, tuple(self._run_in_order(entries)))
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
                yield Sound(run, buffer, origin, tuple(self._run_in_order(run)), decoded)
            count += len(run)
            if decoded.computed is not None:
                return entries[count], decoded.computed
            del decoded  # rows go before more are made
        return None

    def _first_need(self) -> int:
        """Return what the first entry takes: one that is larger than a chunk is read once."""
        entry = self._entry_at(self.start) if self.start < self.end else None
        is_large = entry is not None and CHUNK < entry.size_bytes <= self.limits.max_entry_bytes
        return entry.size_bytes if entry and is_large and self._is_plausible(entry.end) else 1

    def _crc_if_wrong(self, entry: Entry) -> int | None:
        """Return the checksum of a large *entry* behind which none follows, where that is wrong.

        A damaged size leads anywhere, and what it leads to is not worth its memory. Raises FormatError
        where another size makes the checksum right, before all that this one claims is read.
        """
        if not CHUNK < entry.size_bytes <= self.limits.max_entry_bytes:
            return None
        if self._is_plausible(entry.end):
            return None
        true_end = self._true_end(entry, None)
        if true_end is not None:
            raise FormatError(_wrong_size(entry, true_end))
        prefix = _Prefix(self.file, entry)
        return None if prefix.is_whole(entry.end) else prefix.value

    def _judge_size(self, entry: Entry) -> None:
        if entry.end > self.end:
            left = self.end - entry.position
            raise TruncatedError(cut_entry(entry.position, left, entry.size_bytes))

    def _run_in_order(self, entries: Entries) -> Iterator[Finding]:
        """Follow the offsets of all *entries*: of runs at once, of those between one by one."""
        at, offsets = 0, None
        while at < len(entries):
            if len(entries) - at >= FEW:
                offsets = offsets or (entries.column("first_offset"), entries.column("last_offset"))
                at += self._followed(*(column[at:] for column in offsets))
            for entry in entries[at : at + FEW]:
                yield from self._in_order(entry)
            at += FEW

    def _followed(self, first: Numbers, last: Numbers) -> int:
        """Follow offsets up to the first that goes back or is too high; return how many those are."""
        is_wrong = last < first
        is_wrong[1:] |= first[1:] <= last[:-1]
        is_wrong[0] |= self.floor is not None and int(first[0]) <= self.floor
        if self.ceiling is not None:
            is_wrong |= last >= self.ceiling
        count = int(np.argmax(is_wrong)) if is_wrong.any() else len(last)
        if count:
            if count > 1:
                self.floor = int(last[count - 2])
            self._follow(int(first[count - 1]), int(last[count - 1]))
        return count

    def _follow(self, first: int, last: int) -> None:
        """Take the offsets of an entry that is where it is expected."""
        is_next = self.floor is None or first == self.floor + 1
        self._sure = max(first, last) if is_next else self.floor
        self.floor, self._strayed = max(first, last), None

    def _in_order(self, entry: Entry) -> Iterator[Finding]:
        """Follow the offsets, and say where *entry* leaves their order.

        It is delivered as it stands. Two entries in a row that agree with one another set anew
        what is expected behind them.
        """
        first, last = entry.first_offset, entry.last_offset
        if last < first:
            yield entry.finding(
                "offset-out-of-order",
                f"last offset {last} below the base offset {first}",
                field="last_offset_delta",
                found=last,
                expected=f"{first} or more",
            )
        is_low = self.floor is not None and first <= self.floor
        is_high = self.ceiling is not None and last >= self.ceiling
        if not is_low and not is_high:
            self._follow(first, last)
            return
        if self._strayed is not None and first > self._strayed and not is_high:
            self._sure = self._strayed
            self.floor, self._strayed = max(first, last), None
            return
        self._strayed = last
        if is_high:
            yield entry.finding(
                "offset-outside-segment",
                f"offset {last} in a segment that ends below {self.ceiling}",
                field="base_offset",
                found=last,
                expected=f"below {self.ceiling}",
            )
        else:
            yield entry.finding(
                "offset-out-of-order",
                f"offset {first} behind offset {self.floor}",
                field="base_offset",
                found=first,
                expected=f"above {self.floor}",
            )

    # Everything else

    def _bad_entry(self, entry: Entry, computed: int | None) -> Iterator[Stretch]:
        """Give up *entry*, framed but too large or with a wrong checksum."""
        if entry.size_bytes > self.limits.max_entry_bytes:
            if self._is_plausible(entry.end):
                self._resume = entry.end
                finding = entry.over_limit(self.limits)
                yield Stretch(entry.position, entry.end, "over_limit", (finding,), entry)
                return
            size = entry.size_bytes - OVERHEAD
            finding = entry.finding(
                "bad-size", f"size field {size} leads to no entry", field="size", found=size
            )
            yield from self._damaged(entry.position, finding, None)
            return
        assert computed is not None
        yield from self._damaged(entry.position, entry.checksum_mismatch(computed), entry)

    def _damaged(self, position: int, finding: Finding, entry: Entry | None) -> Iterator[Stretch]:
        """Give up what begins at *position* because of *finding*, and find where to go on.

        Leaves that place in ``_resume``: where the entry's own size leads, if a plausible frame
        or the file's end is there, else the next entry that a search finds.
        """
        head = self.file.read_at(position, min(HEADER_BYTES, self.end - position))
        own_end = offset = None
        if len(head) >= EntryHeader.SIZE:
            header = EntryHeader.unpack_from(head)
            offset = header.offset
            if header.size >= LEAST_SIZE and position + OVERHEAD + header.size <= self.end:
                own_end = position + OVERHEAD + header.size
        extra: list[Finding] = []
        resume: int | None = None
        true_end: int | None = None
        claim = entry
        if own_end is not None and self._is_plausible(own_end):
            resume = own_end
            if entry is not None:
                true_end = self._true_end(entry, own_end)
        elif any(head) or self._zeros_begin() > position:
            claim = self._claim(position, head)
            if claim is not None and not self._is_barren(position):
                true_end = self._true_end(claim, None)
            if true_end is None:
                resume = self._search(position, claim, extra)
            if resume is None and own_end is not None:
                # Nothing sound is left; the next frame says for itself what is wrong with it.
                resume = own_end if claim is not None or self._is_cut_tail(own_end) else None
        if claim is not None and true_end is not None:
            resume = true_end
            if finding.code != "incomplete-entry":  # which is about the size already
                finding = _wrong_size(claim, true_end)
        found = resume is not None
        if resume is None:
            resume = self.end
        self._resume = resume
        finding = replace(finding, position=position, length=resume - position, base_offset=offset)
        if found:
            if resume != own_end:
                extra.append(
                    Finding(
                        code="found-by-search",
                        message=f"reading goes on here, {resume - position} bytes behind the damage",
                        position=resume,
                    )
                )
                entry = None
            yield Stretch(position, resume, "damaged", (finding, *extra), entry)
            return
        yield from self._end_of_file(position, head, finding, extra)

    def _end_of_file(
        self, position: int, head: bytes, finding: Finding, extra: list[Finding]
    ) -> Iterator[Stretch]:
        """Say what the bytes from *position* to the end are, with no sound entry in them."""
        length = self.end - position
        zeros = max(position, self._zeros_begin())
        if zeros == position:
            code = "zero-tail" if self.is_last else "zeros"
            message = f"{length} zeros to the end of the file"
            kind = "tail" if self.is_last else "damaged"
            yield Stretch(
                position,
                self.end,
                kind,
                (Finding(code=code, message=message, position=position, length=length), *extra),
            )
            return
        if self.is_last and self._looks_cut(position, head):
            message = f"the log ends inside an entry: {finding.message}"
            tail = Finding(
                code="incomplete-tail",
                message=message,
                position=position,
                length=length,
                base_offset=finding.base_offset,
                found=str(length),
                expected=finding.expected,
            )
            yield Stretch(position, self.end, "tail", (tail, *extra))
            return
        # Damage, and behind it perhaps the zeros of a preallocated file.
        stop = zeros if self.is_last and self.end - zeros >= EntryHeader.SIZE else self.end
        damage = replace(finding, length=stop - position)
        yield Stretch(position, stop, "damaged", (damage, *extra))
        if stop < self.end:
            length = self.end - stop
            tail = Finding(
                code="zero-tail",
                message=f"{length} zeros to the end of the file",
                position=stop,
                length=length,
            )
            yield Stretch(stop, self.end, "tail", (tail,))

    def _looks_cut(self, position: int, head: bytes) -> bool:
        """Return whether *head*, the bytes at *position*, begins an entry that the file cuts off."""
        if len(head) < OVERHEAD:
            return True
        size = stored_size(head, 0)
        if len(head) < EntryHeader.SIZE:
            return size >= LEAST_SIZE
        magic = EntryHeader.unpack_from(head).magic
        is_form = magic in LEAST_SIZES and size >= LEAST_SIZES[magic]
        return is_form and position + OVERHEAD + size > self.end

    def _zeros_begin(self) -> int:
        """Return where the zeros begin that the file ends in; its end if it ends otherwise."""
        if self._zeros is None:
            position = self.end
            while position > self.start:
                step = min(STEP, position - self.start)
                kept = len(self.file.read_at(position - step, step).rstrip(b"\0"))
                position -= step - kept
                if kept:
                    break
            self._zeros = position
        return self._zeros

    def _has_right_form(self, header: EntryHeader) -> bool:
        """Return whether *header* has a known magic, a size that holds it, a fitting offset."""
        return (
            header.magic in LEAST_SIZES
            and header.size >= LEAST_SIZES[header.magic]
            and (self._sure is None or header.offset > self._sure)
            and (self.ceiling is None or header.offset < self.ceiling)
        )

    def _is_plausible(self, position: int) -> bool:
        """Return whether a whole entry's frame, the file's end or its final zeros are there."""
        if position >= self.end:
            return position == self.end
        head = self.file.read_at(position, min(EntryHeader.SIZE, self.end - position))
        if not any(head) and self.is_last and self._zeros_begin() <= position:
            return True
        if len(head) < EntryHeader.SIZE:
            return False
        header = EntryHeader.unpack_from(head)
        return self._has_right_form(header) and position + OVERHEAD + header.size <= self.end

    def _is_cut_tail(self, position: int) -> bool:
        """Return whether the log might end in an incomplete entry that begins at *position*."""
        head = self.file.read_at(position, min(EntryHeader.SIZE, self.end - position))
        return self.is_last and self._looks_cut(position, head)

    def _is_barren(self, position: int) -> bool:
        """Return whether it is known that no sound entry lies behind *position*."""
        return self._barren_from is not None and position >= self._barren_from

    def _search(self, position: int, claim: Entry | None, findings: list[Finding]) -> int | None:
        """Return where the next sound entry begins behind *position*.

        If what stands there reads like an entry, a *claim*, perhaps the file's end cuts it off: then
        what follows it has higher offsets, and what has not lies in its payload.
        """
        if self._is_barren(position):
            return None
        found = self._first_sound(position, claim, findings)
        if found is None and claim is not None and claim.end <= self.end:
            claim = None
            found = self._first_sound(position, None, findings)
        if found is None and claim is None:
            self._barren_from = position
        return found

    def _claim(self, position: int, head: bytes) -> Entry | None:
        """Return what *head*, the bytes at *position*, says if it reads like the next entry."""
        try:
            claim = read_entry(head, 0, origin=position)
        except FormatError:
            return None
        if not self._has_right_form(EntryHeader.unpack_from(head)):
            return None
        if self._sure is None:
            return claim
        if claim.end <= self.end:
            is_next = claim.last_offset - self._sure <= SEGMENT_SPAN
        elif claim.base_offset is None:
            is_next = claim.last_offset - self._sure <= WRAPPER_SPAN
        else:
            # Nothing confirms a size that leads past the end; noise does not go on in order.
            is_next = claim.base_offset == self._sure + 1
        return claim if is_next else None

    def _first_sound(
        self, position: int, claim: Entry | None, findings: list[Finding]
    ) -> int | None:
        """Return where the first entry with a right checksum begins behind *position*.

        What follows a *claim* has higher offsets. Where the file's end cuts the claim off, an
        entry alone may lie in its payload: another sound one, or the end, must come behind it.
        """
        begin, passed_over = position + 1, 0
        floor = self._sure
        if claim is not None:
            floor = claim.last_offset if floor is None else max(floor, claim.last_offset)
        is_cut = claim is not None and claim.end > self.end
        found = before_tail = None
        for candidate in self._candidates(begin, self.end, floor):
            entry = self._entry_at(candidate)
            if entry is None:
                continue
            # Offsets that go on without a gap leave no room for an entry around this one.
            is_next = not is_cut and floor is not None and entry.base_offset == floor + 1
            is_tail = not is_next and not self._is_plausible(entry.end)
            if is_tail and (before_tail is not None or not self._is_cut_tail(entry.end)):
                continue
            allowed = CHECKS_PER_BYTE * (self._passed + candidate - begin) + FREE_CHECKS
            if self._checked + entry.size_bytes > allowed:
                passed_over += 1
                continue
            if not _Prefix(self.file, entry).is_whole(entry.end):
                self._checked += entry.size_bytes
            elif is_tail:
                # The log may end in an incomplete entry behind it: if nothing better comes.
                before_tail = candidate
            elif not is_cut or self._leads_on(entry):
                found = candidate
                break
        if found is None:
            found = before_tail
        self._passed += (self.end if found is None else found) - begin
        if passed_over:
            findings.append(
                Finding(
                    code="candidate-passed-over",
                    message=f"{passed_over} candidates were too large to check for the bytes passed",
                    position=position,
                    found=str(passed_over),
                )
            )
        return found

    def _candidates(self, begin: int, stop: int, floor: int | None) -> Iterator[int]:
        ceilings = [] if self.ceiling is None else [self.ceiling]
        if floor is not None:
            ceilings.append(floor + SEGMENT_SPAN)
        yield from candidates(
            self.file,
            begin,
            stop,
            end=self.end,
            floor=floor,
            ceiling=min(ceilings, default=None),
            max_size=self.limits.max_entry_bytes,
        )

    def _entry_at(self, position: int) -> Entry | None:
        """Return the header at *position* if it is one."""
        head = self.file.read_at(position, min(HEADER_BYTES, self.end - position))
        try:
            return read_entry(head, 0, origin=position)
        except FormatError:
            return None

    def _leads_on(self, entry: Entry) -> bool:
        """Return whether the file's end, its zeros or another sound entry lies behind *entry*."""
        if entry.end >= self.end or self._zeros_begin() <= entry.end:
            return True
        following = self._entry_at(entry.end)
        if following is None:
            return False
        self._checked += following.size_bytes
        return _Prefix(self.file, following).is_whole(following.end)

    def _true_end(self, entry: Entry, own_end: int | None) -> int | None:
        """Return where *entry* really ends, if its size field alone was altered.

        Then its checksum is right over its true bytes, and an entry begins behind them. *own_end*
        is where the stated size leads, if a plausible frame is there. Work is bounded like that
        of a search.
        """
        if own_end is not None and own_end < self.end:
            following = self._entry_at(own_end)
            if following is not None and following.first_offset == entry.last_offset + 1:
                return None
        least = entry.position + OVERHEAD + LEAST_SIZES[entry.magic]
        allowed = CHECKS_PER_BYTE * self._passed + FREE_CHECKS - self._hunted
        stop = min(self.end if own_end is None else own_end, entry.position + max(allowed, 0))
        prefix, reached = _Prefix(self.file, entry), entry.position
        found = None
        for candidate in self._candidates(least, stop, entry.last_offset):
            reached = candidate
            if prefix.is_whole(candidate):
                found = candidate
                break
        if found is None:
            self._hunted += reached - entry.position
        return found


def _wrong_size(entry: Entry, true_end: int) -> Finding:
    """Return what is wrong with *entry*, whose checksum is right if it ends at *true_end*."""
    size, true_size = (end - entry.position - OVERHEAD for end in (entry.end, true_end))
    return entry.finding(
        "bad-size",
        f"size field {size} where {true_size} makes the checksum right",
        field="size",
        found=size,
        expected=true_size,
    )


class _Prefix:
    """The checksum of an entry up to ever later places, each byte read once."""

    def __init__(self, file: File, entry: Entry) -> None:
        is_batch = entry.magic == 2
        self._file = file
        self._function = crc32c if is_batch else crc32
        start = (RecordBatchHeader if is_batch else MessageHeader).CHECKSUM.start
        self._position = entry.position + start
        self._stored = entry.crc
        self.value = 0

    def is_whole(self, end: int) -> bool:
        """Return whether the entry's checksum is right if it ends at *end*."""
        while self._position < end:
            step = min(STEP, end - self._position)
            self.value = self._function(self._file.read_at(self._position, step), self.value)
            self._position += step
        return self.value == self._stored


__all__ = ["Bounds", "Sound", "Stretch", "Walk", "checksum_of"]
