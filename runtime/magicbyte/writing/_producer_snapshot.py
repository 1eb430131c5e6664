"""Producer snapshots, byte for byte as a broker writes them."""

import numpy as np

from magicbyte import checksum
from magicbyte.reading.producer_states import ProducerStates
from magicbyte.writing._java_hash_map import iteration_order
from magicbyte_formats.wire import ProducerSnapshotEntry, ProducerSnapshotHeader

SNAPSHOT_VERSION = 1


def producer_snapshot(states: ProducerStates) -> bytes:
    """Return the contents of a producer snapshot."""
    by_id = dict(states)
    ids = np.fromiter(by_id, np.int64, len(by_id))
    entries = bytearray(len(ids).to_bytes(4, "big"))
    pack = ProducerSnapshotEntry.FIXED.pack
    for producer_id in ids[iteration_order(ids)].tolist():
        state = by_id[producer_id]
        entries += pack(
            producer_id,
            state.epoch,
            state.last_sequence,
            state.last_offset,
            state.offset_delta,
            state.timestamp,
            state.coordinator_epoch,
            state.transaction_first_offset,
        )
    header = ProducerSnapshotHeader.FIXED.pack(SNAPSHOT_VERSION, checksum.crc32c(entries), len(ids))
    return header[: ProducerSnapshotHeader.CHECKSUM.start] + bytes(entries)
