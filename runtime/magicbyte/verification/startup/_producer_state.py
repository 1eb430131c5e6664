"""The state of producers while a broker replays a log (ProducerStateManager): open transactions."""

from collections.abc import Iterator, Mapping

import numpy as np

from magicbyte.engines.control_records import ControlReader
from magicbyte.engines.protocol import Chunk, Entries, Entry
from magicbyte.errors import FormatError, MissingError
from magicbyte.limits import Limits
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, read_producer_snapshot
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.verification.startup._prediction import StartupRefusedError
from magicbyte_formats.wire import ControlType

TRANSACTION_ENDS = (ControlType.ABORT, ControlType.COMMIT)


class ProducerState:
    """The first offset of each producer's open transaction."""

    def __init__(self, open_transactions: Mapping[int, int] | None = None) -> None:
        self.open_transactions = dict(open_transactions or {})
        self._controls = ControlReader()

    def replay(self, data: memoryview, entry: Entry, limits: Limits) -> None:
        """Apply *entry*, a v2 batch with the bytes *data*.

        Raises StartupRefusedError where a broker's replay ends with an exception.
        """
        producer = entry.producer_id
        if producer == -1:
            return
        if entry.is_control:
            if self._ends_transaction(data, entry, limits):
                self.open_transactions.pop(producer, None)
        elif not entry.is_transactional and producer in self.open_transactions:
            raise StartupRefusedError(
                f"InvalidTxnStateException at byte {entry.position}: a batch of producer "
                f"{producer} is not transactional, but lies inside the producer's transaction "
                f"from offset {self.open_transactions[producer]}"
            )
        elif entry.is_transactional:
            self.open_transactions.setdefault(producer, entry.base_offset or 0)

    def relevant_entries(self, entries: Entries) -> dict[int, Entry]:
        """Return the entries, by index, whose replay can change this state or fail."""
        is_relevant = entries.column("producer_id") != -1
        if not self.open_transactions and not entries.column("is_transactional").any():
            is_relevant &= entries.column("is_control") != 0
        indices = np.flatnonzero(is_relevant)
        return dict(zip(indices.tolist(), entries.picked(indices), strict=True))

    def _ends_transaction(self, data: memoryview, entry: Entry, limits: Limits) -> bool:
        """Return whether the control batch *entry* ends a transaction; an empty one does not."""
        if not entry.record_count:
            return False
        control = self._controls.content(Chunk(data, entry.position), entry, limits).control
        if control is None or control.type not in TRANSACTION_ENDS:
            fault = "cannot be read" if control is None else f"is of type {control.type}"
            raise StartupRefusedError(
                f"byte {entry.position}: the control record of producer {entry.producer_id} {fault}"
            )
        return True


def snapshots(log: PartitionLog) -> Iterator[LogFile]:
    """Yield the producer snapshots of *log*, newest first."""
    files = [f for f in log.files if f.kind == "snapshot" and f.live and f.base_offset is not None]
    yield from sorted(files, key=lambda file: file.base_offset or 0, reverse=True)


def newest_state(log: PartitionLog, *, end: int) -> tuple[int, ProducerState]:
    """Return offset and producer state of the newest valid snapshot at or below offset *end*.

    A broker deletes snapshots that it cannot read. Without any, the state is empty, at offset -1.
    """
    for file in snapshots(log):
        if (file.base_offset or 0) > end:
            continue
        try:
            producers = read_producer_snapshot(file.read_small(MAX_COMPANION_BYTES))
        except (FormatError, MissingError):
            continue
        return file.base_offset or 0, ProducerState(
            {
                producer.producer_id: producer.current_transaction_first_offset
                for producer in producers
                if producer.current_transaction_first_offset >= 0
            }
        )
    return -1, ProducerState()
