"""engine="auto": the columnar engine where it pays and can run, else the reference.

Numba takes about half a second to load, and its compiler some seconds, once on a machine. The
reference engine reads about 10 MB a second. So what it has read by then is left to it.
"""

import warnings
from collections.abc import Sequence
from functools import cache

from magicbyte.engines import Decoded, Engine, Entry, Scan
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import MIB, Limits

LEAST_BYTES = 8 * MIB
"""From here on loading the kernels pays."""

LEAST_BYTES_TO_COMPILE = 64 * MIB
"""From here on compiling them pays."""


class AutoEngine:
    """One of the two, chosen when first needed: who reads headers alone loads nothing."""

    name = "auto"

    def __init__(self, num_bytes: int) -> None:
        self.num_bytes = num_bytes
        """Of the whole read, of which this engine may see a part."""
        self._chosen: Engine | None = None

    @property
    def chosen(self) -> Engine:
        if self._chosen is None:
            self._chosen = choose(self.num_bytes)
        return self._chosen

    def scan(
        self,
        buffer: memoryview,
        *,
        origin: int,
        verify: bool,
        limits: Limits,
        stop: int | None = None,
    ) -> Scan:
        return self.chosen.scan(buffer, origin=origin, verify=verify, limits=limits, stop=stop)

    def decode(
        self,
        buffer: memoryview,
        entries: Sequence[Entry],
        columns: Sequence[str],
        *,
        origin: int,
        limits: Limits,
    ) -> Decoded:
        return self.chosen.decode(buffer, entries, columns, origin=origin, limits=limits)


def choose(num_bytes: int) -> Engine:
    """Return the engine for a read of *num_bytes*."""
    from magicbyte.engines.columnar import ColumnarEngine, compiled

    if num_bytes < LEAST_BYTES:
        return ReferenceEngine()
    if num_bytes < LEAST_BYTES_TO_COMPILE and not compiled.is_compiled():
        return ReferenceEngine()
    return ColumnarEngine() if _can_run() else ReferenceEngine()


@cache
def _can_run() -> bool:
    """Whether the columnar engine runs here; says once why it does not."""
    from magicbyte.engines.columnar import compiled

    try:
        compiled.check()
    except Exception as error:  # whatever a compiler and its libraries raise where they cannot load
        reason = f"{type(error).__name__}: {error}"
        text = f"the columnar engine cannot run, the reference engine reads ({reason})"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return False
    return True
