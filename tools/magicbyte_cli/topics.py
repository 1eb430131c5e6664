"""`magicbyte topics`: the topics of a cluster, from its metadata log, as of any offset or time."""

import csv
import io
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from magicbyte import Dataset, Report
from magicbyte.internal_topics.metadata_rows import INTERNAL, metadata_rows
from magicbyte.internal_topics.topic_configs import cluster_defaults
from magicbyte.logdir.metadata_snapshots import METADATA_FOLDER, METADATA_TOPIC
from magicbyte.reading.metadata_history import read_cluster
from magicbyte.reading.opening import missing_topic
from magicbyte_cli.display import printable, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.selection import (
    ClusterSelection,
    cluster_options,
    flag_option,
    format_option,
    paths_argument,
)
from magicbyte_cli.stderr_messages import exit_status, warn, warn_of_findings
from magicbyte_cli.topic_patterns import matching_topics
from magicbyte_cli.topic_script import creation_script
from magicbyte_cli.unread_messages import warn_of_unread

PARTITION_FIELDS = (
    *("partition", "leader", "replicas", "isr", "elr", "last_known_elr", "adding_replicas"),
    *(
        "removing_replicas",
        "leader_epoch",
        "partition_epoch",
        "leader_recovery_state",
        "directories",
    ),
)

CSV_COLUMNS = (
    *("topic", "topic_id", "partition_count", "replication_factor", "is_internal", "configs"),
    "default_configs",
)

UNKNOWN = "unknown"


