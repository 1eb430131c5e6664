"""Columns that are the same in every row."""

from functools import lru_cache
from typing import Any

import pyarrow as pa

from magicbyte.tables.arrays import array_of

OFFSET_BYTES = 4
"""Bytes of an offset into a column of bytes or lists; there is one more of them than rows."""


def constant_array(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    """Return *count* times *value*."""
    return _longer(kind, value, _power(count)).slice(0, count)


def _power(count: int) -> int:
    """Return a power of two, *count* or more: few lengths are kept."""
    return max(1 << (count - 1).bit_length(), 1)


@lru_cache(maxsize=64)
def _longer(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    return pa.nulls(count, kind) if value is None else pa.repeat(array_of([value], kind)[0], count)
