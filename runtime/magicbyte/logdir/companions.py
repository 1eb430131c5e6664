"""Transaction indexes and producer snapshots, read whole and judged."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from magicbyte.checksum import crc32c
from magicbyte.errors import ChecksumError, FormatError, TruncatedError
from magicbyte.findings import Finding
from magicbyte.logdir.row_files import StructuredRows, bytes_left, dtype_of
from magicbyte.tables.arrays import Mask
from magicbyte_formats.wire import (
    AbortedTransaction,
    ProducerSnapshotEntry,
    ProducerSnapshotHeader,
)

MAX_COMPANION_BYTES = 1 << 30
"""Some thirty million aborted transactions; what is longer is no index."""


_ABORTED = dtype_of(AbortedTransaction)


def transaction_index(data: bytes) -> StructuredRows:
    """Return the aborted transactions in *data* as columns, in order of their markers.

    These are the fields of AbortedTransaction. Raises FormatError (`txnindex-invalid`) where it is no transaction index.
    """
    left = len(data) % AbortedTransaction.SIZE
    if left:
        raise TruncatedError(bytes_left(data, AbortedTransaction.SIZE, "txnindex-invalid"))
    table: StructuredRows = np.frombuffer(data, _ABORTED)
    lasts = table["last_offset"].astype(np.int64)
    previous = np.concatenate([[-1], lasts[:-1]]) if len(lasts) else lasts
    # Each entry is judged by the first of these that it breaks.
    rules: list[tuple[str, Mask, Callable[[int], str]]] = [
        ("version", table["version"] == 0, lambda _: "0"),
        ("producer_id", table["producer_id"] >= 0, lambda _: "0 or more"),
        (
            "first_offset",
            (table["first_offset"] >= 0) & (table["first_offset"] <= lasts),
            lambda number: f"0 to {lasts[number]}",
        ),
        ("last_offset", lasts > previous, lambda number: f"above {previous[number]}"),
        (
            "last_stable_offset",
            # Compared without the sum, which the largest offset has none of.
            (table["last_stable_offset"] >= 0) & (table["last_stable_offset"] - 1 <= lasts),
            lambda number: f"0 to {int(lasts[number]) + 1}",
        ),
    ]
    are_good = np.logical_and.reduce([is_good for _, is_good, _ in rules])
    if not are_good.all():
        number = int(np.argmin(are_good))
        field, _, expected = next(rule for rule in rules if not rule[1][number])
        found = int(table[field][number])
        raise FormatError(
            Finding(
                code="txnindex-invalid",
                message=f"{field} {found}, expected {expected(number)}",
                position=number * AbortedTransaction.SIZE,
                field=field,
                found=str(found),
                expected=expected(number),
            )
        )
    return table


def read_transaction_index(data: bytes) -> list[AbortedTransaction]:
    """Return the aborted transactions in *data*, in order of their markers.

    Raises FormatError (`txnindex-invalid`) where it is no transaction index.
    """
    transaction_index(data)
    return [
        AbortedTransaction.unpack_from(data, position)
        for position in range(0, len(data), AbortedTransaction.SIZE)
    ]


class UncheckedTransaction(NamedTuple):
    """An entry of a transaction index, as Kafka takes it: it judges nothing but the version."""

    position: int
    version: int
    """The first byte of the two, which is all that Kafka reads (AbortedTxn.version); it refuses
    what is above 0."""
    entry: AbortedTransaction


def unchecked_transactions(data: bytes) -> Iterator[UncheckedTransaction]:
    """Yield the entries that lie whole in the transaction index *data*, whatever is in them."""
    for position in range(0, len(data) - AbortedTransaction.SIZE + 1, AbortedTransaction.SIZE):
        entry = AbortedTransaction.unpack_from(data, position)
        yield UncheckedTransaction(position, entry.version >> 8, entry)


def read_producer_snapshot(data: bytes) -> list[ProducerSnapshotEntry]:
    """Return the producers in the snapshot *data*.

    Raises FormatError (`snapshot-invalid`) where it is none: cut, of another version, or with a
    checksum that is not that of its bytes.
    """
    if len(data) < ProducerSnapshotHeader.SIZE:
        raise TruncatedError(
            _invalid_snapshot(
                f"{len(data)} bytes", 0, None, len(data), f"at least {ProducerSnapshotHeader.SIZE}"
            )
        )
    header = ProducerSnapshotHeader.unpack_from(data)
    if header.version != 1:
        raise FormatError(
            _invalid_snapshot(f"version {header.version}", 0, "version", header.version, 1)
        )
    computed = crc32c(data[ProducerSnapshotHeader.CHECKSUM.start :])
    if computed != header.crc:
        stored, actual = f"{header.crc:#010x}", f"{computed:#010x}"
        message = f"stored CRC-32C {stored}, computed {actual}"
        position = ProducerSnapshotHeader.CHECKSUM.field_position
        raise ChecksumError(_invalid_snapshot(message, position, "crc", stored, actual))
    size = len(data) - ProducerSnapshotHeader.SIZE
    if header.num_producers * ProducerSnapshotEntry.SIZE != size:
        raise TruncatedError(
            _invalid_snapshot(
                f"{header.num_producers} producers in {size} bytes",
                ProducerSnapshotHeader.SIZE,
                "num_producers",
                header.num_producers,
                size // ProducerSnapshotEntry.SIZE,
            )
        )
    return [
        ProducerSnapshotEntry.unpack_from(data, position)
        for position in range(ProducerSnapshotHeader.SIZE, len(data), ProducerSnapshotEntry.SIZE)
    ]


def _invalid_snapshot(
    message: str, position: int, field: str | None, found: object, expected: object
) -> Finding:
    return Finding(
        code="snapshot-invalid",
        message=message,
        position=position,
        field=field,
        found=str(found),
        expected=str(expected),
    )
