"""Facts about a partition, by its headers, on which depends whether another cluster takes it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.planner import Planner
from magicbyte.reading.survey import Survey
from magicbyte.tables.arrays import Mask, distinct

MAX_PRODUCER_IDS = 10_000
"""Distinct producer ids that are counted: memory is bounded."""

FIRST_UNUSED_PRODUCER_ID = 1 << 62
"""`magicbyte restore` adds this to producer ids: a cluster, which counts from 0, does not get here."""


@dataclass(slots=True)
class EntryCount:
    """Log entries that have something in common."""

    count: int = 0
    file: str | None = None
    """Name of the segment with the first one."""
    position: int = 0
    offset: int = 0
    """First offset of the first one."""
    size_bytes: int = 0
    """Size of the largest one."""

    def add(self, file: LogFile, entries: Entries, is_counted: Mask) -> None:
        """Count the *entries* of *file* that are marked."""
        indices = np.flatnonzero(is_counted)
        if not len(indices):
            return
        if self.file is None:
            first = entries[int(indices[0])]
            self.file, self.position, self.offset = file.name, first.position, first.first_offset
        self.count += len(indices)
        self.size_bytes = max(self.size_bytes, int(entries.column("size_bytes")[indices].max()))


@dataclass(slots=True)
class RestoreFacts:
    """Facts about the log entries of a partition."""

    leader_epoch: int
    """Leader epoch that the new topic has."""
    max_message_bytes: int
    max_epoch: int = -1
    above_epoch: EntryCount = field(default_factory=EntryCount)
    """Batches with a higher leader epoch than the new topic's."""
    without_epoch: EntryCount = field(default_factory=EntryCount)
    """Batches of format v2 with the leader epoch -1."""
    too_large: EntryCount = field(default_factory=EntryCount)
    of_producers: EntryCount = field(default_factory=EntryCount)
    """Batches with a producer id that a cluster gives out."""
    producer_ids: set[int] = field(default_factory=set)
    """The first ids, up to MAX_PRODUCER_IDS."""
    max_timestamps: dict[str, int] = field(default_factory=dict)
    """Highest timestamp, in milliseconds, of each segment that has one, by file name."""

    def add(self, file: LogFile, entries: Entries) -> None:
        """Add *entries*, the next ones of the log, which are in *file*."""
        epochs = entries.column("leader_epoch")
        self.max_epoch = max(self.max_epoch, int(epochs.max()))
        if self.max_epoch > self.leader_epoch:
            self.above_epoch.add(file, entries, epochs > self.leader_epoch)
        is_without = (epochs < 0) & (entries.column("magic") == 2)
        self.without_epoch.add(file, entries, is_without)
        self.too_large.add(file, entries, entries.column("size_bytes") > self.max_message_bytes)
        self._add_producers(file, entries)
        latest = int(entries.column("max_timestamp").max())
        if latest >= 0:
            self.max_timestamps[file.name] = max(self.max_timestamps.get(file.name, 0), latest)

    def _add_producers(self, file: LogFile, entries: Entries) -> None:
        ids: Numbers = entries.column("producer_id")
        is_given_out = (ids >= 0) & (ids < FIRST_UNUSED_PRODUCER_ID)
        self.of_producers.add(file, entries, is_given_out)
        if is_given_out.any() and len(self.producer_ids) < MAX_PRODUCER_IDS:
            numbers, _ = distinct(ids[is_given_out])
            self.producer_ids.update(numbers[: MAX_PRODUCER_IDS - len(self.producer_ids)])


def restore_facts(
    planner: Planner, survey: Survey, *, leader_epoch: int, max_message_bytes: int
) -> RestoreFacts:
    """Return the facts about the partition of *survey*; only headers are read."""
    facts = RestoreFacts(leader_epoch, max_message_bytes)
    for file, entries in _runs(planner, survey):
        facts.add(file, entries)
    return facts


def _runs(planner: Planner, survey: Survey) -> Iterator[tuple[LogFile, Entries]]:
    for file, entries in planner.headers(survey):
        if len(entries):
            yield file, entries
