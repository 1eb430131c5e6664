"""Rows of the tables of a cluster."""

from collections.abc import Callable, Iterator

from magicbyte.internal_topics.metadata_rows import ROWS, metadata_rows
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.metadata_history import no_metadata_error, read_cluster
from magicbyte.reading.results import Report, Row


def _reader(table_name: str) -> Callable[[TopicSource, Report], Iterator[Row]]:
    def read_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
        cluster = read_cluster(topic_source, report)
        if cluster is None:
            raise no_metadata_error()
        yield from metadata_rows(table_name, cluster)

    return read_rows


METADATA_READERS = {table_name: _reader(table_name) for table_name in ROWS}
"""The function that reads each table of a cluster, by name. It raises InputError where no metadata log is there."""
