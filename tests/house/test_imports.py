"""Imports are light: Spark imports every pyspark_* module in every application."""

import importlib.util
import subprocess
import sys

import pytest

from paths import DATA

HEAVY = ("numba", "pyspark", "yaml")

TAKERS = ("duckdb", "pandas", "polars")
"""Libraries that accept our tables. pyarrow imports pandas itself to convert a value to an array."""


@pytest.mark.parametrize(
    "module", ["magicbyte", "magicbyte.engines.companion_rows", "magicbyte_cli"]
)
def test_importing_it_imports_neither_numba_nor_pyspark(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("module", ["magicbyte", "magicbyte_cli"])
def test_importing_it_imports_nothing_that_takes_its_tables(module: str, taker: str) -> None:
    assert importlib.util.find_spec(taker), "what is not installed is never imported"
    code = f"import sys, {module}; print({taker!r} in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


@pytest.mark.parametrize("engine", ["reference", "columnar"])
def test_reading_imports_no_pandas(engine: str) -> None:
    """Importing them takes longer than reading 100,000 records, and half of its memory."""
    log = DATA / "4.3" / "transactions" / "log-0"
    code = f"""
import sys, magicbyte as mb
data = mb.open({str(log)!r}, engine={engine!r})
for table in (data.records, data.batches, data.segments, data.transactions, data.partitions, data.problems):
    assert table().to_table().num_rows or table == data.problems
assert data.stored("records").to_table().num_rows
mb.companion({str(log / "open-1" / "00000000000000000010.timeindex")!r})
mb.verify({str(log)!r})
mb.stats({str(log)!r})
print("pandas" in sys.modules)
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_importing_the_library_imports_nothing_slow_that_few_need() -> None:
    slow = ("pyarrow.compute", "numpy.ma", "importlib.metadata", "email.message", "llvmlite")
    code = f"import sys, magicbyte; print([name for name in {slow} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
    code = "import magicbyte; print(magicbyte.__version__)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True)[0].isdigit()


def test_lazily_imported_names_are_available() -> None:
    """Whatever of the package was imported before, and by whom."""
    code = """
import sys, magicbyte as mb
late = ("magicbyte.verification.verify", "magicbyte.statistics", "magicbyte.companion_tables")
print([name for name in late if name in sys.modules])
import magicbyte.verification.verify, magicbyte.statistics.counts, magicbyte.companion_tables
print([name for name in mb.__all__ if name not in dir(mb) or type(getattr(mb, name)) is type(sys)])
from magicbyte import *
print(verify is mb.verify is magicbyte.verification.verify.verify, hasattr(mb, "nothing"))
"""
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed.splitlines() == ["[]", "[]", "True False"]


def test_import_by_spark_does_not_load_numba() -> None:
    code = "import sys, pyspark_magicbyte; print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
