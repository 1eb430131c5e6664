"""Tests that readers of Delta Lake and Iceberg get the rows that Spark's own Kafka source gave.

Those rows are the answers that `test_kafka_source` has recorded from a broker, which served the same log directories:
transactions with aborts, all codecs, null keys and values, and headers. `make test-brokers` asks it again.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from data_source import InProcessSpark
from kafka_cases import CASES
from magicbyte.spark import write_parquet
from magicbyte.spark.session import LazySession
from paths import DATA

from .test_kafka_source import plain, recorded, summary

deltalake = pytest.importorskip("deltalake", reason="needs the extra delta")
pytest.importorskip("pyiceberg", reason="needs the extra iceberg")

NAMES = ["subscribe", "aborted", "pattern", "append time", "all codecs", "headers", "no headers"]
"""The cases that read all offsets of some topics."""

COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestamp_type", "headers"]

TIMESTAMP_TYPES = {"CreateTime": 0, "LogAppendTime": 1, None: -1}


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


def as_kafka_source(table: pa.Table, columns: list[str]) -> dict[str, Any]:
    """Return the rows of *table* with *columns* of Spark's Kafka source, and its values of them."""
    rows = table.select(COLUMNS).to_pylist()
    times = table.column("timestamp").cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    for row, time in zip(rows, times.to_pylist(), strict=True):
        row["timestamp"], row["headers"] = time, row["headers"] or None
        row["timestampType"] = TIMESTAMP_TYPES[row.pop("timestamp_type")]
    return {"columns": columns, "rows": [[plain(row[name]) for name in columns] for row in rows]}


@pytest.mark.parametrize("name", NAMES)
def test_delta_and_iceberg_give_the_rows_of_the_kafka_source(
    name: str, tmp_path: Path, catalog: Any
) -> None:
    case, answer, out = CASES[name], recorded()[name], tmp_path / "out"
    topics = {partition.rpartition("-")[0] for partition in answer["offsets"]}
    write_parquet(
        DATA / case.cluster,
        out=out,
        topics=sorted(topics),
        isolation_level=case.level,
        append=True,
        columns=COLUMNS,
        max_partition_bytes=16384,
        delta=True,
        iceberg_table="test.kafka.records",
    )
    delta = deltalake.DeltaTable(out / "records").to_pyarrow_table()
    iceberg = catalog.load_table("kafka.records").scan().to_arrow()
    assert sum(count for *_, count in answer["offsets"].values()) == delta.num_rows > 70
    for table in (delta, iceberg):
        assert summary(as_kafka_source(table, answer["columns"])) == answer
