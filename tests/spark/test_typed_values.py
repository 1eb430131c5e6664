"""Tests of typed keys and values in Spark: the same as in Python, with the rules of `from_avro` for bad values."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession

import magicbyte as mb
from magicbyte.spark._spark_arrays import to_spark_array
from paths import shared

LOGS = shared() / "meaning-data" / "registry-karapace-4.3" / "log-0"

pytestmark = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the folder shared, with logs of a registry, is absent"
)

COLUMNS = ["offset", "key", "value", "value_schema_id", "value_error"]


def read(spark: SparkSession, topic: str, **options: str) -> DataFrame:
    options = {"decode": "value=registry", "mode": "PERMISSIVE", "subscribe": topic, **options}
    return spark.read.format("magicbyte").options(**options).load(str(LOGS))


def in_python(topic: str, **arguments: Any) -> list[dict[str, Any]]:
    table = mb.open(LOGS).typed_records(topic, value="registry", columns=COLUMNS, **arguments)
    batches = [
        {name: to_spark_array(batch.column(name)).to_pylist() for name in COLUMNS}
        for batch in table
    ]
    rows = [
        dict(zip(each, row, strict=True))
        for each in batches
        for row in zip(*each.values(), strict=True)
    ]
    return sorted(rows, key=lambda row: row["offset"])


def in_spark(frame: DataFrame) -> list[dict[str, Any]]:
    rows = frame.select(*COLUMNS).orderBy("offset").toArrow()
    return [dict(row) for row in rows.to_pylist()]


@pytest.mark.parametrize("topic", ["orders", "payments", "mixed", "clicks"])
def test_values_are_as_in_python(spark: SparkSession, topic: str) -> None:
    assert in_spark(read(spark, topic)) == in_python(topic) != []


def test_a_record_has_the_columns_of_the_newest_schema(spark: SparkSession) -> None:
    frame = read(spark, "orders")
    fields = dict(frame.select("value.*").dtypes)
    assert fields["id"] == "bigint"
    assert fields["amount"] == "decimal(12,2)"
    assert fields["state"] == "string"
    assert frame.where("value.id is not null").count() > 0
    assert dict(read(spark, "orders", decode="key=registry").select("key.*").dtypes) == {
        "id": "bigint"
    }


def test_a_bad_value_fails_by_default_and_is_null_if_permitted(spark: SparkSession) -> None:
    with pytest.raises(
        PythonException, match=r"the value at offset \d+ of mixed-0 was not decoded"
    ):
        read(spark, "mixed", mode="FAILFAST").collect()
    rows = read(spark, "mixed").where("value_error is not null").collect()
    assert rows
    assert all(row.value is None and row.value_bytes is not None for row in rows)


def test_options_of_decode_are_checked(spark: SparkSession) -> None:
    for options, sentence in (
        ({"decode": "value=nothing"}, "value 'nothing'"),
        ({"mode": "DROP"}, "mode 'DROP'"),
        ({"subscribe": "orders,clicks"}, "decode with 2 topics"),
        ({"schemas": "/no/such/folder"}, "/no/such/folder"),
    ):
        with pytest.raises(AnalysisException, match=sentence):
            read(spark, "orders", **options).columns  # noqa: B018
    with pytest.raises(AnalysisException, match="mode without decode"):
        spark.read.format("magicbyte").option("mode", "FAILFAST").load(str(LOGS))


def test_a_stream_has_the_same_values(spark: SparkSession, tmp_path: Path) -> None:
    reader = spark.readStream.format("magicbyte").option("startingOffsets", "earliest")
    options = {"decode": "value=registry", "subscribe": "orders"}
    stream = reader.options(**options).load(str(LOGS)).select(*COLUMNS)
    query = (
        stream.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    assert in_spark(spark.read.parquet(str(tmp_path / "out"))) == in_python("orders")
