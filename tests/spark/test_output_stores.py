"""Tests of pipelines that write into a store: the tables of a local output, and commits that the next run finishes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.dataset
import pytest
from click.testing import CliRunner, Result
from pyarrow import fs
from pyspark.sql import SparkSession

import magicbyte as mb
from data_source import InProcessSpark
from magicbyte.errors import InputError
from magicbyte.spark import write_parquet
from magicbyte.spark._commit import COMMIT_PATH
from magicbyte.spark.session import LazySession
from magicbyte.storage import StorageOptions
from magicbyte.storage.output_folder import StoreFolder, output_folder
from magicbyte.tables.schemas import TABLES
from magicbyte_cli import main
from paths import DATA
from s3_server import ACCESS_KEY, BUCKET, SECRET, S3Server

CLUSTER = DATA / "4.3" / "transactions" / "log-0"
SMALL = "--max-partition-bytes=64KiB"
TOPICS = ["open", "aborted", "interleaved"]
OF_TOPICS = [f"--topic={topic}" for topic in TOPICS]


class Killed(BaseException):
    """The process ends here."""


def pipeline(s3: S3Server, out: str, *more: str) -> Result:
    options = [f"--storage-option={name}={value}" for name, value in s3.options.items()]
    return CliRunner().invoke(main, ["pipeline", str(CLUSTER), out, SMALL, *options, *more])


def folder_of(s3: S3Server, out: str) -> Any:
    return output_folder(out, StorageOptions(s3.options))


def rows_of(s3: S3Server, out: str, table: str) -> list[str]:
    """Return the rows that Arrow finds in *table*, in a fixed order."""
    system = fs.S3FileSystem(**s3.options)
    path = out.removeprefix("s3://")
    read = pa.dataset.dataset(f"{path}/{table}", filesystem=system, partitioning="hive").to_table()
    return sorted(map(repr, read.select(TABLES[table].names).to_pylist()))


def expected_rows(table: str) -> list[str]:
    dataset = mb.open(CLUSTER, on_damage="skip", topics=TOPICS)
    rows = dataset.stored(table, TABLES[table].names).to_table()
    return sorted(map(repr, rows.to_pylist()))


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run tasks in this process, which is faster."""
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())


@pytest.fixture(scope="module")
def finished(spark: SparkSession, s3: S3Server) -> str:
    """The URL of an output in a store."""
    out = f"s3://{BUCKET}/finished/out"
    result = pipeline(s3, out, *OF_TOPICS)
    assert result.exit_code == 0, result.output
    assert f"report: {out}/report.html" in result.stderr
    assert SECRET not in result.output and ACCESS_KEY not in result.output
    return out


@pytest.mark.parametrize("table", TABLES)
def test_tables_in_a_store_are_those_of_the_api(finished: str, s3: S3Server, table: str) -> None:
    assert rows_of(s3, finished, table) == expected_rows(table)


def test_output_in_a_store_has_the_files_of_a_local_one_and_no_secret(
    finished: str, s3: S3Server, in_process: None, tmp_path: Path
) -> None:
    files = folder_of(s3, finished).files()
    options: dict[str, Any] = {"topics": TOPICS, "max_partition_bytes": 65536, "on_damage": "skip"}
    write_parquet(CLUSTER, out=tmp_path / "out", **options)
    local = {path.relative_to(tmp_path / "out").as_posix() for path in tmp_path.rglob("out/*/*")}
    assert set(files) == local | {"report.html"}
    for name in ("report.html", "_magicbyte/plan.jsonl", "_magicbyte/run.json"):
        data = folder_of(s3, finished).read(name)
        assert data and SECRET.encode() not in data and ACCESS_KEY.encode() not in data
    assert b"transactions" in folder_of(s3, finished).read("report.html")
    beside = folder_of(s3, finished.rpartition("/")[0]).files()
    assert {name.partition("/")[0] for name in beside} == {"out"}


