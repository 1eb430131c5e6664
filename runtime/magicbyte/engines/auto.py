"""The engine that nobody chose: the reference for a few records, the columnar for many."""

import logging
from collections.abc import Sequence

from magicbyte.engines import Decoded, Engine, Entry, Scan
from magicbyte.engines.columnar import ColumnarEngine, is_compiled
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import InputError
from magicbyte.limits import Limits

logger = logging.getLogger("magicbyte")

ROWS_BEFORE_LOADING = 30_000
ROWS_BEFORE_COMPILING = 200_000
"""Rows that the reference reads before the columnar engine is worth it: it reads them in the time
that loading the other's machine code takes, or making it where none is kept. So a small file never
waits, and nobody waits twice as long as with the better choice."""


class _Process:
    """What this process has read, with whatever threads."""

    rows = 0
    is_kept: bool | None = None
    """Whether there is machine code to load; None while nobody has looked."""
    is_refused = False
    """Whether the columnar engine cannot run here."""

    @classmethod
    def is_worth_it(cls) -> bool:
        if cls.is_refused or cls.rows < ROWS_BEFORE_LOADING:
            return False
        if cls.is_kept is None:
            cls.is_kept = is_compiled()
        return cls.is_kept or cls.rows >= ROWS_BEFORE_COMPILING


class AutoEngine:
    """Goes over from the reference to the columnar engine when a process has read enough.

    Both give the same, so it cannot be seen when.
    """

    name = "auto"

    def __init__(self) -> None:
        self._chosen: Engine = ReferenceEngine()

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        self._choose()
        return self._chosen.scan(buffer, origin=origin, verify=verify, limits=limits, stop=stop)

    def decode(
        self,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
    ) -> Decoded:
        self._choose()
        decoded = self._chosen.decode(buffer, entries, columns, origin=origin, limits=limits)
        _Process.rows += decoded.rows.num_rows
        return decoded

    def _choose(self) -> None:
        if isinstance(self._chosen, ReferenceEngine) and _Process.is_worth_it():
            columnar = ColumnarEngine()
            try:
                columnar.load()
            except InputError as error:
                logger.info("reading goes on with the reference engine: %s", error)
                _Process.is_refused = True
            else:
                self._chosen = columnar
