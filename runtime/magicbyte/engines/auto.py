"""The engine that nobody chose: the reference for a few records, the columnar for many."""

import logging
from collections.abc import Sequence
from functools import cache

import numpy as np

from magicbyte.engines.columnar import (
    INFLATED,
    ColumnarEngine,
    is_compiled,
    is_pass_over_compiled,
    is_scan_compiled,
    magic_at,
)
from magicbyte.engines.entry_columns import NO_VALUE, Entries
from magicbyte.engines.protocol import BatchHeaders, Decoded, Engine, Entry, Scan, Taken
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from magicbyte.storage import File
from magicbyte.tables.arrays import distinct

logger = logging.getLogger("magicbyte")

ROWS_BEFORE_LOADING = 3_000
ROWS_BEFORE_COMPILING = 200_000
"""Rows that the reference reads, or entries that it scans, before the columnar engine is worth it:
that takes as long as loading the other's machine code, or making it where none is kept for the
columns. So a small file never waits, and nobody waits twice as long as with the better choice."""

HEADERS_BEFORE_LOADING = 100_000
"""Headers that are passed over before kernels are loaded for that alone. A kernel takes three tenths of
a microsecond less for each: about then that comes to what loading takes."""

ANY_CODEC = frozenset(INFLATED)

BYTES_OF_MESSAGE = 64
"""What is taken for a message inside a wrapper, of which nobody knows how many it holds."""


class _Process:
    """What this process has read, with whatever threads."""

    rows = 0
    """And entries that were scanned."""
    heads = 0
    """Headers that were passed over."""
    is_loaded = False
    """Whether it has gone over to the columnar engine."""
    is_refused = False
    """Whether the columnar engine cannot run here."""

    @classmethod
    def is_worth_it(
        cls, entries: Sequence[Entry], columns: tuple[str, ...], *, views: bool
    ) -> bool:
        """Return whether kernels are to read *entries*, which this process has not read yet."""
        if cls.is_refused:
            return False
        if cls.rows >= ROWS_BEFORE_COMPILING:
            return True
        known = entries if isinstance(entries, Entries) else Entries(entries)
        if cls.rows + _num_rows(known) < ROWS_BEFORE_LOADING:
            return False
        magics, codecs = (frozenset(distinct(known.column(name))[0]) for name in ("magic", "codec"))
        return _is_compiled(magics, codecs, columns, views)

    @classmethod
    def has_all(cls, magic: int, columns: tuple[str, ...], *, views: bool) -> bool:
        """Return whether nothing has to be loaded or made for such entries, of any codec."""
        if not cls.is_loaded:
            return False
        if cls.rows >= ROWS_BEFORE_COMPILING:
            return True
        return _is_compiled(frozenset({magic}), ANY_CODEC, columns, views)

    @classmethod
    def is_scan_worth_it(cls, magic: int) -> bool:
        """Whether a kernel is to be loaded that takes headers of such entries."""
        if cls.is_refused or cls.is_loaded or cls.rows < ROWS_BEFORE_LOADING:
            return False
        return cls.rows >= ROWS_BEFORE_COMPILING or _is_scan_compiled(magic)

    @classmethod
    def is_pass_over_worth_it(cls) -> bool:
        """Whether a kernel is to read headers; one that is still to be made never is."""
        if cls.is_refused or not (cls.is_loaded or cls.heads >= HEADERS_BEFORE_LOADING):
            return False
        return is_pass_over_compiled()

    @classmethod
    def load(cls, columnar: ColumnarEngine, magic: int) -> None:
        try:
            columnar.load(magic)
        except InputError as error:
            logger.info("reading goes on with the reference engine: %s", error)
            cls.is_refused = True
        else:
            cls.is_loaded = True


_is_compiled, _is_scan_compiled = cache(is_compiled), cache(is_scan_compiled)


def _num_rows(entries: Entries) -> int:
    """Return how many rows *entries* hold, about."""
    counts, sizes = entries.column("record_count"), entries.column("size_bytes")
    return int(np.where(counts == NO_VALUE, sizes // BYTES_OF_MESSAGE, counts).sum())


class AutoEngine:
    """Goes over from the reference to the columnar engine when a process has read enough.

    Both give the same, so it cannot be seen when.
    """

    name = "auto"

    def __init__(self, *, views: bool = False) -> None:
        self.views = views
        self._reference = ReferenceEngine(views=views)
        self._columnar = ColumnarEngine(self._reference, views=views)

    def read_headers(self, file: File, position: int, end: int) -> BatchHeaders:
        chosen: Engine = self._columnar if _Process.is_pass_over_worth_it() else self._reference
        found = chosen.read_headers(file, position, end)
        _Process.heads += len(found)
        return found

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        magic = magic_at(buffer, 0)
        if magic is not None and _Process.is_scan_worth_it(magic):
            _Process.load(self._columnar, magic)
        chosen: Engine = self._columnar if _Process.is_loaded else self._reference
        scan = chosen.scan(buffer, origin=origin, verify=verify, limits=limits, stop=stop)
        _Process.rows += len(scan.entries)
        return scan

    def take(
        self,
        buffer: memoryview,
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        most_bytes: int,
    ) -> Taken | None:
        magic = magic_at(buffer, 0)
        if magic is None or not _Process.has_all(magic, tuple(columns), views=self.views):
            return None
        taken = self._columnar.take(
            buffer, columns, origin=origin, limits=limits, most_bytes=most_bytes
        )
        if taken is not None:
            _Process.rows += len(taken.entries) + taken.decoded.rows.num_rows
        return taken

    def decode(
        self,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
        most_bytes: int | None = None,
        verify: bool = False,
    ) -> Decoded:
        chosen: Engine = self._reference
        if entries and _Process.is_worth_it(entries, tuple(columns), views=self.views):
            if not _Process.is_loaded:
                _Process.load(self._columnar, entries[0].magic)
            if _Process.is_loaded:
                chosen = self._columnar
        decoded = chosen.decode(
            buffer,
            entries,
            columns,
            origin=origin,
            limits=limits,
            most_bytes=most_bytes,
            verify=verify,
        )
        _Process.rows += decoded.rows.num_rows
        return decoded
