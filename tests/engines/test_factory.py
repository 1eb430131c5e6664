"""Tests of choosing an engine, caching its machine code, and fallbacks where Numba fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding
import pytest

from magicbyte.engines.factory import engine
from magicbyte.errors import InputError
from paths import DATA

LOG = max(DATA.rglob("*.log"), key=lambda log: log.stat().st_size)

READ = """
import sys
import magicbyte as mb
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import Limits
data = memoryview(open(sys.argv[1], "rb").read())
chosen = {engine}
rows = chosen.decode(Chunk(data, 0), ("offset",), limits=Limits()).rows
print(type(chosen).__name__, rows.num_rows)
"""

COLUMNAR = 'engine("columnar")'


def read(code: str, *, before: str = "", **variables: str) -> tuple[str, str]:
    """Return stdout and stderr of a new process that reads a log with the engine *code*."""
    done = subprocess.run(
        [sys.executable, "-c", before + READ.format(engine=code), str(LOG)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def run(code: str, **variables: str) -> str:
    """Return the output of *code* in a new process with the log's path as its argument."""
    return subprocess.check_output(
        [sys.executable, "-c", code, str(LOG)], env={**os.environ, **variables}, text=True
    )


@pytest.fixture(scope="module")
def num_rows() -> str:
    return read('engine("reference")')[0].split()[1]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A folder with cached machine code, then stdout and stderr of the process that compiled it."""
    folder = tmp_path_factory.mktemp("compiled")
    return folder, *read(COLUMNAR, NUMBA_CACHE_DIR=str(folder))


@pytest.fixture
def cached_code(compiled: tuple[Path, str, str], tmp_path: Path) -> Path:
    """A copy of the folder with cached machine code, for one test."""
    return shutil.copytree(compiled[0], tmp_path / "cached")


def test_headers_are_read_without_numba() -> None:
    code = """
import sys, magicbyte as mb
rows = mb.open(sys.argv[1], engine="columnar").batches(quick=True).to_table()
print(rows.num_rows > 0, "numba" in sys.modules)
"""
    run(code)  # where no machine code is kept yet, Numba makes it
    assert run(code) == "True False\n"


def test_an_engine_that_there_is_not_is_an_error() -> None:
    with pytest.raises(InputError, match="expected auto, columnar or reference"):
        engine("fast")


AUTO = """
import sys
from collections import Counter
import magicbyte as mb
from magicbyte.engines import _auto
from magicbyte.engines.columnar import ColumnarEngine
_auto.ROWS_BEFORE_LOADING, _auto.ROWS_BEFORE_COMPILING = {loading}, {compiling}
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


def auto(
    loading: int,
    compiling: int,
    before: str = "",
    columns: tuple[str, ...] = ("offset", "value"),
    **variables: str,
) -> str:
    code = before + AUTO.format(loading=loading, compiling=compiling, columns=columns)
    return run(code, **variables).strip()


def test_auto_goes_over_to_kernels_where_there_is_much_to_read(tmp_path: Path) -> None:
    rows = int(read('engine("reference")')[0].split()[1])
    much = 7 * rows  # entries count, too: two reads scan each twice
    assert auto(much, much) == "True True False"
    assert auto(rows, rows) == "True True True"
    # Machine code that is still to be made takes longer.
    assert auto(1, much, NUMBA_CACHE_DIR=str(tmp_path)) == "True True False"


GONE = "import sys; sys.modules['numba'] = None\n"


def test_auto_reads_without_numba(tmp_path: Path) -> None:
    assert auto(1, 1, GONE, NUMBA_CACHE_DIR=str(tmp_path)) == "True True False"


def test_machine_code_that_is_kept_needs_no_numba(num_rows: str, cached_code: Path) -> None:
    printed, said = read(COLUMNAR, before=GONE, NUMBA_CACHE_DIR=str(cached_code))
    assert (printed, said) == (f"ColumnarEngine {num_rows}", "")


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-1], lambda code: b"", lambda code: code * 2]
)
def test_machine_code_that_is_not_whole_is_made_again(
    damage: Any, num_rows: str, cached_code: Path
) -> None:
    (path,) = cached_code.rglob("*decode*.o")
    path.write_bytes(damage(path.read_bytes()))
    printed, said = read(COLUMNAR, NUMBA_CACHE_DIR=str(cached_code))
    assert printed == f"ColumnarEngine {num_rows}"
    assert said.count("compiling the columnar engine") == 1
    assert read(COLUMNAR, NUMBA_CACHE_DIR=str(cached_code)) == (printed, "")


@pytest.mark.parametrize("mode", [0o2775, 0o757])
def test_machine_code_in_a_folder_that_others_may_write_is_not_loaded(
    mode: int, cached_code: Path
) -> None:
    code = f"""
from magicbyte.engines.columnar.kernel_loader import cache_folder, is_scan_cached
print(cache_folder() is not None, is_scan_cached({LOG.read_bytes()[16]}))
"""
    assert run(code, NUMBA_CACHE_DIR=str(cached_code)) == "True True\n"
    (path,) = {path.parent for path in cached_code.rglob("*.o")}
    path.chmod(mode)
    assert run(code, NUMBA_CACHE_DIR=str(cached_code)) == "False False\n"


