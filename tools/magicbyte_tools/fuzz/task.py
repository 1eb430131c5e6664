"""What a process of its own works through, case by case, and what it tells."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

Tally = Counter[tuple[str, str]]
"""How often each thing became of cases, by format and codec of the seed, and the thing in a word."""

What = Literal["fault", "hang", "error", "difference"]


ENTRIES = "entries.bin"
"""The name of bytes that are no partition."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What must not be."""

    what: What
    """A *fault* ended the process, a *hang* would not have, an *error* was raised that nobody may
    raise, in a *difference* the engines told different things."""
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
        """The number behind the last case; *first* is that of the first."""

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        """Work through the cases; call *begin* with the number of one before anything is done to it.

        Where several are worked on together, it is the first one's number.
        """

    def alone(self, case: int) -> Self | None:
        """Return the task of those that are worked on together with *case*, now one by one.

        None where they were that already.
        """

    def behind(self, case: int) -> Self:
        """Return what is left of the task when *case* and those with it are passed over."""

    def failure(self, what: What, case: int, message: str) -> Failure:
        """Return what is reported of *case*, with its bytes."""
