"""Rows of the table of share groups' offsets."""

from collections.abc import Iterator

from magicbyte.internal_topics.share_coordinator import (
    SHARE_STATE_TOPIC,
    ShareCoordinatorState,
    SharePartition,
    ShareState,
)
from magicbyte.internal_topics.share_state_batches import DELIVERY_STATES
from magicbyte.reading._applied_records import coordinator_events
from magicbyte.reading._log_ends import LogEnds
from magicbyte.reading._topic_names import TopicNames
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row
from magicbyte.reading.table_rows import int64_or_null, null_if_absent


def share_group_offset_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `share_group_offsets`, by group, topic and partition."""
    if topic_source.of_topics([SHARE_STATE_TOPIC]).logs:
        yield from share_rows(topic_source, TopicNames(topic_source, report), report)


def share_rows(
    topic_source: TopicSource, names_of_topics: TopicNames, report: Report
) -> Iterator[Row]:
    """Yield the rows of `share_group_offsets`, by group, topic and partition."""
    share_states: list[tuple[str, SharePartition, ShareState]] = []
    state_topic = topic_source.of_topics([SHARE_STATE_TOPIC])
    for log in state_topic.logs:
        coordinator = ShareCoordinatorState()
        for event in coordinator_events(state_topic, log, report):
            finding = coordinator.apply(event)
            if finding is not None:
                report.findings.append(finding)
        for key, state in coordinator.by_partition.items():
            share_states.append((names_of_topics[key.topic_id], key, state))
    share_states.sort(key=lambda each: (each[1].group, each[0], each[1].partition))
    log_ends = LogEnds(topic_source, {topic for topic, _, _ in share_states})
    for topic, key, state in share_states:
        end = log_ends.of(topic, key.partition)
        yield {
            **key._asdict(),
            "topic": topic,
            "start_offset": null_if_absent(state.start_offset),
            "delivery_complete_count": null_if_absent(state.delivery_complete_count),
            "log_end_offset": int64_or_null(end),
            "lag": int64_or_null(state.lag(end)),
            "state_epoch": null_if_absent(state.state_epoch),
            "leader_epoch": null_if_absent(state.leader_epoch),
            "state_batches": [
                each._asdict()
                | {
                    "delivery_state": DELIVERY_STATES.get(
                        each.delivery_state, str(each.delivery_state)
                    )
                }
                for each in state.state_batches
            ],
        }
