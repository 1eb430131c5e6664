"""Damaged and incomplete byte ranges of a segment: their findings, and where reading resumes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from magicbyte.engines.entry import (
    HEADER_BYTES,
    LEAST_SIZE,
    OVERHEAD,
    Entry,
    checksum_of,
    read_entry,
)
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import FormatError
from magicbyte.findings import TAILS, Finding
from magicbyte.limits import Limits
from magicbyte.logdir.embedded_file import EmbeddedFile
from magicbyte.logdir.entry_candidates import RunningChecksum
from magicbyte.reading._resynchronize import EntrySearch
from magicbyte.storage import MASK, UnreadableBytes
from magicbyte_formats.wire import EntryHeader

Piece = TypeVar("Piece")

MAX_WRONG_ENTRIES = 1 << 12
"""Consecutive entries with wrong checksums that are returned together."""


@dataclass(frozen=True, slots=True)
class UnsoundRange:
    """Bytes of the file that hold no sound entry."""

    start: int
    end: int
    kind: str
    """`damaged`, `unreadable`, `over_limit` or `tail`."""
    findings: tuple[Finding, ...]
    """Empty if unreadable bytes divide damage, and its first range has the findings."""
    entry: Entry | None = None
    """The header, where the bytes are framed like an entry."""
    has_unreadable_chunk: bool = False
    """True if a chunk of a remote segment that holds some of the bytes does not decompress."""

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def crc_valid(self) -> bool | None:
        """False if the checksum of the entry is wrong; None if it was not computed.

        It needs all bytes of the entry: some may be unreadable, and an entry above the limit is not read.
        """
        if self.has_unreadable_chunk:
            return None
        is_wrong = any(finding.code == "checksum-mismatch" for finding in self.findings)
        return False if is_wrong else None

    @property
    def has_unreadable_bytes(self) -> bool:
        """True if bytes of the range, or of the damage that it belongs to, cannot be read."""
        if self.kind == "unreadable" or not self.findings:
            return True
        return any(finding.code == "unreadable" for finding in self.findings)


class Damage(NamedTuple):
    """Consecutive ranges that hold no sound entry, and the position at which reading resumes."""

    ranges: list[UnsoundRange]
    resume: int


class DamageFinder:
    """Finds where damage ends; *search* looks for the next sound entry."""

    def __init__(self, search: EntrySearch, limits: Limits) -> None:
        self._search = search
        self._limits = limits

    def of_entry(self, entry: Entry, computed: int | None, chunk: Chunk) -> Damage:
        """Return the damage at *entry*, which is too large, or whose bytes have the checksum *computed*.

        *chunk* has the bytes from the entry on, or some of them.
        """
        if entry.size_bytes <= self._limits.max_entry_bytes:
            assert computed is not None
            if self._search.file.unreadable is None:
                ranges, resume = self._wrong_entries(entry, computed, chunk)
                if ranges:
                    return Damage(ranges, resume)
            return self.at(entry.position, entry.checksum_mismatch(computed), entry)
        if self._search.is_plausible(entry.end):
            findings = (entry.over_limit(self._limits),)
            large = UnsoundRange(entry.position, entry.end, "over_limit", findings, entry)
            return Damage([large], entry.end)
        size = entry.size_bytes - OVERHEAD
        finding = entry.finding(
            "bad-size", f"size field {size} leads to no entry", field="size", found=size
        )
        return self.at(entry.position, finding)

    def _wrong_entries(
        self, entry: Entry, computed: int, chunk: Chunk
    ) -> tuple[list[UnsoundRange], int]:
        """Return the ranges of consecutive entries with wrong checksums, and the position after the last.

        *computed* is the checksum of the first. It ends before an entry that no plausible frame follows, and
        before one whose size is wrong: `at` has to search there. `at` would return the same for each entry,
        but read some headers from the file.
        """
        ranges: list[UnsoundRange] = []
        chunk_end = chunk.position + len(chunk.data)
        while len(ranges) < MAX_WRONG_ENTRIES:
            following = self._following(entry, chunk)
            if following is None:
                break
            is_next = following.first_offset == entry.last_offset + 1
            if not is_next and (
                self._search.true_end(entry, entry.end) is not None
                or self._search.sound_across(entry, entry.end) is not None
            ):
                break
            findings = (entry.checksum_mismatch(computed),)
            ranges.append(UnsoundRange(entry.position, entry.end, "damaged", findings, entry))
            entry = following
            if entry.end > chunk_end or entry.size_bytes > self._limits.max_entry_bytes:
                break
            computed = checksum_of(chunk.data, entry, origin=chunk.position)
            if computed == entry.crc:
                break
        return ranges, entry.position

    def _following(self, entry: Entry, chunk: Chunk) -> Entry | None:
        """Return the header after *entry* if it is plausible there."""
        begin = entry.end - chunk.position
        try:
            following = read_entry(chunk.data, begin, origin=chunk.position)
        except FormatError:
            return None
        return following if self._search.is_well_placed(following) else None

    def at(self, position: int, finding: Finding, entry: Entry | None = None) -> Damage:
        """Return the damage that begins at *position*, which *finding* describes.

        Reading goes on where the size field leads, if a plausible frame or the file's end is
        there, else at the next entry that a search finds. *entry* is the header, where the bytes
        are framed and only the checksum is wrong.
        """
        data = self._search.file.read_at(position, min(HEADER_BYTES, self._search.end - position))
        if self._search.file.unreadable is None:
            return self._at(position, data, finding, entry)
        return self._around_unreadable(position, data, finding, entry)

    def _at(
        self,
        position: int,
        data: bytes,
        finding: Finding,
        entry: Entry | None,
        *,
        skip_to: int | None = None,
    ) -> Damage:
        """Return the damage that begins at *position* with the header *data*.

        The search for another entry begins at byte *skip_to*, by default at the next one.
        """
        search = self._search
        own_end, offset = self._stated(position, data)
        others: list[Finding] = []
        resume = true_end = None
        claim = entry
        if own_end is not None and search.is_plausible(own_end):
            resume = own_end
            if entry is not None:
                true_end = search.true_end(entry, own_end)
                if true_end is None and (begin := search.sound_across(entry, own_end)) is not None:
                    resume = begin
        elif any(data) or search.zeros_begin() > position:
            claim = search.claim(position, data)
            if claim is not None and not search.is_barren(position):
                true_end = search.true_end(claim, None)
            if true_end is None:
                before = position if skip_to is None else skip_to - 1
                resume = search.next_entry(before, claim, others)
            if resume is None and own_end is not None:
                # Nothing sound is left; the next frame gets a finding of its own.
                is_frame = claim is not None or search.is_cut_tail(own_end)
                resume = own_end if is_frame else None
        if claim is not None and true_end is not None:
            resume = true_end
            if finding.code != "incomplete-entry":  # which is about the size already
                finding = _wrong_size(claim, true_end)
        if resume is None:
            length = search.end - position
            finding = replace(finding, position=position, length=length, base_offset=offset)
            ranges = self._to_the_end(position, data, finding, others)
            return Damage(ranges, search.end)
        length = resume - position
        finding = replace(finding, position=position, length=length, base_offset=offset)
        if resume != own_end:
            entry = None
            message = f"reading goes on here, {length} bytes after the damage began"
            others.append(Finding(code="found-by-search", message=message, position=resume))
        findings = (finding, *others)
        return Damage([UnsoundRange(position, resume, "damaged", findings, entry)], resume)

    def _around_unreadable(
        self, position: int, data: bytes, finding: Finding, entry: Entry | None
    ) -> Damage:
        """Return the damage at *position* of a file some of whose bytes cannot be read.

        Other bytes are in their place, so that *finding* may say no more than that.
        """
        search, unreadable = self._search, self._search.file.unreadable
        assert unreadable is not None
        in_header = unreadable.between(position, position + len(data))
        in_entry = in_header
        if not in_header and entry is not None:
            in_entry = unreadable.between(position, min(entry.end, search.end))
        skip_to = None
        if in_entry:
            finding = unreadable.finding(in_entry[0])
        if in_header:
            entry = None
            if in_header[0].start < position + EntryHeader.SIZE:
                data = MASK * len(data)  # a field that was read in part states nothing
            if in_header[0].start == position:
                skip_to = unreadable.between(position, search.end)[0].end
        damage = self._at(position, data, finding, entry, skip_to=skip_to)
        ranges = [part for whole in damage.ranges for part in divided(whole, unreadable)]
        return damage._replace(ranges=ranges)

    def _stated(self, position: int, data: bytes) -> tuple[int | None, int | None]:
        """Return the end position and the offset that the header *data* states; None if unusable."""
        if len(data) < EntryHeader.SIZE:
            return None, None
        header = EntryHeader.unpack_from(data)
        end = position + OVERHEAD + header.size
        is_inside = header.size >= LEAST_SIZE and end <= self._search.end
        return end if is_inside else None, header.offset

    def _to_the_end(
        self, position: int, data: bytes, finding: Finding, others: list[Finding]
    ) -> list[UnsoundRange]:
        """Return the ranges from *position* to the file's end, which hold no sound entry."""
        search, end = self._search, self._search.end
        zeros = max(position, search.zeros_begin())
        if zeros == position:
            code, kind = ("zero-tail", "tail") if search.is_last else ("zeros", "damaged")
            return [UnsoundRange(position, end, kind, (_zeros(code, position, end), *others))]
        if search.is_last and search.is_cut_entry(position, data):
            length = end - position
            tail = Finding(
                code="incomplete-tail",
                message=f"the log ends inside an entry: {finding.message}",
                position=position,
                length=length,
                base_offset=finding.base_offset,
                found=str(length),
                expected=finding.expected,
            )
            return [UnsoundRange(position, end, "tail", (tail, *others))]
        # Damage, perhaps followed by the zeros of a preallocated file.
        stop = zeros if search.is_last and end - zeros >= EntryHeader.SIZE else end
        damage = replace(finding, length=stop - position)
        ranges = [UnsoundRange(position, stop, "damaged", (damage, *others))]
        if stop < end:
            ranges.append(UnsoundRange(stop, end, "tail", (_zeros("zero-tail", stop, end),)))
        return ranges

    def wrong_checksum(self, entry: Entry) -> int | None:
        """Return the computed checksum of a large *entry* if it is wrong and no entry follows; else None.

        It is computed in steps: a damaged size field may state far more bytes than the entry has.
        Raises FormatError where another size makes the checksum right.
        """
        if self._search.is_plausible(entry.end):
            return None
        true_end = self._search.true_end(entry, None)
        if true_end is not None:
            raise FormatError(_wrong_size(entry, true_end))
        checksum = RunningChecksum(self._search.file, entry)
        return None if checksum.is_right(entry.end) else checksum.value


