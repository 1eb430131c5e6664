"""Verify logs: findings across their files and replicas, and a verdict for each partition."""

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.reading.opening import open_all_replicas
from magicbyte.reading.partition_tables import findings_outside_partitions
from magicbyte.reading.partition_tally import verify_partition
from magicbyte.reading.planner import Planner
from magicbyte.reading.process_pool import in_processes, num_processes
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.segment_range import with_own_checkpoints
from magicbyte.reading.survey import open_or_give_up
from magicbyte.reading.table_rows import (
    partition_row,
    problem_rows,
    replica_rows,
    segment_row,
)
from magicbyte.storage import Storage, StorageOptions
from magicbyte.verification._broker_rows import BrokerRequest, PartitionSelection, add_broker_rows
from magicbyte.verification._companion_checks import companion_findings, topic_id_findings
from magicbyte.verification._high_watermarks import fold_stale_watermarks
from magicbyte.verification._missing_logs import fold_missing_logs
from magicbyte.verification._predicted_columns import (
    damaged_range_rows,
    mark_partitions_with_errors,
    predicted_columns,
    prediction_of,
    with_replica,
)
from magicbyte.verification._replicas import replica_choices, replica_differences
from magicbyte.verification._unread_details import unreadable_files, with_details
from magicbyte.verification.broker import BrokerPrediction, known_release
from magicbyte.verification.startup import INDEX_INTERVAL_BYTES, StartupPrediction, predict_startup
from magicbyte.verification.verdicts import BAD_BROKER_VERDICTS, BAD_VERDICTS

_PLACE = attrgetter("code", "topic", "partition", "replica", "file", "position")

Progress = Callable[[int, int], None]
"""Called with the bytes that are done, and those in all."""


@dataclass(slots=True)
class Verification:
    """The result of `verify`. Rows are dicts with the columns of the tables, in their order.

    Attributes:
        quick: Whether only headers were read; checksums and payloads are then unknown.
        segments: Rows of `segments` with one more column, `bytes_after_recovery`: the bytes of a
            ``.log`` file after a broker's startup. None for other files, with *quick*, for
            segments that were named one by one, and where the broker would not start.
        partitions: Rows of `partitions` with more columns: `log_end_offset_after_recovery`;
            `offsets_lost`, the number of offsets that are not served after a broker's startup;
            `lost_ranges`, these offsets as pairs of the first one and the one after the last;
            `recovery`, sentences about the broker's actions; and `damaged_ranges`, dicts with
            the bytes of each damaged range, the offsets from `first_offset` to the one before
            `end_offset` that may be in it, and `next_offset`, at which a consumer can go on.
        brokers: A prediction for each broker whose log.dirs were named; none with *quick*, or without *brokers*.
        findings: Findings of all partitions, log.dirs and brokers.
        replicas: Rows of `replicas`, for the partitions with several replicas: which one a read would
            choose, and how much it would fill from the others. None of them with *quick*.
        bytes: Bytes of live segments by disposition.
        records: Records by disposition.
        control_records: Records of control batches, such as transaction markers, with any disposition.
        unread: Files and folders below the paths that were not read, each with its reason.
    Example:
        >>> mb.verify("log-0", topics=["fenced"]).is_sound
        True
    """

    quick: bool
    segments: list[dict[str, Any]] = field(default_factory=list)
    partitions: list[dict[str, Any]] = field(default_factory=list)
    brokers: list[BrokerPrediction] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    replicas: list[dict[str, Any]] = field(default_factory=list)
    bytes: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    control_records: int = 0
    unread: list[UnreadPath] = field(default_factory=list)

    def add(self, other: "Verification") -> None:
        """Add the verification of *other* partitions.

        Args:
            other: Its rows and findings go to the end.
        Example:
            >>> both = mb.verify("log-0", topics=["fenced"])
            >>> both.add(mb.verify("log-0", topics=["fenced"]))
            >>> len(both.partitions)
            4
        """
        self.segments += other.segments
        self.partitions += other.partitions
        self.brokers += other.brokers
        self.findings += other.findings
        self.replicas += other.replicas
        self.bytes.update(other.bytes)
        self.records.update(other.records)
        self.control_records += other.control_records
        self.unread += other.unread

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The findings as rows of the table `problems`."""
        return list(problem_rows(self.findings))

    @property
    def is_sound(self) -> bool:
        """True if no finding has the severity `error`."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def has_bad_verdict(self) -> bool:
        """True if a broker would not start, or something would be lost, damaged or not served."""
        return any(row["verdict"] in BAD_VERDICTS for row in self.partitions) or any(
            broker.verdict in BAD_BROKER_VERDICTS for broker in self.brokers
        )

    @property
    def summary(self) -> dict[str, Any]:
        """Totals; None where only headers were read and the total needs more.

        `records` are data records, also of aborted transactions and below the log start offset.
        """
        severities = Counter(finding.severity for finding in self.findings)
        return {
            "partitions": len(self.partitions),
            "segments": sum(row["live"] and row["file_kind"] == "log" for row in self.segments),
            "size_bytes": sum(row["size_bytes"] for row in self.partitions),
            "records": None if self.quick else self.records.total() - self.control_records,
            "control_records": None if self.quick else self.control_records,
            "damaged_bytes": None if self.quick else self.bytes["damaged"],
            "unreadable_bytes": None if self.quick else self.bytes["unreadable"],
            "errors": severities["error"],
            "warnings": severities["warning"],
            "notes": severities["note"],
            "crc_checked": not self.quick,
        }


