"""Tests of choosing an engine, opening its machine code, and what happens where there is none."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import log_builder as build
from extent import WIDE
from magicbyte.engines import _auto
from magicbyte.engines._auto import AutoEngine
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from paths import DATA

LOG = max(DATA.rglob("*.log"), key=lambda log: log.stat().st_size)

READ = """
import sys
import magicbyte as mb
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import Limits
data = memoryview(open(sys.argv[1], "rb").read())
chosen = engine({engine!r})
rows = chosen.decode(Chunk(data, 0), ("offset",), limits=Limits()).rows
print(type(chosen).__name__, rows.num_rows, "numba" in sys.modules, "llvmlite" in sys.modules)
"""

NO_COMPILER = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} is refused")
sys.meta_path.insert(0, Refused())
"""
"""Python that refuses to import what compiles kernels."""

NO_LIBRARY = """
from magicbyte.engines.columnar import _kernel_library
_kernel_library.levels_here = lambda: []
"""
"""Python for a processor without a library of kernels."""

FEWER_KERNELS = """
from magicbyte.engines.columnar import _kernel_list
_kernel_list.USUAL_COLUMNS = ((("offset",), False),)
_kernel_list.SIGNATURES = {k: v for k, v in _kernel_list.SIGNATURES.items() if k != "encode"}
for name in {*_kernel_list.OWN_KERNELS} - {"decompress", "fused", "read_headers"}:
    del _kernel_list.OWN_KERNELS[name]
"""
"""Python that leaves out kernels which reading offsets does not call."""

FAILURE = """
import magicbyte as mb
try:
    mb.open(sys.argv[1], engine="columnar").records().to_table()
except mb.InputError as error:
    print(error)
"""


