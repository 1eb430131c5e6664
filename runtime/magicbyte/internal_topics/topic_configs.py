"""Names of a topic's configurations, and of the broker's configurations that are their defaults."""

from collections.abc import Iterable, Mapping
from typing import Any

BROKER_SYNONYMS = {
    "cleanup.policy": "log.cleanup.policy",
    "compression.gzip.level": "compression.gzip.level",
    "compression.lz4.level": "compression.lz4.level",
    "compression.type": "compression.type",
    "compression.zstd.level": "compression.zstd.level",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "index.interval.bytes": "log.index.interval.bytes",
    "local.retention.bytes": "log.local.retention.bytes",
    "local.retention.ms": "log.local.retention.ms",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "max.message.bytes": "message.max.bytes",
    "message.timestamp.after.max.ms": "log.message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms": "log.message.timestamp.before.max.ms",
    "message.timestamp.type": "log.message.timestamp.type",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "min.insync.replicas": "min.insync.replicas",
    "preallocate": "log.preallocate",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.index.bytes": "log.index.size.max.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
    "unclean.leader.election.enable": "unclean.leader.election.enable",
}
"""Broker's configuration for each of a topic (ServerTopicConfigSynonyms, DynamicLogConfig).

Names in minutes and hours, such as `log.retention.hours`, cannot be changed while a broker runs: they are never in the
metadata log.
"""


def cluster_defaults(config_rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the configurations of topics that the cluster-wide defaults of brokers set, by the topics' names.

    *config_rows* are of the table `configs`. A topic has them unless it overrides them.
    """
    broker_defaults = {
        row["name"]: row["value"]
        for row in config_rows
        if row["entity_type"] == "brokers" and row["entity_name"] is None
    }
    return {
        name: broker_defaults[synonym]
        for name, synonym in BROKER_SYNONYMS.items()
        if synonym in broker_defaults
    }
