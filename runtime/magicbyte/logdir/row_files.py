"""Files of fixed-size rows of numbers, as NumPy structured arrays over their bytes."""

import struct
from typing import ClassVar, Protocol

import numpy as np

from magicbyte.findings import Finding

StructuredRows = np.ndarray[tuple[int], np.dtype[np.void]]


class RowFormat(Protocol):
    """The layout of a row, as generated classes declare it."""

    SIZE: ClassVar[int]
    POSITIONS: ClassVar[dict[str, int]]
    FIXED: ClassVar[struct.Struct]


def dtype_of(row: type[RowFormat]) -> "np.dtype[np.void]":
    """Return the dtype of the rows that the generated class *row* reads."""
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
        message=f"{left} bytes follow the last whole entry",
        position=len(data) - left,
        found=str(len(data)),
        expected=f"a multiple of {row_size}",
    )
