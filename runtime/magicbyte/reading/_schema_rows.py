"""Schema registries below the paths of a dataset, and the rows of their tables."""

from collections.abc import Iterator
from dataclasses import replace

from magicbyte.internal_topics.schema_registry import (
    DEFAULT_CONTEXT,
    SchemaRegistry,
    compact_json,
    split_subject,
)
from magicbyte.reading._applied_records import applied_records
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row

REGISTRY_TOPIC = "_schemas"
"""Default name of the topic (`kafkastore.topic`, in Karapace `topic_name`)."""

LIKELY_NAMES = ("_schemas", "-schemas", "_schema_registry", "-schema-registry")
"""Ends of the names of other topics that are looked at."""


def registries(topic_source: TopicSource, report: Report) -> Iterator[tuple[str, SchemaRegistry]]:
    """Yield the topic and the state of each registry whose topic is below the paths of *topic_source*."""
    for topic in registry_topics(topic_source):
        registry = read_registry(topic_source.of_topics([topic]), topic, report)
        if topic == REGISTRY_TOPIC or registry.all_versions or registry.settings:
            yield topic, registry


def registry_topics(topic_source: TopicSource) -> list[str]:
    """Return the topics below the paths that may belong to a registry, the default one first."""
    topics = [topic for topic in topic_source.all_topics if topic.endswith(LIKELY_NAMES)]
    return sorted(topics, key=lambda topic: (topic != REGISTRY_TOPIC, topic))


def read_registry(topic_source: TopicSource, topic: str, report: Report) -> SchemaRegistry:
    """Return the registry that the records of *topic_source*, its topic, add up to."""
    registry = SchemaRegistry()
    for record in applied_records(topic_source, report):
        registry.apply(record.key, record.value, offset=record.offset, timestamp=record.timestamp)
    if topic == REGISTRY_TOPIC or registry.all_versions:
        report.findings += [
            replace(finding, topic=topic, partition=0) for finding in registry.findings
        ]
    return registry


def read_schemas(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `schemas`."""
    for topic, registry in registries(topic_source, report):
        for version in registry.all_versions:
            yield {
                "context": version.context,
                "subject": version.subject,
                "version": version.version,
                "id": version.id,
                "guid": version.guid,
                "schema_type": version.schema_type,
                "references": [
                    {"name": one.name, "subject": one.subject, "version": one.version}
                    for one in version.references
                ],
                "schema": version.text,
                "metadata": compact_json(version.properties),
                "rule_set": compact_json(version.rule_set),
                "deleted": version.is_deleted,
                "is_gone": version.is_gone,
                "offset": version.offset,
                "timestamp": version.timestamp,
                "registry_topic": topic,
            }


def read_schema_configs(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `schema_configs`."""
    for topic, registry in registries(topic_source, report):
        for subject, settings in registry.settings.items():
            level = settings.config.get("compatibilityLevel")
            yield {
                "context": DEFAULT_CONTEXT if subject is None else split_subject(subject)[0],
                "subject": subject,
                "compatibility_level": level if isinstance(level, str) else None,
                "mode": settings.mode,
                "config": compact_json(settings.config or None),
                "offset": settings.offset,
                "timestamp": settings.timestamp,
                "registry_topic": topic,
            }


def read_schema_associations(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `schema_associations`."""
    for topic, registry in registries(topic_source, report):
        for one in registry.associations.values():
            yield {
                "context": DEFAULT_CONTEXT
                if one.subject is None
                else split_subject(one.subject)[0],
                "subject": one.subject,
                "association_type": one.association_type,
                "resource_type": one.resource_type,
                "resource_namespace": one.resource_namespace,
                "resource_name": one.resource_name,
                "lifecycle": one.lifecycle,
                "frozen": one.is_frozen,
                "offset": one.offset,
                "registry_topic": topic,
            }
