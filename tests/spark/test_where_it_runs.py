"""Tests of Spark outside of the calling process: separate executors, and Spark Connect."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

import magicbyte as mb
from magicbyte.spark.data_source import MagicbyteDataSource
from magicbyte.spark.stage import WorkFolder
from magicbyte.spark.task_writer import OutputSettings, TaskWriter
from paths import DATA
from spark_environment import environment

HERE = Path(__file__).parent
CLUSTER = DATA / "4.3" / "transactions" / "log-0"
COLUMNS = "topic,partition,offset,key,value"
EXECUTORS = "local-cluster[2,1,1024]"


def read_in_spark(master: str, *settings: str, path: Path = CLUSTER, out: Path) -> dict[str, Any]:
    """Read *path* to *out* with `reading.py` in a new process; return its answer."""
    options = {"columns": COLUMNS, "maxPartitionBytes": "30k"}
    done = subprocess.run(
        [sys.executable, HERE / "reading.py", master, *settings],
        input=json.dumps({"path": str(path), "options": options, "out": str(out)}) + "\n",
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            answer: dict[str, Any] = json.loads(line)
            return answer
    raise AssertionError(done.stderr[-3000:])


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.select(COLUMNS.split(",")).to_pylist())


def assert_rows_of_python(out: Path) -> None:
    """Check that the Arrow file *out* holds the rows that the Python API reads from the cluster."""
    expected = rows(mb.open(CLUSTER).records(COLUMNS.split(",")).to_table())
    assert len(expected) > 1000
    with pa.ipc.open_file(out) as file:
        assert rows(file.read_all()) == expected


def test_executors_of_their_own_read_what_python_reads(tmp_path: Path) -> None:
    out = tmp_path / "rows.arrow"
    assert read_in_spark(EXECUTORS, out=out) == {"failed_tasks": 0, "error": None}
    assert_rows_of_python(out)


def test_spark_connect_reads_what_python_reads(tmp_path: Path) -> None:
    for name in ("pandas", "grpc", "grpc_status", "google.rpc"):  # besides pyarrow
        pytest.importorskip(name, reason=f"Spark Connect needs {name}")
    out = tmp_path / "rows.arrow"
    assert read_in_spark("connect:local[2]", out=out)["error"] is None
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


def advice(name: str) -> str:
    return (
        f"ModuleNotFoundError: Spark's tasks cannot import {name!r}: install magicbyte and what it "
        "needs on every executor, or ship an environment"
    )


def test_executors_without_the_package_say_what_to_do(tmp_path: Path) -> None:
    lacking = f"spark.executorEnv.PYTHONPATH={without('magicbyte', tmp_path)}"
    told = read_in_spark(EXECUTORS, lacking, out=tmp_path / "rows.arrow")
    assert advice("magicbyte") in str(told["error"])


@pytest.mark.parametrize("name", ["magicbyte", "numpy"])
@pytest.mark.parametrize("is_stream", [False, True], ids=["batch", "stream"])
def test_missing_package_on_an_executor_is_named_with_the_fix(
    name: str, is_stream: bool, tmp_path: Path
) -> None:
    source = MagicbyteDataSource({"path": str(CLUSTER)})
    reader = (source.streamReader if is_stream else source.reader)(source.schema())
    worker = TaskWriter(WorkFolder(tmp_path), OutputSettings())
    for number, shipped in enumerate((source, reader, worker)):
        file = tmp_path / f"{number}.pickle"
        file.write_bytes(cloudpickle.dumps(shipped))
        code = f"import pickle; pickle.loads(open({str(file)!r}, 'rb').read())"
        done = python(code, env={**os.environ, "PYTHONPATH": without(name, tmp_path)})
        assert advice(name) in done.stderr


def test_a_pipeline_says_it_too(tmp_path: Path) -> None:
    lacking = f"spark.executorEnv.PYTHONPATH={without('magicbyte', tmp_path)}"
    run = "from magicbyte_cli import main; main(prog_name='magicbyte')"
    options = ("--master", EXECUTORS, "--conf", lacking)
    done = python(run, "pipeline", CLUSTER, tmp_path / "out", *options, env=environment())
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"Error: Spark failed: {advice('magicbyte')}")


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
