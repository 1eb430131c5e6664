"""The cases of one worker process, and the failures that it reports."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

Tally = Counter[tuple[str, str]]
"""Number of cases by the seed's format and codec, and by outcome."""

What = Literal["fault", "hang", "error", "difference"]


ENTRIES = "entries.bin"
"""The name of bytes that are no partition."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that the fuzzer found."""

    what: What
    """*fault*: the process died; *hang*: it did not end; *error*: an exception outside of our error tree;
    *difference*: the engines gave different results."""
    case: int
    kind: str
    message: str
    files: Mapping[str, bytes]
    """The bytes, by the path of a file."""


Message = Tally | Failure


class Task(Protocol):
    @property
    def first(self) -> int: ...

    @property
    def end(self) -> int:
        """The number after the last case; *first* is the number of the first."""

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        """Work through the cases; call *begin* with the number of one before anything is done to it.

        Where several are worked on together, it is the first one's number.
        """

    def alone(self, case: int) -> Self | None:
        """Return the task of those that are worked on together with *case*, now one by one.

        None where they were that already.
        """

    def behind(self, case: int) -> Self:
        """Return the rest of the task after the group of *case*."""

    def failure(self, what: What, case: int, message: str) -> Failure:
        """Return the failure of *case*, with its bytes."""
