"""The columnar engine: kernels for all usual entries, the reference engine for all others."""

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from magicbyte.engines import header_scan
from magicbyte.engines.columnar import _libraries
from magicbyte.engines.columnar._buffers import (
    Descriptors,
    address,
    descriptor_table,
    scratch,
    size_estimates,
)
from magicbyte.engines.columnar._entry_run import EntryRun, FusedRun
from magicbyte.engines.columnar._formats import DescriptorEntries, format_of
from magicbyte.engines.columnar._kernel_list import FORMATS
from magicbyte.engines.columnar.kernel_loader import header_reader, is_plain_python, kernel
from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.entry import LEAST_SIZES
from magicbyte.engines.protocol import BatchHeaders, Chunk, Decoded, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader, RecordBatchHeader

MIN_SCANNED, MAX_SCANNED = 512, 1 << 16
"""Bounds of the capacity of a scan's descriptor table, which is 1.25 times the entries of the last scan."""


class ColumnarEngine:
    name = "columnar"

    def __init__(self, reference: ReferenceEngine | None = None, *, views: bool = False) -> None:
        self._reference = reference or ReferenceEngine(views=views)
        self._controls = ControlReader(self._reference)
        self.views = self._reference.views

    def load(self, magic: int) -> None:
        """Load a kernel for entries of *magic*. Raises InputError if the engine cannot run here."""
        kernel(FORMATS[magic], "scan")

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        pread = _libraries.pread()
        if file.descriptor is None or not pread:
            return self._reference.read_headers(file, position, end)
        most, size = header_scan.MAX_HEADERS, RecordBatchHeader.SIZE
        headers = scratch("headers", most * size)
        count = header_reader()(pread, file.descriptor, position, end, most, address(headers))
        return BatchHeaders.back_to_back(headers[: count * size].tobytes(), position)

    def scan(
        self,
        chunk: Chunk,
        *,
        verify: bool,
        limits: Limits,
        max_entries: int | None = None,
    ) -> Scan:
        view = np.frombuffer(chunk.data, np.uint8)
        begin, length = address(view), len(view)
        magic = magic_at(chunk.data)
        if magic is None or max_entries == 0:
            return self._reference.scan(
                chunk, verify=verify, limits=limits, max_entries=max_entries
            )
        form = format_of(magic)
        scan = kernel(form.name, "scan")
        max_bytes = min(limits.max_entry_bytes, length)
        tables: list[Descriptors] = []
        position, count = 0, 0
        expected = size_estimates().get(form.name, MIN_SCANNED)
        while position < length and (max_entries is None or count < max_entries):
            most = expected if max_entries is None else min(expected, max_entries - count)
            desc = descriptor_table(most, form.kernels.WIDTH)
            scanned, size = scan(begin + position, length - position, most, max_bytes, verify, desc)
            if not scanned:
                break
            desc = desc[:scanned] if 2 * scanned > most else desc[:scanned].copy()
            if position:
                desc[:, form.kernels.NAMES["position"]] += position
            tables.append(desc)
            position += size
            count += scanned
            if scanned < most:
                break
        if max_entries is None:
            size_estimates()[form.name] = max(min(count + count // 4, MAX_SCANNED), MIN_SCANNED)
        is_at_end = position == length or count == max_entries
        # The reference engine tells why the kernel has stopped.
        rest = self._reference.scan(
            chunk.after(position),
            verify=verify,
            limits=limits,
            max_entries=0 if is_at_end else 1,
        )
        if not count:
            return rest
        desc = tables[0] if len(tables) == 1 else np.concatenate(tables)
        entries = DescriptorEntries(form, desc, chunk.position)
        if rest.entries:
            return Scan(entries=entries, end=position)
        return replace(rest, entries=entries, end=position)

    def decode(
        self,
        chunk: Chunk,
        columns: Sequence[str],
        *,
        limits: Limits,
        max_bytes: int | None = None,
        verify: bool = True,
        max_entries: int | None = None,
    ) -> Decoded:
        magic = magic_at(chunk.data)
        if magic is not None and max_entries != 0:
            # Plain Python kernels, used to debug them, cannot be called by the fused one.
            run = (EntryRun if is_plain_python() else FusedRun)(
                self._reference,
                self._controls,
                chunk,
                tuple(columns),
                magic=magic,
                limits=limits,
                max_bytes=sys.maxsize if max_bytes is None else max_bytes,
                max_entries=sys.maxsize if max_entries is None else max_entries,
                verify=verify,
            )
            decoded = run.decode()
            if decoded.entries:
                return decoded
            max_entries = 1
        # The reference engine tells why no kernel has decoded an entry.
        return self._reference.decode(
            chunk,
            columns,
            limits=limits,
            max_bytes=max_bytes,
            verify=verify,
            max_entries=max_entries,
        )


def magic_at(buffer: memoryview) -> int | None:
    """Return the magic of the entry that *buffer* begins with; None where no kernel supports it."""
    at = EntryHeader.POSITIONS["magic"]
    return buffer[at] if at < len(buffer) and buffer[at] in LEAST_SIZES else None
