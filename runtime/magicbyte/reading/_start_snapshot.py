"""The producer snapshot at the beginning of a log, which only later entries can contradict.

A producer's epoch and last offset never go back, and its sequence continues from the snapshot's.
"""

from collections.abc import Iterable, Mapping, Sequence

from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.protocol import Entry
from magicbyte.findings import Finding
from magicbyte_formats.wire import ProducerSnapshotEntry


class StartSnapshot:
    """The producers of the snapshot at a log's first base, compared with their later batches."""

    def __init__(self, producers: Sequence[ProducerSnapshotEntry]) -> None:
        self.producers = producers
        self.findings: list[Finding] = []
        """Contradictions between the snapshot and later data; without the file's name."""
        self.awaited = {producer.producer_id: producer for producer in producers}
        """Producers that have written no data since."""
        self._seen: set[int] = set()

    def add_entry(self, entry: Entry, *, is_whole: bool) -> None:
        """Compare *entry*, a producer's next batch; *is_whole* is False if batches may be missing."""
        producer = self.awaited.get(entry.producer_id)
        if producer is None:
            return
        self._seen.add(entry.producer_id)
        # A marker of the same epoch does not change the sequence.
        if not entry.is_control or entry.producer_epoch != producer.epoch:
            del self.awaited[entry.producer_id]
        name = f"producer {entry.producer_id}"
        if entry.producer_epoch < producer.epoch:
            self._add_mismatch(
                f"{name} has epoch {entry.producer_epoch} at offset {entry.first_offset}, "
                f"and epochs never go back",
                found=producer.epoch,
                expected=f"at most {entry.producer_epoch}",
            )
        elif not entry.is_control and not _continues(producer, entry) and is_whole:
            self._add_mismatch(
                f"{name} continues with sequence {entry.base_sequence} at offset "
                f"{entry.first_offset}",
                found=producer.last_sequence,
                expected=(entry.base_sequence - 1) % SEQUENCES,
            )

    def add_snapshots(self, snapshots: Mapping[int, Iterable[ProducerSnapshotEntry]]) -> None:
        """Compare the *snapshots* of later segments, by base offset."""
        for base, producers in sorted(snapshots.items()):
            by_id = {producer.producer_id: producer for producer in producers}
            for producer in self.producers:
                if (later := by_id.get(producer.producer_id)) is not None:
                    self._seen.add(producer.producer_id)
                    self._compare(producer, later, base)

    def _compare(
        self, producer: ProducerSnapshotEntry, later: ProducerSnapshotEntry, base: int
    ) -> None:
        name = f"producer {producer.producer_id}"
        if later.epoch < producer.epoch:
            self._add_mismatch(
                f"{name} has epoch {later.epoch} in the snapshot at {base}, "
                f"and epochs never go back",
                found=producer.epoch,
                expected=f"at most {later.epoch}",
            )
        # A last offset of -1: only a marker of the producer is known.
        elif later.epoch == producer.epoch and 0 <= later.last_offset < producer.last_offset:
            self._add_mismatch(
                f"the last offset of {name} is {later.last_offset} in the snapshot at {base}",
                found=producer.last_offset,
                expected=f"at most {later.last_offset}",
            )

    def _add_mismatch(self, message: str, *, found: object, expected: object) -> None:
        finding = Finding(
            code="snapshot-mismatch", message=message, found=str(found), expected=str(expected)
        )
        self.findings.append(finding)

    @property
    def is_unconfirmed(self) -> bool:
        """True if the snapshot names producers, and neither the log nor later snapshots do."""
        return bool(self.producers) and not self._seen


def _continues(producer: ProducerSnapshotEntry, entry: Entry) -> bool:
    """Return whether *entry* may be the producer's first data after the snapshot."""
    return (
        entry.producer_epoch != producer.epoch
        or producer.last_sequence < 0
        # Before KIP-360 a producer that the broker had forgotten kept its epoch and began at 0.
        or entry.base_sequence <= 0
        or entry.base_sequence == (producer.last_sequence + 1) % SEQUENCES
    )
