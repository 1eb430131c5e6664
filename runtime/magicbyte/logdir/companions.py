"""Transaction indexes and producer snapshots: parsed as a whole, and validated."""

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
"""Thirty million aborted transactions; a longer file is not an index."""


_ABORTED = dtype_of(AbortedTransaction)


def transaction_index(data: bytes) -> StructuredRows:
    """Return the aborted transactions in *data* as columns, in the order of their markers.

    The columns are the fields of AbortedTransaction. Raises FormatError (`txnindex-invalid`) if *data*
    are not a valid transaction index.
    """
    left = len(data) % AbortedTransaction.SIZE
    if left:
        raise TruncatedError(bytes_left(data, AbortedTransaction.SIZE, "txnindex-invalid"))
    index_rows: StructuredRows = np.frombuffer(data, _ABORTED)
    lasts = index_rows["last_offset"].astype(np.int64)
    previous = np.concatenate([[-1], lasts[:-1]]) if len(lasts) else lasts
    # The finding names the first rule that the entry breaks.
    rules: list[tuple[str, Mask, Callable[[int], str]]] = [
        ("version", index_rows["version"] == 0, lambda _: "0"),
        ("producer_id", index_rows["producer_id"] >= 0, lambda _: "0 or more"),
        (
            "first_offset",
            (index_rows["first_offset"] >= 0) & (index_rows["first_offset"] <= lasts),
            lambda number: f"0 to {lasts[number]}",
        ),
        ("last_offset", lasts > previous, lambda number: f"above {previous[number]}"),
        (
            "last_stable_offset",
            # Without a sum, which would overflow for the largest offset.
            (index_rows["last_stable_offset"] >= 0)
            & (index_rows["last_stable_offset"] - 1 <= lasts),
            lambda number: f"0 to {int(lasts[number]) + 1}",
        ),
    ]
    is_valid = np.logical_and.reduce([mask for _, mask, _ in rules])
    if not is_valid.all():
        number = int(np.argmin(is_valid))
        field, _, expected = next(rule for rule in rules if not rule[1][number])
        found = int(index_rows[field][number])
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
    return index_rows


def read_transaction_index(data: bytes) -> list[AbortedTransaction]:
    """Return the aborted transactions in *data*, in the order of their markers.

    Raises FormatError (`txnindex-invalid`) if *data* are not a valid transaction index.
    """
    transaction_index(data)
    return [
        AbortedTransaction.unpack_from(data, position)
        for position in range(0, len(data), AbortedTransaction.SIZE)
    ]


class UncheckedTransaction(NamedTuple):
    """An entry of a transaction index, as Kafka reads it: it checks nothing but the version."""

    position: int
    version: int
    """The first byte of the field, which is all that Kafka reads (AbortedTxn.version); Kafka refuses
    versions above 0."""
    entry: AbortedTransaction


def unchecked_transactions(data: bytes) -> Iterator[UncheckedTransaction]:
    """Yield the complete entries of the transaction index *data*, valid or not."""
    for position in range(0, len(data) - AbortedTransaction.SIZE + 1, AbortedTransaction.SIZE):
        entry = AbortedTransaction.unpack_from(data, position)
        yield UncheckedTransaction(position, entry.version >> 8, entry)


def read_producer_snapshot(data: bytes) -> list[ProducerSnapshotEntry]:
    """Return the producers in the snapshot *data*.

    Raises FormatError (`snapshot-invalid`) if the data are cut, have another version or a wrong
    checksum.
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
