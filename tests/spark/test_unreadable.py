"""Spark's tasks and the pipeline read past what a disk does not deliver; tasks run in this process."""

import errno
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import log_builder as build
import magicbyte as mb
from data_source import InProcessSpark, rows
from extent import part
from faulty_logs import Fault, Row, SampleLog, write_sample
from io_faults import FaultyDisk, faulty_disk
from log_builder import Folder
from log_reader import spans
from magicbyte.errors import MagicbyteError, UnreadableError
from magicbyte.spark.data_source import MagicbyteDataSource
from magicbyte.spark.session import LazySession
from magicbyte.tables.schemas import DISPOSITIONS
from magicbyte_cli import main
from spark.faulty_source import FaultySource, FaultyTask, disk_with, faults_option

BLOCK = FaultyDisk.BLOCK


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


@pytest.mark.parametrize("bounds", [{}, {"startingOffsets": '{"t":{"0":4,"1":4}}'}])
@pytest.mark.parametrize("damage", ["unopened", "unreadable", "overwritten"])
def test_a_lost_end_of_the_log_fails_the_read(
    damage: str, bounds: dict[str, str], log_dir: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    data = b"".join(build.batch_of(offset, b"x" * 1500) for offset in range(20, 40))
    path = log_dir.segment("t-0", data, 20)
    begin = 4 if bounds else 0
    with faulty_disk() as disk, caplog.at_level(logging.WARNING, "magicbyte.spark"):
        if damage == "unopened":
            disk.unopened[str(path)] = errno.EIO
        elif damage == "unreadable":
            disk.blocks[str(path)] = set(range(len(data) // BLOCK + 1))
        else:
            path.write_bytes(b"\xff" * len(data))
        for more in ({}, {"maxRecordsPerPartition": "7"}):
            with pytest.raises(MagicbyteError, match=f"{path.name} byte 0"):
                rows(str(log_dir), **bounds, **more)
            found = rows(str(log_dir), onDamage="skip", **bounds, **more)
            lines = [(row["partition"], row["offset"]) for row in found]
            assert lines == [(number, offset) for number in (0, 1) for offset in range(begin, 20)]
        assert path.name in caplog.text
        # What was lost is not asked for.
        end = '{"t":{"0":20,"1":20}}'
        assert len(rows(str(log_dir), endingOffsets=end, **bounds)) == 2 * (20 - begin)


def test_a_log_of_which_nothing_can_be_read_fails_the_read(log_dir: Folder) -> None:
    with faulty_disk() as disk:
        disk.unopened[str(log_dir.path / "t-1" / f"{0:020}.log")] = errno.EIO
        with pytest.raises(UnreadableError, match="t-1"):
            rows(str(log_dir))
        assert len(rows(str(log_dir), onDamage="skip")) == 20


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
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())
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


@pytest.fixture
def log_dir_with_more(log_dir: Folder) -> Folder:
    """A log.dir that also has a folder to be made unreadable, and one that a broker has renamed."""
    for name in ("u-0", f"v-0.{'0' * 32}-stray"):
        log_dir.segment(name, build.batch_of(0, b"x"))
    return log_dir


def test_what_is_not_read_is_among_the_problems_and_logged(
    log_dir_with_more: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(log_dir_with_more.path)
    with faulty_disk() as disk, caplog.at_level(logging.WARNING, "magicbyte.spark"):
        disk.unlisted[str(log_dir_with_more.path / "u-0")] = errno.EIO
        expected = mb.open(path, on_damage="skip").problems().to_pylist()
        assert [(row["code"], row["file"]) for row in expected] == [("unreadable", "u-0")]
        assert rows(path, table="problems", onDamage="skip") == expected
        assert "not read: 2 paths, first" in caplog.text
        caplog.clear()
        assert len(rows(path, onDamage="skip")) == 40
        assert "not read: 2 paths, first" in caplog.text


def test_a_stream_logs_once_what_is_not_read(
    log_dir_with_more: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(log_dir_with_more.path)
    source = MagicbyteDataSource({"path": path, "startingOffsets": "earliest", "onDamage": "skip"})
    with faulty_disk() as disk, caplog.at_level(logging.WARNING, "magicbyte.spark"):
        disk.unlisted[str(log_dir_with_more.path / "u-0")] = errno.EIO
        reader = source.streamReader(source.schema())
        start = reader.initialOffset()
        end = {"t": {"0": 20, "1": 20}}
        for _ in range(2):
            assert reader.partitions(start, end)
    assert [record.getMessage()[:14] for record in caplog.records] == [
        "plan: 1 findin",
        "not read: 2 pa",
    ]


def test_a_folder_that_cannot_be_listed_is_among_the_problems_of_a_pipeline(
    log_dir_with_more: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())
    monkeypatch.setattr(LazySession, "version", "none", raising=False)
    path = log_dir_with_more.path
    out = path.parent / "out"
    with faulty_disk() as disk:
        disk.unlisted[str(path / "u-0")] = errno.EIO
        result = CliRunner().invoke(main, ["pipeline", str(path), str(out)])
        expected = mb.open(path, on_damage="skip").problems().to_pylist()
    assert result.exit_code == 2, result.output
    problems = pyarrow.dataset.dataset(out / "problems", format="parquet").to_table().to_pylist()
    assert problems == expected


# Faults at each of 50 places


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleLog:
    return write_sample(tmp_path_factory.mktemp("disk") / "kafka")


def test_each_fault_is_survived_or_fails_the_read(
    sample: SampleLog, caplog: pytest.LogCaptureFixture
) -> None:
    for number, fault in enumerate(part(sample.faults(), 17)):
        print(f"fault {number}: {fault}")
        with faulty_disk(with_kernels=number % 2 == 1) as disk:
            fault.put_into(disk)
            caplog.clear()
            with caplog.at_level(logging.WARNING, "magicbyte.spark"):
                found = rows(str(sample.path), onDamage="skip")
            assert {(row["topic"], row["partition"], row["offset"]) for row in found} == (
                sample.rows(fault)
            )
            assert ("unreadable" in caplog.text) == bool(disk.failed)
            assert disk.failed or fault.path.suffix in (".index", ".timeindex")
            if disk.failed:
                with pytest.raises(MagicbyteError):
                    rows(str(sample.path))


@dataclass(frozen=True)
class FaultyCopies:
    """A copy of a log.dir for each of its faults, all in one folder, with other names of topics.

    A copy has the partition with the fault alone, or all of them if the fault is in the log.dir:
    each task of Spark costs time, and there is one for each segment.
    """

    path: Path
    logs: list[SampleLog]
    faults: list[Fault]

    @property
    def rows(self) -> set[Row]:
        pairs = zip(self.logs, self.faults, strict=True)
        return {row for log, fault in pairs for row in log.rows(fault)}

    def check_segments(self, segments: Iterable[Any]) -> None:
        """Check that the bytes of each segment add up, and that all unreadable ones are counted."""
        num_unreadable = 0
        for row in segments:
            if row["file_kind"] == "log":
                names = (*DISPOSITIONS, "tail")
                assert sum(row[f"bytes_{name}"] for name in names) == row["size_bytes"]
                num_unreadable += row["bytes_unreadable"]
        lost = (len(fault.lost_bytes) for fault in self.faults if fault.is_of_segment)
        assert num_unreadable == sum(lost) > 0

    def check_problems(self, problems: Iterable[Any]) -> None:
        """Check that each fault that was met is a finding, and each unreadable byte in one of them."""
        found: dict[str, list[Any]] = {}
        for row in problems:
            if row["code"] == "unreadable":
                found.setdefault(row["message"], []).append(row)
        assert all(len(rows) == 1 for rows in found.values())
        for fault in self.faults:
            if fault.path.suffix in (".index", ".timeindex"):
                continue
            rows = [rows[0] for message, rows in found.items() if str(fault.path) in message]
            assert rows, fault
            if fault.is_of_segment:
                positions = [
                    range(row["position"], row["position"] + row["length"]) for row in rows
                ]
                assert sorted(at for part in positions for at in part) == list(fault.lost_bytes)


@pytest.fixture(scope="module")
def copies(sample: SampleLog, tmp_path_factory: pytest.TempPathFactory) -> FaultyCopies:
    root = tmp_path_factory.mktemp("disks")
    logs, faults = [], []
    for number, fault in enumerate(part(sample.faults(), 17)):
        name = f"disk-{number:02}"
        copied_log, fault_in_copy = sample.copy_with(fault, root / name, f"d{number:02}-")
        logs.append(copied_log)
        faults.append(fault_in_copy)
    assert all(fault.path.exists() for fault in faults)
    return FaultyCopies(root, logs, faults)


def test_one_job_reads_past_all_faults(copies: FaultyCopies, spark: SparkSession) -> None:
    spark.dataSource.register(FaultySource)
    reader = spark.read.format(FaultySource.name()).option("faults", faults_option(copies.faults))

    with pytest.raises(PySparkException, match="Input/output error"):
        reader.load(str(copies.path)).count()

    reader = reader.option("onDamage", "skip")
    reader = reader.option("maxPartitionBytes", "400000")
    records = reader.option("columns", "topic,partition,offset").load(str(copies.path))
    found = records.collect()
    assert len(found) == len(copies.rows)
    assert {tuple(row) for row in found} == copies.rows

    tables = {
        name: spark.read.format(FaultySource.name())
        .options(faults=faults_option(copies.faults), table=name, onDamage="skip")
        .load(str(copies.path))
        .collect()
        for name in ("segments", "problems")
    }
    copies.check_segments(tables["segments"])
    copies.check_problems(tables["problems"])


class FaultySpark:
    """A Spark session whose jobs run on a faulty disk."""

    def __init__(self, spark: SparkSession, faults: str) -> None:
        self.spark, self.faults = spark, faults
        self.sparkContext = self

    def parallelize(self, items: list[Any], number: int) -> "FaultySpark":
        self._items = self.spark.sparkContext.parallelize(items, number)
        return self

    def mapPartitions(self, task: Any) -> Any:
        return self._items.mapPartitions(FaultyTask(self.faults, task))


def test_one_pipeline_writes_past_all_faults(
    copies: FaultyCopies, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    faulty = FaultySpark(spark, faults_option(copies.faults))
    monkeypatch.setattr(LazySession, "get", lambda self: faulty)
    monkeypatch.setattr(LazySession, "version", spark.version, raising=False)
    out = tmp_path / "out"
    with disk_with(faulty.faults):
        options = ["--max-partition-bytes", "400000"]
        result = CliRunner().invoke(main, ["pipeline", str(copies.path), str(out), *options])
    assert result.exit_code == 2, result.output
    tables = {
        name: pyarrow.dataset.dataset(out / name, format="parquet").to_table().to_pylist()
        for name in ("records", "segments", "problems")
    }
    found = {(row["topic"], row["partition"], row["offset"]) for row in tables["records"]}
    assert found == copies.rows and len(tables["records"]) == len(found)
    copies.check_segments(tables["segments"])
    copies.check_problems(tables["problems"])
