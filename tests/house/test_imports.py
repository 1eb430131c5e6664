"""Tests that imports are light: Spark imports every pyspark_* module in every application."""

import importlib.util
import subprocess
import sys

import pytest

from magicbyte_cli import COMMANDS
from paths import DATA

HEAVY = ("numba", "pyspark", "yaml")

TAKERS = ("duckdb", "pandas", "polars")
"""Libraries that accept our tables. pyarrow imports pandas itself to convert a value to an array."""

SLOW = ("pyarrow.compute", "numpy.ma", "importlib.metadata", "email.message", "llvmlite")

ALL_COMMANDS = ", ".join(f"magicbyte_cli.{name.replace('-', '_')}" for name in COMMANDS)
"""Modules that `magicbyte --help` imports."""


def printed(code: str) -> str:
    """Return the output of *code*, run in a new Python process."""
    return subprocess.check_output([sys.executable, "-c", code], text=True)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("magicbyte", HEAVY + TAKERS + SLOW),
        ("magicbyte.engines.companion_rows", HEAVY),
        ("magicbyte_cli", HEAVY + TAKERS),
        (ALL_COMMANDS, TAKERS),
        ("magicbyte_cli.report", ("pyspark",)),
        ("pyspark_magicbyte", ("numba",)),
    ],
)
def test_import_does_not_load_what_is_slow_or_takes_our_tables(
    module: str, names: tuple[str, ...]
) -> None:
    code = f"import sys, {module}; print([name for name in {names} if name in sys.modules])"
    assert printed(code) == "[]\n"


def test_libraries_that_take_our_tables_are_installed() -> None:
    assert all(map(importlib.util.find_spec, TAKERS)), "what is not installed is never imported"


@pytest.mark.parametrize("engine", ["reference", "columnar"])
def test_reading_imports_no_pandas(engine: str) -> None:
    """Importing pandas takes longer than reading 100,000 records, and half of that memory."""
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
    assert printed(code) == "False\n"


def test_dump_loads_no_decoder_for_values_without_frames() -> None:
    """The decoders and pyarrow.compute take as long to load as all else that prints ten records."""
    log = DATA / "4.3" / "plain" / "log-0"
    code = f"""
import sys
from magicbyte_cli import main
sys.argv = ["magicbyte", "dump", {str(log)!r}, "--topic", "java-none", "--limit", "1"]
try:
    main()
except SystemExit as end:
    slow = ("pyarrow.compute", "magicbyte.decoding.framed_values")
    print(end.code, [name for name in slow if name in sys.modules])
"""
    assert printed(code).splitlines()[-1] == "0 []"


def test_library_has_a_version() -> None:
    assert printed("import magicbyte; print(magicbyte.__version__)")[0].isdigit()


def test_lazily_imported_names_are_available() -> None:
    """The names are available also after imports of the submodules that define them."""
    code = """
import sys, magicbyte as mb
late = ("magicbyte.verification.verify", "magicbyte.statistics", "magicbyte.companion_tables")
print([name for name in late if name in sys.modules])
import magicbyte.verification.verify, magicbyte.statistics._counts, magicbyte.companion_tables
print([name for name in mb.__all__ if name not in dir(mb) or type(getattr(mb, name)) is type(sys)])
from magicbyte import *
print(verify is mb.verify is magicbyte.verification.verify.verify, hasattr(mb, "nothing"))
"""
    assert printed(code).splitlines() == ["[]", "[]", "True False"]
