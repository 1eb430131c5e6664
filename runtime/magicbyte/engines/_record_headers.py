"""Headers of one record, converted to Arrow a bounded number at a time."""

import sys
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import array_of
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte.text import decode_utf8

MAX_HEADER_OBJECTS = 1024
"""Headers that are Python objects at a time: one takes about 300 bytes, for 2 bytes of payload at least."""


class BudgetError(Exception):
    """The reference engine has decoded as many records and headers as its caller wanted."""


class WorkBudget:
    """Number of records and headers that may still be decoded."""

    def __init__(self, size: int) -> None:
        self.size = self.left = size

    def spend(self, count: int) -> None:
        """Raise BudgetError if fewer than *count* records and headers are left."""
        self.left -= count
        if self.left < 0:
            raise BudgetError


class _Unbounded(WorkBudget):
    def spend(self, count: int) -> None:
        pass


UNBOUNDED = _Unbounded(sys.maxsize)


class RecordHeaders(list[dict[str, Any]]):
    """The last headers of a record as dicts; those before them, if there are many, as Arrow arrays."""

    __slots__ = ("_budget", "arrays")

    def __init__(self, budget: WorkBudget = UNBOUNDED) -> None:
        super().__init__()
        self._budget = budget
        self.arrays: list[pa.Array] = []

    def append(self, header: Any) -> None:
        """Add *header*, an object of the Kaitai class."""
        super().append({"key": decode_utf8(header.key), "value": header.value})
        if len(self) == MAX_HEADER_OBJECTS:
            self._budget.spend(MAX_HEADER_OBJECTS)
            self.arrays.append(array_of([self], WIRE_TYPES["headers"]).values)
            self.clear()

    def to_list_array(self) -> pa.Array:
        """Return all headers as an Arrow array of one list."""
        kind = WIRE_TYPES["headers"]
        structs = pa.concat_arrays([*self.arrays, array_of([self], kind).values])
        offsets = pa.py_buffer(np.array([0, len(structs)], np.int32))
        return pa.Array.from_buffers(kind, 1, [None, offsets], children=[structs])