def process(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run *code* in a new process with the log's path as its argument."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(LOG)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done


def run(code: str, **variables: str) -> str:
    """Return the output of *code* in a new process."""
    return process(code, **variables).stdout.strip()


def read(name: str, before: str = "", **variables: str) -> str:
    """Return what READ prints for the engine *name*, after *before*."""
    return run(before + READ.format(engine=name), **variables)


@pytest.fixture(scope="module")
def num_rows() -> int:
    return int(read("reference").split()[1])


def test_an_engine_that_there_is_not_is_an_error() -> None:
    with pytest.raises(InputError, match="expected auto, columnar or reference"):
        engine("fast")


def test_reading_imports_no_compiler(num_rows: int) -> None:
    assert read("columnar", NO_COMPILER) == f"ColumnarEngine {num_rows} False False"


def test_headers_are_read_without_a_compiler() -> None:
    code = """
import magicbyte as mb
print(mb.open(sys.argv[1], engine="columnar").batches(quick=True).to_table().num_rows > 0)
"""
    assert run(NO_COMPILER + code) == "True"


def test_reading_writes_no_file(num_rows: int, tmp_path: Path) -> None:
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR", "TEMP", "TMP"), str(tmp_path))
    assert read("columnar", **places) == f"ColumnarEngine {num_rows} False False"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the mappings of a process")
def test_no_memory_is_writable_and_executable_and_all_code_is_of_files() -> None:
    code = """
maps = [line.split() for line in open("/proc/self/maps")]
print(sorted({(line[1], line[5] if len(line) > 5 else "no file") for line in maps
    if "x" in line[1] and (len(line) < 6 or line[5][0] == "[" or "w" in line[1])}))
"""
    wrong = run(READ.format(engine="columnar") + code).splitlines()[-1]
    of_linux = {("r-xp", "[vdso]"), ("--xp", "[vsyscall]")}
    assert set(ast.literal_eval(wrong)) <= of_linux


AUTO = """
import sys
from collections import Counter
import magicbyte as mb
from magicbyte.engines import _auto
from magicbyte.engines.columnar import ColumnarEngine
_auto.ROWS_BEFORE_COMPILING = {compiling}
asked = Counter()
decode = ColumnarEngine.decode
def counted(self, *arguments, **options):
    asked["columnar"] += 1
    return decode(self, *arguments, **options)
ColumnarEngine.decode = counted
read = [
    mb.open(sys.argv[1], engine=name, on_damage="skip").records({columns}).to_table()
    for name in ("reference", "auto", "auto")
]
print(read[0].equals(read[1]), read[0].equals(read[2]), asked["columnar"] > 0)
"""


def auto(compiling: int, before: str = "") -> str:
    return run(before + AUTO.format(compiling=compiling, columns=("offset", "value")))


def test_auto_uses_kernels_at_once_where_there_is_a_library(num_rows: int) -> None:
    assert auto(7 * num_rows) == "True True True"


def test_auto_compiles_no_kernels_where_there_is_little_to_read(num_rows: int) -> None:
    assert auto(7 * num_rows, NO_LIBRARY) == "True True False"  # two reads scan each entry twice


@pytest.mark.parametrize("least", [11, 12])
def test_auto_compiles_kernels_before_the_rows_for_which_that_pays(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    chosen, process = AutoEngine(), _auto._Process
    for name, value in {"rows": 0, "is_loaded": False, "is_refused": False}.items():
        monkeypatch.setattr(process, name, value)
    monkeypatch.setattr(_auto, "is_library_built", lambda: False)
    monkeypatch.setattr(_auto, "ROWS_BEFORE_COMPILING", least)
    monkeypatch.setattr(chosen._columnar, "load", loaded.append)
    chunk = Chunk(memoryview(build.batch(build.records(3))), 0)
    for expected in (False, False, least == 11):  # an entry and three rows each
        chosen.decode(chunk, ("offset",), limits=Limits())
        assert bool(loaded) == expected


def test_auto_reads_where_nothing_can_be_compiled() -> None:
    assert auto(1, NO_COMPILER + NO_LIBRARY) == "True True False"


def test_kernels_are_compiled_in_the_process_where_there_is_no_library(num_rows: int) -> None:
    """All kernels with MAGICBYTE_WIDE=1; else a few of them, which takes half a minute less."""
    before = NO_LIBRARY if WIDE else NO_LIBRARY + FEWER_KERNELS
    assert read("columnar", before) == f"ColumnarEngine {num_rows} True True"


def test_without_a_library_and_a_compiler_the_columnar_engine_says_what_is_missing() -> None:
    printed = run(NO_COMPILER + NO_LIBRARY + FAILURE)
    assert "engine 'columnar': no library of kernels for this processor; " in printed
    assert printed.endswith("expected the extra `jit`, or another engine")


def test_a_library_of_other_sources_is_refused_and_the_reference_engine_reads(
    num_rows: int,
) -> None:
    other = """
from magicbyte.engines.columnar import _kernel_library
_kernel_library.kernel_abi = lambda: 64 * "0"
"""
    printed = run(f"import sys{other}{FAILURE}")
    assert "was built from other sources" in printed
    assert printed.endswith("expected a library of these (000000000000): run `make kernels`")
    done = process(other + AUTO.format(compiling=1, columns=("offset", "value")))
    assert done.stdout == "True True False\n"
    assert "reading goes on with the reference engine: " in done.stderr


def test_a_library_that_is_none_is_refused(tmp_path: Path) -> None:
    code = f"""
import sys
from magicbyte.engines.columnar import _kernel_library, _processor_levels
_kernel_library.SHIPPED = _kernel_library.Path({str(tmp_path)!r})
for level in _processor_levels.LEVELS:
    (_kernel_library.SHIPPED / level.file_name).write_bytes(b"no library")
"""
    printed = run(code + FAILURE)
    assert printed.endswith(
        "expected a library of kernels: run `pip install --force-reinstall magicbyte`"
    )


def test_the_lowest_level_can_be_forced_and_one_that_is_not_there_is_an_error() -> None:
    level = "from magicbyte.engines.columnar import _processor_levels as levels\n"
    level += "print([level.name for level in levels.levels_here()])"
    assert run(level, MAGICBYTE_CPU="baseline") == "['baseline']"
    printed = run("import sys" + FAILURE, MAGICBYTE_CPU="9000")
    assert printed.startswith("MAGICBYTE_CPU=9000; expected a level that this processor has: ")
