"""The reference engine: it decodes one entry at a time, with the generated Kaitai classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines._message_decoder import decode_message
from magicbyte.engines.entry import Entry, checksum_of, whole_entry
from magicbyte.engines.header_scan import read_batch_headers
from magicbyte.engines.protocol import BatchHeaders, Chunk, Decoded, DecodedEntry, Entries, Scan
from magicbyte.engines.record_decoder import Row, decode_batch
from magicbyte.errors import CodecError, FormatError, LimitError
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte.tables.arrays import array_of
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_formats.wire import CODEC_NAMES, COLUMNS, TIMESTAMP_TYPE_NAMES

SENTINELS = {column.name: column.sentinel for column in COLUMNS["records"]}


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
    ) -> Decoded:
        values: dict[str, list[Any]] = {name: [] for name in columns}
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
            result, rows = _decode_entry(chunk.bytes_of(entry), entry, limits)
            for name, column in values.items():
                column.extend(_values(name, entry, rows))
            num_rows.append(len(rows))
            decompressed.append(result.decompressed)
            content = sum(len(row.key or b"") + len(row.value or b"") for row in rows)
            num_bytes += max(entry.size_bytes, content)
            if result != DecodedEntry(len(rows), entry.base_offset, entry.record_count):
                results[len(entries)] = result
            entries.append(entry)
            position += entry.size_bytes
        return Decoded(
            entries=Entries(entries),
            rows=self._batch(values, sum(num_rows)),
            num_rows=np.array(num_rows, np.int64),
            decompressed=np.array(decompressed, np.int64),
            results=results,
            end=position,
            unsound=rest.unsound if rest else None,
            computed=rest.computed if rest else None,
            stopped_by=rest.stopped_by if rest else None,
        )

    def decode_entry(
        self, data: memoryview, entry: Entry, columns: Sequence[str], limits: Limits
    ) -> tuple[pa.RecordBatch, DecodedEntry]:
        """Return the wire *columns* of the records of *entry*, whose bytes are *data*, and its result.

        Neither the checksum nor the size of the entry is checked.
        """
        result, rows = _decode_entry(data, entry, limits)
        values = {name: _values(name, entry, rows) for name in columns}
        return self._batch(values, len(rows)), result

    def _batch(self, values: dict[str, list[Any]], num_rows: int) -> pa.RecordBatch:
        """Return the Arrow batch of *num_rows* rows with these *values* by wire column."""
        if not values:
            return rows_of_nothing(num_rows)
        arrays = [array_of(column, WIRE_TYPES[name]) for name, column in values.items()]
        schema = pa.schema([(name, WIRE_TYPES[name]) for name in values])
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        return batch.cast(with_binary_views(schema)) if self.views else batch


def rows_of_nothing(count: int) -> pa.RecordBatch:
    """Return an Arrow batch of *count* rows without columns."""
    rows = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(rows)


def _values(name: str, entry: Entry, rows: list[Row]) -> list[Any]:
    """Return the column *name* of *rows*: a field of each row, or a value of their entry."""
    match name:
        case "offset" | "timestamp" | "key" | "value" | "headers" | "sequence":
            index = Row._fields.index(name)
            return [row[index] for row in rows]
        case "timestamp_type":
            return [
                None if row.timestamp_type is None else TIMESTAMP_TYPE_NAMES[row.timestamp_type]
                for row in rows
            ]
        case "codec":
            value: Any = CODEC_NAMES.get(entry.codec)
        case "leader_epoch" | "producer_id" | "producer_epoch":
            stored = getattr(entry, name)
            value = None if stored == -1 else stored
        case "is_transactional" | "magic" | "position":
            value = getattr(entry, name)
        case _:
            return [_field(name, row.body) for row in rows]
    return [value] * len(rows)


def _field(name: str, body: Any) -> Any:
    """Return the field *name* of a record's Kaitai object; None for its sentinel."""
    field = getattr(body, name, None)
    field = getattr(field, "value", field)
    return None if field == SENTINELS[name] else field


def _decode_entry(data: memoryview, entry: Entry, limits: Limits) -> tuple[DecodedEntry, list[Row]]:
    """Return the result and the records of *entry*, whose bytes are *data*."""
    result = DecodedEntry(base_offset=entry.base_offset, record_count=entry.record_count)
    try:
        if entry.magic == 2:
            rows = list(decode_batch(data, entry, limits, result))
        else:
            rows = decode_message(data, entry, limits, result)
    except CodecError as error:
        codec = CODEC_NAMES.get(entry.codec, str(entry.codec))
        result.add(entry.finding(error.code, str(error), field=codec, found=error.reason))
        return result, []
    except LimitError as error:
        field, found, expected = error.setting, error.claimed, error.limit
        result.add(
            entry.finding(error.code, error.message, field=field, found=found, expected=expected)
        )
        return result, []
    except FormatError as error:
        result.add(error.finding)
        return result, []
    result.num_rows = len(rows)
    return result, rows
