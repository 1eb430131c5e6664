"""Tests that Spark and `pipeline` read several replicas of a partition as one log, as Python does."""

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import magicbyte as mb
from log_builder import Folder
from magicbyte.errors import InputError
from magicbyte.spark._options import parse
from magicbyte.spark._stream_reader import admission
from magicbyte.spark.data_source import MagicbyteDataSource
from magicbyte_cli import main
from replica_cases import random_batches, write_replica


@pytest.fixture
def log_dirs(folder: Folder) -> list[str]:
    """Log.dirs of three brokers; no batch is damaged in all of them."""
    rng = random.Random(3)
    batches = random_batches(rng, 40)
    replicas = [folder.log_dir(f"broker-{number}") for number in range(3)]
    for number, replica in enumerate(replicas):
        write_replica(rng, replica, batches, set(range(number, len(batches), 3)))
    return [str(replica) for replica in replicas]


def test_rows_are_those_of_python(spark: SparkSession, log_dirs: list[str]) -> None:
    reader = spark.read.format("magicbyte").option("paths", json.dumps(log_dirs))
    reader = reader.option("maxPartitionBytes", "500")
    expected = mb.open(*log_dirs).records(["offset", "value"]).to_pylist()
    found = sorted((row["offset"], bytes(row["value"])) for row in reader.load().collect())
    assert found == [(row["offset"], row["value"]) for row in expected]
    table = reader.option("table", "replicas").load().collect()
    assert [row["log_dir"] for row in table] == [
        row["log_dir"] for row in mb.open(*log_dirs).replicas().to_pylist()
    ]


def test_a_pipeline_writes_the_rows_and_the_replicas(
    spark: SparkSession, log_dirs: list[str], tmp_path: Path
) -> None:

    out = tmp_path / "out"
    result = CliRunner().invoke(main, ["pipeline", *log_dirs, str(out)])
    assert result.exit_code == 0, result.output
    expected = mb.open(*log_dirs)
    records = pq.read_table(out / "records").sort_by("offset")
    assert records.column("value").to_pylist() == [
        row["value"] for row in expected.records(["value"]).to_pylist()
    ]
    for table in ("replicas", "segments"):
        assert pq.read_table(out / table).to_pylist() == getattr(expected, table)().to_pylist()
    problems = pq.read_table(out / "problems").column("code").to_pylist()
    assert problems.count("range-filled") > 0


def test_spark_and_a_pipeline_report_an_end_that_another_replica_has_lost(
    spark: SparkSession, folder: Folder, tmp_path: Path
) -> None:
    batches = [each.data for each in random_batches(random.Random(3), 20)]
    paths = []
    for number, data in enumerate([b"".join(batches), b"".join(batches) + b"\x55" * 100]):
        log_dir = folder.log_dir(f"lost-{number}")
        log_dir.segment("t-0", data)
        paths.append(str(log_dir))
    out = tmp_path / "out"
    result = CliRunner().invoke(main, ["pipeline", *paths, str(out)])
    assert result.exit_code == 1
    reader = spark.read.format("magicbyte").option("paths", json.dumps(paths))
    reader = reader.option("onDamage", "skip").option("table", "problems")
    for rows in (
        pq.read_table(out / "problems").to_pylist(),
        [row.asDict() for row in reader.load().collect()],
    ):
        (error,) = [row for row in rows if row["severity"] == "error"]
        assert error["replica"] == paths[1] and "which no replica gives" in error["message"]


def test_a_stream_reads_replicas_as_one_log(log_dirs: list[str]) -> None:
    options = {"paths": json.dumps(log_dirs), "columns": "offset,value"}
    source = MagicbyteDataSource({**options, "startingOffsets": "earliest"})
    reader = source.streamReader(source.schema())
    start = reader.initialOffset()
    end = reader.latestOffset(start, admission.ReadAllAvailable() if admission else None)
    rows = [
        row
        for task in reader.partitions(start, end)
        for batch in reader.read(task)
        for row in batch.to_pylist()
    ]
    assert rows == mb.open(*log_dirs).records(["offset", "value"]).to_pylist()


def test_options_name_replicas_in_order_of_preference(log_dirs: list[str]) -> None:
    for replica in (log_dirs[1], json.dumps([log_dirs[1], log_dirs[0]])):
        (log,) = parse({"paths": json.dumps(log_dirs), "replica": replica}).open().logs
        assert log.replica == log_dirs[1]
    options = {"paths": json.dumps(log_dirs), "fill": "false", "onDamage": "skip"}
    (log,) = parse(options).open().logs
    assert not log.is_filled
    with pytest.raises(InputError, match="replica"):
        parse({"paths": json.dumps(log_dirs), "replica": "[1]"})
