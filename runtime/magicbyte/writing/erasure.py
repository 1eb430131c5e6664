"""Records to erase, and what takes their place."""

import hashlib
import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import Mask, value_offsets
from magicbyte.writing.key_set import KeySet

ACTIONS = ("drop", "null", "overwrite")
"""Remove the record; leave a tombstone of its key; or leave a record of the same size without contents."""

FILLER = b"\0"
"""Byte that takes the place of the bytes of a record that is overwritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Records to erase: those that fulfil at least one condition."""

    action: str
    key_set: KeySet | None = None
    key_pattern: re.Pattern[bytes] | None = None
    value_pattern: re.Pattern[bytes] | None = None
    header_patterns: tuple[tuple[str, re.Pattern[bytes]], ...] = ()
    """Names of headers, and patterns of their values."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the conditions need."""
        names = []
        if self.key_set is not None or self.key_pattern is not None:
            names.append("key")
        if self.value_pattern is not None:
            names.append("value")
        if self.header_patterns:
            names.append("headers")
        return tuple(names)

    @property
    def digest(self) -> str:
        """Digest of the conditions, by which a later run knows that they are the same: it shows none of them."""
        total = hashlib.sha256(self.action.encode())
        if self.key_set is not None:
            total.update(self.key_set.digest())
        for pattern in (self.key_pattern, self.value_pattern):
            total.update(b"\0" if pattern is None else b"\1" + pattern.pattern)
        for name, pattern in self.header_patterns:
            total.update(name.encode() + b"\2" + pattern.pattern)
        return total.hexdigest()[:16]

    def matches(self, rows: pa.RecordBatch) -> Mask:
        """Return a mask of the records of *rows* that are to be erased."""
        mask = np.zeros(rows.num_rows, np.bool_)
        if self.key_set is not None:
            mask |= self.key_set.contain(rows.column("key"))
        for name, pattern in (("key", self.key_pattern), ("value", self.value_pattern)):
            if pattern is not None:
                mask |= _search(rows.column(name), pattern)
        if self.header_patterns:
            mask |= self._headers_match(rows.column("headers"))
        return mask

    def _headers_match(self, headers: pa.Array) -> Mask:
        records = headers.flatten()
        names = records.field("key").to_pylist()
        is_match = np.zeros(len(names), np.bool_)
        for header_name, pattern in self.header_patterns:
            is_named = np.array([name == header_name for name in names], np.bool_)
            is_match |= is_named & _search(records.field("value"), pattern)
        bounds = value_offsets(headers) - value_offsets(headers)[0]
        counts = np.concatenate(([0], np.cumsum(is_match)))
        mask: Mask = counts[bounds[1:]] > counts[bounds[:-1]]
        return mask

    def changed(self, rows: pa.RecordBatch, mask: Mask) -> pa.RecordBatch:
        """Return *rows* with the records of *mask* erased."""
        match self.action:
            case "drop":
                return rows.filter(pa.array(~mask))
            case "null":
                rows = _with_column(rows, "value", _nulled(rows.column("value"), mask))
                return _with_column(rows, "headers", _without_headers(rows.column("headers"), mask))
        for name in ("key", "value"):
            rows = _with_column(rows, name, _filled(rows.column(name), mask))
        return _with_column(rows, "headers", _filled_headers(rows.column("headers"), mask))


def _search(column: pa.Array, pattern: re.Pattern[bytes]) -> Mask:
    found = [
        value is not None and pattern.search(value) is not None for value in column.to_pylist()
    ]
    return np.array(found, np.bool_)


def _with_column(rows: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    number = rows.schema.get_field_index(name)
    return rows.set_column(number, rows.schema.field(number), column)


def _nulled(column: pa.Array, mask: Mask) -> pa.Array:
    values = [None if is_erased else value for value, is_erased in zip(column, mask, strict=True)]
    return pa.array([None if value is None else value.as_py() for value in values], column.type)


def _filled(column: pa.Array, mask: Mask) -> pa.Array:
    """Return the binary *column* with FILLER for each byte of the values of *mask*."""
    values = []
    for value, is_erased in zip(column.to_pylist(), mask.tolist(), strict=True):
        values.append(FILLER * len(value) if is_erased and value is not None else value)
    return pa.array(values, column.type)


def _without_headers(headers: pa.Array, mask: Mask) -> pa.Array:
    values = [
        [] if is_erased else value
        for value, is_erased in zip(headers.to_pylist(), mask, strict=True)
    ]
    return pa.array(values, headers.type)


def _filled_headers(headers: pa.Array, mask: Mask) -> pa.Array:
    """Return *headers* with FILLER for the values of the headers of the records of *mask*; names stay."""
    lists = []
    for pairs, is_erased in zip(headers.to_pylist(), mask.tolist(), strict=True):
        if is_erased and pairs:
            for pair in pairs:
                if pair["value"] is not None:
                    pair["value"] = FILLER * len(pair["value"])
        lists.append(pairs)
    return pa.array(lists, headers.type)
