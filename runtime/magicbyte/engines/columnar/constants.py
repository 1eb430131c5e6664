"""Columns that are the same for all rows of an entry."""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import array_of, constant_array, distinct, nullable_array, number_array
from magicbyte_kernels.kernel_interface import EntryColumn


def entry_column(
    column: EntryColumn, kind: pa.DataType, values: Numbers, counts: Numbers, absent: int
) -> pa.Array:
    """Return each of *values*, one per entry, as often as *counts* says its entry has rows.

    *absent* is what stands in the place of a number that an entry may lack.
    """
    nulls = {absent} if column.is_nullable else set()
    if column.sentinel is not None:
        nulls.add(column.sentinel)
    values, counts = values[counts > 0], counts[counts > 0]
    if len(values) and (values == values[0]).all():
        value = _meaning(column, int(values[0]), nulls)
        return constant_array(kind, value, int(counts.sum()))
    if column.words:
        # Entries come in few kinds: the text of each is made once.
        found, which = distinct(values)
        words = array_of([_meaning(column, number, nulls) for number in found], kind)
        return words.take(number_array(pa.int64(), np.repeat(which, counts)))
    is_null = np.isin(values, list(nulls))
    rows = np.repeat(np.where(is_null, 0, values), counts)
    mask = np.repeat(is_null, counts)
    return nullable_array(kind, rows.astype(_numpy(kind)), mask)


def _meaning(column: EntryColumn, number: int, nulls: set[int]) -> Any:
    """Return what *number* stands for, None where that is nothing."""
    if number in nulls:
        return None
    if column.type == "bool":
        return bool(number)
    return column.words.get(number) if column.words else number


def _numpy(kind: pa.DataType) -> Any:
    return np.bool_ if pa.types.is_boolean(kind) else kind.to_pandas_dtype()
