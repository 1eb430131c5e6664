"""The reference engine: it decodes one record at a time, with the generated Kaitai classes.

The decoders, and the classes, are imported for the first entry: with kernels, most logs have none for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.engines._record_headers import UNBOUNDED, WorkBudget
from magicbyte.engines._record_rows import RecordStop
from magicbyte.engines._row_columns import RowColumns
from magicbyte.engines.entry import Entry, checksum_of, whole_entry
from magicbyte.engines.header_scan import read_batch_headers
from magicbyte.engines.protocol import BatchHeaders, Chunk, Decoded, DecodedEntry, Entries, Scan
from magicbyte.errors import CodecError, FormatError, LimitError
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte_formats.wire import CODEC_NAMES


@dataclass(eq=False, kw_only=True)
class ReferenceEngine:
    """Engine that decodes one entry at a time. Other engines must return the same rows and findings."""

    name = "reference"
    views: bool = False

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        return read_batch_headers(file, position, end)

    def scan(
        self,
        chunk: Chunk,
        *,
        verify: bool,
        limits: Limits,
        max_entries: int | None = None,
    ) -> Scan:
        entries: list[Entry] = []
        position = 0
        unsound, computed, stopped_by = None, None, None
        buffer, origin = chunk
        while position < len(buffer) and (max_entries is None or len(entries) < max_entries):
            try:
                entry = whole_entry(buffer, position, origin=origin)
            except FormatError as error:
                stopped_by = error.finding
                break
            if entry.size_bytes > limits.max_entry_bytes:
                unsound = entry
                break
            if verify and (checksum := checksum_of(buffer, entry, origin=origin)) != entry.crc:
                unsound, computed = entry, checksum
                break
            entries.append(entry)
            position += entry.size_bytes
        return Scan(
            entries=Entries(entries),
            end=position,
            unsound=unsound,
            computed=computed,
            stopped_by=stopped_by,
        )

    def decode(
        self,
        chunk: Chunk,
        columns: Sequence[str],
        *,
        limits: Limits,
        max_bytes: int | None = None,
        verify: bool = True,
        max_entries: int | None = None,
        budget: WorkBudget = UNBOUNDED,
    ) -> Decoded:
        """Implement `Engine.decode`; raise BudgetError if that would take more than *budget*."""
        row_columns = RowColumns(columns, views=self.views)
        entries: list[Entry] = []
        num_rows: list[int] = []
        decompressed: list[int] = []
        results: dict[int, DecodedEntry] = {}
        position, num_bytes = 0, 0
        rest: Scan | None = None
        while position < len(chunk.data) and (max_bytes is None or num_bytes < max_bytes):
            if max_entries is not None and len(entries) >= max_entries:
                break
            scan = self.scan(chunk.after(position), verify=verify, limits=limits, max_entries=1)
            if not scan.entries:
                rest = scan
                break
            entry = scan.entries[0]
            before = row_columns.num_bytes
            result = _decode_entry(chunk.bytes_of(entry), entry, row_columns, limits, budget=budget)
            num_rows.append(result.num_rows)
            decompressed.append(result.decompressed)
            num_bytes += max(entry.size_bytes, row_columns.num_bytes - before)
            if result != DecodedEntry(result.num_rows, entry.base_offset, entry.record_count):
                results[len(entries)] = result
            entries.append(entry)
            position += entry.size_bytes
        return Decoded(
            entries=Entries(entries),
            rows=row_columns.to_batch(),
            num_rows=np.array(num_rows, np.int64),
            decompressed=np.array(decompressed, np.int64),
            results=results,
            end=position,
            unsound=rest.unsound if rest else None,
            computed=rest.computed if rest else None,
            stopped_by=rest.stopped_by if rest else None,
        )

    def decode_entry(
        self,
        data: memoryview,
        entry: Entry,
        columns: Sequence[str],
        limits: Limits,
        *,
        budget: WorkBudget = UNBOUNDED,
        stop: RecordStop | None = None,
        known_payload: memoryview | CodecError | None = None,
    ) -> tuple[pa.RecordBatch, DecodedEntry]:
        """Return the wire *columns* of the records of *entry*, whose bytes are *data*, and its result.

        Neither the checksum nor the size of the entry is checked. With a *stop*, at which a kernel has found
        a fault, the records before it are not decoded again. *known_payload* is the decompressed payload of a batch, or
        the reason why there is none, if that is known. Raises BudgetError if it takes more than *budget*.
        """
        row_columns = RowColumns(columns, views=self.views)
        result = _decode_entry(
            data, entry, row_columns, limits, budget=budget, stop=stop, known_payload=known_payload
        )
        return row_columns.to_batch(), result


def _decode_entry(
    data: memoryview,
    entry: Entry,
    row_columns: RowColumns,
    limits: Limits,
    *,
    budget: WorkBudget = UNBOUNDED,
    stop: RecordStop | None = None,
    known_payload: memoryview | CodecError | None = None,
) -> DecodedEntry:
    """Add the records of *entry*, whose bytes are *data*, to *row_columns*, and return its result."""
    result = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
    try:
        if entry.magic == 2:
            from magicbyte.engines.record_decoder import decode_batch

            rows = decode_batch(
                data, entry, limits, result, budget=budget, stop=stop, known_payload=known_payload
            )
        else:
            from magicbyte.engines._message_decoder import decode_message

            rows = decode_message(data, entry, limits, result, budget=budget)
        for row in rows:
            row_columns.add(entry, row)
    except CodecError as error:
        codec = CODEC_NAMES.get(entry.codec, str(entry.codec))
        finding = entry.finding(error.code, str(error), field=codec, found=error.reason)
    except LimitError as error:
        field, found, expected = error.setting, error.claimed, error.limit
        finding = entry.finding(
            error.code, error.message, field=field, found=found, expected=expected
        )
    except FormatError as error:
        finding = error.finding
    else:
        result.num_rows = row_columns.commit()
        return result
    row_columns.drop()
    result.add(finding)
    return result
