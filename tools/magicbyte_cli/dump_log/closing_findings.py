"""Findings that Kafka's tool prints on stderr after the lines of all files."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte_cli.dump_log.releases import Release

Pair = tuple[int, int]


@dataclass(slots=True)
class TimeIndexFindings:
    mismatches: list[Pair] = field(default_factory=list)
    """Timestamps in the index and in the log."""
    out_of_order: list[Pair] = field(default_factory=list)
    """Timestamps, and the ones before them in the index."""
    not_found: list[Pair] = field(default_factory=list)
    """Offsets in the index, and at that position in the log, or -1."""


@dataclass(slots=True)
class ClosingFindings:
    """Findings by file, collected while lines are printed."""

    release: Release
    indexes: dict[Path, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """Offsets in an index, and at that position in the log."""
    time_indexes: dict[Path, TimeIndexFindings] = field(
        default_factory=lambda: defaultdict(TimeIndexFindings)
    )
    gaps: dict[Path, list[Pair]] = field(default_factory=lambda: defaultdict(list))
    """Pairs of adjacent, but not consecutive, offsets in a segment."""

    def lines(self) -> Iterator[str]:
        for path, mismatches in self.indexes.items():
            if mismatches:
                yield f"Mismatches in :{path.absolute()}"
                for offset, log_offset in reversed(mismatches):
                    yield f"  Index offset: {offset}, log offset: {log_offset}"
        for path, findings in self.time_indexes.items():
            yield from self._of_time_index(path.absolute(), findings)
        for path, gaps in self.gaps.items():
            if gaps:
                yield f"Non-consecutive offsets in {path.absolute()}"
                for first, second in sorted(gaps) if self.release.since(4, 3) else reversed(gaps):
                    yield f"  {first} is followed by {second}"

    def _of_time_index(self, path: Path, findings: TimeIndexFindings) -> Iterator[str]:
        if findings.mismatches:
            yield f"Found timestamp mismatch in :{path}"
            for timestamp, log_timestamp in findings.mismatches:
                yield f"  Index timestamp: {timestamp}, log timestamp: {log_timestamp}"
        if findings.out_of_order:
            yield f"Found out of order timestamp in :{path}"
            for timestamp, previous in findings.out_of_order:
                yield f"  Index timestamp: {timestamp}, Previously indexed timestamp: {previous}"
        if findings.not_found:
            location = f"in :{path}" if self.release.since(4, 3) else "in the log."
            yield f"The following indexed offsets are not found {location}"
            for offset, log_offset in findings.not_found:
                yield f"Indexed offset: {offset}, found log offset: {log_offset}"
