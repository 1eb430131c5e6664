"""Choose the Python in which Spark looks for data sources and runs their tasks.

Spark takes PYSPARK_DRIVER_PYTHON, else PYSPARK_PYTHON, else `python3`, from the environment in which its
JVM starts (org.apache.spark.api.python.PythonUtils), on the driver as on the executors.
"""

import os
import shlex
import shutil
import sys

import pyspark

from magicbyte.spark._conditions import is_spark_worker

VARIABLES = ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")
"""Environment variables that name Spark's Python, in the order in which Spark reads them."""


def use_this_python() -> None:
    """Set PYSPARK_PYTHON to the running interpreter if Spark would otherwise run another `python3`.

    This helps scripts that are started as `venv/bin/python job.py`, without activating the environment. Nothing
    changes if one of `VARIABLES` is set, if Spark's JVM runs already, or in a process that Spark started.
    """
    context = getattr(pyspark, "SparkContext", None)  # the package pyspark-client lacks it
    is_running = context is not None and context._gateway is not None
    is_chosen = any(name in os.environ for name in (*VARIABLES, "PYSPARK_GATEWAY_PORT"))
    if is_running or is_chosen or is_spark_worker():
        return
    folder, name = os.path.split(sys.executable)
    default = shutil.which("python3")
    if default is not None and os.path.dirname(default) == folder:
        return
    if shlex.quote(sys.executable) != sys.executable:
        # Spark looks for the program by `command -v`, without quotes, so a path with a space is not found.
        os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", os.defpath)
    else:
        name = sys.executable
    os.environ["PYSPARK_PYTHON"] = name
