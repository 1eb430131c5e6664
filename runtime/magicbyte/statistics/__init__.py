"""What logs consist of: sizes, formats, codecs, batches, keys, producers, times, retention."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.reading.dataset import every_log
from magicbyte.reading.results import Report
from magicbyte.statistics.counts import Counts
from magicbyte.statistics.partition import BY, NOWHERE, Place, read_partition
from magicbyte.storage import StorageOptions
from magicbyte.tables.stats_table import STATS

__all__ = ["BY", "Statistics", "stats"]

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are done."""


@dataclass(slots=True)
class Statistics:
    """What `stats` counted. Rows are dicts with the columns of `magicbyte.tables.stats_table.STATS`."""

    quick: bool
    """Whether headers alone were read: then what only payloads tell is null, and no CRC checked."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """By topic, partition and segment. Of segments, what belongs to none of a partition's is a row
    without a file."""
    total: dict[str, Any] = field(default_factory=dict)
    """Everything together, with the same columns."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether there is no finding of severity `error`."""
        return not any(finding.severity == "error" for finding in self.findings)


def stats(
    *paths: str | os.PathLike[str],
    by: str = "partition",
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    quick: bool = False,
    engine: str = "auto",
    limits: Limits | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Statistics:
    """Return what the logs that *paths* name consist of: all of them, every replica.

    A row is of a topic, a partition or a segment, as *by* says. All entries count, whatever a
    consumer would get of them; what is damaged counts with its bytes alone. *quick* reads headers.
    Memory grows with topics, partitions or segments, not with records. *storage_options* are as for
    `open`. Raises InputError where a path is no log or *by* none of these, StoreError where a store
    cannot be reached or refuses.
    """
    if by not in BY:
        raise InputError(f"by {by!r}", f"one of {', '.join(BY)}")
    storage_options = StorageOptions.of(storage_options)  # out of every trace that shows arguments
    dataset = every_log(
        paths,
        topics=topics,
        partitions=partitions,
        engine=engine,
        limits=limits,
        storage_options=storage_options,
    )
    out = Statistics(quick)
    counts: dict[Place, Counts] = {}
    total = Counts(not quick)
    size = sum(file.size_bytes for log in dataset.logs for file in log.logs)
    done = 0
    for log in dataset.logs:
        report = Report()
        for place, one in read_partition(dataset.of([log]), log, report, quick=quick):
            total.add(one)
            if by != "segment" or place.file is not None or one.file_bytes:
                counts.setdefault(place.by(by), Counts(not quick)).add(one)
        out.findings.extend(report.findings)
        done += sum(file.size_bytes for file in log.logs)
        if progress is not None:
            progress(done, size)
    out.rows = [_row(place, one) for place, one in counts.items()]
    out.total = _row(NOWHERE, total)
    return out


def _row(place: Place, counts: Counts) -> dict[str, Any]:
    row = {**place._asdict(), **counts.row()}
    return {name: row[name] for name in STATS.names}
