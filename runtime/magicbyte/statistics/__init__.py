"""Statistics of logs: sizes, formats, codecs, batches, keys, producers, times, retention."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.reading.opening import open_all_replicas
from magicbyte.reading.process_pool import in_processes, num_processes
from magicbyte.statistics._counts import Counts
from magicbyte.statistics.partition import BY, TOTAL, CountedGroup, count_partition
from magicbyte.storage import Storage, StorageOptions
from magicbyte.tables.stats_table import STATS

__all__ = ["BY", "Statistics", "stats"]

Progress = Callable[[int, int], None]
"""Called with the bytes that are done, and those in all."""


@dataclass(slots=True)
class Statistics:
    """The result of `stats`. Rows are dicts with the columns of the table of statistics.

    Attributes:
        quick: Whether only headers were read: columns that need the payload are then None, and
            no checksum was verified.
        rows: A row for each topic, partition or segment. If by segment, files that belong to none
            of a partition's segments have a row without a file.
        total: A row for everything.
        findings: Findings of all partitions.
        unread: Files and folders below the paths that were not read, each with its reason.
    Example:
        >>> mb.stats("log-0", topics=["fenced"]).total["record_count"]
        12
    """

    quick: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    total: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unread: list[UnreadPath] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """True if no finding has the severity `error`."""
        return not any(finding.severity == "error" for finding in self.findings)


def stats(
    *paths: str | os.PathLike[str],
    by: str = "partition",
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    quick: bool = False,
    engine: str = "auto",
    processes: int | None = 1,
    search: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Statistics:
    """Count the contents of logs: of all replicas, and of every disposition.

    A damaged batch counts with its bytes only. Memory grows with the number of rows, and not with
    the number of records.

    Args:
        paths: As for `open`.
        by: ``"topic"``, ``"partition"`` or ``"segment"``: what a row is about.
        topics: Topics to count. Default: all.
        partitions: Numbers of the partitions to count. Default: all.
        quick: Read headers only.
        engine: As for `open`.
        processes: As for `verify`.
        search: As for `open`.
        limits: As for `open`.
        progress: Called after each partition with the bytes that are done, and those in all.
        storage_options: As for `open`.
    Returns:
        Rows, a total, and findings.
    Raises:
        InputError: A path holds no Kafka log, or an argument is not allowed.
        MissingError: No path exists and may be read; one among others is in ``unread``.
        StoreError: A store cannot be reached, or refuses.
    Example:
        >>> rows = mb.stats("log-0", by="partition", topics=["fenced"]).rows
        >>> [(row["partition"], row["record_count"]) for row in rows]
        [(0, 9), (1, 3)]
    """
    if by not in BY:
        raise InputError(f"by {by!r}", f"one of {', '.join(BY)}")
    storage = Storage(storage_options)
    storage_options = None  # so that no traceback shows credentials
    dataset = open_all_replicas(paths, storage, topics, partitions, engine, limits, search)
    out = Statistics(quick, unread=list(dataset.unread))
    out.findings.extend(dataset.unreadable)
    groups: dict[CountedGroup, Counts] = {}
    total = Counts(not quick)
    log_sizes = [log.log_bytes for log in dataset.logs]
    num_done, num_bytes = 0, sum(log_sizes)
    results = in_processes(
        partial(count_partition, options=dataset.options, quick=quick),
        iter(dataset.logs),
        processes=num_processes(processes, log_sizes),
    )
    with closing(results):
        for log, (counted, findings) in zip(dataset.logs, results, strict=True):
            for group, counts in counted:
                total.add(counts)
                if by != "segment" or group.file is not None or counts.file_bytes:
                    groups.setdefault(group.by(by), Counts(not quick)).add(counts)
            out.findings.extend(findings)
            num_done += log.log_bytes
            if progress is not None:
                progress(num_done, num_bytes)
    out.rows = [_row(group, counts) for group, counts in groups.items()]
    out.total = _row(TOTAL, total)
    return out


def _row(group: CountedGroup, counts: Counts) -> dict[str, Any]:
    row = {**group._asdict(), **counts.row()}
    return {name: row[name] for name in STATS.names}
