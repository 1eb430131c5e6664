"""The page docs/reference/tables.md: every column of every table, with its Arrow type and meaning."""

from collections.abc import Iterable, Iterator, Sequence

from magicbyte.tables.schemas import (
    ALL_TABLES,
    CAPTURED_BATCHES,
    CAPTURED_RECORDS,
    GAPS,
    INTERNAL_TABLES,
    TABLES,
)
from magicbyte.tables.stats_table import STATS
from magicbyte.tables.table_definition import TableDefinition
from magicbyte_tools.reference.anchors import anchored

NOTE = "<!-- Generated from runtime/magicbyte/tables by `make docs`. Do not edit. -->"

INTRODUCTION = """\
# Tables

Every column of every table. `magicbyte dump --table`, `export --table`, [`sql`](../sql.md), `Dataset.records()` and its other
methods, and the option `table` [in Spark](../spark.md) return them with these names.

- Types are Arrow's; [datasets.md](../datasets.md#types) has those of DuckDB, Polars and pandas. Files that `export` and `pipeline` write
  have timestamps in microseconds, in UTC.
- `null` says whether a column may be null. Where Kafka stores -1 for an absent number, the column is null.
- By default a read in Python returns the columns that are marked ●; name others to get them. In SQL, and in files, all columns are there.
"""

GROUPS: dict[str, tuple[str, Sequence[TableDefinition]]] = {
    "Tables of a log": (
        "Tables of partitions and their files, from the logs that were opened.",
        (*TABLES.values(), GAPS),
    ),
    "Tables of internal topics": (
        "What a cluster knew, from the records of its internal topics: [groups](../groups.md), "
        "[metadata](../cluster-metadata.md), schemas, connectors and mirrors. `--to-time` gives them as of a time.",
        tuple(INTERNAL_TABLES.values()),
    ),
    "Tables of captured traffic": (
        "[`magicbyte pcap`](../captures.md) and `mb.read_pcap` return these.",
        (CAPTURED_RECORDS, CAPTURED_BATCHES),
    ),
    "Statistics": ("[`magicbyte stats`](../stats.md) and `mb.stats` return this.", (STATS,)),
}


def all_tables() -> dict[str, TableDefinition]:
    """Return the tables of the page by name."""
    return {table.name: table for _, tables in GROUPS.values() for table in tables}


def tables_page() -> str:
    """Return the page as Markdown."""
    assert ALL_TABLES.keys() <= all_tables().keys()
    lines = [NOTE, INTRODUCTION]
    for sentence, tables in GROUPS.values():
        links = ", ".join(f"[`{table.name}`](#{table.name})" for table in tables)
        lines += [f"{sentence} {links}.", ""]
    for heading, (_, tables) in GROUPS.items():
        lines += [f"## {heading}", ""]
        for table in tables:
            lines += _table(table)
    return "\n".join(lines).rstrip() + "\n"


def _table(table: TableDefinition) -> Iterator[str]:
    yield from (f"### {table.name}", "", f"A row is a {table.row}.", "")
    yield from ("| column | | type | null | |", "|---|---|---|---|---|")
    marked: Iterable[str] = table.default
    for column in table.columns:
        name = anchored(column_anchor(table.name, column.name), f"`{column.name}`")
        dot = "●" if column.name in marked else ""
        null = "no" if column.name in table.never_null else "yes"
        sentence = column.sentence.replace("|", "\\|")
        yield f"| {name} | {dot} | `{column.type}` | {null} | {sentence} |"
    yield ""


def column_anchor(table_name: str, column_name: str) -> str:
    """Return the anchor of a column, such as `records.disposition`."""
    return f"{table_name}.{column_name}"
