"""Columns that are the same in every row."""

from functools import lru_cache
from typing import Any

import pyarrow as pa

from magicbyte.tables.arrays import array_of

LEN_OFFSET = 4
"""Bytes of an offset into a column of bytes or lists; there is one more of them than rows."""


def constant(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    """Return *count* times *value*."""
    return _longer(kind, value, _power(count)).slice(0, count)


def no_elements(kind: pa.DataType, count: int) -> pa.Array:
    """Return *count* lists of *kind* without elements."""
    return _more_lists(kind, _power(count)).slice(0, count)


@lru_cache(maxsize=64)
def _more_lists(kind: pa.DataType, count: int) -> pa.Array:
    offsets = pa.py_buffer(bytes(LEN_OFFSET * (count + 1)))
    elements = pa.nulls(0, kind.value_type)
    return pa.Array.from_buffers(kind, count, [None, offsets], 0, children=[elements])


def _power(count: int) -> int:
    """Return a power of two, *count* or more: few lengths are kept."""
    return max(1 << (count - 1).bit_length(), 1)


@lru_cache(maxsize=64)
def _longer(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    return pa.nulls(count, kind) if value is None else pa.repeat(array_of([value], kind)[0], count)
