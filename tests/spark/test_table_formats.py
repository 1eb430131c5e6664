"""Tests that appended files are registered with Delta Lake and Iceberg: each once, one commit for a run."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from click.testing import CliRunner

import magicbyte as mb
from data_source import InProcessSpark
from magicbyte.errors import InputError
from magicbyte.spark import write_parquet
from magicbyte.spark.session import LazySession
from magicbyte.spark.table_formats import TableFormats, folder_values
from magicbyte_cli import main
from s3_server import BUCKET, SECRET, S3Server
from spark.growing_log import write_part

deltalake = pytest.importorskip("deltalake", reason="needs the extra delta")
pytest.importorskip("pyiceberg", reason="needs the extra iceberg")

TABLE = "test.kafka.records"
COLUMNS = ["topic", "partition", "offset", "timestamp", "value"]


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A catalog of Iceberg in SQLite, which pyiceberg finds by environment variables."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.utils.config import Config

    settings = {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": f"file://{tmp_path}/warehouse",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__TEST__{name}", value)
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # it was read at the import
    return load_catalog("test")


def append(logs: Path, out: str | Path, **options: Any) -> None:
    write_parquet(logs, out=out, append=True, columns=COLUMNS, max_partition_bytes=16384, **options)


def places(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*table.select(COLUMNS[:3]).to_pydict().values(), strict=True))


def expected(logs: Path) -> Counter[tuple[Any, ...]]:
    return places(mb.open(logs).records(COLUMNS[:3]).to_table())


def test_delta_table_has_a_commit_for_each_run(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    for version, share in enumerate((0.3, 0.6, 1)):
        write_part(logs, share)
        append(logs, out, delta=True, partition_by=["topic", "date"])
        append(logs, out, delta=True, partition_by=["topic", "date"])
        table = deltalake.DeltaTable(out / "records")
        assert table.version() == version
        assert places(table.to_pyarrow_table()) == expected(logs)
    assert table.metadata().partition_columns == ["topic", "date"]
    only = table.to_pyarrow_table(filters=[("topic", "=", "open")])
    assert set(only.column("topic").to_pylist()) == {"open"}


def test_delta_table_has_the_limits_of_the_columns_to_filter_by(tmp_path: Path) -> None:
    write_part(tmp_path / "in", 1)
    append(tmp_path / "in", tmp_path / "out", delta=True)
    log = tmp_path / "out" / "records" / "_delta_log" / f"{0:020}.json"
    lines = map(json.loads, log.read_text().splitlines())
    added = [json.loads(line["add"]["stats"]) for line in lines if "add" in line]
    rows = mb.open(tmp_path / "in").records(COLUMNS).to_table().to_pylist()
    assert sum(stats["numRecords"] for stats in added) == len(rows)
    for name in ("topic", "partition", "offset"):
        assert min(stats["minValues"][name] for stats in added) == min(row[name] for row in rows)
        assert max(stats["maxValues"][name] for stats in added) == max(row[name] for row in rows)
    latest = max(row["timestamp"] for row in rows).isoformat(timespec="milliseconds")
    assert max(stats["maxValues"]["timestamp"] for stats in added) == latest


def test_iceberg_table_has_a_commit_for_each_run(tmp_path: Path, catalog: Any) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    for number, share in enumerate((0.3, 0.6, 1)):
        write_part(logs, share)
        append(logs, out, iceberg_table=TABLE)
        append(logs, out, iceberg_table=TABLE)
        table = catalog.load_table("kafka.records")
        assert len(table.metadata.snapshots) == number + 1
        assert places(table.scan().to_arrow()) == expected(logs)


@pytest.mark.parametrize("name", ["register_with_delta", "register_with_iceberg"])
def test_run_that_was_killed_before_the_registration_is_registered_by_the_next(
    tmp_path: Path, catalog: Any, name: str
) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    options = {"delta": True, "iceberg_table": TABLE}
    for share in (0.5, 1):
        write_part(logs, share)
        with (
            patch(f"magicbyte.spark.table_formats.{name}", side_effect=Killed),
            pytest.raises(Killed),
        ):
            append(logs, out, **options)
        append(logs, out, **options)
        assert places(deltalake.DeltaTable(out / "records").to_pyarrow_table()) == expected(logs)
        assert places(catalog.load_table("kafka.records").scan().to_arrow()) == expected(logs)


def test_compaction_of_a_delta_table_is_not_undone(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    write_part(logs, 0.5)
    append(logs, out, delta=True)
    deltalake.DeltaTable(out / "records").optimize.compact()
    write_part(logs, 1)
    append(logs, out, delta=True)
    assert places(deltalake.DeltaTable(out / "records").to_pyarrow_table()) == expected(logs)


def test_delta_table_in_a_store(tmp_path: Path, s3: S3Server) -> None:
    logs, out = tmp_path / "in", f"s3://{BUCKET}/delta/out"
    options = {
        "AWS_ACCESS_KEY_ID": s3.options["access_key"],
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": s3.url,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    for share in (0.5, 1):
        write_part(logs, share)
        append(logs, out, delta=True, storage_options=s3.options)
    table = deltalake.DeltaTable(f"{out}/records", storage_options=options)
    assert table.version() == 1
    assert places(table.to_pyarrow_table()) == expected(logs)


def test_error_of_a_library_says_that_the_files_are_written(tmp_path: Path) -> None:
    write_part(tmp_path / "in", 0.5)
    with pytest.raises(
        InputError, match="the files are written, but not registered with Iceberg: "
    ):
        append(tmp_path / "in", tmp_path / "out", iceberg_table="nowhere.kafka.records")
    assert (tmp_path / "out" / "_magicbyte" / "offsets.json").exists()


def test_tables_that_cannot_be_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_part(tmp_path / "in", 0.5)
    for more, message in (
        (["--delta"], "without --append"),
        (["--append", "--iceberg-table=a.b"], "expected CATALOG.NAMESPACE.NAME"),
        (["--append", f"--iceberg-table={TABLE}", "--partition-by=topic"], "no --partition-by"),
    ):
        command = ["pipeline", str(tmp_path / "in"), str(tmp_path / "out"), *more]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 2 and message in result.stderr, result.output
    with patch.dict("sys.modules", {"deltalake": None}), pytest.raises(InputError) as raised:
        append(tmp_path / "in", tmp_path / "out", delta=True)
    assert "pip install 'magicbyte[delta]'" in str(raised.value)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_folders_are_values_of_columns() -> None:
    path = "topic=a%3Db/date=__HIVE_DEFAULT_PARTITION__/part-000001-00000-000.zstd.parquet"
    assert folder_values(path) == {"topic": "a=b", "date": None}
    assert not TableFormats().is_delta
