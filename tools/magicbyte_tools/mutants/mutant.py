"""The mutant: a file with one small fault."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file with one small fault in it."""

    file: str
    """Path of the file in the checkout."""
    place: str
    """The function, or the type and field."""
    operator: str
    change: str
    """Description of the change, in a few words."""
    text: str
    """The whole file, changed."""
    number: int = 1
    """Tells alike changes in one place apart."""

    @property
    def name(self) -> str:
        """Stays the same while lines above it come and go."""
        ordinal = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file} {self.place} {self.operator}: {self.change}{ordinal}"


def numbered(mutants: Iterable[Mutant]) -> Iterator[Mutant]:
    """Yield *mutants* with names that are all different."""
    seen: Counter[str] = Counter()
    for mutant in mutants:
        seen[mutant.name] += 1
        yield replace(mutant, number=seen[mutant.name])
