"""Rows of the tables of Kafka Connect: connectors, tasks, offsets and states."""

from collections.abc import Iterator
from functools import partial

from magicbyte.internal_topics.connect import (
    ConnectConfigs,
    Status,
    StatusKey,
    is_config_record,
    is_offset_record,
    is_status_record,
    masked_json,
    parse_connector_offset,
    parse_status,
    parse_status_key,
)
from magicbyte.reading._application_topics import (
    LIKELY_WORDS,
    each_applied,
    each_decoded,
    is_likely_of_connect,
    topics_of,
)
from magicbyte.reading._applied_records import AppliedRecord
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row

Statuses = dict[StatusKey, Status]


def connector_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `connectors`."""
    for topic, configs, statuses in _clusters(topic_source, report):
        for name, properties in sorted(configs.connectors.items()):
            yield {
                "connector": name,
                "class": properties.get("connector.class"),
                "target_state": configs.target_states.get(name),
                **_state(statuses.get(StatusKey(name))),
                "task_count": None
                if name in configs.inconsistent
                else configs.task_counts.get(name, 0),
                "config": masked_json(properties),
                "config_topic": topic,
            }


def task_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `connector_tasks`."""
    for topic, configs, statuses in _clusters(topic_source, report):
        for name in sorted(configs.connectors):
            for number, properties in configs.task_rows(name):
                yield {
                    "connector": name,
                    "task": number,
                    **_state(statuses.get(StatusKey(name, number))),
                    "config": None if properties is None else masked_json(properties),
                    "config_topic": topic,
                }


def status_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `connector_status`."""
    for topic in _status_topics(topic_source):
        statuses = _statuses(topic_source, topic, report)
        for subject, status in sorted(statuses.items(), key=lambda item: str(item[0])):
            yield {
                "connector": subject.connector,
                "task": subject.task_number,
                "topic": subject.topic,
                **_state(status),
                "version": status.plugin_version,
                "timestamp": status.timestamp,
                "record_offset": status.offset,
                "status_topic": topic,
            }


def connector_offset_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `connector_offsets`."""
    topics = topics_of(
        topic_source, is_likely_of_connect, lambda applied: is_offset_record(applied.key)
    )
    for topic in topics:
        row_by_source: dict[tuple[str, str], Row] = {}
        for applied, (connector, source_partition, offset) in each_decoded(
            topic_source, topic, report, parse_connector_offset
        ):
            row_by_source.pop((connector, source_partition), None)
            if offset is not None:
                row_by_source[connector, source_partition] = {
                    "connector": connector,
                    "partition": source_partition,
                    "offset": offset,
                    "timestamp": applied.timestamp,
                    "record_offset": applied.offset,
                    "offsets_topic": topic,
                }
        yield from (row_by_source[source] for source in sorted(row_by_source))


def _clusters(
    topic_source: TopicSource, report: Report
) -> Iterator[tuple[str, ConnectConfigs, Statuses]]:
    """Yield for each cluster of workers its topic of configurations, what that holds, and the states."""
    topics = topics_of(
        topic_source, is_likely_of_connect, lambda applied: is_config_record(applied.key)
    )
    status_topics = _status_topics(topic_source) if topics else []
    for topic in topics:
        configs = ConnectConfigs()

        def apply(configs: ConnectConfigs, applied: AppliedRecord) -> None:
            configs.apply(applied.key, applied.value)

        each_applied(topic_source, topic, report, partial(apply, configs))
        status_topic = _status_topic_of(topic, status_topics)
        statuses = {} if status_topic is None else _statuses(topic_source, status_topic, report)
        yield topic, configs, statuses


def _status_topics(topic_source: TopicSource) -> list[str]:
    return topics_of(
        topic_source, is_likely_of_connect, lambda applied: is_status_record(applied.key)
    )


def _status_topic_of(config_topic: str, status_topics: list[str]) -> str | None:
    """Return the topic with the states of the workers that use *config_topic*.

    Their names are alike but for one word, such as `connect-configs` and `connect-status`; the only one counts, too.
    """
    stem = LIKELY_WORDS.sub("", config_topic)
    for topic in status_topics:
        if LIKELY_WORDS.sub("", topic) == stem:
            return topic
    return status_topics[0] if len(status_topics) == 1 else None


def _statuses(topic_source: TopicSource, topic: str, report: Report) -> Statuses:
    statuses: Statuses = {}

    def apply(applied: AppliedRecord) -> None:
        subject = parse_status_key(applied.key)
        if applied.value is None:
            statuses.pop(subject, None)
        else:
            statuses[subject] = parse_status(applied.value, applied.timestamp, applied.offset)

    each_applied(topic_source, topic, report, apply)
    return statuses


def _state(status: Status | None) -> Row:
    """Return the columns of a state; nulls if there is none."""
    names = ("state", "worker_id", "generation", "trace")
    return {name: None if status is None else getattr(status, name) for name in names}
