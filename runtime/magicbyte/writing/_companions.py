"""Companion files of a partition, built from its log entries byte for byte as Kafka's recovery writes them.

A broker that finds a `.log` file without an offset index reads the whole file and writes its companion files
(LogSegment.recover). It loads a partition that already has them without reading the `.log` files, which it then
does not verify.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.errors import FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.limits import DEFAULT_LIMITS, Limits
from magicbyte.logdir.checkpoints import EPOCH_CHECKPOINT
from magicbyte.logdir.file_names import MAX_OFFSET
from magicbyte.reading.producer_states import ProducerStates
from magicbyte.writing._producer_snapshot import producer_snapshot
from magicbyte.writing._segment_indexes import SegmentIndexes

INDEX_INTERVAL_BYTES = 4096
"""Kafka's default of the topic setting `index.interval.bytes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentCompanions:
    """The companion files of a segment that has ended."""

    base_offset: int
    max_timestamp: int
    """Highest timestamp of the segment, in milliseconds; -1 where it has none."""
    files: Mapping[str, bytes]
    """Contents by file name. The producer snapshot is named by the base offset of the next segment, and in the last
    segment by the log end offset. The last segment has `leader-epoch-checkpoint`, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransaction:
    """A transaction without a marker, by what a producer snapshot states of it."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    """Epoch of the coordinator that wrote the producer's last marker; -1 without one."""
    first_offset: int
    last_timestamp: int
    """Highest timestamp of the producer's last batch, in milliseconds."""


