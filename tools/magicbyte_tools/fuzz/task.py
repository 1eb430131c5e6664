"""Defines tasks, the cases of one worker process, and the failures and tallies that a task sends."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

Tally = Counter[tuple[str, str]]
"""Number of cases by the seed's format and codec, and by outcome."""

What = Literal["fault", "hang", "error", "difference"]


ENTRIES = "entries.bin"
"""Name of the file of failing bytes that are log entries and not a partition."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failing case, with the bytes that repeat it."""

    what: What
    """*fault*: the process crashed; *hang*: a case did not end; *error*: an exception outside of our error tree;
    *difference*: the engines gave different results."""
    case: int
    kind: str
    message: str
    files: Mapping[str, bytes]
    """Contents of the files of the case, by path."""


Message = Tally | Failure


class Task(Protocol):
    @property
    def first(self) -> int: ...

    @property
    def end(self) -> int:
        """Number of the last case plus one; *first* is the number of the first case."""

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        """Try all cases. Calls *begin* with a case's number before the case, *send* with tallies and failures.

        For cases that are tried together, *begin* is called once, with the number of the first.
        """

    def alone(self, case: int) -> Self | None:
        """Return a task that tries the cases of the group of *case* one by one.

        None if this task tries cases one by one already.
        """

    def behind(self, case: int) -> Self:
        """Return a task of the cases after the group of *case*."""

    def failure(self, what: What, case: int, message: str) -> Failure:
        """Return the failure of *case* with the kind *what*, and with the bytes of the case."""
