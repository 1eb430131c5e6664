"""Entries that are framed, verified and decoded at once, as far as nothing about them is unusual.

Most are like that. A group goes through its entries part by part, and looks at them before each; here
one call is given what it takes, and Arrow's arrays are made of what it leaves behind.
"""

import struct
from typing import Any

import numpy as np

from magicbyte.engines.columnar import buffers, control_block
from magicbyte.engines.columnar.arrow_batch import record_batch
from magicbyte.engines.columnar.buffers import NOTHING, address
from magicbyte.engines.columnar.control_block import AT_EDGE, DONE, NO_COLUMN, NO_PLACE, ODD, WRONG
from magicbyte.engines.columnar.descriptor_entries import DescriptorEntries
from magicbyte.engines.columnar.formats import Format, format_of
from magicbyte.engines.columnar.kernel_loader import decoder, inflate, kernel, pump
from magicbyte.engines.columnar.layout import layout
from magicbyte.engines.columnar.libraries import functions
from magicbyte.engines.columnar.machine_code import MachineCode
from magicbyte.engines.columnar.output import MOST_BYTES, Output
from magicbyte.engines.columnar.signatures import SCAN, num_words
from magicbyte.engines.columnar.thread_buffers import Numbers as Descriptors
from magicbyte.engines.columnar.thread_buffers import (
    forget_room,
    kept,
    learnt,
    new_descriptors,
    room,
)
from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.entry import OVERHEAD, checksum_of, codec_at, stored_size
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, DecodedEntry, Entry, Taken
from magicbyte.limits import Limits
from magicbyte_formats.wire import EntryHeader

FEWEST, MOST = 512, 1 << 16
"""Entries that there is a table for at first: a few more than there are of such a size as the last had."""

PLACE_BYTES, MOST_PLACE_BYTES = 1 << 20, 8 << 20
"""Where payloads are made plain, at first, as most come to less, and at most: what does not fit is for
others, as it may well be a bomb."""

LEAST_PART = 8
"""What is taken in front of an unusual entry is such a part of what is enough, or is left to others."""

MOST_COPIED = 2 << 20
"""Bytes at the end that are copied: of a larger entry a copy would be one too many."""

_BEGUN = struct.Struct(f"{control_block.LENGTH_OF_SHEET - control_block.STATE}q")
_COME_TO = struct.Struct(f"{control_block.LENGTH_OF_SHEET - control_block.COUNT}q")
"""What a sheet has from there on: an array of NumPy's takes longer to be written and read."""

NOWHERE = 0
"""No address: nobody is to look for these entries where descriptors say that they are."""


def take(
    buffer: memoryview,
    columns: tuple[str, ...],
    *,
    magic: int,
    controls: ControlReader,
    origin: int,
    limits: Limits,
    most_bytes: int,
    views: bool,
) -> Taken | None:
    """Return the entries that *buffer* begins with, the first of *magic*, with their rows, up to one
    that is unusual.

    None where there is little in front of that, or where kernels are plain Python.
    """
    run = pump()
    if run is None:
        return None
    chosen = format_of(magic)
    # Views are of what lies in the buffer as it is.
    is_viewed = views and len(buffer) <= MOST_BYTES and codec_at(buffer, 0, magic) == 0
    taking = _Taking(chosen, run, buffer, columns, origin, limits, most_bytes, is_viewed)
    taking.go(is_alike=views or chosen.kernels.IS_STREAM)
    return taking.taken(controls, views=views)


