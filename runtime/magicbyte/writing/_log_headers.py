"""Facts about a partition that the cleaner takes from headers: active producers, and times of segments."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.logdir.log_file import LogFile
from magicbyte.tables.arrays import Mask

NO_OFFSET = -1


@dataclass(slots=True)
class RememberedProducer:
    """State of a producer id in a broker's memory after the last batch."""

    epoch: int
    last_timestamp: int
    last_data_offset: int = NO_OFFSET
    """Last offset of its last data batch, if no marker of another epoch follows."""


@dataclass(slots=True)
class SegmentTimes:
    """Timestamps of a segment, by its headers; None without one."""

    first: int | None = None
    """Largest timestamp of the first batch."""
    largest: int | None = None
    has_messages: bool = False
    """True if it has v0 or v1 messages."""


@dataclass(slots=True)
class LogHeaders:
    """Producers and times of a partition."""

    producer_states: dict[int, RememberedProducer] = field(default_factory=dict)
    segment_times: dict[str, SegmentTimes] = field(default_factory=dict)
    """Times by path of the segment."""

    def add(self, file: LogFile, entries: Entries) -> None:
        """Add the headers of *entries*, which follow those that were added last."""
        times = self.segment_times.setdefault(file.path, SegmentTimes())
        timestamps = entries.column("max_timestamp")
        if times.largest is None:
            times.first = int(timestamps[0])
            times.largest = int(timestamps.max())
        times.largest = max(times.largest, int(timestamps.max()))
        times.has_messages |= bool((entries.column("magic") < 2).any())
        self._add_producers(entries)

    def _add_producers(self, entries: Entries) -> None:
        ids = entries.column("producer_id")
        is_control = entries.column("is_control") != 0
        # A broker ignores a marker without a record: its transaction was removed altogether.
        counts = (ids >= 0) & ~(is_control & (entries.column("record_count") == 0))
        if not counts.any():
            return
        for index in _last_of_each(ids, np.flatnonzero(counts)):
            epoch = int(entries.column("producer_epoch")[index])
            time = int(entries.column("max_timestamp")[index])
            state = self.producer_states.setdefault(
                int(ids[index]), RememberedProducer(epoch, time)
            )
            if state.epoch != epoch:
                state.last_data_offset = NO_OFFSET
            state.epoch, state.last_timestamp = epoch, time
        for index in _last_of_each(ids, np.flatnonzero(counts & ~is_control)):
            state = self.producer_states[int(ids[index])]
            if int(entries.column("producer_epoch")[index]) == state.epoch:
                state.last_data_offset = int(entries.column("last_offset")[index])

    def active_producers(
        self, now_ms: int, expiration_ms: int, in_transaction: Iterable[int]
    ) -> "ActiveProducers":
        """Return the producers that a broker remembers at *now_ms*.

        *in_transaction* are the ids of producers whose transaction is open: they are never forgotten.
        """
        open_ids = set(in_transaction)
        ids = sorted(
            producer_id
            for producer_id, state in self.producer_states.items()
            if producer_id in open_ids or now_ms - state.last_timestamp < expiration_ms
        )
        states = [self.producer_states[producer_id] for producer_id in ids]
        return ActiveProducers(
            np.array(ids, np.int64),
            np.array([state.epoch for state in states], np.int64),
            np.array([state.last_data_offset for state in states], np.int64),
        )


@dataclass(frozen=True, slots=True)
class ActiveProducers:
    """Columns of the producers that a broker remembers, sorted by id."""

    ids: Numbers
    epochs: Numbers
    last_data_offsets: Numbers

    def have_last_batch(self, entries: Entries) -> Mask:
        """Return which of *entries* hold the state of their producer: its last data, or else its last epoch.

        The cleaner keeps such a batch, without records if need be: a restarted broker learns the producer's
        sequence and epoch from it.
        """
        ids = entries.column("producer_id")
        mask = np.zeros(len(ids), np.bool_)
        if not len(self.ids):
            return mask
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        is_active = (ids >= 0) & (self.ids[at] == ids)
        last_data = self.last_data_offsets[at]
        is_last_data = entries.column("last_offset") == last_data
        is_control = entries.column("is_control") != 0
        is_last_epoch = is_control & (entries.column("producer_epoch") == self.epochs[at])
        mask[:] = is_active & np.where(last_data != NO_OFFSET, is_last_data, is_last_epoch)
        return mask


def _last_of_each(ids: Numbers, indices: Numbers) -> list[int]:
    """Return the last of *indices* for each distinct id."""
    if not len(indices):
        return []
    ordered = indices[np.argsort(ids[indices], kind="stable")]
    is_last = np.append(ids[ordered[1:]] != ids[ordered[:-1]], True)
    last_indices: list[int] = ordered[is_last].tolist()
    return last_indices
