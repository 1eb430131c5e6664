"""Tables of groups, transactional ids and producers, from the topics of coordinators."""

from magicbyte.tables.table_definition import TableDefinition

TABLES: tuple[TableDefinition, ...] = ()