def verify(
    *paths: str | os.PathLike[str],
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    quick: bool = False,
    brokers: bool = True,
    clean_shutdown: bool | None = None,
    kafka_version: str | None = None,
    index_interval_bytes: int = INDEX_INTERVAL_BYTES,
    engine: str = "auto",
    processes: int | None = 1,
    search: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Verification:
    """Check logs, and predict what a broker would do with them on startup.

    Checks frames, checksums, records, offsets, sequences, leader epochs and transactions, companion and
    checkpoint files, left-over and missing files, and replicas, also of internal topics.

    Args:
        paths: As for `open`.
        topics: Topics to check. Default: all.
        partitions: Numbers of the partitions to check. Default: all.
        quick: Read headers only: no checksum, no payload, no prediction.
        brokers: Predict whole brokers, too, where log.dirs are named: which partitions they would miss, for
            example. A backup that another cluster is to take is no broker.
        clean_shutdown: Predict a startup after a clean shutdown, or after a crash. Default: as the log.dir says.
        kafka_version: Kafka release whose startup is predicted, such as ``"3.9"``. Default: the newest that
            runs with such log.dirs: 4.4, or 3.9 for a broker with ZooKeeper.
        index_interval_bytes: The topic's ``index.interval.bytes``, on which the prediction depends.
        engine: As for `open`.
        processes: Processes that check, each a partition at a time; 1 is the caller's own. None: as many as
            pay for such logs. They are spawned, so a script needs ``if __name__ == "__main__":`` around the call.
        search: As for `open`.
        limits: As for `open`.
        progress: Called after each partition with the bytes that are done, and those in all.
        storage_options: As for `open`.
    Returns:
        Findings, a row for each file and each partition, and totals.
    Raises:
        InputError: A path holds no Kafka log, or an argument is not allowed.
        MissingError: No path exists and may be read; one among others is in ``unread``.
        StoreError: A store cannot be reached, or refuses.
    Example:
        >>> [row["verdict"] for row in mb.verify("log-0", topics=["fenced"]).partitions]
        ['intact', 'intact']
    """
    storage = Storage(storage_options)
    storage_options = None  # so that no traceback shows credentials
    selection = PartitionSelection.of(topics, partitions)
    release = None if kafka_version is None else known_release(kafka_version)
    names = list(map(str, paths))
    dataset = open_all_replicas(names, storage, *selection, engine, limits, search)
    predict = partial(predict_startup, is_clean=clean_shutdown, engine=engine, release=release)
    predict = partial(predict, interval_bytes=index_interval_bytes)
    verify_log = partial(_verify_log, options=dataset.options, predict=predict, quick=quick)
    out = Verification(quick, unread=with_details(dataset.unread, storage))
    out.findings = findings_outside_partitions(dataset)
    _add_logs(out, dataset.logs, verify_log, processes, progress)
    _add_replicas(out, dataset.logs, dataset.options)
    mark_partitions_with_errors(out.partitions, out.findings, "unchanged-damaged")
    if brokers and not quick:
        request = BrokerRequest(names, dataset, selection, release, engine)
        _add_brokers(out, request, storage, verify_log)
        mark_partitions_with_errors(out.partitions, out.findings, "unknown")
    return out


def _add_brokers(
    result: Verification,
    request: BrokerRequest,
    storage: Storage,
    verify_log: Callable[[PartitionLog], Verification],
) -> None:
    """Add the predictions for brokers, and the rows of partitions that they decide, to *result*."""
    result.brokers, findings = add_broker_rows(
        result.partitions, request, storage, lambda log: verify_log(log).partitions[0]
    )
    result.findings += findings


def _add_logs(
    verification_sum: Verification,
    logs: Sequence[PartitionLog],
    verify_log: Callable[[PartitionLog], Verification],
    processes: int | None,
    progress: Progress | None,
) -> None:
    """Add the verification of each of *logs* to *verification_sum*."""
    verification_sum.findings.extend(topic_id_findings(logs))
    num_done, num_bytes = 0, sum(log.log_bytes for log in logs)
    with closing(_verifications(logs, verify_log, processes)) as verifications:
        for log, verification in verifications:
            verification_sum.add(verification)
            num_done += log.log_bytes
            if progress is not None:
                progress(num_done, num_bytes)


def _verifications(
    logs: Sequence[PartitionLog],
    verify_log: Callable[[PartitionLog], Verification],
    processes: int | None,
) -> Generator[tuple[PartitionLog, Verification], None, None]:
    """Yield each of *logs* with its verification; findings of replicas name the replica."""
    num_replicas = Counter((log.topic, log.partition) for log in logs)
    verifications = in_processes(
        verify_log,
        map(with_own_checkpoints, logs),
        processes=num_processes(processes, [log.log_bytes for log in logs]),
    )
    with closing(verifications):
        for log, verification in zip(logs, verifications, strict=True):
            if num_replicas[log.topic, log.partition] > 1:
                verification.findings = with_replica(verification.findings, log)
            yield log, verification


def _add_replicas(result: Verification, logs: Sequence[PartitionLog], options: ReadOptions) -> None:
    """Add to *result* how replicas differ, the ones that a read would choose, and the ranges that it would fill."""
    differences = replica_differences(Planner(options, open_or_give_up), logs)
    findings = fold_missing_logs([*result.findings, *differences], logs)
    result.findings = fold_stale_watermarks(findings, logs)
    if result.quick:
        return
    damaged = {
        (finding.topic, finding.partition)
        for finding in result.findings
        if finding.severity == "error"
    }
    choice_findings: list[Finding] = []
    for log in replica_choices(logs, options, damaged):
        choice_findings += log.findings
        result.replicas.extend(replica_rows(log))
    # A choice names again the damage of another replica whose offsets may be lost, and says more.
    repeated = set(map(_PLACE, choice_findings))
    result.findings = [one for one in result.findings if _PLACE(one) not in repeated]
    result.findings += choice_findings


def _verify_log(
    log: PartitionLog,
    *,
    options: ReadOptions,
    predict: Callable[..., StartupPrediction],
    quick: bool,
) -> Verification:
    """Return the verification of one partition."""
    tally = verify_partition(Planner(options, open_or_give_up), log, quick=quick)
    survey, report = tally.survey, tally.report
    if not log.is_named_files and log.state is None:
        report.findings.extend(companion_findings(log, survey))
    out = Verification(quick, findings=report.findings, bytes=report.bytes, records=report.records)
    out.control_records = tally.control_records
    out.unread.extend(unreadable_files(log, report.findings))
    prediction = None if quick else prediction_of(log, survey, options.limits, predict)
    sizes = (
        None if prediction is None or prediction.refusal is not None else prediction.segment_sizes
    )
    for file in log.files:
        row = segment_row(log, file, survey, None if quick else tally.by_path.get(file.path))
        row["bytes_after_recovery"] = None if sizes is None else _size_after(file, sizes)
        out.segments.append(row)
    if log.state is None:
        row = partition_row(survey, None if quick else report.records)
        row |= predicted_columns(survey, report.findings, prediction, quick=quick)
        row["damaged_ranges"] = damaged_range_rows(tally.damaged_ranges, sizes)
        out.partitions.append(row)
    return out


def _size_after(file: LogFile, sizes: Mapping[str, int]) -> int | None:
    """Return the bytes of *file* after startup, by the predicted *sizes*; None if not a local log."""
    if file.kind != "log" or file.is_remote:
        return None
    stays = file.live or file.why_not == "superseded"
    return sizes.get(file.name.removesuffix(".swap"), 0) if stays else 0
