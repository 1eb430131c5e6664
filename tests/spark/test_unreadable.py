"""Spark's tasks and the pipeline read past what a disk does not deliver; tasks run in this process."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest
from click.testing import CliRunner

import log_builder as build
from data_source import rows
from io_faults import FaultyDisk, faulty_disk
from log_builder import Folder
from log_reader import spans
from magicbyte.errors import UnreadableError
from magicbyte.spark.session import LazySession
from magicbyte_cli import main

BLOCK = FaultyDisk.BLOCK


class InProcess:
    """Runs the tasks of a Spark job in this process."""

    version = "none"

    def __init__(self) -> None:
        self.sparkContext = self
        self._partitions: list[Iterable[Any]] = []

    def parallelize(self, items: list[Any], number: int) -> "InProcess":
        self._partitions = [[item] for item in items]
        return self

    def mapPartitions(self, task: Callable[[Iterable[Any]], Iterable[Any]]) -> "InProcess":
        self._partitions = [task(iter(items)) for items in self._partitions]
        return self

    def count(self) -> int:
        return sum(len(list(items)) for items in self._partitions)


@pytest.fixture
def log_dir(folder: Folder) -> Folder:
    folder.log_dir("kafka")
    log_dir = Folder(folder.path / "kafka")
    for partition in ("t-0", "t-1"):
        data = b"".join(build.batch_of(offset, b"x" * 1500) for offset in range(20))
        log_dir.segment(partition, data)
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 0, ("t", 1): 0})
    return log_dir


def expected(log_dir: Folder, *blocks: int) -> list[tuple[int, int]]:
    data = (log_dir.path / "t-0" / f"{0:020}.log").read_bytes()
    lost = [
        any(begin < (block + 1) * BLOCK and block * BLOCK < end for block in blocks)
        for begin, end in spans(data)
    ]
    return [(0, offset) for offset in range(20) if not lost[offset]] + [(1, n) for n in range(20)]


@pytest.mark.parametrize("blocks", [(0,), (2,), (3, 6), (7,)])
@pytest.mark.parametrize("max_bytes", ["1000000", "5000"])
def test_tasks_deliver_all_rows_around_unreadable_blocks(
    blocks: tuple[int, ...], max_bytes: str, log_dir: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    with faulty_disk() as disk, caplog.at_level(logging.WARNING, "magicbyte.spark"):
        disk.blocks[str(log_dir.path / "t-0" / f"{0:020}.log")] = set(blocks)
        found = rows(str(log_dir), onDamage="skip", maxPartitionBytes=max_bytes)
        assert [(row["partition"], row["offset"]) for row in found] == expected(log_dir, *blocks)
        assert "first unreadable" in caplog.text
        with pytest.raises(UnreadableError, match="Input/output error"):
            rows(str(log_dir), maxPartitionBytes=max_bytes)


def test_a_checkpoint_that_cannot_be_read_is_logged(
    log_dir: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    with faulty_disk() as disk, caplog.at_level(logging.WARNING, "magicbyte.spark"):
        disk.blocks[str(log_dir.path / "log-start-offset-checkpoint")] = {0}
        assert len(rows(str(log_dir), onDamage="skip")) == 40
    assert "log-start-offset-checkpoint" in caplog.text


@pytest.mark.parametrize("name", [f"t-0/{0:020}.log", "log-start-offset-checkpoint"])
def test_a_pipeline_writes_the_rest_and_ends_with_status_2(
    name: str, log_dir: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcess())
    monkeypatch.setattr(LazySession, "version", "none", raising=False)
    out = log_dir.path.parent / "out"
    with faulty_disk() as disk:
        disk.blocks[str(log_dir.path / name)] = {0}
        result = CliRunner().invoke(main, ["pipeline", str(log_dir), str(out)])
    assert result.exit_code == 2, result.output
    records = pyarrow.dataset.dataset(out / "records", format="parquet").to_table()
    found = zip(records["partition"].to_pylist(), records["offset"].to_pylist(), strict=True)
    assert sorted(found) == expected(log_dir, *((0,) if name.endswith(".log") else ()))
    problems = pyarrow.dataset.dataset(out / "problems", format="parquet").to_table().to_pylist()
    assert [row["file"] for row in problems if row["code"] == "unreadable"] == [Path(name).name]
    segments = pyarrow.dataset.dataset(out / "segments", format="parquet").to_table().to_pylist()
    is_segment = name.endswith(".log")
    assert sum(row["bytes_unreadable"] or 0 for row in segments) == (BLOCK if is_segment else 0)
