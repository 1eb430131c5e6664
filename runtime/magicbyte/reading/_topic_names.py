"""Names of topics by topic id."""

from collections.abc import Mapping
from dataclasses import replace

from magicbyte.internal_topics.cluster_metadata import ClusterMetadata
from magicbyte.reading._topic_source import SourceWithOptions, TopicSource
from magicbyte.reading.metadata_history import read_cluster
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.results import Report


class TopicNames:
    """Names of topics, by the metadata log of the cluster if it is below the paths, or else by records of groups.

    The name of a deleted topic is not known: its id stands for it.
    """

    def __init__(self, topic_source: TopicSource, report: Report) -> None:
        # The end of the range may be a time, which holds for all topics; an offset is of the topic of groups.
        options = replace(topic_source.options, offsets=NO_RANGE)
        cluster = read_cluster(SourceWithOptions(topic_source, options), report)
        self._cluster = ClusterMetadata() if cluster is None else cluster
        self._name_by_id: dict[str, str] = {}

    def add(self, name_by_id: Mapping[str, str]) -> None:
        """Add names by topic id that records of groups have."""
        self._name_by_id.update(name_by_id)

    def __getitem__(self, topic_id: str) -> str:
        """Return the name of a topic; its id if the name is not known."""
        name = self._cluster.name_of(topic_id)
        return self._name_by_id.get(topic_id, topic_id) if name is None else name
