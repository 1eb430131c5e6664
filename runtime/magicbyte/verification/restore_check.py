"""Check whether another cluster would take partition folders, placed in a log.dir before their topic is created."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.opening import open_all_replicas
from magicbyte.reading.planner import Planner
from magicbyte.reading.survey import open_or_give_up
from magicbyte.storage import Storage, StorageOptions
from magicbyte.verification._predicted_columns import with_replica
from magicbyte.verification._restore_facts import RestoreFacts, restore_facts
from magicbyte.verification._restore_findings import (
    epoch_findings,
    file_findings,
    internal_topic,
    producer_findings,
    retention_findings,
    size_findings,
)
from magicbyte.verification._target_log_dirs import TargetLogDir, emptiest, read_target

RETENTION_MS = 604_800_000
"""Kafka's default of `log.retention.hours`, in milliseconds."""

MAX_MESSAGE_BYTES = 1_048_588
"""Kafka's default of `message.max.bytes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTarget:
    """The broker and the topics that partition folders are for.

    Attributes:
        broker_log_dirs: All log.dirs of the broker, on this machine. Default: unknown.
        retention_ms: The topics' `retention.ms`; -1: nothing is deleted. Default: 7 days.
        max_message_bytes: The topics' `max.message.bytes`. Default: 1048588.
        leader_epoch: Leader epoch of the topics' partitions. Default: 0, as of a new topic.
    """

    broker_log_dirs: Sequence[str | os.PathLike[str]] = ()
    retention_ms: int = RETENTION_MS
    max_message_bytes: int = MAX_MESSAGE_BYTES
    leader_epoch: int = 0


@dataclass(slots=True)
class RestoreCheck:
    """The result of `restore_check`.

    Attributes:
        partitions: A dict for each partition: `topic`, `partition`, `folder`, `is_taken`: whether a cluster takes
            the folder unchanged; no internal topic, and none with an error; `leader_epoch`, the highest one; `producer_ids`, the number of
            those that a cluster gives out; `open_transactions`; `largest_batch`, in bytes, if it is too large;
            and `codes` of its findings.
        findings: Findings of all partitions, and about the broker's log.dirs.
    """

    partitions: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def num_taken(self) -> int:
        """Number of partitions that a cluster takes unchanged."""
        return sum(row["is_taken"] for row in self.partitions)


def restore_check(
    *paths: str | os.PathLike[str],
    restore_target: RestoreTarget | None = None,
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    now_ms: int | None = None,
    engine: str = "auto",
    search: bool = False,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> RestoreCheck:
    """Check whether a cluster would take partition folders, of any origin.

    The broker takes a folder that is placed in its log.dir before the topic is created. Headers of batches are read,
    and payloads only of transaction markers. Damage is a matter of `verify`.

    Args:
        paths: As for `open`.
        restore_target: The broker and the topics that the folders are for. Default: new topics with Kafka's defaults.
        topics: Topics to check. Default: all.
        partitions: Numbers of the partitions to check. Default: all.
        now_ms: Time by which the age of records is judged, in milliseconds. Default: the clock of this machine.
        engine: As for `open`.
        search: As for `open`.
        limits: As for `open`.
        progress: As for `verify`.
        storage_options: As for `open`.
    Returns:
        A row for each partition, and findings with the remedy in their codes.
    Raises:
        InputError: A path holds no Kafka log, a log.dir of *restore_target* is none, or an argument is not allowed.
        MissingError: No path exists and may be read.
        StoreError: A store cannot be reached, or refuses.
    Example:
        >>> from magicbyte.verification.restore_check import restore_check
        >>> restore_check("log-0", topics=["fenced"]).partitions[0]["codes"]
        ['restore-producer-ids', 'restore-retention', 'restore-topic-id']
    """
    storage = Storage(storage_options)
    storage_options = None  # so that no traceback shows credentials
    dataset = open_all_replicas(paths, storage, topics, partitions, engine, limits, search)
    checker = _FolderChecker(
        restore_target or RestoreTarget(),
        storage,
        Planner(dataset.options, open_or_give_up),
        int(time.time() * 1000) if now_ms is None else now_ms,
    )
    logs = [log for log in dataset.logs if log.state is None]
    num_replicas = Counter((log.topic, log.partition) for log in logs)
    check, num_done, num_bytes = RestoreCheck(), 0, sum(log.log_bytes for log in logs)
    for log in logs:
        row, findings = checker.check(log)
        if num_replicas[log.topic, log.partition] > 1:
            findings = with_replica(findings, log)
        check.partitions.append(row)
        check.findings += findings
        num_done += log.log_bytes
        if progress is not None:
            progress(num_done, num_bytes)
    check.findings += _log_dir_findings(logs, checker.targets)
    return check


class _FolderChecker:
    """Checks partition folders one by one."""

    def __init__(
        self, restore_target: RestoreTarget, storage: Storage, planner: Planner, now_ms: int
    ) -> None:
        settings = restore_target
        if settings.leader_epoch < 0 or settings.max_message_bytes < 0:
            raise InputError(str(settings), "a leader epoch and a size of 0 or more")
        self.targets = [read_target(os.fspath(path), storage) for path in settings.broker_log_dirs]
        self._settings = settings
        self._storage = storage
        self._planner = planner
        self._now_ms = now_ms

    def check(self, log: PartitionLog) -> tuple[dict[str, Any], list[Finding]]:
        """Return the row of a partition, and findings about it."""
        settings = self._settings
        survey = self._planner.survey_once(log)
        facts = restore_facts(
            self._planner,
            survey,
            leader_epoch=settings.leader_epoch,
            max_message_bytes=settings.max_message_bytes,
        )
        if log.topic in INTERNAL_TOPICS:
            findings = [internal_topic(log)]
        else:
            is_same_cluster = _is_same_cluster(log, self.targets)
            findings = [
                *epoch_findings(log, facts),
                *producer_findings(survey, facts, is_same_cluster=is_same_cluster),
                *file_findings(log, _known_topic_id(log, self.targets)),
                *size_findings(log, facts),
                *retention_findings(
                    survey, facts, retention_ms=settings.retention_ms, now_ms=self._now_ms
                ),
                *_folder_findings(log, self.targets, self._storage),
            ]
        return _row(log, facts, findings), findings


def _row(log: PartitionLog, facts: RestoreFacts, findings: Sequence[Finding]) -> dict[str, Any]:
    codes = Counter(finding.code for finding in findings)
    return {
        "topic": log.topic,
        "partition": log.partition,
        "folder": log.folder,
        "is_taken": log.topic not in INTERNAL_TOPICS
        and not any(finding.severity == "error" for finding in findings),
        "leader_epoch": None if facts.max_epoch < 0 else facts.max_epoch,
        "producer_ids": len(facts.producer_ids),
        "open_transactions": codes["restore-open-transaction"],
        "largest_batch": facts.too_large.size_bytes or None,
        "codes": sorted(codes),
    }


def _is_same_cluster(log: PartitionLog, targets: Sequence[TargetLogDir]) -> bool:
    """Return whether the cluster of *targets* wrote *log*: it does not give out its producer ids again."""
    cluster_id = None if log.log_dir is None else log.log_dir.cluster_id
    return cluster_id is not None and any(each.cluster_id == cluster_id for each in targets)


def _known_topic_id(log: PartitionLog, targets: Sequence[TargetLogDir]) -> str | None:
    """Return the id that the topic of *log* has in *targets*; None where they do not have the topic."""
    ids = [each.topic_ids[log.topic] for each in targets if log.topic in each.topic_ids]
    return ids[0] if ids else None


def _folder_findings(
    log: PartitionLog, targets: Sequence[TargetLogDir], storage: Storage
) -> Iterator[Finding]:
    """Yield a finding for each other folder of the partition in *targets*."""
    for each in targets:
        if log.topic is None or log.name not in each.folder_names:
            continue
        path = f"{each.path}/{log.name}"
        if storage.identity(path) != storage.identity(log.folder):
            yield log.finding(
                "restore-folder-exists", f"{path} exists", found=path, expected="no such folder"
            )


def _log_dir_findings(
    logs: Sequence[PartitionLog], targets: Sequence[TargetLogDir]
) -> Iterator[Finding]:
    """Yield findings about the choice of the log.dir, and about the file system of the folders."""
    names = {log.name for log in logs}
    if len(targets) > 1 and logs:
        counts = {each.path: each.num_partitions(names) for each in targets}
        chosen = emptiest(targets, names)
        listed = ", ".join(f"{path} has {count}" for path, count in counts.items())
        spare = min((each for each in counts.values() if each > min(counts.values())), default=None)
        is_certain = (
            len(chosen) == 1 and spare is not None and min(counts.values()) + len(logs) <= spare
        )
        choice = (
            f"the broker would choose {chosen[0].path} for "
            + ("it" if len(logs) == 1 else f"all {len(logs)}")
            if is_certain
            else f"the choice for {len(logs)} new partitions is not certain"
        )
        misplaced = [
            log.name
            for log in logs
            if any(
                log.folder == f"{each.path}/{log.name}" for each in targets if each not in chosen
            )
        ]
        if misplaced or not is_certain:
            where = f"; {', '.join(misplaced[:3])} would be ignored" if misplaced else ""
            yield Finding(
                code="restore-log-dir",
                message=f"a new partition gets into the log.dir with the fewest partitions: {listed}; "
                f"{choice}{where}",
                found=listed,
            )
    yield from _file_system_findings(logs, targets)


def _file_system_findings(
    logs: Sequence[PartitionLog], targets: Sequence[TargetLogDir]
) -> Iterator[Finding]:
    devices = {each.device: each.path for each in targets}
    first_logs: dict[int, PartitionLog] = {}
    for log in logs:
        if not log.files or log.files[0].store is not None:
            continue
        device = os.stat(log.folder or os.curdir).st_dev
        if devices and device not in devices:
            first_logs.setdefault(device, log)
    for log in first_logs.values():
        finding = log.finding(
            "restore-file-system",
            f"{log.folder} is on another file system than {', '.join(devices.values())}",
        )
        yield replace(finding, topic=None, partition=None)
