"""Adds the predictions for brokers to a verification: rows of partitions that their broker decides."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from magicbyte.findings import Finding
from magicbyte.kafka_release import KafkaRelease
from magicbyte.logdir.file_names import OUTPUT_MANIFEST
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.storage import Storage, absolute_path
from magicbyte.tables.schemas import PARTITIONS
from magicbyte.verification.broker import (
    BrokerPrediction,
    PartitionChange,
    predict_brokers,
    read_brokers,
)


class PartitionSelection(NamedTuple):
    """Topics and numbers of partitions that were selected; None: all."""

    topic_names: Collection[str] | None
    partition_numbers: Collection[int] | None

    @classmethod
    def of(
        cls, topics: Iterable[str] | None, partitions: Iterable[int] | None
    ) -> "PartitionSelection":
        """Return the selection of *topics*, or of a single one, and of *partitions*."""
        if isinstance(topics, str):
            topics = [topics]
        return cls(
            None if topics is None else list(topics),
            None if partitions is None else list(partitions),
        )

    def has(self, change: PartitionChange) -> bool:
        return (self.topic_names is None or change.topic in self.topic_names) and (
            self.partition_numbers is None or change.partition in self.partition_numbers
        )


@dataclass(frozen=True, slots=True)
class BrokerRequest:
    """Input and settings of the predictions for brokers."""

    paths: Sequence[str]
    """Paths that the caller has named, in this order."""
    dataset: Dataset
    """The log.dirs, and all partitions that were found, selected or not."""
    selection: PartitionSelection
    release: KafkaRelease | None
    engine: str


def whole_log_dirs(given: Sequence[str], dataset: Dataset) -> list[str]:
    """Return the log.dirs of *dataset* that were named or found whole, in the order of the *given* paths.

    A log.dir around a partition that was named alone is none of them. A given path without a log is one
    if there are others: a disk that cannot be read, or that was emptied.
    """
    named_in: set[str] = set()
    found_in: set[str] = set()
    bare: set[str] = set()
    for log in dataset.all_logs:
        parent = log.folder.rpartition("/")[0]
        (named_in if log.is_named else found_in).add(parent)
        if log.log_dir is None and log.topic is not None and not log.is_remote:
            bare.add(parent)
    paths = {log_dir.path for log_dir in dataset.log_dirs}
    unread_paths = {unread.path for unread in dataset.unread}
    whole = [path for path in paths if path in found_in or path not in named_in]
    if whole:
        whole += [path for path in given if path not in paths and path in unread_paths | bare]

    def order(path: str) -> tuple[int, str]:
        partition_numbers = (
            n for n, each in enumerate(given) if path == each or path.startswith(f"{each}/")
        )
        return next(partition_numbers, len(given)), path

    return sorted(dict.fromkeys(whole), key=order)


def add_broker_rows(
    partition_rows: list[dict[str, Any]],
    request: BrokerRequest,
    storage: Storage,
    partition_row_of: Callable[[PartitionLog], dict[str, Any]],
) -> tuple[list[BrokerPrediction], list[Finding]]:
    """Return the predictions for brokers and their findings, and apply them to *partition_rows*.

    Rows are added for partitions that are not there. *partition_row_of* returns the row of a partition that
    was not verified, as the content of a -future folder.
    """
    engine, limits = request.engine, request.dataset.options.limits
    release = request.release
    log_dirs = whole_log_dirs(list(map(absolute_path, request.paths)), request.dataset)
    # The folders that `rewrite`, `restore` and so on write are laid out like a log.dir, and are no broker's.
    log_dirs = [path for path in log_dirs if not storage.exists(f"{path}/{OUTPUT_MANIFEST}")]
    broker_input = read_brokers(
        log_dirs,
        request.dataset.log_dirs,
        request.dataset.all_logs,
        storage,
        release=release,
        engine=engine,
        limits=limits,
    )
    predicted = predict_brokers(
        broker_input, partition_rows, storage, release=release, engine=engine, limits=limits
    )
    rows_by_key: dict[tuple[str | None, str, int], dict[str, Any]] = {
        (row["log_dir"], row["topic"], row["partition"]): row for row in partition_rows
    }
    for change in predicted.changes:
        if not request.selection.has(change):
            continue
        row = rows_by_key.get((change.log_dir, *change.key))
        if row is None and change.promoted_folder is not None:
            current = _as_current(broker_input.logs[change.promoted_folder])
            row = partition_row_of(current)
            row["verdict"] = change.verdict
            row["recovery"] = ["the broker would move the -future folder to the partition's place"]
            partition_rows.append(row)
        else:
            if row is None:
                row = _absent_row(change)
                partition_rows.append(row)
            _apply(change, row)
    # A broker that cannot be judged has doubts and no faults. Faults of a partition's own files are
    # findings of that partition already.
    judged = [broker for broker in predicted.brokers if broker.verdict != "unknown"]
    verified = {(row["topic"], row["partition"]) for row in partition_rows}
    findings = [
        finding
        for broker in judged
        for finding in broker.findings
        if finding.severity != "note"
        and not (_is_of_one_file(finding) and (finding.topic, finding.partition) in verified)
    ]
    return predicted.brokers, findings


def _is_of_one_file(finding: Finding) -> bool:
    """Return whether a broker stops, or takes a log.dir offline, because of a partition's own file."""
    if finding.code == "log-dir-failed":
        return finding.file is not None
    return finding.code in ("partition-invalid", "partition-metadata-invalid")


def _as_current(log: PartitionLog) -> PartitionLog:
    """Return the log of a -future folder as the row of the partition's own folder."""
    files = tuple(
        replace(file, why_not=None) if file.why_not == log.state else file for file in log.files
    )
    return replace(log, files=files, state=None)


def _absent_row(change: PartitionChange) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(PARTITIONS.names)
    row |= {"topic": change.topic, "partition": change.partition, "log_dir": change.log_dir}
    return row | {"segment_count": 0, "size_bytes": 0, "lost_ranges": [], "damaged_ranges": []}


def _apply(change: PartitionChange, row: dict[str, Any]) -> None:
    row["verdict"] = change.verdict
    row["log_end_offset_after_recovery"] = change.log_end_offset
    row["offsets_lost"] = change.offsets_lost
    end = change.log_end_offset
    row["lost_ranges"] = (
        [(end, end + change.offsets_lost)] if end is not None and change.offsets_lost else []
    )
    row["recovery"] = [] if change.finding is None else [change.finding.message]
