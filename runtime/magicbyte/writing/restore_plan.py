"""The commands with which an operator puts restored partitions into a running cluster, and the group offsets to set."""

import json
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any

from magicbyte.errors import TopicError
from magicbyte.internal_topics.reset_plan import reset_plan
from magicbyte.logdir.metadata_snapshots import METADATA_TOPIC
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.metadata_history import read_cluster
from magicbyte.reading.opening import open as open_logs
from magicbyte.reading.results import Report

OFFSETS_TOPIC = "__consumer_offsets"

RETENTION = ("retention.ms", "retention.bytes", "local.retention.ms", "local.retention.bytes")
"""Configurations that would delete old records within minutes. They are set after the restore."""

LATER = (*RETENTION, "remote.storage.enable", "min.insync.replicas")
"""Configurations that are set when the partitions have all their replicas."""

INTERNAL_CONFIG = "internal."
"""Begin of the names of configurations that Kafka accepts in its own tests only."""

UNLIMITED = "-1"

GroupOffsets = dict[str, dict[tuple[str, int], int]]
"""Committed offset by group, topic and partition."""


@dataclass(slots=True)
class RestoredTopic:
    """A topic, its restored partitions, and the configurations that the source knows."""

    name: str
    log_end_offsets: dict[int, int] = field(default_factory=dict)
    """Log end offset by number of the partition."""
    configs: dict[str, str] | None = None
    """Configurations that the topic overrides; None: the source has no KRaft metadata."""


@dataclass(slots=True)
class RestorePlan:
    """Steps that put restored partitions into a cluster.

    Attributes:
        output_path: The folder with the partitions.
        restored_topics: The topics, by name.
        group_offsets: Offsets to set by group and partition, for restored partitions.
        is_earlier: The partitions and the groups are as they were at a time before the end of the logs.
        group_notes: What is not as the groups had it; a sentence each.
    """

    output_path: str
    restored_topics: dict[str, RestoredTopic]
    group_offsets: GroupOffsets
    is_earlier: bool = False
    group_notes: list[str] = field(default_factory=list)

    @property
    def commands(self) -> list[str]:
        """Shell commands and comments, in order. Capitals stand for what only the operator knows."""
        lines = [
            "# On the broker with node.id NODE, into one of its log.dirs, on the same file system. Between this and the",
            "# creation of the topic the broker must not restart: it would rename the folders to -stray.",
        ]
        for topic in self.restored_topics.values():
            folders = " ".join(
                f"{self.output_path}/{topic.name}-{n}" for n in topic.log_end_offsets
            )
            lines.append(f"mv {folders} LOG_DIR/")
        lines.append("chown -R kafka: LOG_DIR/*  # the user that runs the broker")
        lines.append("# Create each topic with that broker as the only replica.")
        for topic in self.restored_topics.values():
            lines += self._creation(topic)
        lines.append("# Check the log end offsets.")
        for topic in self.restored_topics.values():
            ends = ", ".join(f"{n}: {end}" for n, end in topic.log_end_offsets.items())
            lines.append(
                f"kafka-get-offsets.sh --bootstrap-server HOST:9092 --topic {topic.name}  # {ends}"
            )
        lines.append("# Add replicas: Kafka copies the partitions.")
        for topic in self.restored_topics.values():
            lines.append(f"cat > {topic.name}.json <<'END'\n{_reassignment(topic)}\nEND")
            lines.append(
                f"kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --execute "
                f"--reassignment-json-file {topic.name}.json"
            )
        lines.append(
            "# Only now, and after a look at the oldest timestamps: retention deletes old records at once."
        )
        for topic in self.restored_topics.values():
            lines.append(_retention(topic))
        return lines + self._group_commands()

    def _group_commands(self) -> list[str]:
        lines = []
        if self.group_offsets:
            committed = "had committed by then" if self.is_earlier else "have committed"
            lines.append(
                f"# Groups continue at the offsets that they {committed}; no member may be active."
            )
        lines += [f"# {note}" for note in self.group_notes]
        for number, group in enumerate(sorted(self.group_offsets), 1):
            lines.append(
                f"kafka-consumer-groups.sh --bootstrap-server HOST:9092 --reset-offsets "
                f"--group {quote(group)} --from-file {quote(f'{self.output_path}/{group_file(number)}')} --execute"
            )
        return lines

    def _creation(self, topic: RestoredTopic) -> list[str]:
        numbers = sorted(topic.log_end_offsets)
        lines = []
        if numbers != list(range(len(numbers))):
            lines.append(
                f"# {topic.name}: partitions {', '.join(map(str, numbers))} were restored; the others are created empty."
            )
        assignment = ",".join(["NODE"] * (numbers[-1] + 1))
        configs = {"retention.ms": UNLIMITED, "retention.bytes": UNLIMITED}
        for name, value in (topic.configs or {}).items():
            if name not in LATER and not name.startswith(INTERNAL_CONFIG):
                configs[name] = value
        if topic.configs is None:
            lines.append(
                f"# {topic.name}: the source has no KRaft metadata, so its configurations are not known."
            )
        pairs = (quote(f"{name}={value}") for name, value in sorted(configs.items()))
        options = " ".join(f"--config {pair}" for pair in pairs)
        lines.append(
            f"kafka-topics.sh --bootstrap-server HOST:9092 --create --topic {topic.name} "
            f"--replica-assignment {assignment} {options}"
        )
        return lines

    def group_files(self) -> dict[str, bytes]:
        """Return the files for `kafka-consumer-groups --reset-offsets --from-file`, by name: one per group."""
        return {
            group_file(number): reset_plan({group: offsets})
            for number, (group, offsets) in enumerate(sorted(self.group_offsets.items()), 1)
        }


