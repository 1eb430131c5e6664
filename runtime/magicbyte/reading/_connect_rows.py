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
                "task": subject.task,
                "topic": subject.topic,
                **_state(status),
                "version": status.version,
                "timestamp": status.timestamp,
                "record_offset": status.offset,
                "status_topic": topic,
            }


def connector_offset_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `connector_offsets`."""
    is_record = lambda record: is_offset_record(record.key)  # noqa: E731
    for topic in topics_of(topic_source, is_likely_of_connect, is_record):
        latest: dict[tuple[str, str], Row] = {}

        def apply(latest: dict[tuple[str, str], Row], topic: str, record: AppliedRecord) -> None:
            entry = parse_connector_offset(record.key, record.value)
            place = entry.connector, entry.partition
            latest.pop(place, None)
            if entry.offset is not None:
                latest[place] = {
                    **entry._asdict(),
                    "timestamp": record.timestamp,
                    "record_offset": record.offset,
                    "offsets_topic": topic,
                }

        each_applied(topic_source, topic, report, partial(apply, latest, topic))
        yield from (latest[place] for place in sorted(latest))


def _clusters(
    topic_source: TopicSource, report: Report
) -> Iterator[tuple[str, ConnectConfigs, Statuses]]:
    """Yield for each cluster of workers its topic of configurations, what that holds, and the states."""
    topics = topics_of(
        topic_source, is_likely_of_connect, lambda record: is_config_record(record.key)
    )
    status_topics = _status_topics(topic_source) if topics else []
    for topic in topics:
        configs = ConnectConfigs()

        def apply(configs: ConnectConfigs, record: AppliedRecord) -> None:
            configs.apply(record.key, record.value)

        each_applied(topic_source, topic, report, partial(apply, configs))
        status_topic = _status_topic_of(topic, status_topics)
        statuses = {} if status_topic is None else _statuses(topic_source, status_topic, report)
        yield topic, configs, statuses


def _status_topics(topic_source: TopicSource) -> list[str]:
    return topics_of(
        topic_source, is_likely_of_connect, lambda record: is_status_record(record.key)
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

    def apply(record: AppliedRecord) -> None:
        subject = parse_status_key(record.key)
        if record.value is None:
            statuses.pop(subject, None)
        else:
            statuses[subject] = parse_status(record.value, record.timestamp, record.offset)

    each_applied(topic_source, topic, report, apply)
    return statuses


def _state(status: Status | None) -> Row:
    """Return the columns of a state; nulls if there is none."""
    names = ("state", "worker_id", "generation", "trace")
    return {name: None if status is None else getattr(status, name) for name in names}
