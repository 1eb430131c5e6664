"""Arrow's arrays of NumPy's, and what else both would rather do with all of `numpy.ma`.

`pyarrow.array` and `numpy.unique` ask whether an array is masked, and so make that load: it takes
as long as reading 100,000 records. Nothing is masked here. `pyarrow.array` also loads pandas, if
it is installed, whatever it is given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, np.dtype[Any]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Codes = np.ndarray[tuple[int], np.dtype[np.int8]]
Places = np.ndarray[tuple[int], np.dtype[np.intp]]


def numbers(kind: pa.DataType, values: Array) -> pa.Array:
    """Return *values*, which are as *kind* has them, without a copy."""
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def words(values: Sequence[str | None]) -> pa.Array:
    """Return *values* as strings of Arrow."""
    written = [(value or "").encode() for value in values]
    ends = np.cumsum([0, *map(len, written)], dtype=np.int32)
    buffers = [
        bits(np.array([value is not None for value in values], np.bool_)),
        pa.py_buffer(ends),
        pa.py_buffer(b"".join(written)),
    ]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def truths(mask: Mask) -> pa.Array:
    """Return *mask*, a bit for each."""
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits(mask)])


def bits(mask: Array) -> pa.Buffer:
    """Return a bit for each of *mask*."""
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def kinds(values: Array) -> tuple[list[int], Places]:
    """Return the different ones of *values*, and for each value which of them it is."""
    ordered = np.sort(values)
    found = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found.tolist(), np.searchsorted(found, values)
