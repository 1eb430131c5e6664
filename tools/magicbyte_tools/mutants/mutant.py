"""Defines a mutant: a source file with one small fault."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Mutant:
    """A source file with one small fault."""

    file: str
    """Path of the file in the checkout."""
    place: str
    """Function of the Python code, or type and field of the .ksy, that is changed."""
    operator: str
    change: str
    """Description of the change, in a few words."""
    text: str
    """Text of the whole file with the fault."""
    number: int = 1
    """Number among equal changes in one place, from 1."""

    @property
    def name(self) -> str:
        """Name of the mutant; it has no line number, so edits elsewhere in the file do not change it."""
        ordinal = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file} {self.place} {self.operator}: {self.change}{ordinal}"


def numbered(mutants: Iterable[Mutant]) -> Iterator[Mutant]:
    """Yield *mutants*, numbered so that all names are different."""
    seen: Counter[str] = Counter()
    for mutant in mutants:
        seen[mutant.name] += 1
        yield replace(mutant, number=seen[mutant.name])
