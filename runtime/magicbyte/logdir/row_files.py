"""Files that are nothing but rows of numbers, as NumPy's columns of their bytes."""

import struct
from typing import ClassVar, Protocol

import numpy as np

from magicbyte.findings import Finding

StructuredRows = np.ndarray[tuple[int], np.dtype[np.void]]


class RowFormat(Protocol):
    """What a generated class of rows tells of them."""

    SIZE: ClassVar[int]
    POSITIONS: ClassVar[dict[str, int]]
    FIXED: ClassVar[struct.Struct]


def dtype_of(row: type[RowFormat]) -> "np.dtype[np.void]":
    """Return what the rows are that the generated class *row* reads, field by field."""
    order, kinds = row.FIXED.format[0], row.FIXED.format[1:]
    return np.dtype(
        {
            "names": list(row.POSITIONS),
            "formats": [order + kind for kind in kinds],
            "offsets": list(row.POSITIONS.values()),
            "itemsize": row.SIZE,
        }
    )


def bytes_left(data: bytes, row_size: int, code: str) -> Finding:
    """Return the finding of *code* that *data* end inside a row of *row_size* bytes."""
    left = len(data) % row_size
    return Finding(
        code=code,
        message=f"{left} bytes behind the last whole entry",
        position=len(data) - left,
        found=str(len(data)),
        expected=f"a multiple of {row_size}",
    )
