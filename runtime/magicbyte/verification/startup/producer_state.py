"""What is known of producers while a log is replayed (ProducerStateManager): open transactions."""

from collections.abc import Iterator

import numpy as np

from magicbyte.engines.entry import Entry
from magicbyte.engines.protocol import Entries
from magicbyte.errors import FormatError, MissingError
from magicbyte.limits import Limits
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, read_producer_snapshot
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.frames import Frame
from magicbyte.logdir.log_file import LogFile
from magicbyte.verification.startup.prediction import RefusedError
from magicbyte_formats.wire import ControlType

TRANSACTION_ENDS = (ControlType.ABORT, ControlType.COMMIT)


class Producers:
    """Where the open transaction of each producer begins."""

    def __init__(self, opened: dict[int, int] | None = None) -> None:
        self.opened = dict(opened or {})

    def replay(self, frame: Frame, entry: Entry, limits: Limits) -> None:
        """Take in a v2 batch. Raises RefusedError where a broker's replay ends with an exception."""
        producer = entry.producer_id
        if producer == -1:
            return
        if entry.is_control:
            if self._marker(frame, entry, limits):
                self.opened.pop(producer, None)
        elif not entry.is_transactional and producer in self.opened:
            raise RefusedError(
                f"byte {frame.position}: a batch of producer {producer} that is not transactional, "
                f"inside its transaction from offset {self.opened[producer]} "
                "(InvalidTxnStateException)"
            )
        elif entry.is_transactional:
            self.opened.setdefault(producer, entry.base_offset or 0)

    def concerned(self, entries: Entries) -> dict[int, Entry]:
        """Return those of *entries*, by number, that are to be replayed: the others change nothing
        here, and contradict nothing.
        """
        is_of_producer = entries.column("producer_id") != -1
        if not self.opened and not entries.column("is_transactional").any():
            is_of_producer &= entries.column("is_control") != 0
        numbers = np.flatnonzero(is_of_producer)
        return dict(zip(numbers.tolist(), entries.picked(numbers), strict=True))

    def _marker(self, frame: Frame, entry: Entry, limits: Limits) -> bool:
        """Return whether a control batch of a producer ends a transaction: an empty one does not."""
        from magicbyte.engines.reference import ReferenceEngine

        if not entry.record_count:
            return False
        decoded = ReferenceEngine().decode(
            frame.data, [entry._replace(position=0)], (), origin=0, limits=limits
        )
        control = decoded.entry(0).control
        if control is None or control.type not in TRANSACTION_ENDS:
            found = "cannot be read" if control is None else f"is of type {control.type}"
            raise RefusedError(
                f"byte {frame.position}: the control record of producer {entry.producer_id} {found}"
            )
        return True


def snapshots(log: PartitionLog) -> Iterator[LogFile]:
    """Yield the producer snapshots of *log*, the newest first."""
    found = [f for f in log.files if f.kind == "snapshot" and f.live and f.base_offset is not None]
    yield from sorted(found, key=lambda file: file.base_offset or 0, reverse=True)


def newest_state(log: PartitionLog, *, end: int) -> tuple[int, Producers]:
    """Return the state by the newest sound snapshot at or below offset *end*, and its offset.

    A broker deletes those that it cannot read. Without any, nothing is known at offset -1.
    """
    for file in snapshots(log):
        if (file.base_offset or 0) > end:
            continue
        try:
            data = file.read_small(MAX_COMPANION_BYTES)
            producers = read_producer_snapshot(data)
        except (FormatError, MissingError):
            continue
        return file.base_offset or 0, Producers(
            {
                one.producer_id: one.current_transaction_first_offset
                for one in producers
                if one.current_transaction_first_offset >= 0
            }
        )
    return -1, Producers()
