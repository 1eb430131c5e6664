"""The default engine: the columnar engine, or the reference engine until compiling kernels pays.

Where there is no library of kernels, they are compiled once a process has read much. The counts in headers
only estimate the work: a batch may hold more records or headers than it states. So the reference engine gets
a budget, and the columnar engine starts again where it is exceeded.
"""

import logging
from collections.abc import Sequence

import numpy as np

from magicbyte.engines._record_headers import UNBOUNDED, BudgetError, WorkBudget
from magicbyte.engines.columnar.engine import ColumnarEngine, magic_at
from magicbyte.engines.columnar.kernel_loader import is_library_built
from magicbyte.engines.entry import LEAST_SIZES
from magicbyte.engines.entry_columns import NO_VALUE, Entries
from magicbyte.engines.protocol import BatchHeaders, Chunk, Decoded, Engine, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from magicbyte.storage import File

logger = logging.getLogger("magicbyte")

ROWS_BEFORE_COMPILING = 200_000
"""Rows and entries that a process reads before it compiles kernels where there is no library of them. The
reference engine needs as long for them as compiling takes: a small file never waits, and a read takes at most
twice as long as with the better choice."""

MIN_BUDGET = 200
"""Records and headers that the reference engine may always decode, before the columnar engine starts again."""

BYTES_PER_MESSAGE = 64
"""Assumed size of a compressed message: the header of a wrapper does not state their number."""


class _Process:
    """Counts and state of this process, shared by all threads."""

    rows = 0
    """Rows decoded plus entries scanned or decoded."""
    is_loaded = False
    """True once the columnar engine is in use."""
    is_refused = False
    """True if the columnar engine cannot run here."""

    @classmethod
    def missing_rows(cls) -> int:
        """Return how many more rows it takes before loading kernels pays."""
        return 0 if is_library_built() else ROWS_BEFORE_COMPILING - cls.rows

    @classmethod
    def load(cls, columnar: ColumnarEngine, magic: int) -> None:
        """Switch to the columnar engine; stay with the reference engine if kernels cannot run here."""
        try:
            columnar.load(magic)
        except InputError as error:
            level = logging.WARNING if is_library_built() else logging.INFO
            logger.log(level, "reading goes on with the reference engine: %s", error)
            cls.is_refused = True
        else:
            cls.is_loaded = True


def _estimated_rows(entries: Entries) -> int:
    """Estimate the number of records in *entries* from their headers."""
    counts, sizes = entries.column("record_count"), entries.column("size_bytes")
    return int(np.where(counts == NO_VALUE, sizes // BYTES_PER_MESSAGE, counts).sum())


class AutoEngine:
    """Uses the columnar engine; without a library of kernels, the reference engine until compiling pays.

    Both engines return the same rows, so callers do not notice the change.
    """

    name = "auto"

    def __init__(self, *, views: bool = False) -> None:
        self.views = views
        self._reference = ReferenceEngine(views=views)
        self._columnar = ColumnarEngine(self._reference, views=views)

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        is_needed = not (_Process.is_loaded or _Process.is_refused)
        if is_needed and is_library_built():  # no kernel is compiled for headers alone
            _Process.load(self._columnar, max(LEAST_SIZES))
        engine: Engine = self._columnar if _Process.is_loaded else self._reference
        return engine.read_headers(file, position, end)

    def scan(
        self,
        chunk: Chunk,
        *,
        verify: bool,
        limits: Limits,
        max_entries: int | None = None,
    ) -> Scan:
        magic = magic_at(chunk.data)
        is_needed = not (_Process.is_loaded or _Process.is_refused)
        if is_needed and magic is not None and _Process.missing_rows() <= 0:
            _Process.load(self._columnar, magic)
        engine: Engine = self._columnar if _Process.is_loaded else self._reference
        scan = engine.scan(chunk, verify=verify, limits=limits, max_entries=max_entries)
        _Process.rows += len(scan.entries)
        return scan

    def decode(
        self,
        chunk: Chunk,
        columns: Sequence[str],
        *,
        limits: Limits,
        max_bytes: int | None = None,
        verify: bool = True,
        max_entries: int | None = None,
    ) -> Decoded:
        engine = self._decoding_engine(chunk, limits, max_entries)
        decoded: Decoded | None = None
        if engine is self._reference:
            budget = self._budget(chunk)
            try:
                decoded = self._reference.decode(
                    chunk,
                    columns,
                    limits=limits,
                    max_bytes=max_bytes,
                    verify=verify,
                    max_entries=max_entries,
                    budget=budget,
                )
            except BudgetError:
                _Process.rows += budget.size
                engine = self._decoding_engine(chunk, limits, max_entries)
        if decoded is None:
            decoded = engine.decode(
                chunk,
                columns,
                limits=limits,
                max_bytes=max_bytes,
                verify=verify,
                max_entries=max_entries,
            )
        _Process.rows += len(decoded.entries) + decoded.rows.num_rows
        return decoded

    def _budget(self, chunk: Chunk) -> WorkBudget:
        """Return how many records and headers of *chunk* the reference engine may decode before kernels pay."""
        if magic_at(chunk.data) is None or _Process.is_refused:
            return UNBOUNDED
        return WorkBudget(max(_Process.missing_rows(), MIN_BUDGET))

    def _decoding_engine(self, chunk: Chunk, limits: Limits, max_entries: int | None) -> Engine:
        """Return the faster engine for *chunk*; loading or compiling kernels takes time, too."""
        magic = magic_at(chunk.data)
        if magic is None or _Process.is_refused:
            return self._reference
        if not _Process.is_loaded and self._has_rows_to_load(chunk, limits, max_entries):
            _Process.load(self._columnar, magic)
        return self._columnar if _Process.is_loaded else self._reference

    def _has_rows_to_load(self, chunk: Chunk, limits: Limits, max_entries: int | None) -> bool:
        """Return whether the rows read so far, plus the rows in *chunk*, are enough to load kernels."""
        missing = _Process.missing_rows()
        if missing <= 0:
            return True
        most = missing if max_entries is None else min(missing, max_entries)
        scan = self._reference.scan(chunk, verify=False, limits=limits, max_entries=most)
        return _estimated_rows(scan.entries) >= missing
