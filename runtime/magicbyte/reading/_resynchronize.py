"""Searches for the next sound entry after damage, in time linear in the bytes passed."""

from collections.abc import Iterator

from magicbyte.engines.entry import (
    HEADER_BYTES,
    LEAST_SIZE,
    LEAST_SIZES,
    OVERHEAD,
    Entry,
    read_entry,
    stored_size,
)
from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.logdir.entry_candidates import (
    CHECKS_PER_BYTE,
    FREE_CHECKS,
    MAX_STEP,
    RunningChecksum,
    candidate_positions,
)
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.reading._offset_order import OffsetOrder
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader

WRAPPER_SPAN = 1 << 20
"""Messages that a wrapper message may be expected to hold."""


class EntrySearch:
    """Search [start, end) of *file* for entries that the damage before them has not altered.

    With *is_last*, an incomplete entry at the end is still being written, not damaged. Offsets must
    fit *order*, which the entries before the damage have defined.
    """

    def __init__(
        self,
        file: File,
        start: int,
        end: int,
        *,
        is_last: bool,
        max_entry_bytes: int,
        order: OffsetOrder,
    ) -> None:
        self.file, self.start, self.end = file, start, end
        self.is_last = is_last
        self._max_entry_bytes = max_entry_bytes
        self._order = order
        self._zeros_begin: int | None = None
        self._barren_from: int | None = None
        """Position from which to the end no sound entry begins."""
        self._num_passed = 0
        """Bytes passed by searches so far."""
        self._num_checked = 0
        """Bytes of candidates whose checksums were wrong."""
        self._num_hunted = 0
        """Bytes whose checksums were computed in vain for a true end."""

    # Positions

    def zeros_begin(self) -> int:
        """Return the position of the first of the zeros at the file's end; the end if there are none."""
        if self._zeros_begin is None:
            position = self.end
            while position > self.start:
                step = min(MAX_STEP, position - self.start)
                length = len(self.file.read_at(position - step, step).rstrip(b"\0"))
                position -= step - length
                if length:
                    break
            self._zeros_begin = position
        return self._zeros_begin

    def header_at(self, position: int) -> Entry | None:
        """Return the header at *position*; None if the bytes there are no valid header."""
        data = self.file.read_at(position, min(HEADER_BYTES, self.end - position))
        try:
            return read_entry(data, 0, origin=position)
        except FormatError:
            return None

    def is_plausible(self, position: int) -> bool:
        """Return whether a whole entry's frame, the file's end or its final zeros are at *position*."""
        if position >= self.end:
            return position == self.end
        data = self.file.read_at(position, min(EntryHeader.SIZE, self.end - position))
        if not any(data) and self.is_last and self.zeros_begin() <= position:
            return True
        if len(data) < EntryHeader.SIZE:
            return False
        header = EntryHeader.unpack_from(data)
        return self._is_well_formed(header) and position + OVERHEAD + header.size <= self.end

    def _is_unreadable(self, position: int) -> bool:
        """Return whether an entry may begin at *position*, since its header cannot be read."""
        unreadable = self.file.unreadable
        return unreadable is not None and bool(
            unreadable.between(position, position + EntryHeader.SIZE)
        )

    def is_cut_tail(self, position: int) -> bool:
        """Return whether the log may end in an incomplete entry that begins at *position*."""
        data = self.file.read_at(position, min(EntryHeader.SIZE, self.end - position))
        return self.is_last and self.is_cut_entry(position, data)

    def is_cut_entry(self, position: int, data: bytes) -> bool:
        """Return whether *data*, the bytes at *position*, begin an entry that the file's end cuts off."""
        if len(data) < OVERHEAD:
            return True
        size = stored_size(data, 0)
        if len(data) < EntryHeader.SIZE:
            return size >= LEAST_SIZE
        magic = EntryHeader.unpack_from(data).magic
        is_known = magic in LEAST_SIZES and size >= LEAST_SIZES[magic]
        return is_known and position + OVERHEAD + size > self.end

    def _is_well_formed(self, header: EntryHeader) -> bool:
        """Return whether *header* has a known magic, a size that holds it and a fitting offset."""
        floor, ceiling = self._order.confirmed_floor, self._order.ceiling
        return (
            header.magic in LEAST_SIZES
            and header.size >= LEAST_SIZES[header.magic]
            and (floor is None or header.offset > floor)
            and (ceiling is None or header.offset < ceiling)
        )

    def is_well_placed(self, entry: Entry) -> bool:
        """Return whether *entry* ends in the file, and its offset fits those before the damage."""
        floor, ceiling = self._order.confirmed_floor, self._order.ceiling
        return (
            entry.end <= self.end
            and (floor is None or entry.first_offset > floor)
            and (ceiling is None or entry.first_offset < ceiling)
        )

    def is_next(self, entry: Entry) -> bool:
        """Return whether *entry* ends in the file, and its offset fits all entries before it."""
        floor = self._order.floor
        return (floor is None or entry.first_offset > floor) and self.is_well_placed(entry)

    def claim(self, position: int, data: bytes) -> Entry | None:
        """Return the header in *data*, the bytes at *position*; None if it cannot be the next entry's."""
        try:
            claim = read_entry(data, 0, origin=position)
        except FormatError:
            return None
        if not self._is_well_formed(EntryHeader.unpack_from(data)):
            return None
        floor = self._order.confirmed_floor
        if floor is None:
            return claim
        if claim.end <= self.end:
            is_next = claim.last_offset - floor <= SEGMENT_SPAN
        elif claim.base_offset is None:
            is_next = claim.last_offset - floor <= WRAPPER_SPAN
        else:
            # Nothing confirms a size that leads past the end; noise does not go on in order.
            is_next = claim.base_offset == floor + 1
        return claim if is_next else None

    # Searches

    def is_barren(self, position: int) -> bool:
        """Return whether a search has found that no sound entry begins after *position*."""
        return self._barren_from is not None and position >= self._barren_from

    def next_entry(self, position: int, claim: Entry | None, findings: list[Finding]) -> int | None:
        """Return where the next sound entry begins after *position*; None where there is none.

        *claim* is the header at *position* if it could be one: entries after it have higher
        offsets, and candidates with lower ones may be part of its payload. *findings* gets a
        finding about candidates that were not checked.
        """
        if self.is_barren(position):
            return None
        entry_position = self._first_sound(position, claim, findings)
        if entry_position is None and claim is not None and claim.end <= self.end:
            claim = None
            entry_position = self._first_sound(position, None, findings)
        if entry_position is None and claim is None:
            self._barren_from = position
        return entry_position

    def _first_sound(
        self, position: int, claim: Entry | None, findings: list[Finding]
    ) -> int | None:
        """Return where the first entry with a right checksum begins after *position*.

        Entries after a *claim* have higher offsets. Where the file's end cuts the claim off, a
        single entry may be part of its payload: another sound one, or the end, must follow it.
        """
        begin, num_passed_over = position + 1, 0
        floor = self._order.confirmed_floor
        if claim is not None:
            floor = claim.last_offset if floor is None else max(floor, claim.last_offset)
        is_cut = claim is not None and claim.end > self.end
        sound = before_tail = None
        for candidate in self._candidates(begin, self.end, floor):
            entry = self.header_at(candidate)
            if entry is None:
                continue
            # Offsets that continue without a gap exclude an entry around this one.
            is_next = not is_cut and floor is not None and entry.base_offset == floor + 1
            is_tail = not (
                is_next or self.is_plausible(entry.end) or self._is_unreadable(entry.end)
            )
            if is_tail and (before_tail is not None or not self.is_cut_tail(entry.end)):
                continue
            allowed = CHECKS_PER_BYTE * (self._num_passed + candidate - begin) + FREE_CHECKS
            if self._num_checked + entry.size_bytes > allowed:
                num_passed_over += 1
                continue
            if not RunningChecksum(self.file, entry).is_right(entry.end):
                self._num_checked += entry.size_bytes
            elif is_tail:
                # The log may end in an incomplete entry after it: accepted if nothing better follows.
                before_tail = candidate
            elif not is_cut or self._leads_on(entry):
                sound = candidate
                break
        if sound is None:
            sound = before_tail
        self._num_passed += (self.end if sound is None else sound) - begin
        if num_passed_over:
            findings.append(
                Finding(
                    code="candidate-passed-over",
                    message=f"{num_passed_over} candidates were too large to check "
                    "for the bytes passed",
                    position=position,
                    found=str(num_passed_over),
                )
            )
        return sound

    def _candidates(self, begin: int, stop: int, floor: int | None) -> Iterator[int]:
        """Return the positions in [begin, stop) at which an entry with an offset above *floor* may begin.

        Its offset is below the ceiling, and fits into one segment with *floor*.
        """
        ceilings = [] if self._order.ceiling is None else [self._order.ceiling]
        if floor is not None:
            ceilings.append(floor + SEGMENT_SPAN)
        return candidate_positions(
            self.file,
            begin,
            stop,
            end=self.end,
            max_entry_bytes=self._max_entry_bytes,
            floor=floor,
            ceiling=min(ceilings, default=None),
        )

    def _leads_on(self, entry: Entry) -> bool:
        """Return whether the file's end, its zeros or another sound entry follow *entry*."""
        if entry.end >= self.end or self.zeros_begin() <= entry.end:
            return True
        if self._is_unreadable(entry.end):
            return True
        following = self.header_at(entry.end)
        if following is None:
            return False
        self._num_checked += following.size_bytes
        return RunningChecksum(self.file, following).is_right(following.end)

    def true_end(self, entry: Entry, own_end: int | None) -> int | None:
        """Return where *entry* really ends if only its size field was altered; else None.

        Then its checksum is right over its true bytes, and an entry begins after them. *own_end*
        is where the stated size leads, if a plausible frame is there. Work is bounded like that
        of a search.
        """
        if own_end is not None and own_end < self.end:
            following = self.header_at(own_end)
            if following is not None and following.first_offset == entry.last_offset + 1:
                return None
        least = entry.position + OVERHEAD + LEAST_SIZES[entry.magic]
        allowed = CHECKS_PER_BYTE * self._num_passed + FREE_CHECKS - self._num_hunted
        stop = min(self.end if own_end is None else own_end, entry.position + max(allowed, 0))
        checksum, reached = RunningChecksum(self.file, entry), entry.position
        for candidate in self._candidates(least, stop, entry.last_offset):
            if checksum.is_right(candidate):
                return candidate
            reached = candidate
        self._num_hunted += reached - entry.position
        return None

    def sound_across(self, entry: Entry, own_end: int) -> int | None:
        """Return the position of a sound entry that begins inside *entry* and ends after it; None without one.

        If bytes of *entry* were lost, the next entry begins before *own_end*, where the stated size leads,
        and a plausible frame is there only by chance: it does not have the next offset. Work is bounded like
        that of a search.
        """
        following = self.header_at(own_end) if own_end < self.end else None
        if following is None or following.first_offset == entry.last_offset + 1:
            return None
        begin = entry.position + 1
        for candidate in self._candidates(begin, own_end, self._order.confirmed_floor):
            crossing = self.header_at(candidate)
            if crossing is None or crossing.end <= own_end:
                continue
            allowed = CHECKS_PER_BYTE * (self._num_passed + candidate - begin) + FREE_CHECKS
            if self._num_checked + crossing.size_bytes > allowed:
                return None
            if RunningChecksum(self.file, crossing).is_right(crossing.end):
                return candidate
            self._num_checked += crossing.size_bytes
        return None
