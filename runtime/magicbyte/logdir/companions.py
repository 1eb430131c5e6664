"""Transaction indexes and producer snapshots: parsed as a whole, and validated.

A companion file that contradicts the log is reported, and not used.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from magicbyte import checksum
from magicbyte.errors import (
    ChecksumError,
    FormatError,
    MissingError,
    TruncatedError,
    UnreadableError,
)
from magicbyte.findings import Finding
from magicbyte.logdir.indexes import bytes_left
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.tables.arrays import Mask, StructuredRows, dtype_of
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
        name, _, expected = next(rule for rule in rules if not rule[1][number])
        found = int(index_rows[name][number])
        raise FormatError(
            Finding(
                code="txnindex-invalid",
                message=f"{name} {found}, expected {expected(number)}",
                position=number * AbortedTransaction.SIZE,
                field=name,
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
    computed = checksum.crc32c(data[ProducerSnapshotHeader.CHECKSUM.start :])
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


@dataclass(slots=True)
class TransactionCompanions:
    """The valid producer snapshots and transaction indexes of a partition, by base offset."""

    log: PartitionLog
    first_base: int
    """Base offset of the first segment; 0 where it has none."""
    snapshots: dict[int, list[ProducerSnapshotEntry]] = field(default_factory=dict)
    indexes: dict[int, StructuredRows] = field(default_factory=dict)
    """Their entries have the fields of AbortedTransaction."""
    file_names: dict[tuple[str, int], str] = field(default_factory=dict)
    """File names by kind and base offset, invalid files included."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def start_snapshot(self) -> list[ProducerSnapshotEntry] | None:
        """The snapshot at the beginning of a log whose earlier segments are gone."""
        return self.snapshots.get(self.first_base) if self.first_base else None

    @property
    def begins_in_transaction(self) -> bool:
        """True if a transaction is open at the beginning of the log, as the snapshot there states."""
        return any(
            producer.current_transaction_first_offset >= 0 for producer in self.start_snapshot or ()
        )

    @property
    def are_expected(self) -> bool:
        """True if the log is a partition folder, which holds companion files next to its segments."""
        log = self.log
        return bool(log.folder) and log.topic is not None and not log.is_filled

    def finding(self, code: str, kind: str, base: int, message: str, **fields: Any) -> Finding:
        """Return a finding about the companion file of *kind* at *base*."""
        file = self.file_names.get((kind, base), f"{base:020}.{kind}")
        return self.log.finding(code, message, file=file, **fields)


def read_transaction_companions(
    log: PartitionLog, kinds: Collection[str] = ("snapshot", "txnindex")
) -> TransactionCompanions:
    """Read the companion files of *log* that are of *kinds*; invalid and unreadable ones become findings."""
    logs = log.logs
    companions = TransactionCompanions(log, (logs[0].base_offset or 0) if logs else 0)
    for file in log.files:
        if file.kind not in kinds or not file.live or file.base_offset is None:
            continue
        companions.file_names[file.kind, file.base_offset] = file.name
        try:
            data = file.read_small(MAX_COMPANION_BYTES)
            if file.kind == "snapshot":
                producers = read_producer_snapshot(data)
                check_below(producers, file.base_offset)
                companions.snapshots[file.base_offset] = producers
            else:
                companions.indexes[file.base_offset] = transaction_index(data)
        except (FormatError, UnreadableError) as error:
            names = log.topic, log.partition, file.name, log.replica
            companions.findings.append(error.finding.at(*names))
        except MissingError:
            continue  # a live broker has removed it
    return companions


def check_below(producers: Sequence[ProducerSnapshotEntry], base: int) -> None:
    """Raise FormatError if a snapshot at *base* states an offset at or above *base*."""
    for producer in producers:
        for name in ("last_offset", "current_transaction_first_offset"):
            offset = getattr(producer, name)
            if offset >= base:
                raise FormatError(
                    Finding(
                        code="snapshot-mismatch",
                        message=f"producer {producer.producer_id}: {name} {offset} "
                        f"in the snapshot at {base}",
                        position=0,
                        field=name,
                        found=str(offset),
                        expected=f"below {base}",
                    )
                )
