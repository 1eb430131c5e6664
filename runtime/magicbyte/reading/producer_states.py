"""The producers of a partition as a broker's recovery replays them (ProducerStateManager, ProducerAppendInfo)."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.protocol import Chunk, Control, Entries, Entry
from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.tables.arrays import Indices
from magicbyte_formats.wire import AbortedTransaction, ControlType, ProducerSnapshotEntry

TRANSACTION_INDEX_VERSION = 0


@dataclass(slots=True)
class ProducerStateEntry:
    """The state of a producer, as in an entry of a snapshot; -1 where there is none."""

    epoch: int = -1
    last_sequence: int = -1
    last_offset: int = -1
    offset_delta: int = 0
    timestamp: int = -1
    coordinator_epoch: int = -1
    transaction_first_offset: int = -1

    def change_epoch(self, epoch: int) -> None:
        """Set the epoch; a new one ends the sequence of the old one."""
        if epoch != self.epoch:
            self.epoch, self.last_sequence, self.last_offset, self.offset_delta = epoch, -1, -1, 0


class _Marker(NamedTuple):
    """The content of a transaction marker."""

    type: int
    coordinator_epoch: int


class _BatchGroup(NamedTuple):
    """Data batches of one producer with no marker between them, or a single control batch."""

    producer_id: int
    is_control: int
    is_transactional: int
    first: int
    """Index of the first batch."""
    first_offset: int
    """Base offset of the first batch."""
    epoch: int
    """Producer epoch of the last batch, as are the following fields."""
    base_sequence: int
    base_offset: int
    last_offset: int
    max_timestamp: int


class ProducerStates:
    """Replays the entries of a partition, in order.

    Every producer is remembered to the end of the log, as a broker does whose clock stands at the time of the
    records: it forgets producers that have been idle for `producer.id.expiration.ms`.
    """

    def __init__(self, limits: Limits) -> None:
        self.first_offsets: OrderedDict[int, int] = OrderedDict()
        """First offset of each open transaction, in ascending order, by producer id."""
        self._producers: dict[int, ProducerStateEntry] = {}
        self._controls = ControlReader()
        self._limits = limits

    def __getitem__(self, producer_id: int) -> ProducerStateEntry:
        return self._producers[producer_id]

    def __iter__(self) -> Iterator[tuple[int, ProducerStateEntry]]:
        """Iterate over the producers with their ids, in the order in which they appeared."""
        return iter(self._producers.items())

    def load(self, snapshot: Iterable[ProducerSnapshotEntry]) -> None:
        """Start with the producers of a snapshot."""
        for producer in snapshot:
            first_offset = producer.current_transaction_first_offset
            self._producers[producer.producer_id] = ProducerStateEntry(
                epoch=producer.epoch,
                last_sequence=producer.last_sequence,
                last_offset=producer.last_offset,
                offset_delta=producer.offset_delta,
                timestamp=producer.timestamp,
                coordinator_epoch=producer.coordinator_epoch,
                transaction_first_offset=first_offset,
            )
            if first_offset >= 0:
                self.first_offsets[producer.producer_id] = first_offset
        ordered = sorted(self.first_offsets.items(), key=lambda item: item[1])
        self.first_offsets = OrderedDict(ordered)

    def add(self, entries: Entries, data: memoryview) -> bytes:
        """Replay *entries*; return the entries of the transaction index for those that abort a transaction.

        *data* begins with the bytes of the first entry. Raises FormatError for a transaction marker that cannot
        be read, and for a batch that may not be inside a transaction.
        """
        producer_ids = entries.column("producer_id")
        if int(producer_ids.max()) < 0:
            return b""
        is_control = entries.column("is_control") != 0
        markers = np.flatnonzero(
            is_control & (producer_ids >= 0) & (entries.column("record_count") != 0)
        )
        contents = self._read_markers(entries, data, markers) if len(markers) else {}
        aborted = bytearray()
        for group in _batch_groups(entries):
            # Also an empty control batch, which changes nothing, makes its producer known.
            producer = self._producers.get(group.producer_id)
            if producer is None:
                producer = self._producers[group.producer_id] = ProducerStateEntry()
            if not group.is_control:
                self._add_data(producer, group, entries)
            elif (marker := contents.get(group.first)) is not None:
                aborted += self._end_transaction(producer, group, marker)
        return bytes(aborted)

    def report_fault(self, finding: Finding) -> None:
        """Raise FormatError for an entry that a broker's recovery stops at."""
        raise FormatError(finding)

    def _add_data(self, producer: ProducerStateEntry, group: _BatchGroup, entries: Entries) -> None:
        first_offset = producer.transaction_first_offset
        if group.is_transactional:
            if first_offset < 0:
                producer.transaction_first_offset = group.first_offset
                self.first_offsets[group.producer_id] = group.first_offset
        elif first_offset >= 0:
            self.report_fault(
                entries[group.first].finding(
                    "transaction-interrupted",
                    f"a batch of producer {group.producer_id} is not transactional, but is inside the producer's "
                    f"transaction from offset {first_offset}: a broker does not start with such a log",
                    field="is_transactional",
                    found=False,
                    expected=True,
                )
            )
        producer.epoch = group.epoch
        producer.offset_delta = group.last_offset - group.base_offset
        sequence = group.base_sequence
        producer.last_sequence = (
            -1 if sequence == -1 else (sequence + producer.offset_delta) % SEQUENCES
        )
        producer.last_offset = group.last_offset
        producer.timestamp = group.max_timestamp

    def _end_transaction(
        self, producer: ProducerStateEntry, group: _BatchGroup, marker: _Marker
    ) -> bytes:
        """Apply a transaction marker; return the entry of the transaction index if it aborts one."""
        first_offset = self.first_offsets.pop(group.producer_id, -1)
        producer.change_epoch(group.epoch)
        # Recovery takes the timestamp of the record. A marker is the only one of its batch.
        producer.timestamp = group.max_timestamp
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.transaction_first_offset = -1
        if first_offset < 0 or marker.type != ControlType.ABORT:
            return b""
        offset = group.base_offset
        stable_offset = next(iter(self.first_offsets.values()), offset + 1)
        return AbortedTransaction.FIXED.pack(
            TRANSACTION_INDEX_VERSION, group.producer_id, first_offset, offset, stable_offset
        )

    def _read_markers(
        self, entries: Entries, data: memoryview, markers: Indices
    ) -> dict[int, _Marker]:
        """Return the contents of the transaction markers that are at the indices *markers*."""
        chunk = Chunk(data, int(entries.column("position")[0]))
        contents = self._controls.read(chunk, entries, markers, limits=self._limits)
        marker_contents: dict[int, _Marker] = {}
        for number, content in zip(markers.tolist(), contents, strict=True):
            control = content.control
            if (
                control is None
                or control.type not in (ControlType.ABORT, ControlType.COMMIT)
                or control.coordinator_epoch is None
            ):
                self.report_fault(_not_a_marker(entries[number], control))
                continue
            marker_contents[number] = _Marker(control.type, control.coordinator_epoch)
        return marker_contents


