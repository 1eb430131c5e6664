"""Tests that Spark reads tables of groups, transactional ids and producers."""

import pytest
from pyspark.sql import SparkSession

import magicbyte as mb
from magicbyte.tables._group_tables import TABLES
from paths import shared

INTERNALS = sorted((shared() / "meaning-data").glob("internals-*/log-0"))


@pytest.mark.skipif(not INTERNALS, reason="no meaning-data/internals-* in the folder `shared`")
@pytest.mark.parametrize("name", [table.name for table in TABLES])
def test_spark_gives_the_rows_of_the_api(spark: SparkSession, name: str) -> None:
    frame = spark.read.format("magicbyte").option("table", name).load(str(INTERNALS[0]))
    rows = mb.open(INTERNALS[0], include_internal=True).table(name)
    names = [field.name for field in rows.schema if "timestamp" not in field.name]
    found = [row.asDict(recursive=True) for row in frame.select(*names).collect()]
    assert found == [{name: row[name] for name in names} for row in rows.to_pylist()]
