"""Topics of Kafka Connect and of MirrorMaker, whose names can be configured: their records decide."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.reading._applied_records import AppliedRecord, applied_records
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report

LIKELY_WORDS = re.compile(
    r"(?<![a-z])(?:config|offset|statu|state|storage)s?(?![a-z])", re.IGNORECASE
)
"""Words in the names of Connect's topics, such as `connect-configs`, `_connect_offsets` and `worker-1.status`."""

NUM_EXAMINED = 100
"""Records of a topic that are examined to tell whether it is one of Connect's."""

Decoded = TypeVar("Decoded")

IsRecord = Callable[[AppliedRecord], bool]


def topics_of(
    topic_source: TopicSource, is_likely: Callable[[str], bool], is_record: IsRecord
) -> list[str]:
    """Return the topics most of whose first records *is_record* accepts, by name.

    Only topics with a likely name are examined, and those that were selected by name: a log.dir may have
    thousands of topics.
    """
    candidates = {topic for topic in topic_source.all_topics if is_likely(topic)}
    candidates |= _selected_topics(topic_source)
    found = []
    for topic in sorted(candidates.difference(INTERNAL_TOPICS)):
        records = islice(applied_records(topic_source.of_topics([topic]), Report()), NUM_EXAMINED)
        accepted = [is_record(record) for record in records]
        if accepted and sum(accepted) * 2 > len(accepted):
            found.append(topic)
    return found


def _selected_topics(topic_source: TopicSource) -> set[str]:
    """Return the topics of the dataset, unless it has all that are not internal."""
    selected = {log.topic for log in topic_source.logs if log.topic is not None}
    others = set(topic_source.all_topics).difference(INTERNAL_TOPICS, selected)
    return selected if others else set()


def is_likely_of_connect(topic: str) -> bool:
    return LIKELY_WORDS.search(topic) is not None


def each_applied(
    topic_source: TopicSource, topic: str, report: Report, apply: Callable[[AppliedRecord], None]
) -> None:
    """Call *apply* with each record of *topic*; a FormatError that it raises becomes a finding of *report*."""
    for applied in applied_records(topic_source.of_topics([topic]), report):
        try:
            apply(applied)
        except FormatError as error:
            report.findings.append(_finding(applied, error))


def each_decoded(
    topic_source: TopicSource,
    topic: str,
    report: Report,
    parse_record: Callable[[bytes | None, bytes | None], Decoded],
) -> Iterator[tuple[AppliedRecord, Decoded]]:
    """Yield each record of *topic* with what *parse_record* returns for its key and value; faults are findings."""
    for applied in applied_records(topic_source.of_topics([topic]), report):
        try:
            decoded = parse_record(applied.key, applied.value)
        except FormatError as error:
            report.findings.append(_finding(applied, error))
            continue
        yield applied, decoded


def _finding(applied: AppliedRecord, error: FormatError) -> Finding:
    return Finding(
        code=error.finding.code,
        message=f"record at offset {applied.offset}: {error.finding.message}",
        topic=applied.topic,
        partition=applied.partition,
        base_offset=applied.offset,
    )
