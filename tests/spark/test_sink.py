"""Tests of DataFrames that are written as partitions: their rows, retries, and what is refused."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import magicbyte as mb
from magicbyte.errors import InputError
from magicbyte.logdir.file_names import OUTPUT_MANIFEST
from magicbyte.spark import error_condition
from magicbyte.spark._sink_options import parse_sink
from paths import DATA, SCRIPT_ENVIRONMENT
from spark.faulty_sink import MAX_FAILURES, numbered
from spark_environment import environment

TIME = 1_714_000_000_000
CLUSTER = DATA / "4.3" / "plain" / "log-0"


def save(rows: DataFrame, folder: Path, mode: str = "append", **options: Any) -> None:
    """Write *rows* into *folder*; an underscore in the name of an option is a dot."""
    writer = rows.write.format("magicbyte").mode(mode)
    for name, value in options.items():
        writer = writer.option(name.replace("_", "."), value)
    writer.save(str(folder))


def records_in(folder: Path) -> list[dict[str, Any]]:
    """Return the records below *folder*, by the engine without Spark."""
    columns = ["topic", "partition", "offset", "timestamp", "key", "value"]
    rows: list[dict[str, Any]] = mb.open(folder).records(columns).to_table().to_pylist()
    return rows


def check_numbered(folder: Path, count: int) -> None:
    """Assert that *folder* has each row of `numbered` once, in order, and with its time."""
    rows, next_offsets = records_in(folder), dict[int, int]()
    assert sorted(int(row["key"]) for row in rows) == list(range(count))
    last = dict[int, int]()
    for row in rows:
        number, partition = int(row["key"]), row["partition"]
        assert row["offset"] == next_offsets.get(partition, 0)
        assert number > last.get(partition, -1)
        assert row["value"] == b"value %d" % number
        assert row["timestamp"].timestamp() * 1000 == TIME + number
        next_offsets[partition], last[partition] = row["offset"] + 1, number
    assert not [each for each in mb.verify(folder).findings if each.severity == "error"]


def names_in(folder: Path) -> set[str]:
    """Return the names of the files and folders in *folder*."""
    return {path.name for path in folder.iterdir()}


def test_rows_of_all_tasks_are_written_once_although_attempts_fail_or_are_killed(
    tmp_path: Path,
) -> None:
    script = Path(__file__).with_name("faulty_sink.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path / "out", "12000"],
        env={**environment(), "PYTHONPATH": SCRIPT_ENVIRONMENT["PYTHONPATH"]},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    # One failure of task 1, two of task 2, and the lost answers of task 3.
    assert int(done.stdout.split()[-1]) == 1 + 2 + MAX_FAILURES - 1
    check_numbered(tmp_path / "out", 12_000)
    assert names_in(tmp_path / "out") == {"t-0", "t-1", "t-2", OUTPUT_MANIFEST}


def test_rows_of_a_real_log_are_the_same_after_they_were_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The offsets have gaps, and the rows come in several tasks."""
    source = spark.read.format("magicbyte").option("includeHeaders", "true").load(str(CLUSTER))
    rows = source.drop("timestampType").repartitionByRange(3, "topic", "partition", "offset")
    rows = rows.sortWithinPartitions("topic", "partition", "offset")
    save(rows, tmp_path / "out", kafka_compression_type="lz4", kafka_segment_bytes="64k")
    columns = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]
    expected = mb.open(CLUSTER).records(columns).to_table()
    assert mb.open(tmp_path / "out").records(columns).to_table().to_pylist() == expected.to_pylist()


