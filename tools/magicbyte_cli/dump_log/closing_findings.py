"""Findings that kafka-dump-log prints on stderr after the lines of all files."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte_cli.dump_log.releases import Release

Pair = tuple[int, int]


@dataclass(slots=True)
class TimeIndexFindings:
    mismatches: list[Pair] = field(default_factory=list)
    """Pairs of different timestamps: in the time index, and in the log."""
    out_of_order: list[Pair] = field(default_factory=list)
    """Pairs of a timestamp, and the equal or larger one before it in the time index."""
    not_found: list[Pair] = field(default_factory=list)
    """Pairs of an offset in the time index, and the offset at that position in the log, or -1."""


@dataclass(slots=True)
class ClosingFindings:
    """Findings of kafka-dump-log by file, collected while it prints lines and printed after them."""

    release: Release
    indexes: dict[Path, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """Pairs of an offset in the offset index, and the offset at that position in the log."""
    time_indexes: dict[Path, TimeIndexFindings] = field(
        default_factory=lambda: defaultdict(TimeIndexFindings)
    )
    gaps: dict[Path, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """Pairs of adjacent, but not consecutive, offsets in a segment."""

    def lines(self) -> Iterator[str]:
        for path, mismatches in self.indexes.items():
            title = f"Mismatches in :{path.absolute()}"
            yield from _block(title, "  Index offset: {}, log offset: {}", mismatches[::-1])
        for path, findings in self.time_indexes.items():
            yield from self._of_time_index(path.absolute(), findings)
        for path, gaps in self.gaps.items():
            title = f"Non-consecutive offsets in {path.absolute()}"
            pairs = sorted(gaps) if self.release.since(4, 3) else gaps[::-1]
            yield from _block(title, "  {} is followed by {}", pairs)

    def _of_time_index(self, path: Path, findings: TimeIndexFindings) -> Iterator[str]:
        title = f"Found timestamp mismatch in :{path}"
        yield from _block(title, "  Index timestamp: {}, log timestamp: {}", findings.mismatches)
        title = f"Found out of order timestamp in :{path}"
        line = "  Index timestamp: {}, Previously indexed timestamp: {}"
        yield from _block(title, line, findings.out_of_order)
        location = f"in :{path}" if self.release.since(4, 3) else "in the log."
        title = f"The following indexed offsets are not found {location}"
        yield from _block(title, "Indexed offset: {}, found log offset: {}", findings.not_found)


def _block(title: str, line: str, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield *title*, and *line* filled in with each of *pairs*; nothing if *pairs* is empty."""
    if pairs:
        yield title
        for pair in pairs:
            yield line.format(*pair)
