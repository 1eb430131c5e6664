"""Tables of a cluster, from `__cluster_metadata`."""

from magicbyte.tables.table_definition import TableDefinition

TABLES: tuple[TableDefinition, ...] = ()
