"""Tests that the library of each level that this processor can use reads the vectors and fuzzed entries."""

import os
import subprocess
import sys

import pytest

from extent import WIDE
from magicbyte.engines.columnar._kernel_library import library_path
from magicbyte.engines.columnar._processor_levels import ProcessorLevel, levels_here
from magicbyte_tools.kernels.library_builder import BUILT, is_current
from paths import CHECKOUT

LEVELS = pytest.mark.parametrize("level", levels_here(), ids=lambda level: level.name)


def run(level: ProcessorLevel, *command: str) -> str:
    """Run a tool by the library of *level*; return what it prints."""
    if not is_current(level):
        pytest.skip("`make dist` has not built this library")
    if library_path() == BUILT / level.file_name and not WIDE:
        pytest.skip("all tests use this library: tests/conformance and tests/fuzz run these tools")
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "MAGICBYTE_CPU": level.name},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@LEVELS
def test_the_library_of_a_level_fails_no_vector(level: ProcessorLevel) -> None:
    printed = run(level, "magicbyte_tools.conformance", "--engine", "columnar")
    (total,) = (line.split() for line in printed.splitlines() if line.startswith("all "))
    assert int(total[1]) > 500 and int(total[3]) == 0


@LEVELS
def test_the_library_of_a_level_decodes_fuzzed_entries_as_the_reference(
    level: ProcessorLevel,
) -> None:
    printed = run(level, "magicbyte_tools.fuzz", "--cases", "1600")
    assert printed.splitlines()[-1] == "0 faults, 0 hangs, 0 errors, 0 differences"
