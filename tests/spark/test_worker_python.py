"""Tests of the Python that Spark is told to run."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pyspark
import pytest
from pyspark import SparkContext

from magicbyte.spark._worker_python import VARIABLES, use_this_python


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make this process look like a script that has not started Spark, without an activated environment."""
    monkeypatch.setattr(SparkContext, "_gateway", None)
    for name in (*VARIABLES, "PYSPARK_GATEWAY_PORT"):
        monkeypatch.setenv(name, "")  # restored afterwards
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))


def chosen() -> str | None:
    use_this_python()
    return os.environ.get("PYSPARK_PYTHON")


def test_running_interpreter_is_used_where_spark_would_run_another() -> None:
    assert chosen() == sys.executable


def test_path_with_a_space_is_found_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "/a b/bin/python")
    assert chosen() == "python"
    assert os.environ["PATH"] == f"/a b/bin{os.pathsep}{tmp_path}"


def test_activated_environment_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    assert chosen() is None


@pytest.mark.parametrize("name", [*VARIABLES, "PYSPARK_GATEWAY_PORT"])
def test_choice_of_the_user_and_running_spark_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    assert chosen() == ("1" if name == "PYSPARK_PYTHON" else None)


def test_spark_that_runs_already_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", object())
    assert chosen() is None


def test_client_without_a_jvm_is_no_spark_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pyspark, "SparkContext")
    assert chosen() == sys.executable


def test_processes_of_spark_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    started = SimpleNamespace(__spec__=SimpleNamespace(name="pyspark.daemon"))
    monkeypatch.setitem(sys.modules, "__main__", started)
    assert chosen() is None
