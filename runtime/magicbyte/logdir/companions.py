"""Transaction indexes and producer snapshots, read whole and judged."""

from magicbyte.checksum import crc32c
from magicbyte.errors import ChecksumError, FormatError, TruncatedError
from magicbyte_formats.wire import (
    AbortedTransaction,
    ProducerSnapshotEntry,
    ProducerSnapshotHeader,
)

MAX_COMPANION_BYTES = 1 << 30
"""Some thirty million aborted transactions; what is longer is no index."""


def read_transaction_index(data: bytes) -> list[AbortedTransaction]:
    """Return the aborted transactions in *data*, in order of their markers.

    Raises FormatError (`txnindex-invalid`) where it is no transaction index.
    """
    entries: list[AbortedTransaction] = []
    left = len(data) % AbortedTransaction.SIZE
    if left:
        raise TruncatedError(
            f"{left} bytes behind the last whole entry",
            code="txnindex-invalid",
            position=len(data) - left,
            found=len(data),
            expected=f"a multiple of {AbortedTransaction.SIZE}",
        )
    for position in range(0, len(data), AbortedTransaction.SIZE):
        entry = AbortedTransaction.unpack_from(data, position)
        previous = entries[-1].last_offset if entries else -1
        if entry.version != 0:
            raise _index_error(position, "version", entry.version, "0")
        if entry.producer_id < 0:
            raise _index_error(position, "producer_id", entry.producer_id, "0 or more")
        if not 0 <= entry.first_offset <= entry.last_offset:
            raise _index_error(
                position, "first_offset", entry.first_offset, f"0 to {entry.last_offset}"
            )
        if entry.last_offset <= previous:
            raise _index_error(position, "last_offset", entry.last_offset, f"above {previous}")
        highest = entry.last_offset + 1
        if not 0 <= entry.last_stable_offset <= highest:
            raise _index_error(
                position, "last_stable_offset", entry.last_stable_offset, f"0 to {highest}"
            )
        entries.append(entry)
    return entries


def _index_error(position: int, field: str, found: int, expected: str) -> FormatError:
    return FormatError(
        f"{field} {found}, expected {expected}",
        code="txnindex-invalid",
        position=position,
        field=field,
        found=found,
        expected=expected,
    )


def read_producer_snapshot(data: bytes) -> list[ProducerSnapshotEntry]:
    """Return the producers in the snapshot *data*.

    Raises FormatError (`snapshot-invalid`) where it is none: cut, of another version, or with a
    checksum that is not that of its bytes.
    """
    if len(data) < ProducerSnapshotHeader.SIZE:
        raise TruncatedError(
            f"{len(data)} bytes",
            code="snapshot-invalid",
            found=len(data),
            expected=f"at least {ProducerSnapshotHeader.SIZE}",
        )
    header = ProducerSnapshotHeader.unpack_from(data)
    if header.version != 1:
        raise FormatError(
            f"version {header.version}",
            code="snapshot-invalid",
            field="version",
            found=header.version,
            expected=1,
        )
    computed = crc32c(data[ProducerSnapshotHeader.CHECKSUM.start :])
    if computed != header.crc:
        raise ChecksumError(
            position=ProducerSnapshotHeader.CHECKSUM.field_position,
            stored=header.crc,
            computed=computed,
            code="snapshot-invalid",
        )
    room = len(data) - ProducerSnapshotHeader.SIZE
    if header.num_producers * ProducerSnapshotEntry.SIZE != room:
        raise TruncatedError(
            f"{header.num_producers} producers in {room} bytes",
            code="snapshot-invalid",
            position=ProducerSnapshotHeader.SIZE,
            field="num_producers",
            found=header.num_producers,
            expected=room // ProducerSnapshotEntry.SIZE,
        )
    return [
        ProducerSnapshotEntry.unpack_from(data, position)
        for position in range(ProducerSnapshotHeader.SIZE, len(data), ProducerSnapshotEntry.SIZE)
    ]
