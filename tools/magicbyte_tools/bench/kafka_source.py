"""Prepares Spark's own Kafka source, on machines with Java and Maven."""

import os
import subprocess
from pathlib import Path

from magicbyte_tools.bench import java_reader

CHECKOUT = Path(__file__).parents[3]
CACHE = CHECKOUT / ".cache" / "bench"

SPARK = "4.0.4"
"""The newest release of Spark for which the Kafka source and all its dependencies were found."""


def python() -> str:
    """Return the path of a Python interpreter with the release SPARK and the locked dependencies."""
    command = [str(CHECKOUT / "tools" / "spark_environment.sh"), SPARK]
    python_path: str = subprocess.check_output(command, text=True)
    return python_path.strip()


def jars() -> str:
    """Return the jars of the Kafka source, separated by commas, for Spark's setting `spark.jars`."""
    return java_reader.class_path("spark", CACHE).replace(os.pathsep, ",")
