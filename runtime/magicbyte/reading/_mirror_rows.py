"""Rows of the tables of MirrorMaker 2: checkpoints, offset syncs and heartbeats."""

import re
from collections.abc import Iterator
from typing import Any

from magicbyte.internal_topics.mirror_maker import (
    is_checkpoint,
    is_heartbeat,
    is_offset_sync,
    parse_checkpoint,
    parse_heartbeat,
    parse_offset_sync,
)
from magicbyte.reading._application_topics import each_decoded, topics_of
from magicbyte.reading._applied_records import AppliedRecord
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row

LIKELY_NAME = re.compile(r"checkpoint|offset-?sync|heartbeat", re.IGNORECASE)
"""Parts of the names that MirrorMaker gives its topics, such as `source.checkpoints.internal` (DefaultReplicationPolicy)."""


def checkpoint_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `mirror_checkpoints`: the last one of each group and partition."""
    for topic in _topics(topic_source, is_checkpoint):
        latest: dict[tuple[Any, ...], Row] = {}
        for record, checkpoint in each_decoded(topic_source, topic, report, parse_checkpoint):
            place = checkpoint.group, checkpoint.topic, checkpoint.partition
            latest.pop(place, None)
            if record.value is not None:
                latest[place] = checkpoint._asdict() | _position(record, "checkpoints_topic")
        yield from (latest[place] for place in sorted(latest))


def offset_sync_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `mirror_offset_syncs`, all that the log has."""
    for topic in _topics(topic_source, is_offset_sync):
        for record, sync in each_decoded(topic_source, topic, report, parse_offset_sync):
            if record.value is not None:
                yield sync._asdict() | _position(record, "offset_syncs_topic")


def heartbeat_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `mirror_heartbeats`: the last one of each pair of clusters."""
    for topic in _topics(topic_source, is_heartbeat):
        latest: dict[tuple[str, str], Row] = {}
        for record, heartbeat in each_decoded(topic_source, topic, report, parse_heartbeat):
            place = heartbeat.source_cluster, heartbeat.target_cluster
            latest.pop(place, None)
            if record.value is not None:
                latest[place] = heartbeat._asdict() | _position(record, "heartbeats_topic")
        yield from (latest[place] for place in sorted(latest))


def _topics(topic_source: TopicSource, is_record: Any) -> list[str]:
    return topics_of(
        topic_source,
        lambda topic: LIKELY_NAME.search(topic) is not None,
        lambda record: is_record(record.key, record.value),
    )


def _position(record: AppliedRecord, topic_column: str) -> Row:
    return {
        "timestamp": record.timestamp,
        "record_offset": record.offset,
        topic_column: record.topic,
    }
