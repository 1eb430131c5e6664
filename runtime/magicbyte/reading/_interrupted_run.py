"""Runs of entries with many wrong checksums: the sound entries between those are decoded together.

To decode each run of a few sound entries by itself takes much longer than to decode its records.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from magicbyte import checksum
from magicbyte.engines.protocol import Chunk, Decoded, Engine, Entries
from magicbyte.limits import Limits
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._resynchronize import EntrySearch
from magicbyte.tables.arrays import Indices, Mask, number_array
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_formats.wire import MessageHeader, RecordBatchHeader

MAX_ENTRIES = 1 << 12
"""Entries of a run. Their ranges come before their records."""

MIN_ENTRIES = 16

MAX_SOUND_ENTRIES = 64
"""Sound entries between two with wrong checksums up to which decoding them together is faster."""


@dataclass(slots=True, eq=False)
class InterruptedRun:
    """Entries back to back from the beginning of *chunk*, some with wrong checksums."""

    chunk: Chunk
    entries: Entries
    is_wrong: Mask
    ranges: list[UnsoundRange]
    """The entries with wrong checksums."""
    end: int
    """Bytes of the chunk up to the end of the last entry."""

    def sound_parts(
        self, engine: Engine, columns: Sequence[str], *, limits: Limits, max_bytes: int
    ) -> Iterator[Decoded]:
        """Yield the sound entries, with the wire *columns* of their records."""
        numbers = np.flatnonzero(~self.is_wrong)
        sound = Chunk(memoryview(self._sound_bytes(numbers)), 0)
        while len(numbers):
            decoded = engine.decode(
                sound,
                columns,
                limits=limits,
                max_bytes=max_bytes,
                verify=False,
                max_entries=len(numbers),
            )
            count = len(decoded.entries)
            assert count
            yield _at_their_positions(decoded, self.entries.picked(numbers[:count]))
            sound, numbers = sound.after(decoded.end), numbers[count:]
            del decoded  # frees the rows before more are decoded

    def _sound_bytes(self, numbers: Indices) -> bytes:
        begins = self.entries.column("position")[numbers] - self.chunk.position
        ends = begins + self.entries.column("size_bytes")[numbers]
        data = self.chunk.data
        return b"".join(
            [data[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        )


def interrupted_run(
    engine: Engine, chunk: Chunk, search: EntrySearch, *, limits: Limits
) -> InterruptedRun | None:
    """Return the run of entries that *chunk* begins with, or None if it is short or all are sound.

    The offset of each entry is followed by the first offset of the next entry, which confirms its size. So
    damage to it ends where it ends, as `DamageFinder.at` finds.
    """
    entries = engine.scan(chunk, verify=False, limits=limits, max_entries=MAX_ENTRIES).entries
    if len(entries) <= MIN_ENTRIES or not search.is_well_placed(entries[0]):
        return None
    is_batch = entries.column("magic") == 2
    is_next = entries.column("first_offset")[1:] == entries.column("last_offset")[:-1] + 1
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
    if not len(wrong):
        return None
    ranges = [
        UnsoundRange(entry.position, entry.end, "damaged", (entry.checksum_mismatch(value),), entry)
        for entry, value in zip(entries.picked(wrong), computed[wrong].tolist(), strict=True)
    ]
    return InterruptedRun(chunk, entries, is_wrong, ranges, int(ends[-1]))


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