def _wrong_size(entry: Entry, true_end: int) -> Finding:
    """Return the finding that the checksum of *entry* is right if it ends at *true_end*."""
    size, true_size = (end - entry.position - OVERHEAD for end in (entry.end, true_end))
    return entry.finding(
        "bad-size",
        f"size field {size} where {true_size} makes the checksum right",
        field="size",
        found=size,
        expected=true_size,
    )


def _zeros(code: str, position: int, end: int) -> Finding:
    length = end - position
    message = f"{length} zeros to the end of the file"
    return Finding(code=code, message=message, position=position, length=length)


def divided(whole: UnsoundRange, unreadable: UnreadableBytes) -> Iterator[UnsoundRange]:
    """Yield the ranges that *whole* consists of: the bytes that cannot be read, and those between.

    The first range has all findings, and the first unreadable one the header.
    """
    parts = unreadable.between(whole.start, whole.end)
    if not parts:
        yield whole
        return
    unreadable_findings = [unreadable.finding(part) for part in parts]
    for finding in whole.findings:
        if finding.code == "unreadable" and (finding.base_offset or -1) >= 0:
            unreadable_findings[0] = replace(
                unreadable_findings[0], base_offset=finding.base_offset
            )
    is_all = sum(part.end - part.start for part in parts) == whole.length
    own = [
        finding
        for finding in whole.findings
        if finding.code != "unreadable" and not (is_all and finding.code in TAILS)
    ]
    errors = [finding for finding in own if finding.severity == "error"]
    others = [finding for finding in own if finding.severity != "error"]
    findings: tuple[Finding, ...] = (*errors, *unreadable_findings, *others)
    entry, position = whole.entry, whole.start
    kind = "damaged" if whole.kind == "tail" else whole.kind  # only the last range can be a tail
    for part in parts:
        if position < part.start:
            yield UnsoundRange(position, part.start, kind, findings)
            findings = ()
        yield UnsoundRange(part.start, part.end, "unreadable", findings, entry)
        findings, entry, position = (), None, part.end
    if position < whole.end:
        yield UnsoundRange(position, whole.end, whole.kind, ())


def with_chunk_findings(
    pieces: Iterator[Piece | UnsoundRange], embedded_file: EmbeddedFile
) -> Iterator[Piece | UnsoundRange]:
    """Yield *pieces*, with a finding in the first range of each unreadable chunk of a remote segment."""
    reported: set[int | None] = set()
    for piece in pieces:
        finding = None
        if isinstance(piece, UnsoundRange):
            finding = embedded_file.damaged_chunk(piece.start, piece.end)
        if finding is None or not isinstance(piece, UnsoundRange):
            yield piece
            continue
        findings = piece.findings
        if finding.position not in reported:
            reported.add(finding.position)
            finding = replace(finding, position=piece.start, length=piece.length)
            findings = (finding, *findings)
        yield replace(piece, kind="damaged", findings=findings, has_unreadable_chunk=True)


def tail_kind(tail: Sequence[UnsoundRange]) -> str:
    """Return how a segment ends that ends in *tail*: `clean`, `zeros` or `incomplete`."""
    if not tail:
        return "clean"
    is_zeros = tail[-1].findings and tail[-1].findings[0].code == "zero-tail"
    return "zeros" if is_zeros else "incomplete"
