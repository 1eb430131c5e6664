"""Profiles reading a segment with `on_damage="skip"`: CPU time by part of the library.

Clocks are patched around functions of the library. Only one clock runs at a time, so that each
nanosecond is counted once.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from magicbyte.engines.factory import engine
from magicbyte.reading._log_pass import LogPass
from magicbyte.reading._resynchronize import EntrySearch
from magicbyte.storage._local import LocalFile
from magicbyte_tools.bench.ours import Ours
from magicbyte_tools.bench.profile import WARM_UP, Profile

SURVEY = "survey"
SEARCH = "search"
READS = "reads"
RECORDS = "records"
REST = "runs and batches"

PARTS = (SURVEY, SEARCH, READS, RECORDS, REST)

WHOLE = {SURVEY: (SEARCH,), SEARCH: ()}
"""Parts that also count the work of functions they call, except for the listed parts."""


def damage_profile(
    name: str, path: Path, *, engine_name: str, num_rows: int, repetitions: int
) -> Profile:
    """Return the CPU time of each part of `mb.open(path, on_damage="skip")`, in ns per row."""
    made = Profile(name, {part: [] for part in PARTS})
    ours = Ours(engine_name)
    ours.load(path, "skip")
    for turn in range(WARM_UP + repetitions):
        with _clocks(engine_name) as clocks:
            ours.read("columns", 1)
        if turn >= WARM_UP:
            for part in PARTS:
                made.spent[part].append(clocks.spent[part] / num_rows)
    return made


class _Clocks:
    """CPU time of this thread in ns, by part of the library."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0)
        self._running = [REST]
        self._since = time.thread_time_ns()

    def charge(self) -> None:
        """Add the CPU time since the last call to the part that is running."""
        now = time.thread_time_ns()
        self.spent[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        @wraps(function)
        def measured(*args: Any, **keys: Any) -> Any:
            self.charge()
            now = self._running[-1]
            self._running.append(part if part in WHOLE.get(now, PARTS) else now)
            try:
                return function(*args, **keys)
            finally:
                self.charge()
                self._running.pop()

        return measured


@contextmanager
def _clocks(engine_name: str) -> Iterator[_Clocks]:
    """Patch the library's functions, while the context lasts, so that they are timed; yield the clocks."""
    clocks, kind = _Clocks(), type(engine(engine_name))
    with (
        patch.object(LogPass, "read_segments", clocks.timed(LogPass.read_segments, SURVEY)),
        patch.object(EntrySearch, "next_entry", clocks.timed(EntrySearch.next_entry, SEARCH)),
        patch.object(EntrySearch, "true_end", clocks.timed(EntrySearch.true_end, SEARCH)),
        patch.object(LocalFile, "read_at", clocks.timed(LocalFile.read_at, READS)),
        patch.object(kind, "decode", clocks.timed(kind.decode, RECORDS)),
    ):
        yield clocks
        clocks.charge()