@dataclass(slots=True)
class CompanionBuilder:
    """Builds the companion files of a partition from its log entries, in order.

    `begin_segment` is called before the first entry of each segment. It returns the files of the segment before,
    so that memory holds the files of one segment, and the state of the partition's producers.
    The files are the same as after a recovery by Kafka 4.3 that forgets no producer (`producer.id.expiration.ms`).
    One snapshot is left out: where messages of the formats v0 and v1 follow v2 batches in the last segment, Kafka
    writes the state of the producers twice, at the end of the batches and at the log end offset.

    Attributes:
        index_interval_bytes: The topic's `index.interval.bytes`. Default: 4096.
        limits: Bounds on the size of a control batch. Default: `Limits()`.
    """

    index_interval_bytes: int = field(default=INDEX_INTERVAL_BYTES, kw_only=True)
    limits: Limits = field(default=DEFAULT_LIMITS, kw_only=True)
    log_end_offset: int = field(default=0, init=False)
    """Last offset of the last entry + 1; the base offset of a last segment without entries."""
    leader_epochs: list[tuple[int, int]] = field(default_factory=list, init=False)
    """Leader epochs with their start offsets. Recovery enters only those that rise."""
    _base_offset: int | None = field(default=None, init=False)
    """Base offset of the current segment; None before the first one."""
    _has_entries: bool = field(default=False, init=False)
    _indexes: SegmentIndexes = field(init=False)
    _aborted: bytearray = field(default_factory=bytearray, init=False)
    _producers: ProducerStates = field(init=False)

    def __post_init__(self) -> None:
        if self.index_interval_bytes < 0:
            raise InputError(f"index_interval_bytes={self.index_interval_bytes}", "0 or more")
        self._producers = ProducerStates(self.limits)

    @property
    def last_stable_offset(self) -> int:
        """First offset of the oldest open transaction; without one, the log end offset."""
        return next(iter(self._producers.first_offsets.values()), self.log_end_offset)

    @property
    def open_transactions(self) -> list[OpenTransaction]:
        """The transactions that are open after the last entry, by first offset."""
        return [
            OpenTransaction(
                producer_id=producer_id,
                producer_epoch=self._producers[producer_id].epoch,
                coordinator_epoch=self._producers[producer_id].coordinator_epoch,
                first_offset=first_offset,
                last_timestamp=self._producers[producer_id].timestamp,
            )
            for producer_id, first_offset in self._producers.first_offsets.items()
        ]

    def begin_segment(self, base_offset: int) -> SegmentCompanions | None:
        """Begin the segment that is named by *base_offset*; return the files of the segment before.

        Returns None for the first segment. Raises FormatError if *base_offset* is below the log end offset.
        """
        if base_offset < self.log_end_offset:
            raise FormatError(
                Finding(
                    code="offset-out-of-order",
                    message=f"a segment has base offset {base_offset}, and the one before it ends at "
                    f"{self.log_end_offset}",
                    base_offset=base_offset,
                    field="base_offset",
                    found=str(base_offset),
                    expected=f"at least {self.log_end_offset}",
                )
            )
        ended = None if self._base_offset is None else self._end_segment(base_offset)
        self._base_offset = self.log_end_offset = base_offset
        self._indexes = SegmentIndexes(base_offset, self.index_interval_bytes)
        return ended

    def add(self, entries: Entries, data: memoryview) -> None:
        """Add sound *entries*, which are back to back, to the current segment.

        *data* begins with the bytes of the first entry. The entries' `position` is their position in the segment's
        `.log` file. Raises FormatError where a broker could not index or replay the entries.
        """
        if not len(entries):
            return
        _check_next_offset(entries)
        self._indexes.add(entries)
        self._add_epochs(entries)
        self._aborted += self._producers.add(entries, data)
        self.log_end_offset = int(entries.column("last_offset")[-1]) + 1
        self._has_entries = True

    def finish(self) -> SegmentCompanions:
        """Return the files of the last segment, and the partition's `leader-epoch-checkpoint`.

        Raises InputError without a segment.
        """
        ended = self._end_segment(self.log_end_offset if self._has_entries else None)
        lines = [f"{epoch} {start}\n" for epoch, start in self.leader_epochs]
        checkpoint = f"0\n{len(lines)}\n{''.join(lines)}" if lines else ""
        files = {**ended.files, EPOCH_CHECKPOINT: checkpoint.encode()}
        return SegmentCompanions(
            base_offset=ended.base_offset, max_timestamp=ended.max_timestamp, files=files
        )

    def _end_segment(self, snapshot_offset: int | None) -> SegmentCompanions:
        """Return the files of the current segment, with a producer snapshot at *snapshot_offset*."""
        base_offset = self._base_offset
        if base_offset is None:
            raise InputError(
                "no segment", "a call of begin_segment: a partition has one segment or more"
            )
        offset_index, time_index = self._indexes.finish()
        contents = {"index": offset_index, "timeindex": time_index}
        if self._aborted:
            contents["txnindex"] = bytes(self._aborted)
            self._aborted.clear()
        files = {f"{base_offset:020}.{kind}": data for kind, data in contents.items()}
        if snapshot_offset is not None:
            files[f"{snapshot_offset:020}.snapshot"] = producer_snapshot(self._producers)
        return SegmentCompanions(
            base_offset=base_offset, max_timestamp=self._indexes.max_timestamp, files=files
        )

    def _add_epochs(self, entries: Entries) -> None:
        epochs = entries.column("leader_epoch")
        latest = self.leader_epochs[-1][0] if self.leader_epochs else -1
        highest = np.maximum.accumulate(np.append(latest, epochs))
        rises = np.flatnonzero(highest[1:] > highest[:-1])
        if len(rises):
            starts = entries.column("first_offset")[rises]
            self.leader_epochs += zip(epochs[rises].tolist(), starts.tolist(), strict=True)


def _check_next_offset(entries: Entries) -> None:
    """Raise FormatError if no offset follows one of *entries*: a broker deletes such a log on startup."""
    is_last = entries.column("last_offset") == MAX_OFFSET
    if is_last.any():
        raise FormatError(
            entries[int(np.argmax(is_last))].finding(
                "offset-out-of-order",
                f"the last offset of a batch is {MAX_OFFSET}, and no offset follows it: on startup a broker "
                "would take the log end offset for negative, and delete the log; `magicbyte salvage` leaves "
                "out the batch",
                field="base_offset",
                found=MAX_OFFSET,
                expected=f"below {MAX_OFFSET}",
            )
        )
