"""Tests that Spark reads remote and local segments as one log, also segments in chunks."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import magicbyte as mb
from paths import shared
from tiered_segments import aiven_partition

TIERED = shared() / "logs" / "3.9" / "tiered"


@pytest.mark.skipif(
    not TIERED.is_dir(), reason="the logs of a tiered cluster are not at hand (MAGICBYTE_SHARED)"
)
def test_rows_are_those_of_python_with_small_tasks(spark: SparkSession, tmp_path: Path) -> None:
    aiven_partition(TIERED / "remote", tmp_path, "tiered-transactions-1")
    paths = [str(TIERED / "log-0"), str(tmp_path)]
    reader = spark.read.format("magicbyte").option("subscribe", "tiered-transactions")
    rows = reader.option("paths", json.dumps(paths)).option("maxPartitionBytes", "2000").load()
    table = mb.open(*paths, topics=["tiered-transactions"]).records(["partition", "offset"])
    expected = [(row["partition"], row["offset"]) for row in table.to_table().to_pylist()]
    found = sorted((row["partition"], row["offset"]) for row in rows.collect())
    assert found == expected
    assert sum(partition == 1 for partition, _ in found) > 150