def test_output_in_a_store_is_replaced_only_with_overwrite(s3: S3Server, in_process: None) -> None:
    out = f"s3://{BUCKET}/replaced/out"
    options = ("--tables=records,transactions", "--topic=open")
    assert pipeline(s3, out, *options).exit_code == 0
    refused = pipeline(s3, out, *options)
    assert refused.exit_code == 2
    assert "the output exists; expected a new name, or --overwrite" in refused.stderr
    partitions = "--partition-by=topic,date"
    again = pipeline(s3, out, "--overwrite", "--tables=records", partitions, *OF_TOPICS)
    assert again.exit_code == 0, again.output
    names = {path.partition("/")[0] for path in folder_of(s3, out).files()}
    assert names == {"records", "_magicbyte"}
    assert all(
        path.startswith("records/topic=") and "/date=20" in path
        for path in folder_of(s3, out).files()
        if not path.startswith("_magicbyte")
    )
    assert rows_of(s3, out, "records") == expected_rows("records")


def test_folders_of_others_and_inputs_are_refused(s3: S3Server) -> None:
    s3.put("theirs/thesis.txt", b"years of work")
    refused = pipeline(s3, f"s3://{BUCKET}/theirs", "--overwrite")
    assert "the folder was not written by pipeline" in refused.stderr
    s3.put("others/.out.part/thesis.txt", b"years of work")
    refused = pipeline(s3, f"s3://{BUCKET}/others/out")
    assert "/.out.part: the folder was not written by pipeline" in refused.stderr
    assert folder_of(s3, f"s3://{BUCKET}/others").files() == {".out.part/thesis.txt": 13}
    url = s3.upload(CLUSTER / "open-0", "input/open-0")
    for out in (url, f"{url}/out", f"s3://{BUCKET}/input"):
        with pytest.raises(InputError, match="input"):
            write_parquet(url, out=out, storage_options=s3.options)
    assert "a whole bucket" in pipeline(s3, f"s3://{BUCKET}").stderr


@contextmanager
def killed_at(number: int) -> Iterator[None]:
    """Raise Killed in the transfer with this number, counted from 0."""
    transfer, done = StoreFolder.transfer, []

    def transfer_or_end(self: StoreFolder, *arguments: Any) -> None:
        done.append(arguments)
        if len(done) > number:
            raise Killed
        transfer(self, *arguments)

    with patch.object(StoreFolder, "transfer", transfer_or_end), pytest.raises(Killed):
        yield


@pytest.mark.parametrize("number", [0, 4])
def test_commit_that_was_killed_is_finished_by_the_next_run(
    s3: S3Server, in_process: None, number: int
) -> None:
    out = f"s3://{BUCKET}/killed-{number}/out"
    with killed_at(number):
        write_parquet(
            CLUSTER,
            out=out,
            tables=["records", "segments"],
            topics=TOPICS,
            max_partition_bytes=65536,
            on_damage="skip",
            storage_options=s3.options,
        )
    assert folder_of(s3, out).read(COMMIT_PATH) is not None
    again = pipeline(s3, out, "--tables=records,segments", *OF_TOPICS)
    assert again.exit_code == 2 and "the output exists" in again.stderr
    assert "an earlier run was killed while it changed" in again.stderr
    assert folder_of(s3, out).read(COMMIT_PATH) is None
    for table in ("records", "segments"):
        assert rows_of(s3, out, table) == expected_rows(table)
    names = folder_of(s3, out.rpartition("/")[0]).files()
    assert all(name.startswith("out/") for name in names)


def test_tasks_of_a_killed_run_are_not_repeated(s3: S3Server, in_process: None) -> None:
    out = f"s3://{BUCKET}/resumed/out"
    with (
        patch("magicbyte.spark._pipeline.write_driver_tables", side_effect=Killed),
        pytest.raises(Killed),
    ):
        write_parquet(CLUSTER, out=out, on_damage="skip", storage_options=s3.options)
    assert folder_of(s3, out).files() == {}
    said: list[str] = []
    write_parquet(CLUSTER, out=out, on_damage="skip", storage_options=s3.options, say=said.append)
    facts = json.loads(folder_of(s3, out).read("_magicbyte/run.json"))
    assert facts["tasks"] == facts["tasks_of_earlier_runs"] > 0 and facts["spark"] is None
    assert f"an earlier run has finished {facts['tasks']} of {facts['tasks']} tasks" in said
