"""Environment of a process that starts Spark."""

import os
import sys

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that lives for seconds: it compiles less, and runs fewer threads."""


def environment() -> dict[str, str]:
    """Return this process's environment, with a Python that Spark finds data sources by.

    It is a bare name: where the path has a space, Spark's `command -v` fails and discovery is off.
    """
    here, python = os.path.split(sys.executable)
    return {
        **os.environ,
        "PATH": here + os.pathsep + os.environ["PATH"],
        "PYSPARK_PYTHON": python,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
