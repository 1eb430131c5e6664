"""Imports modules and loads kernels once, before the worker processes are forked.

Buffers have no guard pages here, since a fault would end the parent process of all workers.
"""

from contextlib import suppress

from magicbyte.engines.columnar import ColumnarEngine
from magicbyte.engines.columnar._buffers import POOL
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import InputError
from magicbyte.tables.schemas import WIRE_COLUMNS
from magicbyte_tools.fuzz import entry_fuzzer, ranges, whole
from magicbyte_tools.fuzz.group import COLUMNS, USUAL_LIMITS
from magicbyte_tools.fuzz.seeds import built

__all__ = ["entry_fuzzer", "ranges", "whole"]

POOL.max_bytes = 0  # do not reuse buffers that were allocated before
with suppress(InputError):  # no kernels: the tasks say so
    data = memoryview(b"".join(one.data for one in built(1)))
    for views, columns in [*((False, columns) for columns in COLUMNS), (True, WIRE_COLUMNS)]:
        engine = ColumnarEngine(views=views)
        engine.scan(Chunk(data, 0), verify=True, limits=USUAL_LIMITS)
        engine.decode(Chunk(data, 0), columns, limits=USUAL_LIMITS)
