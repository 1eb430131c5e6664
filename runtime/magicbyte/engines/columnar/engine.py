"""The engine: kernels where they go on, the reference engine where they stop."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pyarrow as pa

from magicbyte.engines import header_scan
from magicbyte.engines.columnar import libraries
from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.descriptor_entries import DescriptorEntries
from magicbyte.engines.columnar.formats import Format, format_of
from magicbyte.engines.columnar.fused import take
from magicbyte.engines.columnar.kernel_loader import FORMATS, kernel, pass_over
from magicbyte.engines.columnar.stepwise import Group
from magicbyte.engines.columnar.thread_buffers import Numbers as Descriptors
from magicbyte.engines.columnar.thread_buffers import learnt, new_descriptors, room
from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.entry import LEAST_SIZES
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import BatchHeaders, Decoded, DecodedEntry, Entry, Scan, Taken
from magicbyte.engines.reference import ReferenceEngine, rows_of_nothing
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader, RecordBatchHeader

FEWEST_AT_ONCE, MOST_AT_ONCE = 512, 1 << 16
"""Entries that are described at once: a few more than there were the last time."""


class ColumnarEngine:
    name = "columnar"

    def __init__(self, reference: ReferenceEngine | None = None, *, views: bool = False) -> None:
        self._reference = reference or ReferenceEngine(views=views)
        self._controls = ControlReader(self._reference)

    @property
    def views(self) -> bool:
        return self._reference.views

    def load(self, magic: int) -> None:
        """Load a kernel for such entries; else its first use does. InputError where none can run."""
        kernel(FORMATS[magic], "scan")

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        pread = libraries.pread()
        if file.descriptor is None or not pread:
            return self._reference.read_headers(file, position, end)
        most, size = header_scan.MAX_HEADERS, RecordBatchHeader.SIZE
        place = room("heads", most * size)
        count = pass_over()(pread, file.descriptor, position, end, most, address(place))
        return BatchHeaders.back_to_back(place[: count * size].tobytes(), position)

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        view = np.frombuffer(buffer, np.uint8)
        begin, length = address(view), len(view)
        magic = magic_at(buffer, 0)
        if magic is None or stop == 0:
            return self._reference.scan(
                buffer, origin=origin, verify=verify, limits=limits, stop=stop
            )
        chosen = format_of(magic)
        scan = kernel(chosen.name, "scan")
        most_bytes = min(limits.max_entry_bytes, length)
        tables: list[Descriptors] = []
        position, count = 0, 0
        expected = learnt().get(chosen.name, FEWEST_AT_ONCE)
        while position < length and (stop is None or count < stop):
            most = expected if stop is None else min(expected, stop - count)
            desc = new_descriptors(most, chosen.kernels.WIDTH)
            found, size = scan(begin + position, length - position, most, most_bytes, verify, desc)
            if not found:
                break
            desc = desc[:found] if 2 * found > most else desc[:found].copy()
            if position:
                desc[:, chosen.kernels.NAMES["position"]] += position
            tables.append(desc)
            position += size
            count += found
            if found < most:
                break
        if stop is None:
            learnt()[chosen.name] = max(min(count + count // 4, MOST_AT_ONCE), FEWEST_AT_ONCE)
        is_at_end = position == length or count == stop
        # What is wrong where kernels stop, or unusual, the reference says.
        behind = self._reference.scan(
            buffer[position:],
            origin=origin + position,
            verify=verify,
            limits=limits,
            stop=0 if is_at_end else 1,
        )
        if not count:
            return behind
        desc = tables[0] if len(tables) == 1 else np.concatenate(tables)
        entries = DescriptorEntries(chosen, desc, begin, origin)
        if behind.entries:
            return Scan(entries=entries, end=position)
        return replace(behind, entries=entries, end=position)

    def take(
        self,
        buffer: memoryview,
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        most_bytes: int,
    ) -> Taken | None:
        magic = magic_at(buffer, 0)
        if magic is None:
            return None
        return take(
            buffer,
            tuple(columns),
            magic=magic,
            controls=self._controls,
            origin=origin,
            limits=limits,
            most_bytes=most_bytes,
            views=self.views,
        )

    def decode(
        self,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        most_bytes: int | None = None,
        verify: bool = False,
    ) -> Decoded:
        if len(entries) == 1 and entries[0].is_control:
            # One alone is asked for to know what many say.
            return self._reference.decode(
                buffer, entries, columns, origin=origin, limits=limits, verify=verify
            )
        rows: list[pa.RecordBatch] = []
        num_rows: list[Numbers] = []
        decompressed: list[Numbers] = []
        told: dict[int, DecodedEntry] = {}
        first, computed = 0, None
        for chosen, left in _of_one_format(entries):
            run = left
            while run and computed is None and (most_bytes is None or most_bytes > 0):
                group = Group(
                    self._reference,
                    self._controls,
                    chosen,
                    buffer,
                    run,
                    columns,
                    origin=origin,
                    limits=limits,
                    verify=verify,
                )
                num_rows.append(group.decode(most_bytes))
                decompressed.append(group.decompressed)
                told |= {first + n: one for n, one in group.told.items()}
                rows += group.rows()
                first += len(num_rows[-1])
                run, computed = run[len(num_rows[-1]) :], group.computed
                if most_bytes is not None:
                    most_bytes -= group.num_bytes
        if not rows:
            nothing = self._reference.decode(buffer, [], columns, origin=origin, limits=limits)
            rows.append(nothing.rows)
        return Decoded(
            rows=_joined(rows),
            headers=entries if first == len(entries) else entries[:first],
            num_rows=_all(num_rows),
            decompressed=_all(decompressed),
            told=told,
            computed=computed,
        )


def _of_one_format(entries: Sequence[Entry]) -> Iterator[tuple[Format, Sequence[Entry]]]:
    if isinstance(entries, DescriptorEntries):
        if entries:
            yield entries.format, entries
        return
    for chosen, run in groupby(entries, lambda entry: format_of(entry.magic)):
        yield chosen, list(run)


def _all(parts: Sequence[Numbers]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def magic_at(buffer: memoryview, position: int) -> int | None:
    """Return the magic of the entry at *position*, if it is one that there are kernels for."""
    at = position + EntryHeader.POSITIONS["magic"]
    return buffer[at] if at < len(buffer) and buffer[at] in LEAST_SIZES else None


def _joined(rows: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    if len(rows) == 1:
        return rows[0]
    if not rows[0].num_columns:
        return rows_of_nothing(sum(batch.num_rows for batch in rows))
    return pa.concat_batches(rows)
