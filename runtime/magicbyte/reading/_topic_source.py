"""The part of a dataset that tables of internal topics need.

A `Dataset` imports the modules of these tables, so they do not import it.
"""

from collections.abc import Iterable
from typing import Protocol

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.read_options import ReadOptions


class TopicSource(Protocol):
    """Partitions of some topics, and the way to the partitions of other topics below the same paths."""

    logs: tuple[PartitionLog, ...]
    options: ReadOptions
    unreadable: list[Finding]

    @property
    def all_topics(self) -> list[str]:
        """Names of the topics below the paths that have a folder which a broker serves."""

    def of_topics(self, topics: Iterable[str]) -> "TopicSource":
        """Return the partitions of these topics; none for a topic that is not there."""


class SourceWithOptions:
    """A topic source whose topics are read with other options."""

    def __init__(self, topic_source: TopicSource, options: ReadOptions) -> None:
        self._topic_source = topic_source
        self.logs, self.unreadable = topic_source.logs, topic_source.unreadable
        self.options = options

    @property
    def all_topics(self) -> list[str]:
        """Names of the topics below the paths that have a folder which a broker serves."""
        return self._topic_source.all_topics

    def of_topics(self, topics: Iterable[str]) -> "SourceWithOptions":
        """Return the partitions of these topics, to be read with the same options."""
        return SourceWithOptions(self._topic_source.of_topics(topics), self.options)
