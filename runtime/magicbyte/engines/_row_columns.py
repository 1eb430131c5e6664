"""Columns of decoded records: Python values, converted to Arrow a bounded number of records at a time."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from magicbyte.engines._record_rows import Row
from magicbyte.engines.entry import Entry
from magicbyte.tables.arrays import array_of
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_formats.wire import CODEC_NAMES, COLUMNS, TIMESTAMP_TYPE_NAMES

MAX_PENDING_ROWS = 4096
MAX_PENDING_BYTES = 1 << 20
"""Records, and bytes of their keys and values, that are Python objects before they are converted."""

SENTINELS = {column.name: column.sentinel for column in COLUMNS["records"]}

Getter = Callable[[Entry, Row], Any]


class RowColumns:
    """The wire columns of the records of some entries. An entry with a fault can be dropped again."""

    def __init__(self, columns: Sequence[str], *, views: bool = False) -> None:
        self._columns, self._views = tuple(columns), views
        self._schema, self._getters = _schema(self._columns), _getters(self._columns)
        self._values: list[list[Any]] = [[] for _ in columns]
        self._parts: list[pa.RecordBatch] = []
        self._num_pending = self._pending_bytes = 0
        self._num_rows = 0
        """Rows since the last `commit`."""
        self._sound_parts = self._sound_pending = 0
        """Parts and pending rows of the entries before the last `commit`."""
        self.num_rows = self.num_bytes = 0
        """Rows of all committed entries, and the bytes of their keys and values."""
        self._num_bytes = 0

    def add(self, entry: Entry, row: Row) -> None:
        """Add a record of *entry*."""
        if row.headers is not None and row.headers.arrays:
            self._flush()
        for values, getter in zip(self._values, self._getters, strict=True):
            values.append(getter(entry, row))
        self._num_pending += 1
        self._num_rows += 1
        num_bytes = len(row.key or b"") + len(row.value or b"")
        self._num_bytes += num_bytes
        self._pending_bytes += num_bytes
        is_long = row.headers is not None and bool(row.headers.arrays)
        if (
            is_long
            or self._num_pending >= MAX_PENDING_ROWS
            or self._pending_bytes >= MAX_PENDING_BYTES
        ):
            self._flush()

    def commit(self) -> int:
        """Keep the records since the last call; return their number."""
        self._sound_parts, self._sound_pending = len(self._parts), self._num_pending
        count, self._num_rows = self._num_rows, 0
        self.num_rows += count
        self.num_bytes += self._num_bytes
        self._num_bytes = 0
        return count

    def drop(self) -> None:
        """Drop the records since the last `commit`."""
        del self._parts[self._sound_parts :]
        for values in self._values:
            del values[self._sound_pending :]
        self._num_pending = self._sound_pending
        self._num_rows = self._num_bytes = 0

    def _flush(self) -> None:
        """Convert the pending rows; those before the last `commit` become a part of their own."""
        sound = self._sound_pending
        if sound:
            self._parts.append(self._batch(0, sound))
            self._sound_parts = len(self._parts)
        if self._num_pending > sound:
            self._parts.append(self._batch(sound, self._num_pending))
        for values in self._values:
            values.clear()
        self._num_pending = self._pending_bytes = self._sound_pending = 0

    def _batch(self, begin: int, end: int) -> pa.RecordBatch:
        """Return pending rows as an Arrow batch."""
        if not self._values:
            return rows_of_nothing(end - begin)
        arrays = []
        for values, field in zip(self._values, self._schema, strict=True):
            chosen = values[begin:end]
            if field.name == "headers" and end - begin == 1 and chosen[0] is not None:
                arrays.append(chosen[0].to_list_array())
            else:
                arrays.append(array_of(chosen, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def to_batch(self) -> pa.RecordBatch:
        """Return the records of all committed entries as an Arrow batch."""
        if not self._values:
            return rows_of_nothing(self.num_rows)
        if not self._parts and not self._sound_pending:
            return _no_rows(self._columns, self._views)
        if not self._parts:
            rows = self._batch(0, self._sound_pending)
        else:
            self._flush()
            rows = self._parts[0] if len(self._parts) == 1 else pa.concat_batches(self._parts)
        return rows.cast(with_binary_views(self._schema)) if self._views else rows


def rows_of_nothing(count: int) -> pa.RecordBatch:
    """Return an Arrow batch of *count* rows without columns."""
    rows = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(rows)


@cache
def _no_rows(columns: tuple[str, ...], views: bool) -> pa.RecordBatch:
    """Return an Arrow batch without rows: damage may leave many entries without any."""
    schema = _schema(columns)
    arrays = [array_of([], field.type) for field in schema]
    rows = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return rows.cast(with_binary_views(schema)) if views else rows


@cache
def _schema(columns: tuple[str, ...]) -> pa.Schema:
    return pa.schema([(name, WIRE_TYPES[name]) for name in columns])


@cache
def _getters(columns: tuple[str, ...]) -> list[Getter]:
    return [_getter(name) for name in columns]


def _getter(name: str) -> Getter:
    """Return the function that returns the column *name* of a record: a field of it or of its entry."""
    match name:
        case "offset" | "timestamp" | "key" | "value" | "headers" | "sequence":
            index = Row._fields.index(name)
            return lambda entry, row: row[index]
        case "timestamp_type":
            return lambda entry, row: (
                None if row.timestamp_type is None else TIMESTAMP_TYPE_NAMES[row.timestamp_type]
            )
        case "codec":
            return lambda entry, row: CODEC_NAMES.get(entry.codec)
        case "leader_epoch" | "producer_id" | "producer_epoch":
            return lambda entry, row: None if (stored := getattr(entry, name)) == -1 else stored
        case "is_transactional" | "magic" | "position":
            return lambda entry, row: getattr(entry, name)
    return lambda entry, row: _field(name, row.body)


def _field(name: str, body: Any) -> Any:
    """Return the field *name* of a record's Kaitai object; None for its sentinel."""
    field = getattr(body, name, None)
    field = getattr(field, "value", field)
    return None if field == SENTINELS[name] else field
