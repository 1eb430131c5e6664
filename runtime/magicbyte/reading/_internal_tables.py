"""Tables of internal topics: groups, transactional ids, the metadata of a cluster, schemas, connectors."""

from collections.abc import Callable, Iterator, Sequence

from magicbyte.reading import (
    _connect_rows,
    _group_rows,
    _member_rows,
    _mirror_rows,
    _producer_rows,
    _schema_rows,
    _share_rows,
    transactional_ids,
)
from magicbyte.reading._metadata_rows import METADATA_READERS
from magicbyte.reading._one_pass import after_findings
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row, Rows
from magicbyte.reading.table_rows import rows_of_table
from magicbyte.tables.table_definition import TableDefinition

ReadRows = Callable[[TopicSource, Report], Iterator[Row]]
"""Yields the rows of a table, from the records of a topic, and adds totals and findings to a report."""

READERS: dict[str, ReadRows] = {
    "group_offsets": _group_rows.group_offset_rows,
    "groups": _group_rows.group_rows,
    "group_members": _member_rows.group_member_rows,
    "share_group_offsets": _share_rows.share_group_offset_rows,
    "transactional_ids": transactional_ids.transactional_id_rows,
    "producers": _producer_rows.producer_rows,
    "schemas": _schema_rows.read_schemas,
    "schema_configs": _schema_rows.read_schema_configs,
    "schema_associations": _schema_rows.read_schema_associations,
    "connectors": _connect_rows.connector_rows,
    "connector_tasks": _connect_rows.task_rows,
    "connector_offsets": _connect_rows.connector_offset_rows,
    "connector_status": _connect_rows.status_rows,
    "mirror_checkpoints": _mirror_rows.checkpoint_rows,
    "mirror_offset_syncs": _mirror_rows.offset_sync_rows,
    "mirror_heartbeats": _mirror_rows.heartbeat_rows,
    **METADATA_READERS,
}
"""The function that reads each table, by name."""


def internal_rows(
    topic_source: TopicSource, definition: TableDefinition, columns: Sequence[str] | None
) -> Rows:
    """Return *columns* of a table of internal topics below the paths of *topic_source*; None: all."""
    read_rows = READERS[definition.name]

    def read(report: Report) -> Iterator[Row]:
        yield from read_rows(topic_source, report)

    return rows_of_table(definition, columns, after_findings(topic_source.unreadable, read))