@dataclass(slots=True)
class DescribedTopic:
    """A topic, and its known partitions and configurations."""

    topic: str
    topic_id: str | None
    partition_count: int
    replication_factor: int | None
    """Replicas of each partition; None without a metadata log."""
    configs: dict[str, str] | None
    """Configurations that the topic overrides; None without a metadata log."""
    default_configs: dict[str, str] | None
    """Other ones that hold for the topic, by the cluster-wide defaults of brokers; None without a metadata log."""
    partition_rows: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `topic_partitions`; without a metadata log, rows with the number alone."""

    @property
    def is_internal(self) -> bool:
        return self.topic in INTERNAL


@click.command(
    short_help="Print the topics of a cluster, or a script that creates them.",
    epilog="""\b
    Examples:
      magicbyte topics /var/lib/kafka
      magicbyte topics /var/lib/kafka --topic orders --to-time 2024-05-01T12:00:00Z
      magicbyte topics /var/lib/kafka --script > create-topics.sh
    """,
)
@paths_argument
@format_option(
    "Lines as of kafka-topics --describe, one JSON object per topic, or one line of CSV per topic.",
    "csv",
)
@flag_option("--script", help="Print shell commands that create the topics again.")
@cluster_options
@click.pass_context
def topics(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    format_name: str,
    script: bool,
    cluster: ClusterSelection,
) -> None:
    """Print the topics of a cluster with their partitions and configurations.

    They come from the metadata log of a broker or controller without ZooKeeper, in the folder __cluster_metadata-0:
    from its newest snapshot and the log after it, up to --to-offset or --to-time. Configurations are those that topics
    override, and those that were set for all brokers of the cluster; the log does not have the others, which are
    settings of single brokers or Kafka's defaults. Without a metadata log, the topics
    are those that have a folder below the PATHs. A clean stop of a cluster leaves partitions without a leader and
    without replicas in sync: --to-offset shows the state before the stop.
    """
    if script and format_name != "text":
        raise click.UsageError("--script prints shell commands, and takes no --format")
    dataset = cluster.open(paths, to_offset=cluster.to_offset)
    report = Report()
    described = _selected(_described_topics(dataset, report), cluster.topic)
    out = sys.stdout.buffer
    if script:
        named = set(cluster.topic)
        wanted = [one for one in described if not one.is_internal or one.topic in named]
        out.writelines(text_line(line) for line in creation_script(wanted))
    elif format_name == "ndjson":
        out.writelines(map(object_line, map(_json_object, described)))
    elif format_name == "csv":
        out.write(_csv_text(described).encode("utf-8", "backslashreplace"))
    else:
        out.writelines(f"{line}\n".encode() for one in described for line in _text_lines(one))
    out.flush()
    warn_of_unread(dataset.unread)
    warn_of_findings(report.findings)
    ctx.exit(exit_status(report.findings, dataset.unread))


def _selected(described: list[DescribedTopic], names: Sequence[str]) -> list[DescribedTopic]:
    """Return the topics with these *names*; all without one. InputError if one is not there."""
    known = [one.topic for one in described]
    selected: set[str] = set()
    for name in names:
        matching = matching_topics(name, known)
        if not set(matching) & set(known):
            raise missing_topic(name, known)
        selected.update(matching)
    return [one for one in described if not names or one.topic in selected]


def _described_topics(dataset: Dataset, report: Report) -> list[DescribedTopic]:
    cluster = read_cluster(dataset, report)
    if cluster is None:
        warn(
            f"no {METADATA_FOLDER} below the paths: these are the topics and partitions that have a folder here; "
            "there may be more of both, and replicas and configurations are not known"
        )
        return _topics_of_folders(dataset)
    configs: defaultdict[str, dict[str, str]] = defaultdict(dict)
    config_rows = list(metadata_rows("configs", cluster))
    defaults = cluster_defaults(config_rows)
    for row in config_rows:
        if row["entity_type"] == "topics":
            configs[row["entity_name"]][row["name"]] = row["value"]
    described = {
        row["topic_id"]: DescribedTopic(
            row["topic"],
            row["topic_id"],
            row["partition_count"],
            row["replication_factor"],
            configs[row["topic"]],
            {name: value for name, value in defaults.items() if name not in configs[row["topic"]]},
        )
        for row in metadata_rows("topics", cluster)
    }
    for row in metadata_rows("topic_partitions", cluster):
        partition_row = {name: row[name] for name in PARTITION_FIELDS}
        described[row["topic_id"]].partition_rows.append(partition_row)
    return list(described.values())


def _topics_of_folders(dataset: Dataset) -> list[DescribedTopic]:
    """Return the topics that have folders, with their ids from partition.metadata."""
    partition_numbers: defaultdict[str, set[int]] = defaultdict(set)
    topic_ids: dict[str, str] = {}
    for log in dataset.all_logs:
        if log.topic is None or log.partition is None or log.state or log.topic == METADATA_TOPIC:
            continue
        partition_numbers[log.topic].add(log.partition)
        if log.topic_id is not None:
            topic_ids.setdefault(log.topic, log.topic_id)
    return [
        DescribedTopic(
            topic,
            topic_ids.get(topic),
            max(partition_numbers[topic]) + 1,
            None,
            None,
            None,
            [{"partition": number} for number in sorted(partition_numbers[topic])],
        )
        for topic in sorted(partition_numbers)
    ]


def _text_lines(described: DescribedTopic) -> Iterator[str]:
    """Yield lines in the form of kafka-topics --describe, whose cells are separated by tabs."""
    configs, factor = described.configs, described.replication_factor
    pairs = None
    if configs is not None:
        # kafka-topics, too, prints what holds by a cluster-wide default without saying so.
        both = configs | (described.default_configs or {})
        pairs = ",".join(f"{name}={value}" for name, value in both.items())
    yield "\t".join(
        (
            f"Topic: {printable(described.topic)}",
            f"TopicId: {described.topic_id or UNKNOWN}",
            f"PartitionCount: {described.partition_count}",
            f"ReplicationFactor: {UNKNOWN if factor is None else factor}",
            f"Configs: {UNKNOWN if pairs is None else printable(pairs)}",
        )
    )
    for row in described.partition_rows:
        cells = [f"Topic: {printable(described.topic)}", f"Partition: {row['partition']}"]
        if "replicas" in row:
            leader = row["leader"]
            cells.append(f"Leader: {'none' if leader is None else leader}")
            cells.append(f"Replicas: {_node_ids(row['replicas'])}")
            cells.append(f"Isr: {_node_ids(row['isr'])}")
            if row["adding_replicas"]:
                cells.append(f"Adding Replicas: {_node_ids(row['adding_replicas'])}")
            if row["removing_replicas"]:
                cells.append(f"Removing Replicas: {_node_ids(row['removing_replicas'])}")
            cells.append(f"Elr: {_node_ids(row['elr'])}")
            cells.append(f"LastKnownElr: {_node_ids(row['last_known_elr'])}")
        yield "\t" + "\t".join(cells)


def _node_ids(node_ids: Iterable[int]) -> str:
    return ",".join(map(str, node_ids))


def _json_object(described: DescribedTopic) -> dict[str, Any]:
    return {
        "topic": described.topic,
        "topic_id": described.topic_id,
        "partition_count": described.partition_count,
        "replication_factor": described.replication_factor,
        "is_internal": described.is_internal,
        "configs": described.configs,
        "default_configs": described.default_configs,
        "partitions": described.partition_rows,
    }


def _csv_text(described: Iterable[DescribedTopic]) -> str:
    """Return the topics as CSV (RFC 4180); a cell is empty if its value is not known."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(CSV_COLUMNS)
    for one in described:
        configs, defaults = one.configs or {}, one.default_configs or {}
        writer.writerow(
            (
                one.topic,
                one.topic_id,
                one.partition_count,
                one.replication_factor,
                str(one.is_internal).lower(),
                ",".join(f"{name}={value}" for name, value in configs.items()),
                ",".join(f"{name}={value}" for name, value in defaults.items()),
            )
        )
    return text.getvalue()
