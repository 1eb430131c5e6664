"""Imports in Spark's Python daemons what the tasks of this project import.

Spark starts a Python process for each task and each plan: a fork of a daemon, which imports
nothing of ours. With this folder on PYTHONPATH, a fork has the modules already.
"""

import sys
from importlib import import_module

if "pyspark.daemon" in sys.orig_argv:
    for name in (
        "numpy",
        "pyarrow.compute",
        "pyspark.sql.datasource",
        "magicbyte.spark.data_source",
    ):
        import_module(name)
