"""Tests that a killed pipeline is finished by the next run: no row is missing, none comes twice."""

import fcntl
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from extent import only_wide
from magicbyte.errors import InputError
from magicbyte.spark._pipeline import TaskRun
from magicbyte.spark._stage import Stage
from magicbyte.spark._work_folder import WorkFolder
from magicbyte.spark.task_writer import OutputSettings, _TaskFiles, hive_folder
from magicbyte.storage.output_folder import LocalFolder
from magicbyte.tables.schemas import TABLES
from magicbyte.tables.table_files import ParquetFormat
from magicbyte_cli import main
from paths import DATA
from spark_environment import QUICK_START

SMALL = "--max-partition-bytes=32KiB"
COMMAND = "from magicbyte_cli import main; main(prog_name='magicbyte')"
CLUSTER = DATA / "4.3" / "transactions"

Tables = dict[str, list[str]]
"""The sorted rows of each table."""


class Killed(BaseException):
    """Ends a pipeline as a kill does: no code of the pipeline catches this exception."""


def pipeline(out: Path, *options: str, source: Path = CLUSTER) -> Result:
    return CliRunner().invoke(main, ["pipeline", str(source), str(out), SMALL, *options])


def rows_of(out: Path) -> Tables:
    return {
        path.name: sorted(map(repr, pyarrow.dataset.dataset(path).to_table().to_pylist()))
        for path in sorted(out.iterdir())
        if path.name in TABLES
    }


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    result = pipeline(out)
    assert result.exit_code == 0, result.output
    rows = rows_of(out)
    assert list(rows) == sorted(TABLES) and rows["records"]
    return rows