SCAN = """
import sys
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import Limits
data = memoryview(open(sys.argv[1], "rb").read())
scan = engine("columnar").scan(Chunk(data, 0), verify=True, limits=Limits())
print(len(scan.entries) > 0, scan.unsound is None)
"""
"""Checks checksums alone: its machine code is made in a quarter of the time that decoding takes."""


def test_machine_code_for_another_processor_is_kept_beside(
    cached_code: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def scan(processor: str) -> int:
        """Return how often the process says that it compiles."""
        printed = run(SCAN, NUMBA_CACHE_DIR=str(cached_code), NUMBA_CPU_NAME=processor)
        assert printed == "True True\n"
        return capfd.readouterr().err.count("compiling the columnar engine")

    kept = set(cached_code.rglob("*scan*.o"))
    assert kept
    assert scan("generic") == 1
    beside = set(cached_code.rglob("*scan*.o")) - kept
    assert len(beside) == 1
    assert [scan(name) for name in ("host", "generic")] == [0, 0]


def test_without_numba_the_columnar_engine_says_what_is_missing(tmp_path: Path) -> None:
    code = """
import magicbyte as mb
try:
    mb.open(sys.argv[1], engine="columnar").records().to_table()
except mb.InputError as error:
    print(error)
"""
    printed = run(GONE + code, NUMBA_CACHE_DIR=str(tmp_path))
    assert "engine 'columnar'" in printed and "numba" in printed
    assert "expected Numba, or another engine" in printed


def test_machine_code_is_kept_where_the_user_says(
    num_rows: str, compiled: tuple[Path, str, str]
) -> None:
    folder, printed, said = compiled
    assert printed == f"ColumnarEngine {num_rows}"
    assert said.count("compiling the columnar engine") == 1
    assert list(folder.rglob("*decode*.o"))
    printed, said = read(COLUMNAR, NUMBA_CACHE_DIR=str(folder))
    assert (printed, said) == (f"ColumnarEngine {num_rows}", "")

    # The folder has machine code for the columns of that read alone.
    def goes_over(*columns: str) -> bool:
        least, kept = 7 * int(num_rows), str(folder)
        return auto(1, least, columns=columns, NUMBA_CACHE_DIR=kept).endswith("True")

    assert goes_over("offset")
    assert not goes_over("offset", "value")


def test_machine_code_is_that_of_all_codecs(cached_code: Path) -> None:
    magic = LOG.read_bytes()[16]
    code = f"""
from magicbyte.engines.columnar.kernel_loader import is_decoder_cached
print(is_decoder_cached({magic}, ("offset",), False))
"""
    assert run(code, NUMBA_CACHE_DIR=str(cached_code)) == "True\n"
    for path in cached_code.rglob("decompress*.o"):
        path.unlink()
    assert run(code, NUMBA_CACHE_DIR=str(cached_code)) == "False\n"


def test_where_nothing_can_be_kept_kernels_run_all_the_same(tmp_path: Path) -> None:
    """All cache folders are below a file, where not even the superuser can write."""
    blocked = tmp_path / "file"
    blocked.touch()
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR", "TEMP", "TMP"), str(blocked))
    elsewhere = f"import tempfile; tempfile.tempdir = {str(blocked)!r}\n"
    assert run(elsewhere + SCAN, **places) == "True True\n"


def test_a_processor_without_the_instruction_computes_checksums_by_table() -> None:
    code = """
from magicbyte_kernels.checksums import NUM_LANES, has_instruction
print(has_instruction("sse4.2"), has_instruction("pclmul"), NUM_LANES)
"""
    assert run(code, NUMBA_CPU_NAME="generic") == "False False 1\n"


@pytest.mark.parametrize(
    ("without", "num_lanes"), [("nothing", 4), ("avx512", 2), ("vpclmulqdq", 1), ("pclmul", 1)]
)
def test_checksums_are_the_same_however_many_blocks_are_multiplied_at_once(
    without: str, num_lanes: int
) -> None:
    features = llvmlite.binding.get_host_cpu_features()
    if num_lanes > 1 and not (features.get("vpclmulqdq") and features.get("avx512f")):
        pytest.skip("this processor multiplies no four blocks at once")
    for name in features:
        features[name] = features[name] and without not in name
    code = """
import random, sys, zlib
import crc32c
import numpy as np
from magicbyte_kernels import checksums
if sys.platform == "win32":
    held = np.zeros(8192, np.uint8)
else:
    from magicbyte_tools.fuzz.memory import GuardedBuffer
    held = GuardedBuffer(8192).bytes
drawn = random.Random(7)
held[:] = np.frombuffer(drawn.randbytes(len(held)), np.uint8)
data, place = held.tobytes(), held.ctypes.data
sizes = [*range(700), *(drawn.randrange(5000) for _ in range(100))]
for size in sizes:
    for begin in (0, drawn.randrange(64), len(data) - size):
        part = data[begin : begin + size]
        told = (place + begin, place + begin + size)
        assert checksums.crc32(*told) == zlib.crc32(part), ("crc32", size)
        assert checksums.crc32c(*told) == crc32c.crc32c(part), ("crc32c", size)
print(checksums.NUM_LANES)
"""
    assert run(code, NUMBA_CPU_FEATURES=features.flatten()) == f"{num_lanes}\n"