def group_file(number: int) -> str:
    """Return the name of the file with the offsets of the group *number*: group ids may have any character."""
    return f"group-offsets-{number}.csv"


def _reassignment(topic: RestoredTopic) -> str:
    partitions = []
    for number in range(max(topic.log_end_offsets) + 1):
        partitions.append({"topic": topic.name, "partition": number, "replicas": ["NODE", "OTHER"]})
    text = json.dumps({"version": 1, "partitions": partitions})
    return text.replace('"NODE"', "NODE").replace('"OTHER"', "OTHER")


def _retention(topic: RestoredTopic) -> str:
    values = {name: value for name, value in (topic.configs or {}).items() if name in LATER}
    command = f"kafka-configs.sh --bootstrap-server HOST:9092 --alter --topic {topic.name}"
    deleted = [name for name in RETENTION[:2] if name not in values]
    parts = [command]
    if values:
        added = ",".join(f"{name}={values[name]}" for name in sorted(values))
        parts.append(f"--add-config {quote(added)}")
    if deleted:
        parts.append(f"--delete-config {','.join(deleted)}")
    return " ".join(parts)


def restore_plan(
    internal_logs: Dataset | None,
    partition_rows: list[dict[str, Any]],
    output_path: str,
    *,
    to_time: int | None = None,
) -> RestorePlan:
    """Return the plan for restored partitions.

    Args:
        internal_logs: A dataset of the source's `__cluster_metadata` and `__consumer_offsets`, as far as these are
            there; see `internal_logs_of`. None: neither is.
        partition_rows: `partitions` of the report of `restore`.
        output_path: Folder that `restore` has written.
        to_time: Time up to which the partitions were restored, in milliseconds since the Unix epoch: groups continue
            where they stood then. None: where they stand at the end of `__consumer_offsets`.
    Returns:
        Commands and files of group offsets.
    """
    configs = None if internal_logs is None else topic_configs_of(internal_logs)
    restored_topics: dict[str, RestoredTopic] = {}
    for row in partition_rows:
        if row["outcome"] == "failed" or row["topic"].startswith("__"):
            continue
        name = row["topic"]
        topic = restored_topics.setdefault(name, RestoredTopic(name))
        topic.configs = None if configs is None else configs.get(name, {})
        topic.log_end_offsets[row["partition"]] = row["comparison"]["log_end_offset"]
    plan = RestorePlan(output_path, restored_topics, {}, is_earlier=to_time is not None)
    if internal_logs is not None:
        latest = group_offsets_of(internal_logs)
        then = latest if to_time is None else group_offsets_of(internal_logs, to_time=to_time)
        for group in sorted(latest.keys() | then.keys()):
            _add_group(plan, group, latest.get(group, {}), then.get(group, {}))
    return plan


def _add_group(
    plan: RestorePlan,
    group: str,
    latest: dict[tuple[str, int], int],
    then: dict[tuple[str, int], int],
) -> None:
    """Add the offsets of *group* in the restored partitions: those of *then*, and none beyond the log end."""
    offsets_to_set: dict[tuple[str, int], int] = {}
    for topic, partition in sorted(latest.keys() | then.keys()):
        restored_topic = plan.restored_topics.get(topic)
        if restored_topic is None or partition not in restored_topic.log_end_offsets:
            continue
        name = f"{group!r} in {topic}-{partition}"
        offset = then.get((topic, partition))
        if offset is None:
            plan.group_notes.append(
                f"{name}: no offset that was committed by then is left, so none is set: its consumers begin by "
                f"auto.offset.reset. The last one was {latest[topic, partition]}."
            )
            continue
        log_end_offset = restored_topic.log_end_offsets[partition]
        if offset > log_end_offset:
            plan.group_notes.append(
                f"{name}: the committed offset is {offset}, and the restored log ends at {log_end_offset}, where the "
                "group continues."
            )
        offsets_to_set[topic, partition] = min(offset, log_end_offset)
    if offsets_to_set:
        plan.group_offsets[group] = offsets_to_set


def internal_logs_of(paths: Sequence[str], **options: Any) -> Dataset | None:
    """Return a dataset of the internal topics that a plan needs; None if *paths* have none of them.

    *options* are further arguments of `open`.
    """
    datasets = []
    for topic in (METADATA_TOPIC, OFFSETS_TOPIC):
        with suppress(TopicError):
            datasets.append(open_logs(*paths, topics=[topic], on_damage="skip", **options))
    if not datasets:
        return None
    return Dataset([log for each in datasets for log in each.logs], datasets[0].options)


def topic_configs_of(dataset: Dataset) -> dict[str, dict[str, str]] | None:
    """Return the configurations that topics override; None if *dataset* has no KRaft metadata log."""
    cluster = read_cluster(dataset, Report())
    return None if cluster is None else cluster.topic_configs


def group_offsets_of(dataset: Dataset, *, to_time: int | None = None) -> GroupOffsets:
    """Return the committed offsets of all groups in `__consumer_offsets`, as a coordinator would load them.

    With *to_time*, in milliseconds since the Unix epoch, they are those before the first record of that time or later.
    """
    if to_time is not None:
        dataset = Dataset(dataset.logs, replace(dataset.options, times=(None, to_time)))
    by_group: defaultdict[str, dict[tuple[str, int], int]] = defaultdict(dict)
    for batch in dataset.table("group_offsets", ("group", "topic", "partition", "offset")):
        for row in batch.to_pylist():
            if row["offset"] is not None:
                by_group[row["group"]][row["topic"], row["partition"]] = row["offset"]
    return dict(by_group)