@pytest.fixture(scope="module")
def killed_run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an output whose run was killed after its last task, before any file was moved."""
    folder = tmp_path_factory.mktemp("killed")
    with patch.object(TaskRun, "assemble", side_effect=Killed), pytest.raises(Killed):
        pipeline(folder / "out")
    assert os.listdir(folder) == [".out.part"]
    return folder


@pytest.fixture
def killed(killed_run: Path, tmp_path: Path) -> Path:
    """A copy of the output of the killed run, for one test."""
    shutil.copytree(killed_run, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def work_of(out: Path) -> Path:
    (work,) = (path for path in (out.parent / f".{out.name}.part").iterdir() if path.is_dir())
    return work


def check_finished(result: Result, out: Path, undisturbed: Tables) -> dict[str, Any]:
    """Check that a run has finished *out*, and return its `run.json`."""
    assert result.exit_code == 0, result.output
    assert os.listdir(out.parent) == [out.name]
    assert rows_of(out) == undisturbed
    assert (out / "report.html").is_file()
    told: dict[str, Any] = json.loads((out / "_magicbyte" / "run.json").read_text())
    return told


def test_tasks_of_an_earlier_run_are_not_repeated(killed: Path, undisturbed: Tables) -> None:
    result = pipeline(killed)
    told = check_finished(result, killed, undisturbed)
    assert told["tasks"] == told["tasks_of_earlier_runs"] > 10
    assert told["spark"] is None
    assert f"an earlier run has finished {told['tasks']} of {told['tasks']} tasks" in result.stderr
    assert "Spark" not in result.stderr


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("folder", "spoil"), [("notes", Path.unlink), ("files", Path.unlink), ("files", cut)]
)
def test_a_task_whose_note_or_file_is_missing_is_done_again(
    killed: Path, undisturbed: Tables, folder: str, spoil: Callable[[Path], None]
) -> None:
    spoil(min((work_of(killed) / folder).iterdir()))
    told = check_finished(pipeline(killed), killed, undisturbed)
    assert told["tasks"] - told["tasks_of_earlier_runs"] == 1


def test_files_of_attempts_that_left_no_note_are_no_part_of_the_output(
    killed: Path, undisturbed: Tables
) -> None:
    work = work_of(killed)
    whole = next(path for path in (work / "files").iterdir() if path.suffix == ".parquet")
    shutil.copy(whole, work / "files" / "0123.parquet")
    (work / "out" / "records").mkdir()
    shutil.copy(whole, work / "out" / "records" / "part-00000-007.zstd.parquet")
    check_finished(pipeline(killed), killed, undisturbed)


@pytest.mark.parametrize("moved", [0, 1, 5])
def test_killed_while_files_are_put_together(
    killed: Path,
    undisturbed: Tables,
    monkeypatch: pytest.MonkeyPatch,
    moved: int,
) -> None:
    replace, done = Path.replace, []

    def counting(self: Path, target: Path) -> Path:
        if len(done) == moved:
            raise Killed
        done.append(target)
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", counting)
        with pytest.raises(Killed):
            pipeline(killed)
    assert len(done) == moved
    told = check_finished(pipeline(killed), killed, undisturbed)
    assert told["tasks"] == told["tasks_of_earlier_runs"]


@contextmanager
def failing_renames(numbers: Container[int], error: BaseException) -> Iterator[pytest.MonkeyPatch]:
    """Raise *error* in the calls of `Path.rename` with these numbers, counted from 1."""
    rename, count = Path.rename, itertools.count(1)

    def rename_or_fail(self: Path, target: Path) -> Path:
        if next(count) in numbers:
            raise error
        return rename(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "rename", rename_or_fail)
        yield patch


@pytest.fixture
def old_output(spark: SparkSession, tmp_path: Path) -> tuple[Path, Tables]:
    """A finished output folder, and its tables."""
    out = tmp_path / "out"
    assert pipeline(out, "--topic", "open").exit_code == 0
    return out, rows_of(out)


def test_killed_between_the_old_output_and_the_new(old_output: tuple[Path, Tables]) -> None:
    out, before = old_output
    with failing_renames(range(2, 99), Killed()) as patch:
        patch.setattr(Stage, "recover_old_output", lambda _: None)
        with pytest.raises(Killed):
            pipeline(out, "--topic", "aborted", "--overwrite")
    assert not out.exists()
    refused = pipeline(out, "--topic", "aborted")
    assert "the output exists" in refused.stderr
    assert rows_of(out) == before
    assert pipeline(out, "--topic", "aborted", "--overwrite").exit_code == 0
    assert {row for row in rows_of(out)["partitions"] if "'aborted'" in row}


def test_error_while_the_output_is_replaced_leaves_the_old_output(
    old_output: tuple[Path, Tables],
) -> None:
    out, before = old_output
    with failing_renames({2}, PermissionError(13, "Permission denied", "out")):
        result = pipeline(out, "--topic", "aborted", "--overwrite")
    assert result.exit_code == 2 and "Permission denied" in result.output
    assert rows_of(out) == before


@pytest.mark.parametrize("option", ["--restart", "--topic=open", "--columns=offset"])
def test_work_of_another_plan_or_that_nobody_wants_is_not_used(killed: Path, option: str) -> None:
    before = work_of(killed)
    result = pipeline(killed, option)
    assert result.exit_code == 0, result.output
    assert "an earlier run" not in result.stderr
    told = json.loads((killed / "_magicbyte" / "run.json").read_text())
    assert told["tasks_of_earlier_runs"] == 0
    assert not before.parent.exists()


def test_two_runs_cannot_write_one_output(killed: Path) -> None:
    folder = killed.parent / ".out.part"
    before = sorted(folder.rglob("*"))
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = pipeline(killed)
    assert result.exit_code == 2
    assert "another run writes there; expected one at a time" in result.stderr
    assert sorted(folder.rglob("*")) == before


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / ".out.part"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    for lock in (None, "their own"):
        if lock:
            (theirs / "lock").write_text(lock)
        result = pipeline(tmp_path / "out")
        assert result.exit_code == 2
        assert "the folder was not written by pipeline" in result.stderr
        assert (theirs / "thesis.txt").read_text() == "years of work"


def test_error_after_some_tasks_names_the_kept_work_and_the_same_command_resumes(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undisturbed: Tables,
) -> None:
    out = tmp_path / "out"
    error = InputError("no space", "some", path="here")
    with monkeypatch.context() as patch:
        patch.setattr(TaskRun, "assemble", Mock(side_effect=error))
        result = pipeline(out)
    assert result.exit_code == 2
    advice, last_line = result.stderr.splitlines()[-2:]
    assert advice.endswith("/.out.part: run the same command to continue")
    assert last_line == "Error: here: no space; expected some"
    again = check_finished(pipeline(out), out, undisturbed)
    assert again["tasks"] == again["tasks_of_earlier_runs"]


def test_error_before_the_first_task_leaves_no_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TaskRun, "run_rest", Mock(side_effect=Killed))
    with pytest.raises(Killed):
        pipeline(tmp_path / "deep" / "out")
    assert os.listdir(tmp_path) == []


def test_only_what_is_wanted_is_written(
    spark: SparkSession, tmp_path: Path, undisturbed: Tables
) -> None:
    out = tmp_path / "out"
    result = pipeline(out, "--tables", "transactions,records", "--columns=value,offset")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir(out)) == ["_magicbyte", "records", "transactions"]
    assert result.stderr.endswith("out: records, transactions\n")
    records = pyarrow.dataset.dataset(out / "records").to_table()
    assert records.column_names == ["offset", "value"]
    assert records.num_rows == len(undisturbed["records"])
    assert rows_of(out)["transactions"] == undisturbed["transactions"]


def test_tables_of_the_plan_alone_need_no_spark(tmp_path: Path) -> None:
    result = pipeline(tmp_path / "out", "--tables=transactions")
    assert result.exit_code == 0, result.output
    assert "Spark" not in result.stderr
    assert rows_of(tmp_path / "out")["transactions"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tables", "rows"], "no table 'rows'; expected one of records, batches,"),
        (["--columns", "size"], "'size'"),
        (["--partition-by", "offset"], "expected topic or date"),
    ],
)
def test_unknown_table_or_column_is_a_usage_error(
    tmp_path: Path, options: list[str], message: str
) -> None:
    result = pipeline(tmp_path / "out", *options)
    assert result.exit_code == 2 and message in result.stderr, result.output
    assert os.listdir(tmp_path) == []


def test_a_folder_for_each_topic_is_read_by_spark_and_arrow(
    spark: SparkSession, tmp_path: Path, undisturbed: Tables
) -> None:
    out = tmp_path / "out"
    result = pipeline(out, "--partition-by", "topic")
    assert result.exit_code == 0, result.output
    for table in ("records", "batches"):
        folder = out / table
        assert all(path.name.startswith("topic=") for path in folder.iterdir())
        read = pa.dataset.dataset(folder, partitioning="hive").to_table()
        columns = list(TABLES[table].names)
        assert sorted(map(repr, read.select(columns).to_pylist())) == undisturbed[table]
        frame = spark.read.parquet(f"file://{folder}")
        counts = {row["topic"]: row["count"] for row in frame.groupBy("topic").count().collect()}
        assert sum(counts.values()) == len(undisturbed[table])
        assert len(counts) > 1


def test_records_of_no_topic_have_a_folder_too(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("no topic", "open-0"):
        shutil.copytree(CLUSTER / "log-0" / "open-0", tmp_path / "in" / name)
    result = pipeline(tmp_path / "out", "--partition-by", "topic", source=tmp_path / "in")
    assert result.exit_code == 0, result.output
    read = pa.dataset.dataset(tmp_path / "out" / "records", partitioning="hive").to_table()
    assert set(read.column("topic").to_pylist()) == {None, "open"}


def test_the_name_of_a_topic_is_escaped_as_hive_does() -> None:
    assert hive_folder("topic", "a=b/ü %.-_") == "topic=a%3Db%2F%C3%BC%20%25.-_"


def test_files_end_at_the_size_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ParquetFormat, "max_bytes", 1)
    rng = random.Random(3)
    values = [rng.randbytes(10_000) for _ in range(20)]
    wanted = OutputSettings(tables=("records",), columns=("value",), file_bytes=35_000)
    with _TaskFiles(WorkFolder(LocalFolder(tmp_path)), wanted) as files:
        for value in values:
            rows = pa.record_batch([pa.array([value])], wanted.schema("records"))
            files.write("records", (), rows)
    assert [file.num_rows for file in files.written] == [4, 4, 4, 4, 4]
    read = [pq.read_table(tmp_path / "files" / file.name) for file in files.written]
    assert pa.concat_tables(read).column("value").to_pylist() == values
    sizes = [(tmp_path / "files" / file.name).stat().st_size for file in files.written]
    assert sizes == [file.size_bytes for file in files.written]


# Kills


def run(out: Path) -> subprocess.Popen[bytes]:
    """Start the pipeline as a new process that leads its process group."""
    command = [sys.executable, "-c", COMMAND, "pipeline", CLUSTER, out]
    return subprocess.Popen(
        [*command, SMALL, "--conf", f"spark.driver.extraJavaOptions={QUICK_START}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def kills(out: Path, count: int, rng: random.Random) -> None:
    """Kill *count* runs at random moments, half of them with their whole process group."""
    longest = 0.0
    for number in range(count):
        begun = time.monotonic()
        running = run(out)
        if number == 0:  # how long a run takes is not known before
            running.communicate()
            longest = time.monotonic() - begun
            shutil.rmtree(out)
            continue
        try:
            running.wait(rng.uniform(0.2, 1.0) * longest)
        except subprocess.TimeoutExpired:
            if rng.random() < 0.5:
                os.killpg(running.pid, signal.SIGKILL)
            else:
                running.kill()
        running.communicate()
        if out.exists():  # the run had finished: the next one starts again
            shutil.rmtree(out)


@only_wide("runs are killed for some minutes")
def test_killed_at_twenty_moments(tmp_path: Path, undisturbed: Tables) -> None:
    out = tmp_path / "out"
    kills(out, 21, random.Random(20))
    process = run(out)
    _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert rows_of(out) == undisturbed


@only_wide("a process with a Spark session is started and killed")
def test_killed_when_some_tasks_are_done(tmp_path: Path, undisturbed: Tables) -> None:
    out = tmp_path / "out"
    first = run(out)
    notes = tmp_path / ".out.part"
    while first.poll() is None and len(list(notes.glob("*/notes/*.json"))) < 2:
        time.sleep(0.002)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert not out.exists()
    result = pipeline(out)
    told = check_finished(result, out, undisturbed)
    assert "an earlier run has finished" in result.stderr
    assert 2 <= told["tasks_of_earlier_runs"] < told["tasks"]
