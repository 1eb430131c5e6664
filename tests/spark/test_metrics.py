"""Tests of what the data source logs about plans, tasks and triggers."""

import json
import logging
import re
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import magicbyte as mb
from data_source import InProcessSpark, planned
from file_damage import flip
from magicbyte.spark import write_parquet
from magicbyte.spark.data_source import MagicbyteDataSource
from magicbyte.spark.session import LazySession
from paths import DATA

CLUSTER = DATA / "4.3" / "transactions" / "log-0"
LOGGER = "magicbyte.spark"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A partition with a batch whose checksum does not match."""
    folder = Path(shutil.copytree(CLUSTER / "interleaved-0", tmp_path / "interleaved-0"))
    log = min(folder.glob("*.log"))
    flip(log, log.stat().st_size // 2, 1)
    return folder


def test_plan_and_tasks_log_what_they_read(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    reader, tasks = planned(str(CLUSTER), subscribe="interleaved", columns="offset")
    sizes = [path.stat().st_size for path in CLUSTER.glob("interleaved-[01]/*.log")]
    assert (
        f"planned: {len(tasks)} tasks, 2 partitions, {len(sizes)} segments, {sum(sizes)} bytes"
        in caplog.messages
    )
    caplog.clear()
    num_rows = sum(batch.num_rows for task in tasks for batch in reader.read(task))
    messages = [text for text in caplog.messages if text.startswith("read: records: ")]
    assert len(messages) == len(tasks)
    numbers = (re.search(r"delivered (\d+)", text.partition("; bytes: ")[0]) for text in messages)
    assert sum(int(number[1]) for number in numbers if number) == num_rows > 0
    assert "aborted" in messages[0]


def test_bytes_whose_records_are_lost_are_a_warning(
    damaged: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reader, tasks = planned(str(damaged), onDamage="skip")
    caplog.clear()
    assert sum(batch.num_rows for task in tasks for batch in reader.read(task)) > 0
    dataset = mb.open(damaged, on_damage="skip").records(["offset"])
    for _ in dataset:
        pass
    lost = dataset.report.bytes["damaged"]
    assert f"read: the records of these bytes are not delivered: damaged {lost}" in [
        record.message for record in caplog.records if record.levelno == logging.WARNING
    ]


def test_triggers_log_how_far_they_are_behind(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    source = MagicbyteDataSource(
        {"path": str(CLUSTER), "subscribe": "open", "startingOffsets": "earliest"}
    )
    reader = source.streamReader(source.schema())
    start = reader.initialOffset()
    end = reader.latestOffset(start)
    behind = [end["open"][name] - start["open"][name] for name in start["open"]]
    assert f"{sum(behind)} offsets behind in {sum(map(bool, behind))} partitions" in caplog.messages
    reader.latestOffset(end)
    assert "0 offsets behind in 0 partitions" in caplog.messages


def test_pipeline_counts_records_and_bytes_by_disposition(
    damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())
    for more in ({}, {"append": True}):
        out = tmp_path / f"out-{len(more)}"
        summary = write_parquet(damaged, out=out, on_damage="skip", **more)
        facts = json.loads((out / "_magicbyte" / "run.json").read_text())
        assert facts["records"]["delivered"] == facts["rows"]["records"] > 0
        assert facts["bytes"]["damaged"] == summary.bytes["damaged"] > 0
        assert facts["findings"]["error"] == 1


def test_spark_collects_the_lines_of_driver_and_tasks(spark: SparkSession) -> None:
    if not hasattr(spark.tvf, "python_worker_logs"):
        pytest.skip("Spark 4.1 and later collect the logs of Python")
    spark.conf.set("spark.sql.pyspark.worker.logging.enabled", "true")
    try:
        frame = (
            spark.read.format("magicbyte").option("columns", "offset").load(str(CLUSTER / "open-0"))
        )
        num_rows = frame.count()
        logs = spark.tvf.python_worker_logs().where("logger = 'magicbyte.spark'").collect()
    finally:
        spark.conf.unset("spark.sql.pyspark.worker.logging.enabled")
    messages = " ".join(row.msg for row in logs)
    assert "planned: 1 tasks, 1 partitions, " in messages
    assert f"delivered {num_rows}" in messages
