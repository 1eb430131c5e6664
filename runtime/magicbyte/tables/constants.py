"""Columns that are the same in every row."""

from functools import lru_cache
from typing import Any

import pyarrow as pa

from magicbyte.tables.arrays import array_of


def constant(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    """Return *count* times *value*."""
    return _longer(kind, value, max(1 << (count - 1).bit_length(), 1)).slice(0, count)


@lru_cache(maxsize=64)
def _longer(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    return pa.nulls(count, kind) if value is None else pa.repeat(array_of([value], kind)[0], count)
