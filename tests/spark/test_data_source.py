"""The data source: found, typed, and giving the rows that Python gives."""

import pickle
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession

import magicbyte as mb
from magicbyte.errors import InputError
from magicbyte.spark import spark_columns
from magicbyte.spark.option_values import size_in_bytes
from magicbyte.spark.options import parse
from magicbyte.spark.tasks import tasks
from magicbyte.tables.stored_types import MAX_MILLISECONDS, is_out_of_range

KAFKA = (
    "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
    "timestampType:int,headers:array<struct<key:string,value:binary>>>"
)
SNAKE = (
    "topic,partition,offset,timestamp,timestamp_type,key,value,headers,leader_epoch,producer_id,"
    "producer_epoch,sequence,is_transactional,codec,magic,file,position,disposition,outcome"
)


@pytest.fixture(scope="module")
def cluster(logs: Path) -> str:
    return str(logs / "4.3" / "transactions" / "log-0")


@pytest.fixture
def damaged(cluster: str, tmp_path: Path) -> Path:
    """A partition of two segments with a flipped bit in the last byte of the first."""
    folder = Path(shutil.copytree(Path(cluster, "committed-0"), tmp_path / "committed-0"))
    log = min(file for file in folder.glob("*.log") if file.stat().st_size)
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    return folder


def read(spark: SparkSession, path: str, **options: str) -> DataFrame:
    return spark.read.format("magicbyte").options(**options).load(path)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows of *frame* by topic, partition and offset, times as microseconds."""
    times = [
        "unix_micros(timestamp) as timestamp" if name == "timestamp" else name
        for name in frame.columns
    ]
    rows = [row.asDict(recursive=True) for row in frame.selectExpr(*times).collect()]
    places = [frame.columns.index(name) for name in ("topic", "partition")]
    places.append([name.lower() for name in frame.columns].index("offset"))
    return sorted(
        (tuple(row.values()) for row in rows), key=lambda row: [row[place] for place in places]
    )


def expected(path: str, names: tuple[str, ...], **arguments: Any) -> list[tuple[Any, ...]]:
    """The rows that Python gives, with Spark's idea of times, and of no headers."""
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
    spark: SparkSession, cluster: str
) -> None:
    frame = read(spark, cluster, includeHeaders="true")
    assert frame.schema.simpleString() == KAFKA
    assert read(spark, cluster).columns == frame.columns[:-1]
    assert all(field.nullable for field in frame.schema)


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("most", ["100", "2k", None], ids=["below an entry", "2k", "default"])
def test_rows_are_those_of_the_api_whatever_the_partition_size(
    spark: SparkSession, cluster: str, level: str, most: str | None
) -> None:
    topics = ["open", "deleted-records"] if most == "100" else ["open", "interleaved", "fenced"]
    options = {"isolationLevel": level, "columns": SNAKE, "subscribe": ", ".join(topics)}
    if most is not None:
        options["maxPartitionBytes"] = most
    frame = read(spark, cluster, **options)
    if most is not None:
        assert frame.rdd.getNumPartitions() > 10
    rows = rows_of(frame)
    names = tuple(SNAKE.split(","))
    assert len(rows) > 50
    assert rows == expected(cluster, names, topics=topics, isolation_level=level)


def test_the_eight_columns_hold_what_the_kafka_source_gives(
    spark: SparkSession, logs: Path
) -> None:
    path = str(logs / "2.8" / "lives" / "log-0")
    topics = ["v0-segments", "v1-append-time-none", "v2-segments", "upgraded-segments"]
    frame = read(spark, path, subscribe=",".join(topics), includeHeaders="true")
    kinds: dict[str, set[int]] = {}
    for topic, kind in frame.select("topic", "timestampType").distinct().collect():
        kinds.setdefault(topic, set()).add(kind)
    assert kinds["v0-segments"] == {-1}
    assert kinds["v1-append-time-none"] == {1}
    assert kinds["v2-segments"] == {0}
    names = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
    assert rows_of(frame.select(*names)) == expected(path, names, topics=topics)


