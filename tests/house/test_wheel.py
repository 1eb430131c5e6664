"""Tests of the wheel that `make dist` builds, installed in a new environment."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from magicbyte.engines.columnar._processor_levels import levels_here

CHECKOUT = Path(__file__).parents[2]
SPEC = CHECKOUT / "spec"
IMPORTS = """
import magicbyte, magicbyte_formats.wire, magicbyte_cli.report.style, pyspark_magicbyte
assert (magicbyte.spec_files() / "kafka_varint.ksy").is_file()
assert (magicbyte.spec_files() / "messages" / "consumer_offsets.yaml").is_file()
print(magicbyte.__file__)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel installed and our dependencies on its path."""
    wheels = list((CHECKOUT / "dist").glob("magicbyte-*.whl"))
    if not wheels:
        pytest.skip("there is no wheel: `make dist` builds it, and `make test` begins with that")
    home = tmp_path_factory.mktemp("wheel") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", home / "bin" / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", *wheels], check=True)
    # Its own site-packages come first, and .pth files in ours, the editable install, are not read.
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return home


def run(*command: str | Path, cwd: Path) -> str:
    return subprocess.run(
        command, cwd=cwd, env={"PATH": os.defpath}, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def test_the_wheel_brings_the_command(installed: Path) -> None:
    answer = run(installed / "bin" / "magicbyte", "--version", cwd=installed)
    assert answer.startswith("magicbyte, version ")


def test_the_wheel_brings_every_package_and_the_specification(installed: Path) -> None:
    where = run(installed / "bin" / "python", "-c", IMPORTS, cwd=installed)
    assert where.startswith(str(installed))


def test_the_command_writes_every_format_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    run(installed / "bin" / "magicbyte", "spec", "-o", tmp_path, cwd=installed)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    sources = [*SPEC.glob("*.ksy"), *SPEC.glob("messages/*.yaml")]
    assert written == {path.relative_to(SPEC): path.read_bytes() for path in sources}


def test_the_command_reads_a_log_from_the_wheel(installed: Path) -> None:
    log = CHECKOUT / "tests/data/2.8/lives/log-0/v2-append-time-none-0"
    dump = ("dump", log, "--format", "ndjson", "--limit", "1")
    rows = run(installed / "bin" / "magicbyte", *dump, cwd=installed)
    assert rows.startswith('{"topic":"v2-append-time-none","partition":0,"offset":0')


LIBRARY = """
from magicbyte.engines.columnar._kernel_library import library_path
print(library_path())
"""

REFUSED = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} is refused")
sys.meta_path.insert(0, Refused())
"""

READING = ("values", "fetch", "bad_entries", "transactions")


@pytest.mark.skipif(not levels_here(), reason="there is no machine code for this processor")
def test_the_wheel_passes_tests_of_reading_where_numba_cannot_be_imported(
    installed: Path, tmp_path: Path
) -> None:
    (site,) = installed.glob("lib/python*/site-packages")
    assert run(installed / "bin" / "python", "-c", LIBRARY, cwd=installed).startswith(str(site))
    (tmp_path / "refuse_numba.py").write_text(REFUSED)
    files = [CHECKOUT / "tests" / "reading" / f"test_{name}.py" for name in READING]
    options = ("-p", "refuse_numba", "-o", f"cache_dir={tmp_path}")
    done = subprocess.run(
        [installed / "bin" / "python", "-m", "pytest", *options, *files],
        env={"PATH": os.defpath, "PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT / 'tools'}"},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert f"kernels: {site}" in done.stdout


def test_the_wheel_is_small(installed: Path) -> None:
    (wheel,) = (CHECKOUT / "dist").glob("magicbyte-*.whl")
    assert wheel.stat().st_size < 15_000_000


def test_the_wheel_contains_no_development_tools(installed: Path) -> None:
    assert not list(installed.glob("lib/python*/site-packages/magicbyte_tools"))
