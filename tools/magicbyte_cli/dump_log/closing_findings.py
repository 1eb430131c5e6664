"""What the tool says on stderr behind all lines, of all files, if it comes to that."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte_cli.dump_log.releases import Release

Pair = tuple[int, int]


@dataclass(slots=True)
class TimeIndexFindings:
    mismatches: list[Pair] = field(default_factory=list)
    """Times of the index, and of the log."""
    out_of_order: list[Pair] = field(default_factory=list)
    """Times, and those before them."""
    not_found: list[Pair] = field(default_factory=list)
    """Offsets of the index, and those that the log has there; -1 where it has none."""


@dataclass(slots=True)
class Findings:
    """What is found while lines are made, by file."""

    release: Release
    indexes: dict[Path, list[Pair]] = field(default_factory=dict)
    """Offsets of an index, and those that the log has there."""
    time_indexes: dict[Path, TimeIndexFindings] = field(default_factory=dict)
    gaps: dict[Path, list[Pair]] = field(default_factory=dict)
    """Offsets of a segment that do not follow on each other."""

    def of_index(self, path: Path) -> list[Pair]:
        return self.indexes.setdefault(path, [])

    def of_time_index(self, path: Path) -> TimeIndexFindings:
        return self.time_indexes.setdefault(path, TimeIndexFindings())

    def of_segment(self, path: Path) -> list[Pair]:
        return self.gaps.setdefault(path, [])

    def lines(self) -> Iterator[str]:
        for path, mismatches in self.indexes.items():
            if mismatches:
                yield f"Mismatches in :{path.absolute()}"
                for offset, found in reversed(mismatches):
                    yield f"  Index offset: {offset}, log offset: {found}"
        for path, found_there in self.time_indexes.items():
            yield from self._of_time_index(path.absolute(), found_there)
        for path, gaps in self.gaps.items():
            if gaps:
                yield f"Non-consecutive offsets in {path.absolute()}"
                for first, second in sorted(gaps) if self.release.sorts_gaps else reversed(gaps):
                    yield f"  {first} is followed by {second}"

    def _of_time_index(self, path: Path, found: TimeIndexFindings) -> Iterator[str]:
        if found.mismatches:
            yield f"Found timestamp mismatch in :{path}"
            for timestamp, there in found.mismatches:
                yield f"  Index timestamp: {timestamp}, log timestamp: {there}"
        if found.out_of_order:
            yield f"Found out of order timestamp in :{path}"
            for timestamp, before in found.out_of_order:
                yield f"  Index timestamp: {timestamp}, Previously indexed timestamp: {before}"
        if found.not_found:
            where = f"in :{path}" if self.release.names_time_indexes else "in the log."
            yield f"The following indexed offsets are not found {where}"
            for offset, there in found.not_found:
                yield f"Indexed offset: {offset}, found log offset: {there}"