def _mean_size(num_bytes: int, count: int) -> int:
    """Return the bytes of each of so many entries, rounded down, but 1 at least."""
    return max(num_bytes // count, 1)


class _Desk:
    """What a thread has ready for entries of one format and for columns: the sheet of the kernel that
    has them taken by turns, and what it calls others with."""

    def __init__(self, chosen: Format, decode: MachineCode, limits: Limits) -> None:
        kernels = chosen.kernels
        name, max_bytes = chosen.name, limits.max_batch_bytes
        # The tables are others each time; what is said here is how wide they are.
        desc, numbers = np.empty((1, kernels.WIDTH), np.int64), np.empty(1, np.int64)
        state = np.empty(kernels.STATE, np.int64)
        given: list[tuple[Any, tuple[Any, ...]]] = [
            (kernel(name, "scan"), (0, 0, 0, limits.max_entry_bytes, 1, desc)),
            (kernel(name, "sections"), (desc, numbers)),
            (
                inflate(),
                (desc, 0, 0, chosen.places, 0, 0, kernels.SLACK, max_bytes, functions()),
            ),
            (decode, (desc, 0, 0, state)),
        ]
        words = [np.array(code.words(*arguments), np.int64) for code, arguments in given]
        words[0][num_words(SCAN, 5) + 5] = MOST  # rows of the table: it looks at that
        whole, results = np.zeros((1, kernels.WIDTH), np.int64), np.empty(4, np.int64)
        self.held = words, whole, results, given
        self.sheet = np.zeros(control_block.LENGTH_OF_SHEET, np.int64)
        self.bytes, self.address = self.sheet.view(np.uint8).data, address(self.sheet)
        for number, (code, _) in enumerate(given):
            self.sheet[2 * number : 2 * number + 2] = code.address, address(words[number])
        self.sheet[control_block.RESULTS] = address(results)
        self.sheet[control_block.WHOLE] = address(whole) if kernels.IS_STREAM else 0
        self.sheet[control_block.CODEC : control_block.CODEC + len(control_block.PLACES)] = (
            chosen.places
        )
        self.sheet[control_block.WIDTH] = 8 * kernels.WIDTH


class _Taking:
    """Entries from the beginning of *buffer* on, which the kernel *run* takes by turns.

    They end where they come to *most_bytes*, or one is not to be taken.
    """

    def __init__(
        self,
        chosen: Format,
        run: MachineCode,
        buffer: memoryview,
        columns: tuple[str, ...],
        origin: int,
        limits: Limits,
        most_bytes: int,
        is_viewed: bool,
    ) -> None:
        self.format, self.run, self.buffer, self.columns = chosen, run, buffer, columns
        self.origin, self.limits = origin, limits
        self.most_bytes, self.is_viewed = most_bytes, is_viewed
        self.view = np.frombuffer(buffer, np.uint8)
        self.begin = address(self.view)
        self.names, self.slack = chosen.kernels.NAMES, chosen.kernels.SLACK
        self.desc = new_descriptors(self._expected(), chosen.kernels.WIDTH)
        made = chosen.name, columns, is_viewed
        decode: Any = decoder(*made)
        self.desk = kept((*made, limits), lambda: _Desk(chosen, decode, limits))
        self.output = Output(layout(*made), self.view)
        self.tail = self.numbers = NOTHING
        """What the sheet has the addresses of, and nobody else holds."""
        self.count = self.end = self.made = 0
        """Entries that are decoded, the byte behind them, and what they come to, plain."""
        self.why = DONE
        self.has_codec = self.has_control = self.is_little = False

    def _expected(self) -> int:
        """Return how many entries there are likely to be."""
        size, plain_size = learnt().get((self.format.name, "taken"), (len(self.view), 1))
        by_size: int = min(len(self.view) // size, self.most_bytes // plain_size)
        return max(min(by_size + by_size // 4, MOST), FEWEST)

    def go(self, *, is_alike: bool) -> None:
        """Have entries taken."""
        sheet, length = self.desk.sheet, len(self.view)
        plain = room("plain", PLACE_BYTES)
        sheet[control_block.IS_ALIKE] = is_alike
        _BEGUN.pack_into(
            *(self.desk.bytes, 8 * control_block.STATE),
            *(address(self.output.state), 0, 0, 0, address(plain), len(plain)),
            *(self.begin, length, self.begin + length - self.slack, self.most_bytes),
            *(0, 0, 0, 0, 0, 0, 0, DONE, 0),
        )
        come_to = self.desk.bytes, 8 * control_block.COUNT
        self._describe_to(sheet)
        while True:
            self.run(self.desk.address)
            self.count, self.end, self.made, last, *noted = _COME_TO.unpack_from(*come_to)
            largest, has_codec, has_control, self.why, status = noted
            if status:
                raise RuntimeError(f"a kernel ended with status {status}")
            if self.why == NO_COLUMN and self._more_room(last):
                continue
            if self.why == NO_PLACE and len(plain) < MOST_PLACE_BYTES:
                size, plain = 2 * len(plain), NOTHING  # what is too small goes before there is more
                forget_room("plain")
                plain = room("plain", size)
                sheet[control_block.PLAIN], sheet[control_block.ROOM] = address(plain), size
            elif self.why == DONE and self.count == len(self.desc):
                self._more_descriptors()
                self._describe_to(sheet)
            elif self.why == AT_EDGE and self._may_copy(sheet):
                # The last ones have too few bytes behind them: they are read from where there are more.
                size = length - self.end
                self.tail = buffers.fresh(size + self.slack)
                self.tail[:size] = self.view[self.end :]
                begin = address(self.tail)
                if self.is_viewed:
                    self.output.view(self.tail)
                sheet[control_block.ADDRESS], sheet[control_block.LIMIT] = (
                    begin - self.end,
                    begin + size,
                )
            else:
                break
        self.output.had(largest)
        # Where many are unusual, a group takes those between them along: they would be small batches.
        self.is_little = self.why == ODD and self.made < self.most_bytes // LEAST_PART
        self.has_codec, self.has_control = bool(has_codec), bool(has_control)

    def _may_copy(self, sheet: Any) -> bool:
        """Return whether what is left may lie elsewhere, and does not yet."""
        is_here = bool(sheet[control_block.ADDRESS] == self.begin)
        is_alike = not (self.is_viewed and self.count)  # all views of a batch are of the same bytes
        return is_here and is_alike and len(self.view) - self.end <= MOST_COPIED

    def _describe_to(self, sheet: Any) -> None:
        sheet[control_block.TABLE], sheet[control_block.MOST] = address(self.desc), len(self.desc)
        if self.format.kernels.IS_STREAM:
            self.numbers = buffers.fresh(8 * len(self.desc))
            sheet[control_block.NUMBERS] = address(self.numbers)

    def _more_room(self, last: int) -> bool:
        """Make room for the entries of a turn that ends before *last*, if that is possible."""
        desc = self.desc[self.count : last]
        sizes = desc[:, self.names["end"]] - desc[:, self.names["start"]]
        return self.output.more_room(self.format.most_rows(desc), int(sizes.sum()))

    def _more_descriptors(self) -> None:
        desc = new_descriptors(2 * len(self.desc), self.format.kernels.WIDTH)
        desc[: len(self.desc)] = self.desc
        self.desc = desc

    def taken(self, controls: ControlReader, *, views: bool) -> Taken | None:
        """Return what was taken; None where that is little, or an entry of it is for others."""
        count = self.count
        unsound = self._entry(count) if self.why == WRONG else None
        entries = self._entries() if (count or unsound) and not self.is_little else None
        told, bases = self._said(entries, controls) if entries else ({}, None)
        if entries is None or told is None:
            self.output.drop()
            return None
        num_rows, decompressed = self._counts(entries.desc)
        rows = record_batch(
            self.format,
            self.output,
            self.columns,
            entries.desc,
            num_rows,
            origin=self.origin,
            views=views,
        )
        decoded = Decoded(
            rows=rows,
            headers=entries,
            num_rows=num_rows,
            decompressed=decompressed,
            told=told,
            bases=bases,
            computed=unsound and checksum_of(self.buffer, unsound, origin=self.origin),
        )
        return Taken(
            entries=entries,
            decoded=decoded,
            end=self.end,
            unsound=unsound,
            is_cut=self.why == DONE and self._is_cut(),
        )

    def _entries(self) -> DescriptorEntries:
        count = self.count
        if count:
            sizes = _mean_size(self.end, count), _mean_size(self.made, count)
            learnt()[self.format.name, "taken"] = sizes
        desc = self.desc[:count] if 2 * count > len(self.desc) else self.desc[:count].copy()
        return DescriptorEntries(self.format, desc, NOWHERE, self.origin)

    def _counts(self, desc: Descriptors) -> tuple[Numbers, Numbers]:
        """Return the rows of each entry, and what it comes to decompressed."""
        count = len(desc)
        if not self.has_codec:
            is_row = self.format.kernels.IS_STREAM
            num_rows = np.ones(count, np.int64) if is_row else desc[:, self.names["rows"]].copy()
            return num_rows, np.zeros(count, np.int64)
        sizes = desc[:, self.names["end"]] - desc[:, self.names["start"]]
        decompressed = sizes * (desc[:, self.names["codec"]] != 0)
        return desc[:, self.names["rows"]].copy(), decompressed

    def _said(
        self, entries: DescriptorEntries, controls: ControlReader
    ) -> tuple[dict[int, DecodedEntry] | None, Numbers | None]:
        """Put right the rows of wrappers, and return what there is to say of entries.

        That is what control batches say, None where there is more to say of an entry; and where
        the rows of wrappers begin.
        """
        if self.has_codec and self.format.kernels.IS_STREAM:
            bases, is_refused = self.format.finish(entries.desc, self.output, 0)
            return (None, None) if is_refused.any() else ({}, bases)
        return (self._controls(entries, controls) if self.has_control else {}), None

    def _controls(
        self, entries: DescriptorEntries, controls: ControlReader
    ) -> dict[int, DecodedEntry] | None:
        """Return what control batches say; None where there is more to say of one."""
        numbers = np.flatnonzero(entries.column("is_control"))
        said = controls.read(self.buffer, entries, numbers, origin=self.origin, limits=self.limits)
        bases = entries.column("first_offset")[numbers].tolist()
        told: dict[int, DecodedEntry] = {}
        for number, base, one in zip(numbers.tolist(), bases, said, strict=True):
            if not one.is_plain:
                return None
            told[number] = DecodedEntry(one.num_rows, base, one.num_rows, one.control)
        return told

    def _is_cut(self) -> bool:
        left = len(self.buffer) - self.end
        if left < EntryHeader.SIZE:
            return left > 0
        return stored_size(self.buffer, self.end) + OVERHEAD > left

    def _entry(self, number: int) -> Entry:
        described = self.desc[number : number + 1]
        return DescriptorEntries(self.format, described, NOWHERE, self.origin)[0]
