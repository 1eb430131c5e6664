"""The producer snapshot at the beginning of a log, which no entry before it can contradict.

What comes after it can: a producer's epoch and last offset never go down, and its sequence goes
on where it was.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.protocol import Entry
from magicbyte.findings import Finding
from magicbyte_formats.wire import ProducerSnapshotEntry


class Beginning:
    """What the snapshot at a log's first base states, and what the log makes of it."""

    def __init__(self, stated: Sequence[ProducerSnapshotEntry]) -> None:
        self.stated = stated
        self.findings: list[Finding] = []
        """Contradictions between the snapshot and what follows it; without the file's name."""
        self._unmet = {producer.producer_id: producer for producer in stated}
        """Those that have written no data in sight yet."""
        self._met: set[int] = set()

    def awaits(self, producer_id: int) -> bool:
        """Return whether what this producer writes next is to be compared."""
        return producer_id in self._unmet

    def entry(self, entry: Entry, *, is_whole: Callable[[], bool]) -> None:
        """Compare with *entry*, the next in sight; *is_whole* tells if none before it is missing."""
        producer = self._unmet.get(entry.producer_id)
        if producer is None:
            return
        self._met.add(entry.producer_id)
        # A marker of the same epoch leaves the sequence where it was.
        if not entry.is_control or entry.producer_epoch != producer.epoch:
            del self._unmet[entry.producer_id]
        name = f"producer {entry.producer_id}"
        if entry.producer_epoch < producer.epoch:
            self._differs(
                f"{name} has epoch {entry.producer_epoch} at offset {entry.first_offset}, "
                f"and epochs do not go down",
                found=producer.epoch,
                expected=f"at most {entry.producer_epoch}",
            )
        elif not entry.is_control and not _goes_on(producer, entry) and is_whole():
            self._differs(
                f"{name} goes on with sequence {entry.base_sequence} at offset "
                f"{entry.first_offset}",
                found=producer.last_sequence,
                expected=(entry.base_sequence - 1) % SEQUENCES,
            )

    def later(self, snapshots: Mapping[int, Iterable[ProducerSnapshotEntry]]) -> None:
        """Compare with the *snapshots* of later segments, by their offsets."""
        for base, producers in sorted(snapshots.items()):
            after = {producer.producer_id: producer for producer in producers}
            for producer in self.stated:
                if (then := after.get(producer.producer_id)) is not None:
                    self._met.add(producer.producer_id)
                    self._compare(producer, then, base)

    def _compare(
        self, producer: ProducerSnapshotEntry, then: ProducerSnapshotEntry, base: int
    ) -> None:
        name = f"producer {producer.producer_id}"
        if then.epoch < producer.epoch:
            self._differs(
                f"{name} has epoch {then.epoch} in the snapshot at {base}, "
                f"and epochs do not go down",
                found=producer.epoch,
                expected=f"at most {then.epoch}",
            )
        # -1 where all that is known of a producer is a marker
        elif then.epoch == producer.epoch and 0 <= then.last_offset < producer.last_offset:
            self._differs(
                f"the last offset of {name} is {then.last_offset} in the snapshot at {base}",
                found=producer.last_offset,
                expected=f"at most {then.last_offset}",
            )

    def _differs(self, message: str, *, found: object, expected: object) -> None:
        self.findings.append(
            Finding(
                code="snapshot-mismatch",
                message=message,
                found=str(found),
                expected=str(expected),
            )
        )

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the snapshot names producers, and nothing after it knows any of them."""
        return bool(self.stated) and not self._met


def _goes_on(producer: ProducerSnapshotEntry, entry: Entry) -> bool:
    """Return whether *entry* may be the first data after what the snapshot states of *producer*."""
    return (
        entry.producer_epoch != producer.epoch
        or producer.last_sequence < 0
        # Before KIP-360 a producer that the broker had forgotten kept its epoch, and began anew.
        or entry.base_sequence <= 0
        or entry.base_sequence == (producer.last_sequence + 1) % SEQUENCES
    )
