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
        last_rows: dict[tuple[Any, ...], Row] = {}
        for applied, checkpoint in each_decoded(topic_source, topic, report, parse_checkpoint):
            place = checkpoint.group, checkpoint.topic, checkpoint.partition
            last_rows.pop(place, None)
            if applied.value is not None:
                row = checkpoint._asdict()
                row["metadata"] = row.pop("commit_metadata")
                last_rows[place] = row | _position(applied, "checkpoints_topic")
        yield from (last_rows[place] for place in sorted(last_rows))


def offset_sync_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `mirror_offset_syncs`, all that the log has."""
    for topic in _topics(topic_source, is_offset_sync):
        for applied, sync in each_decoded(topic_source, topic, report, parse_offset_sync):
            if applied.value is not None:
                yield sync._asdict() | _position(applied, "offset_syncs_topic")


def heartbeat_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `mirror_heartbeats`: the last one of each pair of clusters."""
    for topic in _topics(topic_source, is_heartbeat):
        last_rows: dict[tuple[str, str], Row] = {}
        for applied, heartbeat in each_decoded(topic_source, topic, report, parse_heartbeat):
            place = heartbeat.source_cluster, heartbeat.target_cluster
            last_rows.pop(place, None)
            if applied.value is not None:
                last_rows[place] = heartbeat._asdict() | _position(applied, "heartbeats_topic")
        yield from (last_rows[place] for place in sorted(last_rows))


def _topics(topic_source: TopicSource, is_record: Any) -> list[str]:
    return topics_of(
        topic_source,
        lambda topic: LIKELY_NAME.search(topic) is not None,
        lambda applied: is_record(applied.key, applied.value),
    )


def _position(applied: AppliedRecord, topic_column: str) -> Row:
    return {
        "timestamp": applied.timestamp,
        "record_offset": applied.offset,
        topic_column: applied.topic,
    }
