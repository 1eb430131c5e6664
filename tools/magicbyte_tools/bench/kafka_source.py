"""Spark's own Kafka source, for machines that have Java and Maven."""

import os
import subprocess
from pathlib import Path

from magicbyte_tools.bench import java_reader

CHECKOUT = Path(__file__).parents[3]
CACHE = CHECKOUT / ".cache" / "bench"

SPARK = "4.0.4"
"""The newest release of Spark that it was found for with all it needs."""


def python() -> str:
    """Return a Python that has SPARK and the locked dependencies."""
    command = [str(CHECKOUT / "tools" / "spark_environment.sh"), SPARK]
    python_path: str = subprocess.check_output(command, text=True)
    return python_path.strip()


def jars() -> str:
    """Return the jars of the source, as Spark's setting `spark.jars` takes them."""
    return java_reader.class_path("spark", CACHE).replace(os.pathsep, ",")
