"""Tests that a pipeline requests the bytes of a log in a store once, planning included."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from data_source import InProcessSpark
from magicbyte.limits import MIB
from magicbyte.spark import pipeline_run, write_parquet
from magicbyte.spark.session import LazySession
from magicbyte_tools.bench.log_writer import ROWS_PER_BATCH, write_log
from s3_server import S3Server

NUM_PARTITIONS = 2
NUM_SEGMENTS = 2


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run tasks in this process; each opens the store again, without the blocks that others have requested."""
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())
    monkeypatch.setattr(pipeline_run, "SMALL_BYTES", 0)


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "transactions"])
def stored_log(
    request: Any, s3: S3Server, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, int, int]:
    """The URL of a log as a broker leaves it, its bytes in segments, and its records."""
    folder = tmp_path_factory.mktemp("written")
    name, num_records = f"planned-{request.param}", 0
    for number in range(NUM_PARTITIONS):
        partition = folder / f"topic-{number}"
        end = write_log(partition, NUM_SEGMENTS, 4 * MIB, transactions=request.param)
        num_records += end * ROWS_PER_BATCH // (ROWS_PER_BATCH + request.param)
    url = s3.upload(folder, name)
    return url, sum(path.stat().st_size for path in folder.rglob("*.log")), num_records


@pytest.mark.parametrize(
    "options",
    [{"tables": ["records"]}, {"tables": ["records", "batches"]}, {"append": True}],
    ids=["records", "batches", "append"],
)
def test_pipeline_of_records_requests_each_byte_once_planning_included(
    s3: S3Server, stored_log: tuple[str, int, int], options: dict[str, Any], tmp_path: Path
) -> None:
    url, num_bytes, num_records = stored_log
    before = mb.store_requests().get("s3://logs")
    start = (0, 0) if before is None else (before.requested_bytes, before.total)
    summary = write_parquet(
        url,
        out=tmp_path / "out",
        max_partition_bytes=2 * MIB,
        storage_options=s3.options,
        **options,
    )
    asked = mb.store_requests()["s3://logs"]
    assert asked.requested_bytes - start[0] <= 1.02 * num_bytes
    assert asked.total - start[1] < 100
    assert summary.records["delivered"] == num_records
    assert pq.read_table(tmp_path / "out" / "records", columns=["offset"]).num_rows == num_records
