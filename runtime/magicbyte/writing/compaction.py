"""Compaction by the rules of Kafka's log cleaner: records that the next round would remove, and why."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.errors import FormatError, InputError, LimitError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.metadata_snapshots import METADATA_TOPIC
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.planner import Planner
from magicbyte.tables.arrays import to_numpy, value_lengths
from magicbyte.writing._cleaner_round import (
    CleanedEntries,
    CleanerRound,
    plan_round,
)
from magicbyte.writing._cleaner_rules import NO_HORIZON, Action
from magicbyte.writing._cleaner_settings import RELEASES, CleanerSettings
from magicbyte_formats.wire import RecordBatchHeader

__all__ = ["RELEASES", "CleanerSettings", "CompactionEstimate", "dry_run"]

RECORD_OVERHEAD = 7
"""Bytes of a short record besides key, value and headers; an estimate of sizes needs no more."""


@dataclass(slots=True, kw_only=True)
class CompactionEstimate:
    """Estimate of a round of the log cleaner over a partition.

    Attributes:
        topic: Topic of the partition; None outside of a partition folder.
        partition: Number of the partition.
        is_due: Whether a broker would choose the partition now, by its ratio of dirty bytes or its oldest dirty record.
        is_compacted: Whether a round would remove no record, and earlier ones have left none that they should have
            removed. None if the partition cannot be cleaned.
        cleanable_ratio: Dirty bytes in the bytes that a round reads.
        first_dirty_offset: Offset from which the keys are looked up.
        end_offset: Offset at which the round would end, and the next one begin.
        clean_bytes: Bytes of the segments below the first dirty offset.
        dirty_bytes: Bytes of the segments with dirty offsets that may be cleaned.
        uncleanable_bytes: Bytes of the active segment, and of segments that are too young or have open transactions.
        key_count: Distinct keys in the dirty part.
        is_map_full: Whether the memory for keys does not suffice for the dirty part: a further round must follow.
        record_count: Records in the segments that the round reads; so for the counts below.
        retained_count: Records that stay.
        superseded_below: Records below the first dirty offset whose key has a later record.
        superseded_above: Records from the first dirty offset on whose key has a later record.
        keyless_count: Records without a key, which the cleaner removes.
        aborted_count: Records of aborted transactions.
        leftover_count: Records below the first dirty offset that earlier rounds should have removed: they have no key,
            were aborted, or a later record below that offset has their key. A round whose keys did not fit into the
            map may leave some.
        marker_count: Transaction markers that are removed.
        expired_tombstones: Tombstones whose time has passed, which are removed.
        waiting_tombstones: Tombstones whose time has not passed yet.
        new_tombstones: Tombstones whose time begins with this round.
        freed_bytes: Bytes that the round would free: exact for batches that are removed or emptied, in proportion to
            the sizes of keys and values for others.
        refusal: Reason why the partition cannot be cleaned; None if it can.
    Example:
        >>> from magicbyte.writing.compaction import CleanerSettings, dry_run
        >>> settings = CleanerSettings(now_ms=1_800_000_000_000, includes_active_segment=True)
        >>> estimate = next(dry_run(mb.open("log-0", topics=["fenced"]), settings))
        >>> estimate.record_count, estimate.retained_count, estimate.aborted_count
        (11, 6, 5)
    """

    topic: str | None
    partition: int | None
    is_due: bool | None = None
    is_compacted: bool | None = None
    cleanable_ratio: float | None = None
    first_dirty_offset: int | None = None
    end_offset: int | None = None
    clean_bytes: int = 0
    dirty_bytes: int = 0
    uncleanable_bytes: int = 0
    key_count: int = 0
    is_map_full: bool = False
    record_count: int = 0
    retained_count: int = 0
    superseded_below: int = 0
    superseded_above: int = 0
    keyless_count: int = 0
    aborted_count: int = 0
    leftover_count: int = 0
    marker_count: int = 0
    expired_tombstones: int = 0
    waiting_tombstones: int = 0
    new_tombstones: int = 0
    freed_bytes: int = 0
    refusal: str | None = field(default=None)

    def row(self) -> dict[str, Any]:
        """Return the attributes as a dict, in their order.

        Example:
            >>> from magicbyte.writing.compaction import CompactionEstimate
            >>> CompactionEstimate(topic="t", partition=0).row()["freed_bytes"]
            0
        """
        return asdict(self)


def dry_run(dataset: Dataset, settings: CleanerSettings) -> Iterator[CompactionEstimate]:
    """Yield an estimate of a round of the log cleaner over each partition, without writing anything.

    Args:
        dataset: Partitions to look at. Whether their topics are compacted is not known, and does not matter.
        settings: Clock and configuration of the round.
    Returns:
        An estimate for each partition but KRaft's, in the order of the dataset. One with damage has a `refusal`: a broker's
        cleaner stops at damage, and leaves the partition alone from then on.
    Example:
        >>> from magicbyte.writing.compaction import CleanerSettings, dry_run
        >>> settings = CleanerSettings(now_ms=1_800_000_000_000)
        >>> [estimate.is_due for estimate in dry_run(mb.open("log-0", topics=["fenced"]), settings)]
        [True, True]
    """
    options = replace(dataset.options, on_damage="fail")
    for log in dataset.logs:
        if log.topic == METADATA_TOPIC:
            continue
        yield _estimate(Planner(options), log, settings)


def _estimate(planner: Planner, log: PartitionLog, settings: CleanerSettings) -> CompactionEstimate:
    estimate = CompactionEstimate(topic=log.topic, partition=log.partition)
    try:
        cleaned = plan_round(planner, log, settings)
        _add_bounds(estimate, cleaned)
        cleaned.build_map()
        estimate.key_count = cleaned.num_keys
        estimate.is_map_full = cleaned.is_map_full
        estimate.end_offset = cleaned.end_offset
        for cleaned_entries in cleaned.decisions():
            _count(estimate, cleaned_entries, cleaned.bounds.first_dirty_offset)
        estimate.leftover_count = cleaned.num_leftovers()
    except (FormatError, LimitError, InputError) as error:
        estimate.refusal = str(error)
        return estimate
    removes_none = estimate.retained_count == estimate.record_count
    estimate.is_compacted = removes_none and not estimate.leftover_count
    return estimate


def _add_bounds(estimate: CompactionEstimate, cleaned: CleanerRound) -> None:
    estimate.is_due = cleaned.is_due
    estimate.cleanable_ratio = cleaned.cleanable_ratio
    estimate.first_dirty_offset = cleaned.bounds.first_dirty_offset
    estimate.clean_bytes = cleaned.clean_bytes
    estimate.dirty_bytes = cleaned.dirty_bytes
    total = sum(segment.sound_bytes for segment in cleaned.survey.segments)
    end = cleaned.bounds.end_segment
    cleanable = sum(segment.sound_bytes for segment in cleaned.survey.segments[:end])
    estimate.uncleanable_bytes = total - cleanable


def _count(
    estimate: CompactionEstimate, cleaned_entries: CleanedEntries, first_dirty_offset: int
) -> None:
    """Add the decisions about some entries to *estimate*."""
    (_, _, entries, decoded), decisions = cleaned_entries
    offsets = to_numpy(decoded.rows.column("offset"))
    has_value = value_lengths(decoded.rows.column("value")) >= 0
    is_control = np.repeat(entries.column("is_control") != 0, decoded.num_rows)
    is_below = offsets < first_dirty_offset
    is_superseded, is_retained = decisions.is_superseded, decisions.is_retained
    estimate.record_count += len(offsets)
    estimate.retained_count += int(is_retained.sum())
    estimate.superseded_below += int((is_superseded & is_below).sum())
    estimate.superseded_above += int((is_superseded & ~is_below).sum())
    estimate.keyless_count += int(decisions.is_keyless.sum())
    estimate.expired_tombstones += int(decisions.is_expired.sum())
    is_removed = ~(is_retained | is_superseded | decisions.is_keyless | decisions.is_expired)
    estimate.marker_count += int((is_removed & is_control).sum())
    estimate.aborted_count += int((is_removed & ~is_control).sum())
    is_new = entries.column("has_delete_horizon") == 0
    is_tombstone = is_retained & ~has_value
    has_new_horizon = np.repeat(is_new & (decisions.horizons != NO_HORIZON), decoded.num_rows)
    num_new = int((is_tombstone & has_new_horizon).sum())
    estimate.new_tombstones += num_new
    estimate.waiting_tombstones += int(is_tombstone.sum()) - num_new
    estimate.freed_bytes += int(_freed_bytes(cleaned_entries).sum())


def _freed_bytes(cleaned_entries: CleanedEntries) -> Numbers:
    """Return the bytes that each entry would lose."""
    (_, _, entries, decoded), decisions = cleaned_entries
    sizes = entries.column("size_bytes")
    record_bytes = np.full(decoded.rows.num_rows, RECORD_OVERHEAD, np.int64)
    for name in ("key", "value"):
        record_bytes += np.maximum(value_lengths(decoded.rows.column(name)), 0)
    of_entry = np.repeat(np.arange(len(entries)), decoded.num_rows)
    totals = np.bincount(of_entry, record_bytes, len(entries))
    retained = np.bincount(of_entry, record_bytes * decisions.is_retained, len(entries))
    lost = 1 - retained / np.maximum(totals, 1)
    payloads = np.maximum(sizes - RecordBatchHeader.SIZE, 0)
    freed: Numbers = np.where(
        decisions.actions == Action.REMOVE,
        sizes,
        np.where(
            decisions.actions == Action.EMPTY,
            payloads,
            np.where(decisions.actions == Action.REBUILD, payloads * lost, 0),
        ),
    ).astype(np.int64)
    return freed
