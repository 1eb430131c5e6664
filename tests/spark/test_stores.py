"""Tests of Spark on an object store: right rows, and no secrets in plans and messages."""

import json
import shutil
from pathlib import Path

import pyarrow.dataset
import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import magicbyte as mb
from magicbyte.tables import schemas
from magicbyte_cli import main
from paths import DATA
from s3_server import ACCESS_KEY, SECRET, S3Server

PARTITIONS = ("aborted-0", "interleaved-0", "open-0")
TABLES = ("records", "segments", "transactions", "partitions")


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk") / "log-0"
    for name in PARTITIONS:
        shutil.copytree(DATA / "4.3" / "transactions" / "log-0" / name, folder / name)
    (folder / "meta.properties").write_text("version=1\n")
    return folder


@pytest.fixture(scope="module")
def url(s3: S3Server, log_dir: Path) -> str:
    return s3.upload(log_dir, "cluster/log-0")


def frame(spark: SparkSession, s3: S3Server, path: str, **options: str) -> DataFrame:
    reader = spark.read.format("magicbyte").options(**options)
    for name, value in s3.options.items():
        reader = reader.option(f"storage.{name}", value)
    return reader.load(path)


def test_spark_reads_a_store(spark: SparkSession, s3: S3Server, url: str, log_dir: Path) -> None:
    there = frame(spark, s3, url.replace("s3:", "s3a:"), columns="topic,offset,value")
    rows = sorted((row.topic, row.offset, bytes(row.value)) for row in there.collect())
    table = mb.open(log_dir).records(["topic", "offset", "value"]).to_table()
    assert rows == sorted(zip(*table.to_pydict().values(), strict=True))
    plan = there._jdf.queryExecution().toString()
    assert SECRET not in plan and ACCESS_KEY not in plan


def test_store_error_is_one_sentence(
    spark: SparkSession, s3: S3Server, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with s3.checking_credentials(), pytest.raises(PySparkException) as raised:
        frame(spark, s3, url).count()
    assert (
        f"StoreError: [MAGICBYTE_STORE] {url}: INVALID_ACCESS_KEY_ID during ListObjectsV2"
        in str(raised.value)
    )
    for text in (str(raised.value), *capfd.readouterr()):
        assert SECRET not in text and ACCESS_KEY not in text


def test_a_pipeline_over_a_store_writes_no_secret(
    spark: SparkSession, s3: S3Server, url: str, log_dir: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = [f"--storage-option={name}={value}" for name, value in s3.options.items()]
    result = CliRunner().invoke(main, ["pipeline", *options, url, str(out)])
    assert result.exit_code == 0, result.output
    assert SECRET not in result.output and ACCESS_KEY not in result.output
    here = mb.open(log_dir, on_damage="skip")
    for table in TABLES:
        columns = [name for name in schemas.TABLES[table].names if name != "log_dir"]
        written = pyarrow.dataset.dataset(out / table, format="parquet").to_table(columns)
        rows = here.stored(table, columns).to_table()
        assert sorted(map(repr, written.to_pylist())) == sorted(map(repr, rows.to_pylist())), table
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        data = path.read_bytes()
        assert SECRET.encode() not in data and ACCESS_KEY.encode() not in data, path
    plan = (out / "_magicbyte" / "plan.jsonl").read_text().splitlines()
    assert json.loads(plan[1])["splits"][0]["file"]["store"] is None
    assert json.loads(plan[0])["paths"] == [url]
