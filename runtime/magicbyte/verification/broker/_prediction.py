"""Predicts whether brokers start with their log.dirs, and which partitions they then serve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from magicbyte.errors import InputError, LimitError
from magicbyte.findings import Finding
from magicbyte.kafka_release import NEWEST, KafkaRelease
from magicbyte.limits import Limits
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.metadata_snapshots import METADATA_FOLDER, METADATA_TOPIC
from magicbyte.storage import Storage
from magicbyte.verification.broker._failures import Failures, read_failures
from magicbyte.verification.broker._grouping import BrokerGroup, group_log_dirs, undecided_pairs
from magicbyte.verification.broker._log_dir_state import LogDirState, read_log_dir_state
from magicbyte.verification.broker._metadata_log import (
    MetadataLog,
    read_metadata_log,
)
from magicbyte.verification.broker._partition_changes import (
    Key,
    PartitionChange,
    PartitionJudge,
    PartitionPlacement,
)
from magicbyte.verification.broker._refusals import (
    folder_refusals,
    lock_findings,
    metadata_refusals,
    properties_refusals,
)
from magicbyte.verification.broker._startup_rules import StartupRules, rules_for
from magicbyte.verification.broker._zookeeper import read_zookeeper
from magicbyte.verification.verdicts import BrokerVerdict

LOSSES = ("truncated", "missing", "stray", "not-served")
"""Verdicts of partitions with which a broker starts with loss."""


@dataclass(slots=True)
class BrokerPrediction:
    """The prediction for a broker, or a controller, and its log.dirs on startup.

    Attributes:
        node_id: The node id in `meta.properties`; None if it does not say, or the files disagree.
        cluster_id: The cluster id, likewise.
        log_dirs: Paths of its log.dirs.
        kafka_version: The release whose rules apply, such as ``"4.4"``.
        verdict: `starts`, `starts-with-loss`, `refuses-to-start` or `unknown`.
        reasons: Codes of the findings that decide the verdict.
        findings: The faults, what the broker does, and what to do.
    Example:
        >>> [broker.verdict for broker in mb.verify("log-0").brokers]
        ['starts']
    """

    node_id: int | None
    cluster_id: str | None
    log_dirs: list[str]
    kafka_version: str
    verdict: BrokerVerdict = "starts"
    reasons: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def row(self) -> dict[str, Any]:
        """The fields as a dict; findings as texts."""
        return {
            "node_id": self.node_id,
            "cluster_id": self.cluster_id,
            "log_dirs": self.log_dirs,
            "kafka_version": self.kafka_version,
            "verdict": self.verdict,
            "reasons": self.reasons,
            "findings": [str(finding) for finding in self.findings],
        }


@dataclass(slots=True)
class BrokersPrediction:
    """The predictions for all brokers, and those for partitions that depend on their broker."""

    brokers: list[BrokerPrediction] = field(default_factory=list)
    changes: list[PartitionChange] = field(default_factory=list)


@dataclass(slots=True)
class BrokerInput:
    """Log.dirs of brokers, as they were read before they are judged."""

    states: list[LogDirState]
    metadata_logs: dict[str, MetadataLog]
    """Metadata logs by log.dir."""
    logs: dict[str, PartitionLog]
    """Partitions by path of their folder."""

    @property
    def groups(self) -> list[BrokerGroup]:
        return group_log_dirs(self.states, self.metadata_logs)


def read_brokers(
    paths: Iterable[str],
    log_dirs: Sequence[LogDir],
    logs: Iterable[PartitionLog],
    storage: Storage,
    *,
    release: KafkaRelease | None,
    engine: str,
    limits: Limits,
) -> BrokerInput:
    """Return the state of each log.dir among *paths*, which are whole log.dirs.

    *log_dirs* are the checkpoints, *logs* all partitions that were found.
    """
    checkpoints = {log_dir.path: log_dir for log_dir in log_dirs}
    read_states = (read_log_dir_state(path, storage, checkpoints.get(path)) for path in paths)
    states = [state for state in read_states if state.is_log_dir]
    by_folder = {log.folder: log for log in logs}
    metadata_logs: dict[str, MetadataLog] = {}
    for state in states:
        log = by_folder.get(f"{state.path}/{METADATA_FOLDER}")
        if log is None or log.state is not None:
            continue
        try:
            metadata_logs[state.path] = read_metadata_log(
                log, release=release or NEWEST, engine=engine, limits=limits
            )
        except (LimitError, InputError):
            continue  # then nothing is known about topics
    return BrokerInput(states, metadata_logs, by_folder)


def predict_brokers(
    broker_input: BrokerInput,
    partition_rows: Sequence[Mapping[str, Any]],
    storage: Storage,
    *,
    release: KafkaRelease | None,
    engine: str,
    limits: Limits,
) -> BrokersPrediction:
    """Return the predictions for the brokers whose log.dirs are *broker_input*.

    *partition_rows* are the rows of the partitions that were verified, with their own verdicts.
    """
    out = BrokersPrediction()
    groups = broker_input.groups
    judges: list[_BrokerJudge] = []
    for group in groups:
        rules = rules_for(release, is_kraft=group.is_kraft)
        judge = _BrokerJudge(
            group, rules, broker_input.logs, partition_rows, storage, engine, limits
        )
        judge.run()
        judges.append(judge)
        out.brokers.append(judge.prediction)
        out.changes += judge.changes
    keys_by_group = {number: _partition_keys(judge) for number, judge in enumerate(judges)}
    by_group = {id(judge.group): judge for judge in judges}
    for group, second in undecided_pairs(groups, keys_by_group):
        for each, opposite in ((group, second), (second, group)):
            by_group[id(each)].doubt(opposite)
    return out


def _partition_keys(judge: "_BrokerJudge") -> set[Key]:
    folders = [folder for state in judge.group.states for folder in state.folders(judge.rules)]
    return {(each.topic, each.partition) for each in folders if not each.topic.startswith("__")}


def metadata_log_dir(group: BrokerGroup) -> LogDirState | None:
    """Return the metadata.log.dir of *group*: one without partitions if there is such, else the first."""
    usable = [state for state in group.states if state.obstacle is None]
    own = [state for state in usable if not state.has_data]
    has_log = any(state.has_metadata_log for state in usable)
    for state in own if len(own) < len(usable) else ():
        if state.has_metadata_log if has_log else state.has_properties:
            return state
    return usable[0] if usable else None


@dataclass(slots=True)
class _BrokerJudge:
    group: BrokerGroup
    rules: StartupRules
    logs: Mapping[str, PartitionLog]
    all_partition_rows: Sequence[Mapping[str, Any]]
    storage: Storage
    engine: str
    limits: Limits
    prediction: BrokerPrediction = field(init=False)
    changes: list[PartitionChange] = field(default_factory=list)

    def __post_init__(self) -> None:
        states = self.group.states
        self.prediction = BrokerPrediction(
            _agreed(state.properties and state.properties.node_id for state in states),
            _agreed(state.properties and state.properties.cluster_id for state in states),
            [state.path for state in states],
            self.rules.name,
        )

    @property
    def partition_rows(self) -> list[Mapping[str, Any]]:
        paths = set(self.prediction.log_dirs)
        return [
            row
            for row in self.all_partition_rows
            if row["log_dir"] in paths and row["topic"] is not None
        ]

    def run(self) -> None:
        group, rules = self.group, self.rules
        metadata_dir = metadata_log_dir(group) if rules.is_kraft else None
        metadata = None
        if metadata_dir is not None:
            metadata = group.metadata_logs.get(metadata_dir.path)
        if (
            metadata is not None
            and metadata.fault is not None
            and not self._is_controller(metadata)
        ):
            metadata.findings.append(
                _metadata_finding(
                    "metadata-log-damaged",
                    f"{metadata.log.folder}: {metadata.fault}, which the node cannot apply",
                )
            )
        row_refusals = {
            f"{row['log_dir']}/{row['topic']}-{row['partition']}": (
                str((row["recovery"] or [""])[-1]) if row["verdict"] == "refuses-to-start" else None
            )
            for row in self.partition_rows
            if row["verdict"] != "unknown" and not self._is_metadata(row)
        }
        failures = read_failures(group, rules, self.logs, self.storage, refusals=row_refusals)
        is_lost = self._is_metadata_lost(metadata_dir, metadata)
        placement = PartitionPlacement(
            group,
            rules,
            metadata,
            is_metadata_lost=is_lost,
            zookeeper=None if rules.is_kraft else self._zookeeper(),
            log_ends=self._log_ends(),
        )
        placement.note_blocking_files()
        refusals = [*self._refusals(metadata_dir, failures)]
        if refusals:
            self._conclude("refuses-to-start", refusals)
            return
        self._judge_partitions(placement, failures, metadata)

    def _is_controller(self, metadata: MetadataLog) -> bool:
        """Return whether the node is a controller, and no broker: its process does not end because of its records."""
        node_id = self.group.node_id
        is_broker = node_id in metadata.before.log_dir_ids
        return not is_broker and node_id in (metadata.voters or metadata.before.controllers)

    def _is_metadata(self, partition_row: Mapping[str, Any]) -> bool:
        return self.rules.is_kraft and partition_row["topic"] == METADATA_TOPIC

    def _is_metadata_lost(
        self, metadata_dir: LogDirState | None, metadata: MetadataLog | None
    ) -> bool:
        """Return whether the broker would start with an empty metadata log, and lose its topics."""
        if not self.rules.is_kraft or metadata is not None or metadata_dir is None:
            return False
        if metadata_dir.has_metadata_log or any(s.has_metadata_log for s in self.group.states):
            return False
        # A log.dir alone may be one of several. A metadata.log.dir of its own is usual for brokers
        # that are no controllers, and they fetch the metadata again.
        usable = [state for state in self.group.states if state.has_properties]
        return len(usable) > 1 and metadata_dir.has_data

    def _zookeeper(self) -> set[Key] | None:
        """Return the partitions of the broker by the ZooKeeper data beside its log.dirs, if it is there."""
        for state in self.group.states if self.group.node_id is not None else ():
            topics = read_zookeeper(state.path, self.storage)
            if topics is not None and topics.cluster_id == self.group.cluster_id:
                return topics.on_broker(self.group.node_id or 0)
        return None

    def _log_ends(self) -> dict[Key, int | None]:
        return {
            (row["topic"], row["partition"]): row["log_end_offset"] for row in self.partition_rows
        }

    def _refusals(self, metadata_dir: LogDirState | None, failures: Failures) -> Iterator[Finding]:
        group, rules = self.group, self.rules
        yield from properties_refusals(group, rules, metadata_dir)
        if rules.is_kraft:
            yield from metadata_refusals(
                group, metadata_dir, self.storage, self.engine, self.limits
            )
        yield from folder_refusals(group, rules)
        yield from failures.broker
        if metadata_dir is not None and metadata_dir.is_offline:
            yield from metadata_dir.failures
        elif all(state.is_offline for state in group.states):
            for state in group.states:
                yield from state.failures

    def _judge_partitions(
        self, placement: PartitionPlacement, failures: Failures, metadata: MetadataLog | None
    ) -> None:
        self.changes = [*self._metadata_change(placement, metadata)]
        self.changes += PartitionJudge(placement, failures).changes()
        codes: dict[str, None] = {}
        for change in self.changes:
            # Without the whole metadata log, a stray folder may be of any topic.
            is_lost = change.verdict == "stray" and (metadata is None or metadata.num_lost > 0)
            is_known = change.topic == METADATA_TOPIC or placement.is_known(change.key)
            if change.verdict in LOSSES and (is_known or is_lost):
                codes[_loss_code(change.topic, change.verdict)] = None
        changed = {change.key for change in self.changes}
        own_rows = [
            row
            for row in self.partition_rows
            if (row["topic"], row["partition"]) not in changed and not self._is_metadata(row)
        ]
        for row in own_rows:
            if row["verdict"] in LOSSES:
                codes[_loss_code(row["topic"], row["verdict"])] = None
        findings = [change.finding for change in self.changes if change.finding is not None]
        findings += [finding for state in placement.group.states for finding in state.failures]
        verdict: BrokerVerdict = "starts-with-loss" if codes else "starts"
        is_blind = self.rules.is_kraft and metadata is None and not self.changes
        if is_blind:
            findings.append(self._metadata_not_given())
        if not codes and (is_blind or any(row["verdict"] == "unknown" for row in own_rows)):
            verdict = "unknown"
            codes |= dict.fromkeys(["metadata-log-not-given"] if is_blind else [])
        self._conclude(verdict, findings, list(codes))

    def _metadata_not_given(self) -> Finding:
        paths = ", ".join(self.prediction.log_dirs)
        return Finding(
            code="metadata-log-not-given",
            message=f"{paths}: no {METADATA_FOLDER}, which says what partitions the broker has. Name the "
            "log.dir that holds it too. A broker that has no other log.dir would start with an empty "
            "metadata log, and rename every folder to -stray if no other controller has the log",
        )

    def _metadata_change(
        self, placement: PartitionPlacement, metadata: MetadataLog | None
    ) -> Iterator[PartitionChange]:
        """Yield the prediction for `__cluster_metadata-0`, where the startup changes it."""
        metadata_dir = metadata_log_dir(self.group)
        if not self.rules.is_kraft or metadata_dir is None:
            return
        if metadata is None:
            if placement.is_metadata_lost:
                yield _lost_metadata(metadata_dir.path)
            elif not metadata_dir.has_data and any(state.has_data for state in self.group.states):
                why = f"there is no {METADATA_FOLDER} in {metadata_dir.path}"
                yield _refetched_metadata(metadata_dir.path, why, None)
            return
        if metadata.fault is not None:
            lost = max(metadata.end_before - metadata.fault_offset, 0)
            message = (
                f"{metadata.log.folder}: {metadata.fault}: the controller applies no record from offset "
                f"{metadata.fault_offset} on, and does not become active"
            )
            finding = _metadata_finding("metadata-log-truncated", message)
            yield PartitionChange(
                METADATA_TOPIC, 0, metadata_dir.path, "truncated", finding, None, lost
            )
            return
        if not metadata.num_lost:
            if metadata.is_changed:
                end = metadata.end_after
                yield PartitionChange(
                    METADATA_TOPIC, 0, metadata_dir.path, "recovered", None, end, 0
                )
            return
        why = (
            f"on startup the metadata log of {metadata_dir.path} is cut from offset "
            f"{metadata.end_before} to {metadata.end_after}"
        )
        if metadata.is_refetched(self.group.node_id):
            yield _refetched_metadata(metadata_dir.path, why, metadata.end_after)
            return
        message = (
            f"{why}: {metadata.num_lost} offsets are lost, for no other voter is known, and with them "
            "the topics and settings that they made. Make a copy before the broker starts"
        )
        yield PartitionChange(
            METADATA_TOPIC,
            0,
            metadata_dir.path,
            "truncated",
            _metadata_finding("metadata-log-truncated", message),
            metadata.end_after,
            metadata.num_lost,
        )

    def _conclude(
        self,
        verdict: BrokerVerdict,
        findings: Sequence[Finding],
        reasons: Sequence[str] | None = None,
    ) -> None:
        if reasons is None:
            reasons = [finding.code for finding in findings]
        locks = list(lock_findings(self.group))
        if locks and verdict != "refuses-to-start":
            verdict = "unknown"
            reasons = ["log-dir-locked", *reasons]
        self.prediction.verdict = verdict
        self.prediction.reasons = list(dict.fromkeys(reasons))
        self.prediction.findings = list(dict.fromkeys([*locks, *findings]))

    def doubt(self, second: BrokerGroup) -> None:
        """Note that the log.dirs of *second* may belong to this broker too, and then stop it."""
        if self.rules.compares_all_properties:
            code = "meta-properties-differ"
        elif self.group.node_id != second.node_id:
            code = "node-id-differs"
        else:
            code = "cluster-id-differs"
        paths = " and ".join([self.group.states[0].path, second.states[0].path])
        message = (
            f"{paths} name different brokers or clusters, and share no partition: if they are log.dirs "
            "of one broker, it does not start"
        )
        self.prediction.findings.append(Finding(code=code, message=message, file="meta.properties"))
        self.prediction.reasons.append(code)
        if self.prediction.verdict == "starts":
            self.prediction.verdict = "unknown"


def _agreed(values: Iterable[Any]) -> Any:
    """Return the value that all *values* but None agree on; None if they differ."""
    known = {value for value in values if value is not None}
    return known.pop() if len(known) == 1 else None


def _loss_code(topic: str, verdict: str) -> str:
    return f"{'metadata-log' if topic == METADATA_TOPIC else 'partition'}-{verdict}"


def _metadata_finding(code: str, message: str) -> Finding:
    return Finding(code=code, message=message, topic=METADATA_TOPIC, partition=0)


def _lost_metadata(path: str) -> PartitionChange:
    message = (
        f"there is no {METADATA_FOLDER} in {path}: a node that is the only controller starts with an "
        "empty metadata log and knows no topic. Restore the folder before it starts; if other "
        "controllers have the log, the node fetches it from them and nothing is lost"
    )
    finding = _metadata_finding("metadata-log-missing", message)
    return PartitionChange(METADATA_TOPIC, 0, path, "missing", finding)


def _refetched_metadata(path: str, why: str, end: int | None) -> PartitionChange:
    message = f"{why}: the node fetches the missing part from the controllers"
    finding = _metadata_finding("metadata-log-refetched", message)
    return PartitionChange(METADATA_TOPIC, 0, path, "recovered", finding, end)
