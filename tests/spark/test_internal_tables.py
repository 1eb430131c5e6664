"""Tests of tables of a cluster and of Connect as Spark reads them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from data_source import rows
from magicbyte.tables._application_tables import CONNECT_TABLES
from magicbyte.tables._metadata_tables import TABLES
from magicbyte.tables.table_definition import TableDefinition
from paths import DATA, shared

APPS = shared() / "meaning-data" / "apps-4.3" / "log-0"


def expected_rows(path: Path, definition: TableDefinition) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = mb.open(path).stored(definition.name).to_pylist()
    return found


@pytest.mark.parametrize("definition", TABLES, ids=lambda table: table.name)
def test_table_of_a_cluster_has_the_same_rows_in_spark(definition: TableDefinition) -> None:
    path = DATA / "4.3" / "plain" / "log-0"
    found = rows(str(path), table=definition.name)
    assert found == expected_rows(path, definition)


@pytest.mark.skipif(not APPS.exists(), reason="needs the folder shared")
@pytest.mark.parametrize("definition", CONNECT_TABLES, ids=lambda table: table.name)
def test_table_of_connect_has_the_same_rows_in_spark(definition: TableDefinition) -> None:
    found = rows(str(APPS), table=definition.name)
    assert found == expected_rows(APPS, definition) != []


def test_table_is_as_of_the_end_of_the_range_in_spark() -> None:
    path = DATA / "4.3" / "plain" / "log-0"
    before = datetime(2026, 11, 21, 22, 56, 54, 900_000, UTC)  # the topic was deleted 43 ms later
    end = str(round(before.timestamp() * 1000))
    names = {row["topic"] for row in rows(str(path), table="topics", endingTimestamp=end)}
    assert "gone" in names
    assert "gone" not in {row["topic"] for row in rows(str(path), table="topics")}
