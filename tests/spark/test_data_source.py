"""Tests of the data source: discovery by name, column types, and the rows of the Python API."""

import pickle
import re
import shutil
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession

import magicbyte as mb
from file_damage import flip
from magicbyte.spark import _spark_columns, error_condition
from magicbyte.spark._tasks import tasks
from magicbyte.tables.stored_types import MAX_MILLISECONDS, is_out_of_range
from paths import CHECKOUT, DATA

KAFKA = (
    "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
    "timestampType:int,headers:array<struct<key:string,value:binary>>>"
)
SNAKE = (
    "topic,partition,offset,timestamp,timestamp_type,key,value,headers,leader_epoch,producer_id,"
    "producer_epoch,sequence,is_transactional,codec,magic,file,position,disposition,outcome"
)
CLUSTER = str(DATA / "4.3" / "transactions" / "log-0")
LIVES = str(DATA / "2.8" / "lives" / "log-0")


PAGE = (CHECKOUT / "docs" / "spark.md").read_text(encoding="utf-8")


def sentence(error: Exception) -> str:
    """Return the line of *error* that names an error of ours; there is no traceback around it."""
    assert "Traceback (most recent call last)" not in str(error).split("\nJVM stacktrace:")[0]
    (line,) = re.findall(r"magicbyte\.errors\.(.*)$", str(error), re.MULTILINE)
    return str(line)


