"""Entries of one format, decoded together."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import buffers
from magicbyte.engines.columnar.arrow_batch import record_batch
from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.descriptor_entries import DescriptorEntries
from magicbyte.engines.columnar.formats import Format
from magicbyte.engines.columnar.kernel_loader import INFLATED, decoder, kernel
from magicbyte.engines.columnar.layout import layout
from magicbyte.engines.columnar.output import MOST_BYTES, Output
from magicbyte.engines.columnar.payload_arena import GROUP_BYTES, Arena
from magicbyte.engines.columnar.thread_buffers import descriptors
from magicbyte.engines.control_records import ControlReader, Said
from magicbyte.engines.entry import checksum_of
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import DecodedEntry, Engine, Entries, Entry
from magicbyte.limits import Limits
from magicbyte.tables.arrays import Mask
from magicbyte_kernels.kernel_interface import BAD_CHECKSUM, BUFFER_FULL, SOURCE, STOP_REASON


@dataclass(frozen=True, slots=True)
class _Replaced:
    """Rows that count instead of those that a kernel made from *first* to before *end*."""

    first: int
    end: int
    rows: pa.RecordBatch


class Group:
    """Entries of one format, which its kernel takes one after another.

    What the kernel does not take, *reference* decodes; then the kernel goes on behind it. Where
    that gives views, so does this: of *buffer*, or of copies, up to where that changes. It ends
    in front of the first whose checksum is wrong, where those are to be verified.
    """

    def __init__(
        self,
        reference: Engine,
        controls: ControlReader,
        chosen: Format,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        verify: bool,
    ) -> None:
        self.reference, self.format, self.buffer = reference, chosen, buffer
        self.entries, self.columns, self.origin, self.limits = entries, columns, origin, limits
        self.kernels = self.format.kernels
        self.names = self.kernels.NAMES
        self._describe()
        self.controls = self._take_controls(controls)
        """By its number, what a control batch says that the kernel takes."""
        made = chosen.name, tuple(columns), self.views
        self.kernel = decoder(*made)
        self.output = Output(layout(*made), np.frombuffer(buffer, np.uint8))
        self.arena = Arena(self.kernels.SLACK)
        self.verify = verify
        self.verified = 0
        """Entries whose checksums are known to be right, from the first on."""
        self.computed: int | None = None
        """The checksum of the entry behind the last, where that is wrong."""
        self.replaced: list[_Replaced] = []
        self.told: dict[int, DecodedEntry] = {}
        """By its number, what there is to say of an entry beyond the number of its rows."""
        self.decompressed: Numbers = np.zeros(len(self.entries), np.int64)
        """Bytes of each one's payload, decompressed; 0 where it has no codec."""
        self.num_bytes = 0
        """What the entries that were decoded come to, decompressed."""

    def _describe(self) -> None:
        view = np.frombuffer(self.buffer, np.uint8)
        self.begin = address(view)
        self.limit = self.begin + len(view) - self.kernels.SLACK
        """Bytes that end above this address have too few behind them."""
        self.desc = descriptors(len(self.entries), self.kernels.WIDTH)
        described = self.entries
        # An entry in Python costs as much as some records in a kernel, so there are no loops.
        if (
            isinstance(described, DescriptorEntries)
            and described.format is self.format
            and (described.address, described.origin) == (self.begin, self.origin)
        ):
            self.desc[:] = described.desc
        else:
            places = [entry.position - self.origin for entry in self.entries]
            kernel(self.format.name, "describe")(
                self.begin, len(view), np.array(places, np.int64), self.desc
            )
        self.is_framed: Mask = self._column("size") != 0
        self.is_compressed: Mask = self.is_framed & (self._column("codec") != 0)
        self.is_taken: Mask = self.is_framed & ~self.format.is_unusual(self.desc)
        """Which entries are for the kernel."""
        self.is_in_place: Mask = self._column("end") <= self.limit
        if self.kernels.IS_STREAM:
            self.desc[:, self.names["nested"]] = self.is_compressed
            nested = self.is_taken & self.is_compressed & self.is_in_place
            kernel(self.format.name, "sections")(self.desc, np.flatnonzero(nested))
            self.is_taken &= self._column("size") != 0
        self.is_ready: Mask = self.is_taken & self.is_in_place & ~self.is_compressed
        """Those that it takes as they lie in the buffer."""
        self.views = self.reference.views and self._keep_alike()
        """Whether columns of bytes are views into the buffer."""
        self.starts, self.ends = self._column("start"), self._column("end")

    def _keep_alike(self) -> bool:
        """Return whether the first ones are plain in the buffer, and keep those that are alike."""
        taken = np.flatnonzero(self.is_taken)
        is_first = bool(self.is_ready[taken[0]]) if len(taken) else False
        others = taken[self.is_ready[taken] != is_first]
        if len(others):
            self._cut(int(others[0]))
        return is_first and len(self.buffer) <= MOST_BYTES

    def _cut(self, end: int) -> None:
        """Leave the entries from *end* on to others."""
        self.entries, self.desc = self.entries[:end], self.desc[:end]
        self.is_framed, self.is_compressed = self.is_framed[:end], self.is_compressed[:end]
        self.is_taken, self.is_in_place = self.is_taken[:end], self.is_in_place[:end]
        self.is_ready = self.is_ready[:end]

    def _take_controls(self, reader: ControlReader) -> dict[int, Said]:
        """Let the kernel take the control batches of which nothing is to be said but what they say.

        Not where views are wanted and there are none: there a plain one would end a run of others.
        """
        if self.reference.views and not self.views:
            return {}
        is_control = self.format.column(self.desc, "is_control", self.origin) != 0
        is_near = self.is_framed & self.is_in_place & ~self.is_compressed
        numbers = np.flatnonzero(is_control & is_near)
        if not len(numbers):
            return {}
        entries = self.entries if isinstance(self.entries, Entries) else Entries(self.entries)
        said = reader.read(self.buffer, entries, numbers, origin=self.origin, limits=self.limits)
        pairs = zip(numbers.tolist(), said, strict=True)
        found = {n: one for n, one in pairs if one.is_plain}
        self.is_taken[list(found)] = self.is_ready[list(found)] = True
        return found

    def _column(self, name: str) -> Numbers:
        return self.desc[:, self.names[name]]

    # Decoding

    def decode(self, most_bytes: int | None) -> Numbers:
        """Return how many rows each entry holds, up to where they come to *most_bytes*."""
        n = 0
        most = sys.maxsize if most_bytes is None else most_bytes
        while n < len(self.entries) and self.num_bytes < most:
            self.arena.clear()
            if self.verify and n >= self.verified and not self.is_ready[n]:
                self._verify(n)
                continue
            end = self._made_plain(n) if self.is_taken[n] else n
            if end == n:
                self.arena.release()  # what was too much for it is decompressed once more
                self._refer(n, self.output.num_rows, self.output.num_rows)
                n += 1
            else:
                n = self._fill(n, end)
        self.desc = self.desc[:n]
        if self.controls:
            bases = self.format.column(self.desc, "first_offset", self.origin)
            for number, said in self.controls.items():
                if number < n:
                    base, count = int(bases[number]), said.num_rows
                    self.told[number] = DecodedEntry(count, base, count, said.control)
        self.decompressed = self.decompressed[:n]
        num_rows = self._column("rows").copy()
        for n, told in self.told.items():
            num_rows[n] = told.num_rows
        return num_rows

    def _verify(self, first: int) -> None:
        """Verify checksums from *first* on, up to the next that a kernel verifies as it decodes."""
        if self.is_framed[first]:
            end = self._end(first, self.is_framed & ~self.is_ready)
            self.verified = kernel(self.format.name, "verify")(self.begin, self.desc, first, end)
        else:
            end = first + 1
            self.verified = end if self._is_sound(first) else first
        if self.verified < end:
            self._stop_at(self.verified)

    def _stop_at(self, n: int) -> None:
        """Have an entry be the one whose checksum is wrong, and leave it and all behind it."""
        self.computed = self._checksum(n)
        self._cut(n)

    def _is_sound(self, n: int) -> bool:
        return self._checksum(n) == self.entries[n].crc

    def _checksum(self, n: int) -> int:
        return checksum_of(self.buffer, self.entries[n], origin=self.origin)

    def _made_plain(self, first: int) -> int:
        """Have entries from *first* on in plain bytes; return the first that is not."""
        if self.is_compressed[first]:
            end = self._end(first, self.is_taken & self.is_compressed)
            return self._decompressed(first, min(end, self.verified) if self.verify else end)
        if self.is_ready[first]:
            return self._end(first, self.is_ready)
        self._place(first, self.arena.put(self._bytes(first)))
        return first + 1

    def _end(self, first: int, run: Mask) -> int:
        """Return where the *run* that begins at *first* ends."""
        others = np.flatnonzero(~run[first:])
        return first + int(others[0]) if len(others) else len(self.entries)

    def _decompressed(self, first: int, end: int) -> int:
        """Decompress entries from *first* on, as many as are read together."""
        last = min(end, self._end(first, self.is_in_place))
        n, max_bytes = first, self.limits.max_batch_bytes
        codecs, magics = self._column("codec"), self._column("magic")
        while n < end and not self.arena.is_full:
            codec = int(codecs[n])
            if n < last and codec in INFLATED:
                stop = self.arena.inflate(self.desc, n, last, self.format.places, max_bytes)
                if stop > n or self.arena.is_full:
                    n = stop
                    continue
            section = self._section(n)
            ends = section and self.arena.decompress(
                codec, section, magic=int(magics[n]), max_bytes=max_bytes
            )
            if not ends:
                self.is_taken[n] = False
                break
            self._place(n, ends)
            n += 1
        return n

    def _section(self, n: int) -> memoryview | None:
        """Return the compressed bytes of an entry; None where it has none, or is left to others."""
        whole = self._bytes(n)
        if self.is_in_place[n] or not self.kernels.IS_STREAM:
            return whole
        if len(whole) > GROUP_BYTES:
            return None  # a copy of it would be one too many
        padded = buffers.fresh(len(whole) + self.kernels.SLACK)
        padded[: len(whole)] = np.frombuffer(whole, np.uint8)
        begin = address(padded)
        self._place(n, (begin, begin + len(whole)))
        kernel(self.format.name, "sections")(self.desc, np.array([n]))
        if not self._column("size")[n]:
            return None
        start, end = self._ends(n)
        return padded.data[start - begin : end - begin]

    def _bytes(self, n: int) -> memoryview:
        start, end = self._ends(n)
        return self.buffer[start - self.begin : end - self.begin]

    def _ends(self, n: int) -> tuple[int, int]:
        return int(self.starts[n]), int(self.ends[n])

    def _place(self, n: int, ends: tuple[int, int]) -> None:
        self.starts[n], self.ends[n] = ends

    def _fill(self, first: int, end: int) -> int:
        """Have the kernel read the entries from *first* to before *end*; return where it ended."""
        state = self.output.state
        state[SOURCE] = self.begin if self.verify and self.is_ready[first] else 0
        self.decompressed[first:end] = self.is_compressed[first:end] * self._sizes(first, end)
        num_rows, num_bytes, largest = self._most(first, end)
        self.num_bytes += num_bytes
        self.output.make_room(num_rows, num_bytes, largest)
        row, n = self.output.num_rows, first
        while True:
            n = self.kernel(self.desc, n, end, state)
            if n == end:
                break
            if state[STOP_REASON] == BUFFER_FULL and self.output.more_room(
                *self._most(n, n + 1)[:2]
            ):
                continue
            # A kernel that had no room has not come to the checksum, and the reference looks at none.
            if state[STOP_REASON] == BAD_CHECKSUM or (state[SOURCE] and not self._is_sound(n)):
                self._stop_at(n)
                return n
            self._refer(n, self.output.num_rows, self.output.num_rows)
            n += 1
        if self.kernels.IS_STREAM and self.is_compressed[first] and self.output.num_rows > row:
            self._finish(first, end, row)
        return end

    def _most(self, first: int, end: int) -> tuple[int, int, int]:
        """Return the most rows that the entries come to, their bytes, and those of the largest."""
        sizes = self._sizes(first, end)
        return self.format.most_rows(self.desc[first:end]), int(sizes.sum()), int(sizes.max())

    def _sizes(self, first: int, end: int) -> Numbers:
        """Return the plain bytes of each of the entries."""
        sizes: Numbers = self.ends[first:end] - self.starts[first:end]
        return sizes

    def _finish(self, first: int, end: int, row: int) -> None:
        """Put right the rows from *row* on, of entries that hold others."""
        bases, is_refused = self.format.finish(self.desc[first:end], self.output, row)
        columns = self._column("rows")[first:end], bases, is_refused
        for n, (count, base, is_for_others) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True), first
        ):
            if count:
                if is_for_others:
                    self._refer(n, row, row + count)
                else:
                    self.told[n] = DecodedEntry(count, base, count)
                row += count

    def _refer(self, n: int, first: int, end: int) -> None:
        """Have the reference engine decode an entry, of which a kernel made rows or none."""
        found = self.reference.decode(
            self.buffer, [self.entries[n]], self.columns, origin=self.origin, limits=self.limits
        )
        self.told[n] = found.entry(0)
        self.decompressed[n] = found.decompressed[0]
        self.num_bytes += found.rows.nbytes
        if end > first or found.rows.num_rows:
            self.replaced.append(_Replaced(first, end, found.rows))

    # Rows

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, and give up the memory that they were made in."""
        made = record_batch(
            self.format,
            self.output,
            tuple(self.columns),
            self.desc,
            self._column("rows"),
            origin=self.origin,
            views=self.reference.views,
        )
        if not self.replaced:
            if made.num_rows:
                yield made
            return
        position = 0
        for one in sorted(self.replaced, key=lambda one: (one.first, one.end)):
            if one.first > position:
                yield made.slice(position, one.first - position)
            if one.rows.num_rows:
                yield one.rows
            position = one.end
        if made.num_rows > position:
            yield made.slice(position)