def test_later_writes_add_partitions_and_overwrite_replaces_all(
    spark: SparkSession, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    save(numbered(spark, 10), out, topic="a")
    save(numbered(spark, 10), out, topic="b", startingOffset='{"b":{"0":7}}')
    assert names_in(out) == {"a-0", "b-0", OUTPUT_MANIFEST}
    assert (out / "b-0" / f"{7:020}.log").exists()
    with pytest.raises(Exception, match="the partition a-0 exists"):
        save(numbered(spark, 10), out, topic="a")
    assert names_in(out) == {"a-0", "b-0", OUTPUT_MANIFEST}
    save(numbered(spark, 20), out, "overwrite", topic="c")
    assert names_in(out) == {"c-0", OUTPUT_MANIFEST}
    check_numbered(out, 20)


def test_nothing_is_left_of_a_write_whose_tasks_fail(spark: SparkSession, tmp_path: Path) -> None:
    rows = numbered(spark, 4000).withColumn(
        "value", F.when(F.col("key") == "3999", F.raise_error(F.lit("late"))).otherwise("x")
    )
    with pytest.raises(Exception, match="late"):
        save(rows, tmp_path / "out", topic="t")
    assert names_in(tmp_path) == set()


def test_offsets_of_tasks_that_overlap_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    offset = (F.col("key").cast("long") % 2000).alias("offset")
    rows = numbered(spark, 4000).select("*", offset)
    with pytest.raises(Exception, match=r"of t-0 in one task, and .* in another") as caught:
        save(rows, tmp_path / "out", topic="t")
    assert error_condition(caught.value) == "MAGICBYTE_INVALID_INPUT"
    assert names_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("columns", "options", "condition", "reason"),
    [
        (["key"], {"topic": "t"}, "MAGICBYTE_INVALID_SCHEMA", "no column 'value' among key"),
        (["value"], {}, "MAGICBYTE_INVALID_SCHEMA", "no column 'topic' and no topic"),
        (["value", "other"], {"topic": "t"}, "MAGICBYTE_INVALID_SCHEMA", "column other as double"),
        (
            ["value"],
            {"topics": "t"},
            "MAGICBYTE_UNKNOWN_OPTION",
            "no option 'topics'; expected topic",
        ),
        (["value"], {"topic": "a b"}, "MAGICBYTE_INVALID_OPTION", "topic 'a b'; expected up to"),
    ],
)
def test_columns_and_options_are_checked_before_a_task_starts(
    spark: SparkSession,
    columns: list[str],
    options: dict[str, str],
    condition: str,
    reason: str,
    tmp_path: Path,
) -> None:
    rows = numbered(spark, 1).withColumn("other", F.lit(1.5)).select(columns)
    with pytest.raises(Exception, match=reason) as caught:
        save(rows, tmp_path / "out", **options)
    assert error_condition(caught.value) == condition
    assert names_in(tmp_path) == set()


def test_options_have_the_names_of_kafka_and_of_our_function(tmp_path: Path) -> None:
    options = {
        "path": str(tmp_path / "out"),
        "TOPIC": "t",
        "partitions": "12",
        "startingOffset": '{"t":{"3":40}}',
        "leaderEpoch": "5",
        "kafka.compression.type": "zstd",
        "kafka.compression.zstd.level": "9",
        "kafka.compression.gzip.level": "no number, but for another codec",
        "kafka.batch.size": "64k",
        "kafka.segment.bytes": "1m",
        "kafka.index.interval.bytes": "0",
        "kafka.message.timestamp.type": "logappendtime",
        "kafka.acks": "all",
    }
    sink = parse_sink(options, overwrites=True)
    batches, segments = sink.record_settings, sink.writer_settings
    assert (batches.topic, batches.num_partitions, batches.leader_epoch) == ("t", 12, 5)
    assert (batches.codec, batches.level, batches.batch_bytes) == (4, 9, 65536)
    assert (batches.timestamp_type, sink.overwrites) == (1, True)
    assert (segments.segment_bytes, segments.index_interval_bytes) == (1 << 20, 0)
    assert sink.starting_offset == {("t", 3): 40}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("path", ""),
        ("path", "s3://bucket/out"),
        ("partitions", "0"),
        ("startingOffset", "-1"),
        ("startingOffset", "{1}"),
        ("leaderEpoch", "x"),
        ("kafka.compression.type", "lzo"),
        ("kafka.batch.size", "0"),
        ("kafka.segment.bytes", "4g"),
        ("kafka.message.timestamp.type", "now"),
    ],
)
def test_value_of_an_option_that_is_not_allowed_is_refused(
    option: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        parse_sink({"path": str(tmp_path / "out"), "topic": "t", option: value}, overwrites=False)