def _not_a_marker(entry: Entry, control: Control | None) -> Finding:
    fault = "cannot be read" if control is None else f"is of type {control.type}"
    return entry.finding(
        "bad-control-record",
        f"the control record of producer {entry.producer_id} {fault}, expected an abort or a commit: "
        "a broker's recovery stops at it",
        field="control_type",
        found=None if control is None else control.type,
        expected=f"{ControlType.ABORT.value} or {ControlType.COMMIT.value}",
    )


def _batch_groups(entries: Entries) -> Iterator[_BatchGroup]:
    """Yield the groups of batches with a producer id, in the order of their first batches."""
    producer_ids = entries.column("producer_id")
    indices = np.flatnonzero(producer_ids >= 0)
    order = indices[np.argsort(producer_ids[indices], kind="stable")]
    ids = producer_ids[order]
    is_control = entries.column("is_control")[order]
    is_transactional = entries.column("is_transactional")[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (
        (ids[1:] != ids[:-1])
        | (is_control[1:] | is_control[:-1]).astype(np.bool_)
        | (is_transactional[1:] != is_transactional[:-1])
    )
    starts = np.flatnonzero(begins)
    firsts, lasts = order[starts], order[np.append(starts[1:], len(order)) - 1]
    by_first = np.argsort(firsts)
    firsts, lasts = firsts[by_first], lasts[by_first]
    first_offsets = entries.column("first_offset")
    columns = [
        producer_ids[firsts],
        is_control[starts][by_first],
        is_transactional[starts][by_first],
        firsts,
        first_offsets[firsts],
        entries.column("producer_epoch")[lasts],
        entries.column("base_sequence")[lasts],
        first_offsets[lasts],
        entries.column("last_offset")[lasts],
        entries.column("max_timestamp")[lasts],
    ]
    return map(_BatchGroup._make, zip(*(column.tolist() for column in columns), strict=True))
