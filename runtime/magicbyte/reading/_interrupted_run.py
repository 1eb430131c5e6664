"""Runs of entries with many damaged ones: the sound entries between those are read together.

To read each run of a few sound entries by itself takes much longer than to read its records.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter

import numpy as np

from magicbyte import checksum
from magicbyte.engines.protocol import Chunk, Decoded, Engine, Entries
from magicbyte.limits import Limits
from magicbyte.logdir.embedded_file import EmbeddedFile
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._resynchronize import EntrySearch
from magicbyte.storage import File
from magicbyte.tables.arrays import Mask, number_array
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_formats.wire import MessageHeader, RecordBatchHeader

MAX_ENTRIES = 1 << 12
"""Entries of a run, which are in memory together."""

MIN_ENTRIES = 16

MAX_SOUND_ENTRIES = 512
"""Sound entries between two with wrong checksums up to which reading them together is faster."""

MAX_BYTES = 2 << 20
"""Bytes of the first planned ranges of a run, and of the entries between them."""

MIN_PLANNED_RANGES = 4
"""Planned ranges of a run: for fewer, reading the entries together is no faster."""

MAX_RANGES = 1 << 12
"""Planned ranges of a run, whose findings are in memory together."""

_START = attrgetter("start")


@dataclass(slots=True, eq=False)
class InterruptedRun:
    """Sound entries of *chunk*, with damaged ranges between them: all are back to back."""

    chunk: Chunk
    sound: Entries
    ranges: Sequence[UnsoundRange]
    """The damaged ranges."""
    end: int
    """Position after the last entry or range."""
    part_starts: list[int] = field(init=False)
    """Indices of the sound entries that follow a damaged range, and of the first."""

    def __post_init__(self) -> None:
        positions = self.sound.column("position")
        ends = positions + self.sound.column("size_bytes")
        later = np.flatnonzero(positions[1:] != ends[:-1]) + 1
        self.part_starts = [0, *later.tolist()] if len(self.sound) else []

    def parts(self) -> Iterator[tuple[Sequence[UnsoundRange], Entries]]:
        """Yield consecutive damaged ranges, and the sound entries that follow; one of both may be missing."""
        positions = self.sound.column("position")
        num_before = 0
        for begin, end in pairwise([*self.part_starts, len(self.sound)]):
            num_ranges = bisect_left(self.ranges, int(positions[begin]), key=_START)
            yield self.ranges[num_before:num_ranges], self.sound[begin:end]
            num_before = num_ranges
        if num_before < len(self.ranges):
            yield self.ranges[num_before:], self.sound[:0]

    def sound_bytes(self) -> bytes:
        """Return a copy of the bytes of the sound entries."""
        if not self.part_starts:
            return b""
        begins = self.sound.column("position") - self.chunk.position
        ends = begins + self.sound.column("size_bytes")
        lasts = [*(start - 1 for start in self.part_starts[1:]), len(ends) - 1]
        slices = zip(begins[self.part_starts].tolist(), ends[lasts].tolist(), strict=True)
        data = self.chunk.data
        return b"".join([data[begin:end] for begin, end in slices])

    def decode(
        self, engine: Engine, columns: Sequence[str], *, limits: Limits, max_bytes: int
    ) -> Iterator[Decoded]:
        """Yield the sound entries, with the wire *columns* of their records."""
        sound, num_decoded = Chunk(memoryview(self.sound_bytes()), 0), 0
        while num_decoded < len(self.sound):
            decoded = engine.decode(
                sound,
                columns,
                limits=limits,
                max_bytes=max_bytes,
                verify=False,
                max_entries=len(self.sound) - num_decoded,
            )
            count = len(decoded.entries)
            assert count
            yield _at_their_positions(decoded, self.sound[num_decoded : num_decoded + count])
            sound, num_decoded = sound.after(decoded.end), num_decoded + count
            del decoded  # frees the rows before more are decoded


def interrupted_run(
    engine: Engine, chunk: Chunk, search: EntrySearch, *, limits: Limits
) -> InterruptedRun | None:
    """Return the run of entries that *chunk* begins with, or None if it is short.

    The first entry has a wrong checksum. The offset of each entry is followed by the first offset of the
    next entry, which confirms its size. So damage to it ends where it ends, as `DamageFinder.at` finds, and
    no offset leaves the order.
    """
    entries = engine.scan(chunk, verify=False, limits=limits, max_entries=MAX_ENTRIES).entries
    if len(entries) <= MIN_ENTRIES or not search.is_next(entries[0]):
        return None
    is_batch = entries.column("magic") == 2
    firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
    is_next = (firsts[1:] == lasts[:-1] + 1) & (lasts[:-1] >= firsts[:-1])
    is_next &= is_batch[1:] == is_batch[0]
    count = len(is_next) if is_next.all() else int(np.argmin(is_next))
    if count < MIN_ENTRIES or not search.is_well_placed(entries[count]):
        return None
    entries = entries[:count]
    function = checksum.crc32c if is_batch[0] else checksum.crc32
    start = (RecordBatchHeader if is_batch[0] else MessageHeader).CHECKSUM.start
    begins = entries.column("position") - chunk.position
    ends = begins + entries.column("size_bytes")
    computed = np.array(
        [
            function(chunk.data[begin:end])
            for begin, end in zip((begins + start).tolist(), ends.tolist(), strict=True)
        ],
        np.int64,
    )
    is_wrong: Mask = computed != entries.column("crc")
    wrong = np.flatnonzero(is_wrong)
    ranges = [
        UnsoundRange(entry.position, entry.end, "damaged", (entry.checksum_mismatch(value),), entry)
        for entry, value in zip(entries.picked(wrong), computed[wrong].tolist(), strict=True)
    ]
    sound = entries.picked(np.flatnonzero(~is_wrong))
    return InterruptedRun(chunk, sound, ranges, chunk.position + int(ends[-1]))


def is_all_readable(file: File) -> bool:
    """Return whether no byte of *file* is known that cannot be read, or be decompressed from its upload."""
    if isinstance(file, EmbeddedFile) and file.damaged_chunks:
        return False
    return file.unreadable is None


def may_join(file: File, planned: Sequence[UnsoundRange]) -> bool:
    """Return whether the first of the *planned* ranges may begin a run with many damaged ones."""
    first = planned[:MIN_PLANNED_RANGES]
    if len(first) < MIN_PLANNED_RANGES or any(unsound.kind != "damaged" for unsound in first):
        return False
    return first[-1].end - first[0].start < MAX_BYTES and is_all_readable(file)


def planned_runs(
    engine: Engine, file: File, planned: Sequence[UnsoundRange], chunk: Chunk, *, limits: Limits
) -> Iterator[InterruptedRun]:
    """Yield the runs that *chunk* of *file* begins with, as does the first of the *planned* ranges."""
    number = 0
    while may_join(file, planned[number : number + MIN_PLANNED_RANGES]):
        ranges = planned[number : number + MAX_RANGES]
        run = planned_run(engine, chunk, ranges, limits=limits)
        if run is None:
            return
        yield run
        chunk, number = chunk.after(run.end - chunk.position), number + len(run.ranges)


def planned_run(
    engine: Engine, chunk: Chunk, planned: Sequence[UnsoundRange], *, limits: Limits
) -> InterruptedRun | None:
    """Return the run of entries and damage that *chunk* begins with; a plan knows the damage.

    *planned* are the ranges without a sound entry from the beginning of the chunk on. The run ends with the
    last one before which all bytes are sound entries. Returns None if the run has few of them.
    """
    ranges = _damage_in(chunk, planned)
    if len(ranges) < MIN_PLANNED_RANGES:
        return None
    stops = np.array([unsound.start for unsound in ranges], np.int64) - chunk.position
    starts = np.array([chunk.position, *(unsound.end for unsound in ranges[:-1])], np.int64)
    starts -= chunk.position
    # The bytes between the ranges, put together, hold sound entries and nothing else.
    joined = b"".join(
        [
            chunk.data[start:stop]
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        ]
    )
    joined_stops = np.cumsum(stops - starts)
    scan = engine.scan(Chunk(memoryview(joined), 0), verify=True, limits=limits)
    positions = scan.entries.column("position")
    ends = positions + scan.entries.column("size_bytes")
    is_whole = np.isin(joined_stops, ends) | (joined_stops == 0)
    num_ranges = len(ranges) if is_whole.all() else int(np.argmin(is_whole))
    if num_ranges < MIN_PLANNED_RANGES:
        return None
    num_entries = int(np.searchsorted(ends, joined_stops[num_ranges - 1], "right"))
    positions = positions[:num_entries]
    shifts = chunk.position + stops - joined_stops
    shifts = shifts[np.searchsorted(joined_stops, positions, "right")]
    sound = scan.entries[:num_entries].moved(positions + shifts)
    return InterruptedRun(chunk, sound, ranges[:num_ranges], ranges[num_ranges - 1].end)


def _damage_in(chunk: Chunk, planned: Sequence[UnsoundRange]) -> Sequence[UnsoundRange]:
    """Return the first of the *planned* ranges, up to one that is no damage or not in *chunk*."""
    end = chunk.position + len(chunk.data)
    for number, unsound in enumerate(planned):
        if unsound.kind != "damaged" or unsound.end > end:
            return planned[:number]
    return planned


def _at_their_positions(decoded: Decoded, entries: Entries) -> Decoded:
    """Return *decoded*, which was decoded from a copy, with the *entries* at their positions in the file."""
    positions = entries.column("position")
    for number, result in decoded.results.items():
        position = int(positions[number])
        result.findings = tuple(replace(found, position=position) for found in result.findings)
    rows = decoded.rows
    if "position" in rows.schema.names:
        index = rows.schema.get_field_index("position")
        values = number_array(WIRE_TYPES["position"], np.repeat(positions, decoded.num_rows))
        rows = rows.set_column(index, rows.schema.field(index), values)
    return replace(decoded, entries=entries, rows=rows)