def test_a_schema_of_the_users_is_obeyed_and_alone_decoded(
    spark: SparkSession, cluster: str
) -> None:
    reader = spark.read.format("magicbyte").option("subscribe", "committed")
    frame = reader.schema("Offset bigint, topic string, partition int, magic tinyint").load(cluster)
    names = ("offset", "topic", "partition", "magic")
    assert frame.columns == ["Offset", *names[1:]]
    assert rows_of(frame) == expected(cluster, names, topics=["committed"])
    assert spark_columns.sources_of(spark_columns.columns_named(["timestampType", "OFFSET"])) == (
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
def test_a_schema_that_cannot_be_is_refused(
    spark: SparkSession, cluster: str, ddl: str, message: str
) -> None:
    with pytest.raises(AnalysisException, match=message):
        spark.read.format("magicbyte").schema(ddl).load(cluster).count()


def test_options_are_refused_in_a_sentence_that_names_them(
    spark: SparkSession, cluster: str
) -> None:
    with pytest.raises(AnalysisException) as refused:
        read(spark, cluster, startingOffset="earliest")
    assert "InputError: no option 'startingoffset'; expected some of path, paths, assig" in str(
        refused.value
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no path"),
        ({"path": ""}, "no path"),
        ({"path": "/", "topic": "t"}, "no option 'topic'"),
        ({"path": "/", "onDamage": "ignore"}, "onDamage 'ignore'; expected fail, skip or stop"),
        ({"path": "/", "maxPartitionBytes": "0"}, "maxPartitionBytes '0'"),
        ({"path": "/", "maxPartitionBytes": "64q"}, "maxPartitionBytes '64q'"),
        ({"path": "/", "includeInternal": "yes"}, "includeInternal 'yes'; expected true or false"),
        ({"path": "/", "columns": "key,,value"}, "columns 'key,,value'; expected names, separated"),
        (
            {"path": "s3a://u:p@bucket/logs"},
            "s3a://...@bucket/logs: the URL seems to contain a pass",
        ),
        ({"path": "s3a://bucket/logs", "storage.zone": "x"}, "no storage option 'zone' for s3:"),
        ({"path": "/", "storage.region": "x"}, "storage options region, but all paths are local"),
        ({"path": "/no/such/folder"}, "/no/such/folder: No such file or directory"),
        (
            {
                "path": "/",
                "isolationLevel": "read_committed",
                "kafka.isolation.level": "read_uncommitted",
            },
            "expected the 'read_committed' of isolationLevel",
        ),
    ],
)
def test_unknown_option_value_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(options)
    assert message in str(refused.value)


def test_options_have_no_case_and_sizes_are_written_as_spark_writes_them() -> None:
    read = parse({"PATHS": '["file:///", "/"]', "KAFKA.isolation.LEVEL": "read_uncommitted"})
    assert read.paths == ("/", "/")
    assert read.read.isolation_level == "read_uncommitted"
    sizes = [size_in_bytes("", text) for text in ("7", "7b", "64m", "64MB", "1g")]
    assert sizes == [7, 7, 64 << 20, 64 << 20, 1 << 30]


def test_a_path_that_is_missing_is_refused_when_it_is_loaded(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="MissingError: /no/such/folder: No such file"):
        read(spark, "/no/such/folder")
    with pytest.raises(AnalysisException, match=r"InputError: no path; expected load\(path\)"):
        spark.read.format("magicbyte").load()


def test_an_empty_plan_gives_no_rows(spark: SparkSession, logs: Path) -> None:
    path = str(logs / "4.3" / "transactions" / "log-0" / "offsets-only-0")
    folder = Path(path).parent
    empty = read(spark, str(folder), subscribe="timed-out", columns="offset")
    assert empty.count() == sum(
        batch.num_rows for batch in mb.open(str(folder), topics=["timed-out"]).records()
    )
    lives = str(logs / "2.8" / "lives" / "log-0")
    assert read(spark, lives, subscribe="empty").collect() == []


def test_damage_fails_in_one_sentence_or_is_skipped(spark: SparkSession, damaged: Path) -> None:
    with pytest.raises(PythonException) as failed:
        read(spark, str(damaged)).count()
    log = min(file for file in damaged.glob("*.log") if file.stat().st_size)
    assert f"ChecksumError: committed-0/{log.name} byte 0: stored CRC-32C 0x" in str(failed.value)
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
    timestamp = spark_columns.columns_named(["timestamp"])[0]
    made = timestamp.convert(far).cast(pa.int64()).to_pylist()
    assert made == [0, -1000, -1000, None, None, MAX_MILLISECONDS * 1000]
    assert is_out_of_range(far).to_pylist() == [False, False, False, True, True, False]


def test_small_segments_share_a_task_and_none_is_large(cluster: str) -> None:
    splits = mb.open(cluster).plan(128 << 20)
    made = tasks(splits, 128 << 20)
    assert [split for task in made for split in task] == splits
    assert len(made) < len(splits) / 10
    assert all(len(pickle.dumps(task)) < 100_000 for task in made)
    assert len(tasks(splits, 1)) == len(splits)
