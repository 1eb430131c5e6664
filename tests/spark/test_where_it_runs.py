"""Tests of Spark outside of the calling process: separate executors, and Spark Connect."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
import pytest
from pyspark import cloudpickle

import magicbyte as mb
from extent import only_wide
from magicbyte.spark._work_folder import WorkFolder
from magicbyte.spark.data_source import MagicbyteDataSource
from magicbyte.spark.task_writer import OutputSettings, TaskWriter
from magicbyte.storage.output_folder import LocalFolder
from paths import DATA
from spark.reader_process import ReaderProcess
from spark_environment import QUICK_START, environment

CLUSTER = DATA / "4.3" / "transactions" / "log-0"
COLUMNS = "topic,partition,offset,key,value"
EXECUTORS = "local-cluster[2,1,1024]"


def read_to(out: Path) -> dict[str, Any]:
    """Return the command that reads the cluster to the Arrow file *out*."""
    options = {"columns": COLUMNS, "maxPartitionBytes": "30k"}
    return {"path": str(CLUSTER), "options": options, "out": str(out)}


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.select(COLUMNS.split(",")).to_pylist())


def assert_rows_of_python(out: Path) -> None:
    """Check that the Arrow file *out* holds the rows that the Python API reads from the cluster."""
    expected = rows(mb.open(CLUSTER).records(COLUMNS.split(",")).to_table())
    assert len(expected) > 1000
    with pa.ipc.open_file(out) as file:
        assert rows(file.read_all()) == expected


def test_spark_connect_reads_what_python_reads(tmp_path: Path) -> None:
    for name in ("pandas", "grpc", "grpc_status", "google.rpc"):  # besides pyarrow
        pytest.importorskip(name, reason=f"Spark Connect needs {name}")
    out = tmp_path / "rows.arrow"
    with ReaderProcess("connect:local[2]") as process:
        assert process.answer(read_to(out))["error"] is None
    assert_rows_of_python(out)


# The package is missing


def without(name: str, folder: Path) -> str:
    """Return *folder*; a Python with it on its path cannot import *name*."""
    (folder / "sitecustomize.py").write_text(f"import sys\n\nsys.modules[{name!r}] = None\n")
    return str(folder)


def python(code: str, *arguments: str | Path, env: dict[str, str]) -> CompletedProcess[str]:
    """Run Python *code* in a new process."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def script(path: Path, *lines: str) -> Path:
    """Write a shell script to *path* that runs *lines* and then this Python."""
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, f'exec "{sys.executable}" "$@"\n')))
    path.chmod(0o755)
    return path


def advice(name: str) -> str:
    return (
        f"ModuleNotFoundError: Spark's tasks cannot import {name!r}: install magicbyte and what it "
        "needs on every executor, or ship an environment"
    )


HIDING = """
import os, sys
from importlib.abc import MetaPathFinder

class Hiding(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "magicbyte" and os.path.exists({marker!r}):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hiding())
"""


@only_wide("three processes of Java start for half a minute")
def test_executors_of_their_own_read_what_python_reads_and_say_that_the_package_is_missing(
    tmp_path: Path,
) -> None:
    """One cluster for all: its three processes of Java take half a minute to start.

    The executors have no interpreter but the one in an archive, which the driver has not: Spark runs
    `./environment/bin/python` on both. The one of the archive leaves a file.

    The package is missing on the executors while a file exists. `pipeline` comes first and starts
    the cluster: without its options of Spark, there would be no executors and nothing would be missing.
    """
    marker, out = tmp_path / "the package is missing", tmp_path / "rows.arrow"
    marker.touch()
    (tmp_path / "sitecustomize.py").write_text(HIDING.format(marker=str(marker)))
    settings = (
        f"spark.executor.extraJavaOptions={QUICK_START}",
        f"spark.executorEnv.PYTHONPATH={tmp_path}",
        f"spark.local.dir={tmp_path}",  # it outlives the pipeline
        f"spark.archives={tmp_path / 'shipped.zip'}#environment",
    )
    python_of_driver = script(tmp_path / "driver" / "environment" / "bin" / "python")
    shipped = script(tmp_path / "bin" / "python", f'echo >>"{tmp_path / "ran"}"')
    # Java unpacks a zip file by itself, and `tar.gz` by the system's gzip and tar.
    with ZipFile(tmp_path / "shipped.zip", "w") as archive:
        archive.write(shipped, "bin/python")
    env = environment() | {"PYSPARK_PYTHON": "./environment/bin/python"}
    options = ("--master", EXECUTORS, *(f"--conf={setting}" for setting in settings))
    with ReaderProcess(EXECUTORS, env=env, cwd=python_of_driver.parents[2]) as process:
        told = process.answer({"pipeline": [str(CLUSTER), str(tmp_path / "out"), *options]})
        assert told["exit_code"] == 2
        last_line = told["stderr"].splitlines()[-1]
        assert last_line.startswith(f"Error: Spark failed: {advice('magicbyte')}")

        assert advice("magicbyte") in process.answer(read_to(tmp_path / "none"))["error"]

        marker.unlink()
        assert process.answer(read_to(out)) == {"failed_tasks": 0, "error": None}
    assert (tmp_path / "ran").exists()
    assert_rows_of_python(out)


@pytest.mark.parametrize("name", ["magicbyte", "numpy"])
@pytest.mark.parametrize("is_stream", [False, True], ids=["batch", "stream"])
def test_missing_package_on_an_executor_is_named_with_the_fix(
    name: str, is_stream: bool, tmp_path: Path
) -> None:
    source = MagicbyteDataSource({"path": str(CLUSTER)})
    reader = (source.streamReader if is_stream else source.reader)(source.schema())
    worker = TaskWriter(WorkFolder(LocalFolder(tmp_path)), OutputSettings())
    for number, shipped in enumerate((source, reader, worker)):
        file = tmp_path / f"{number}.pickle"
        file.write_bytes(cloudpickle.dumps(shipped))
        code = f"import pickle; pickle.loads(open({str(file)!r}, 'rb').read())"
        done = python(code, env={**os.environ, "PYTHONPATH": without(name, tmp_path)})
        assert advice(name) in done.stderr


@pytest.mark.parametrize("table", ["records", "batches", "problems"])
def test_readers_are_unpickled_as_they_were(table: str) -> None:
    source = MagicbyteDataSource({"path": str(CLUSTER), "table": table})
    source = pickle.loads(cloudpickle.dumps(source))
    reader = source.reader(source.schema())
    for dumps in (pickle.dumps, cloudpickle.dumps):
        copy = pickle.loads(dumps(reader))
        assert type(copy) is type(reader)
        assert copy.schema == reader.schema
        assert len(copy.partitions()) == len(reader.partitions()) > 0