def read(spark: SparkSession, path: str, **options: str) -> DataFrame:
    return spark.read.format("magicbyte").options(**options).load(path)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of *frame* sorted by topic, partition and offset, times in microseconds."""
    times = [
        "unix_micros(timestamp) as timestamp" if name == "timestamp" else name
        for name in frame.columns
    ]
    names = [name.lower() for name in frame.columns]
    rows = (row.asDict(recursive=True) for row in frame.selectExpr(*times).collect())
    order = itemgetter(*map(names.index, ("topic", "partition", "offset")))
    return sorted((tuple(row.values()) for row in rows), key=order)


def expected(path: str, names: tuple[str, ...], **arguments: Any) -> list[tuple[Any, ...]]:
    """Return the Python API's rows in Spark's form: times in microseconds, null for no headers."""
    table = mb.open(path, **arguments).records(names).to_table()
    if "timestamp" in names:
        whole = table.column("timestamp").cast("int64")
        table = table.set_column(names.index("timestamp"), "timestamp", whole)
    out = []
    for row in table.to_pylist():
        if "timestamp" in row:
            row["timestamp"] = -1000 if row["timestamp"] is None else row["timestamp"] * 1000
        if "headers" in row:
            row["headers"] = row["headers"] or None
        out.append(tuple(row.values()))
    return out


def test_data_source_is_found_without_registration_and_has_kafkas_columns(
    spark: SparkSession,
) -> None:
    frame = read(spark, CLUSTER, includeHeaders="true")
    assert frame.schema.simpleString() == KAFKA
    assert read(spark, CLUSTER).columns == frame.columns[:-1]
    assert all(field.nullable for field in frame.schema)


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("most", ["100", "2k", None], ids=["below an entry", "2k", "default"])
def test_rows_are_those_of_the_api_whatever_the_partition_size(
    spark: SparkSession, level: str, most: str | None
) -> None:
    topics = ["open", "deleted-records"] if most == "100" else ["open", "interleaved", "fenced"]
    options = {"isolationLevel": level, "columns": SNAKE, "subscribe": ", ".join(topics)}
    if most is not None:
        options["maxPartitionBytes"] = most
    frame = read(spark, CLUSTER, **options)
    if most is not None:
        assert frame.rdd.getNumPartitions() > 10
    rows = rows_of(frame)
    names = tuple(SNAKE.split(","))
    assert len(rows) > 50
    assert rows == expected(CLUSTER, names, topics=topics, isolation_level=level)


def test_the_eight_columns_hold_what_the_kafka_source_gives(spark: SparkSession) -> None:
    topics = ["v0-segments", "v1-append-time-none", "v2-segments", "upgraded-segments"]
    frame = read(spark, LIVES, subscribe=",".join(topics), includeHeaders="true")
    kinds: dict[str, set[int]] = {}
    for topic, kind in frame.select("topic", "timestampType").distinct().collect():
        kinds.setdefault(topic, set()).add(kind)
    assert kinds["v0-segments"] == {-1}
    assert kinds["v1-append-time-none"] == {1}
    assert kinds["v2-segments"] == {0}
    names = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
    assert rows_of(frame.select(*names)) == expected(LIVES, names, topics=topics)


def test_a_schema_of_the_users_is_obeyed_and_alone_decoded(spark: SparkSession) -> None:
    reader = spark.read.format("magicbyte").option("subscribe", "committed")
    frame = reader.schema("Offset bigint, topic string, partition int, magic tinyint").load(CLUSTER)
    names = ("offset", "topic", "partition", "magic")
    assert frame.columns == ["Offset", *names[1:]]
    assert rows_of(frame) == expected(CLUSTER, names, topics=["committed"])
    assert _spark_columns.sources_of(_spark_columns.columns_named(["timestampType", "OFFSET"])) == (
        "timestamp_type",
        "offset",
    )


@pytest.mark.parametrize(
    ("ddl", "message"),
    [
        ("offset int", "column offset as int; expected bigint"),
        ("ofset bigint", "no column 'ofset'; expected some of key, value, topic"),
        ("offset bigint not null", "column offset as not null; expected nullable"),
    ],
)
def test_a_schema_that_cannot_be_is_refused(spark: SparkSession, ddl: str, message: str) -> None:
    with pytest.raises(AnalysisException, match=message):
        spark.read.format("magicbyte").schema(ddl).load(CLUSTER).count()


def test_options_are_refused_in_a_sentence_that_names_them(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException) as refused:
        read(spark, CLUSTER, startingOffset="earliest")
    assert error_condition(refused.value) == "MAGICBYTE_UNKNOWN_OPTION"
    assert sentence(refused.value) == (
        "InputError: [MAGICBYTE_UNKNOWN_OPTION] no option 'startingoffset'; "
        "expected startingOffsets, startingOffsetsByTimestamp or endingOffsets"
    )


def test_a_path_that_is_missing_is_refused_when_it_is_loaded(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException) as missing:
        read(spark, "/no/such/folder")
    assert sentence(missing.value).startswith(
        "MissingError: [MAGICBYTE_NO_SUCH_PATH] /no/such/folder: No such file"
    )
    with pytest.raises(AnalysisException) as none:
        spark.read.format("magicbyte").load()
    assert sentence(none.value).startswith(
        "InputError: [MAGICBYTE_INVALID_OPTION] no path; expected load(path)"
    )


def test_a_topic_or_an_offset_that_cannot_be_is_refused_when_it_is_loaded(
    spark: SparkSession,
) -> None:
    with pytest.raises(AnalysisException) as missing:
        read(spark, CLUSTER, subscribe="nowhere")
    assert error_condition(missing.value) == "MAGICBYTE_NO_SUCH_TOPIC"
    assert sentence(missing.value).startswith("TopicError: [MAGICBYTE_NO_SUCH_TOPIC] no topic 'no")
    with pytest.raises(AnalysisException) as invalid:
        read(spark, CLUSTER, startingOffsets="now")
    assert error_condition(invalid.value) == "MAGICBYTE_INVALID_OPTION"


def test_sql_reads_a_temporary_view_and_refuses_a_table(spark: SparkSession) -> None:
    (example,) = re.findall(r"^    (CREATE TEMPORARY VIEW .*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    (query,) = re.findall(r"^    (SELECT .*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    spark.sql(example.replace("/var/lib/kafka", CLUSTER).replace("'orders'", "'committed'"))
    try:
        offsets = {row.partition: row.last for row in spark.sql(query).collect()}
    finally:
        spark.catalog.dropTempView("orders")
    table = mb.open(CLUSTER, topics=["committed"]).records(["partition", "offset"]).to_table()
    latest = table.group_by("partition").aggregate([("offset", "max")]).to_pylist()
    assert offsets == {row["partition"]: row["offset_max"] for row in latest} != {}
    with pytest.raises(AnalysisException) as refused:
        spark.sql(f"CREATE TABLE orders USING magicbyte OPTIONS (path '{CLUSTER}')")
    assert error_condition(refused.value) == "MAGICBYTE_NOT_A_TABLE"
    assert "expected CREATE TEMPORARY VIEW name USING magicbyte" in sentence(refused.value)


def test_an_empty_plan_gives_no_rows(spark: SparkSession) -> None:
    rows = mb.open(CLUSTER, topics=["timed-out"]).records().to_table()
    empty = read(spark, CLUSTER, subscribe="timed-out", columns="offset")
    assert empty.count() == rows.num_rows
    assert read(spark, LIVES, subscribe="empty").collect() == []


def test_damage_fails_in_one_sentence_or_is_skipped(spark: SparkSession, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(Path(CLUSTER, "committed-0"), tmp_path / "committed-0"))
    log = min(file for file in damaged.glob("*.log") if file.stat().st_size)
    flip(log, -1, 1)
    with pytest.raises(PythonException) as failed:
        read(spark, str(damaged)).count()
    assert error_condition(failed.value) == "MAGICBYTE_DAMAGED"
    assert sentence(failed.value).startswith(
        f"ChecksumError: [MAGICBYTE_DAMAGED] committed-0/{log.name} byte 0: stored CRC-32C 0x"
    )
    assert "direct cause" not in str(failed.value)
    names = ("topic", "partition", "offset", "value")
    skipped = read(spark, str(damaged), onDamage="skip").select(*names)
    assert rows_of(skipped) == expected(str(damaged), names, on_damage="skip")
    whole = mb.open(str(damaged.parent), on_damage="skip").records(names).to_table().num_rows
    assert skipped.count() == whole > 0


def test_a_time_beyond_microseconds_is_null_and_one_that_is_not_there_is_kafkas() -> None:
    far = pa.array([0, None, -1, 1 << 62, -(1 << 62), MAX_MILLISECONDS]).cast(
        pa.timestamp("ms", tz="UTC")
    )
    timestamp = _spark_columns.columns_named(["timestamp"])[0]
    microseconds = timestamp.convert(far).cast(pa.int64()).to_pylist()
    assert microseconds == [0, -1000, -1000, None, None, MAX_MILLISECONDS * 1000]
    assert is_out_of_range(far).to_pylist() == [False, False, False, True, True, False]


def test_small_segments_share_a_task_and_none_is_large() -> None:
    splits = mb.open(CLUSTER).plan(128 << 20)
    groups = tasks(splits, 128 << 20)
    assert [split for group in groups for split in group] == splits
    assert len(groups) < len(splits) / 10
    assert all(len(pickle.dumps(group)) < 100_000 for group in groups)
    assert len(tasks(splits, 1)) == len(splits)


@pytest.mark.parametrize(
    ("end", "options"),
    [
        ({}, {}),
        ({"offset": 8}, {"endingOffsets": '{"fenced":{"0":8,"1":-1}}'}),
        ({"time": datetime(2100, 1, 1, tzinfo=UTC)}, {"endingTimestamp": "4102444800000"}),
    ],
)
def test_latest_is_the_state_at_the_end_of_the_read(
    spark: SparkSession, end: dict[str, Any], options: dict[str, str]
) -> None:
    names = ("topic", "partition", "offset", "key", "value")
    frame = read(spark, CLUSTER, subscribe="fenced", table="latest", **options).select(*names)
    rows = mb.open(CLUSTER, topics=["fenced"]).latest(names, **end).to_pylist()
    assert rows_of(frame) == [tuple(row.values()) for row in rows] != []


def test_latest_has_the_columns_of_records_and_no_start(spark: SparkSession) -> None:
    with_headers = read(spark, CLUSTER, table="latest", includeHeaders="true")
    assert with_headers.columns == read(spark, CLUSTER, includeHeaders="true").columns
    with pytest.raises(AnalysisException) as refused:
        read(spark, CLUSTER, table="latest", startingOffsets="earliest")
    assert sentence(refused.value).endswith(
        "startingOffsets with the table latest; expected the table records"
    )
