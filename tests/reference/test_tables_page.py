"""Tests of docs/reference/tables.md: it has every column of every table, with type and sentence."""

from dataclasses import replace

import pytest

import magicbyte as mb
from magicbyte.tables.schemas import ALL_TABLES, RECORDS
from magicbyte.tables.table_definition import TableDefinition
from magicbyte_tools.reference.tables_page import all_tables, column_anchor, tables_page
from paths import DATA

PAGE = tables_page()


def lacking_columns(tables: list[TableDefinition], page: str) -> list[str]:
    """Return the columns of *tables* that have no row on *page*, or no sentence."""
    return [
        column_anchor(table.name, column.name)
        for table in tables
        for column in table.columns
        if f'<a id="{column_anchor(table.name, column.name)}">' not in page
        or not column.sentence.endswith(".")
        or f"| `{column.type}` | " not in page
    ]


def test_every_column_of_every_table_has_a_type_and_a_sentence() -> None:
    tables = list(all_tables().values())
    assert ALL_TABLES.keys() <= all_tables().keys()
    assert sum(len(table.columns) for table in tables) > 350
    assert lacking_columns(tables, PAGE) == []


def test_a_column_without_a_sentence_is_named() -> None:
    (first, *others) = RECORDS.columns
    table = replace(RECORDS, columns=(replace(first, sentence=""), *others))
    assert lacking_columns([table], PAGE) == ["records.topic"]


def test_every_table_has_a_heading() -> None:
    assert [name for name in all_tables() if f"\n### {name}\n" not in PAGE] == []


@pytest.mark.parametrize("log_dir", ["4.3/plain/log-0", "4.3/transactions/log-0"])
def test_columns_that_are_never_null_have_no_null_in_real_logs(log_dir: str) -> None:
    log = mb.open(DATA / log_dir, on_damage="skip", include_internal=True)
    for table in ALL_TABLES.values():
        columns = tuple(name for name in table.names if name in table.never_null)
        if columns:
            rows = log.table(table.name, columns).to_table()
            assert [name for name in columns if rows[name].null_count] == [], table.name
