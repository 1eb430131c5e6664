"""Environment variables of processes that start Spark."""

import os
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
