"""The producer snapshots and transaction indexes of a partition.

The log decides: where a companion file contradicts it, the file is reported and not used.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from magicbyte.errors import FormatError, MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.companions import (
    MAX_COMPANION_BYTES,
    read_producer_snapshot,
    read_transaction_index,
)
from magicbyte.logdir.log_file import PartitionLog
from magicbyte_formats.wire import AbortedTransaction, ProducerSnapshotEntry


@dataclass(slots=True)
class TransactionCompanions:
    """The valid producer snapshots and transaction indexes of a partition, by base offset."""

    log: PartitionLog
    first_base: int
    """Base offset of the first segment; 0 where it has none."""
    snapshots: dict[int, list[ProducerSnapshotEntry]] = field(default_factory=dict)
    indexes: dict[int, list[AbortedTransaction]] = field(default_factory=dict)
    file_names: dict[tuple[str, int], str] = field(default_factory=dict)
    """File names by kind and base offset, invalid files included."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def start_snapshot(self) -> list[ProducerSnapshotEntry] | None:
        """The snapshot at the beginning of a log whose earlier segments are gone."""
        return self.snapshots.get(self.first_base) if self.first_base else None

    @property
    def are_expected(self) -> bool:
        """True if the log is a partition folder, which holds companion files next to its segments."""
        return bool(self.log.folder) and self.log.topic is not None

    def finding(
        self,
        code: str,
        kind: str,
        base: int,
        message: str,
        *,
        found: str | None = None,
        expected: str | None = None,
    ) -> Finding:
        """Return a finding about the companion file of *kind* at *base*."""
        return Finding(
            code=code,
            message=message,
            topic=self.log.topic,
            partition=self.log.partition,
            file=self.file_names.get((kind, base), f"{base:020}.{kind}"),
            found=found,
            expected=expected,
        )


def read_transaction_companions(
    log: PartitionLog, kinds: Collection[str] = ("snapshot", "txnindex")
) -> TransactionCompanions:
    """Read the companion files of *log* that are of *kinds*; invalid ones become findings."""
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
                _check_below(producers, file.base_offset)
                companions.snapshots[file.base_offset] = producers
            else:
                companions.indexes[file.base_offset] = read_transaction_index(data)
        except FormatError as error:
            companions.findings.append(error.finding.at(log.topic, log.partition, file.name))
        except MissingError:
            continue  # a live broker has removed it
    return companions


def _check_below(producers: Sequence[ProducerSnapshotEntry], base: int) -> None:
    """Raise FormatError where a snapshot at *base* states an offset at or above *base*."""
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
