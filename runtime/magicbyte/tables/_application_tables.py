"""Tables of schemas, connectors and mirrored groups, from the topics of registries and of Connect."""

from magicbyte.tables.table_definition import TableDefinition

TABLES: tuple[TableDefinition, ...] = ()
