"""Environment variables of processes that start Spark."""

import os
import shutil
import sys

QUICK_START = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options for a JVM that runs for seconds: less compilation, fewer threads, no check of Spark's classes."""


def environment() -> dict[str, str]:
    """Return this process's environment, with the Python in which Spark finds data sources.

    PYSPARK_PYTHON is a bare name: Spark's `command -v` fails on a path with a space.
    """
    here, python = os.path.split(sys.executable)
    return {
        **os.environ,
        "PATH": here + os.pathsep + os.environ["PATH"],
        "PYSPARK_PYTHON": python,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def environment_not_activated() -> dict[str, str]:
    """Return the environment of a script that is started as `venv/bin/python job.py`, and nothing more."""
    activated = os.path.dirname(sys.executable)
    folders = [each for each in os.environ["PATH"].split(os.pathsep) if each != activated]
    path = os.pathsep.join(folders)
    assert shutil.which("python3", path=path) not in (None, sys.executable)
    names = os.environ.keys() - {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}
    return {name: os.environ[name] for name in names} | {
        "PATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
