"""Tests that mutated Protobuf and JSON values are values or faults in bounded memory, as their judges have them."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")
pytest.importorskip("resource", reason="limits of a process are those of Unix")

NUM_VALUES = 1_000_000 if os.environ.get("MAGICBYTE_WIDE") else 5_000


def run(code: str, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_mutated_values_are_values_or_faults_in_bounded_memory(form: str) -> None:
    """In a process of its own, which a crash would end, and whose memory is limited."""
    code = f"""
import resource
from magicbyte_tools.fuzz.mutated_values import fuzz
with open("/proc/self/status") as status:
    (size,) = (int(line.split()[1]) for line in status if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, ((size << 10) + (1 << 30),) * 2)
counts = fuzz({form!r}, {NUM_VALUES}, seed=5)
print(sum(counts.values()), counts["none"], len(counts))
"""
    total, sound, kinds = map(int, run(code).split())
    assert total == NUM_VALUES
    assert sound > total // 5
    assert kinds >= 2


def test_the_fuzzer_finds_a_difference() -> None:
    """A decoder that changes texts would be noticed."""
    code = """
from magicbyte.decoding.protobuf import _message_values
from magicbyte_tools.fuzz.mutated_values import Differences, fuzz
_message_values._text = str.upper
try:
    fuzz("protobuf", 10_000, seed=5)
except Differences as difference:
    print(difference)
"""
    assert run(code).strip() in ("error_codes", "values")


def test_the_kernel_as_ordinary_python_gives_the_same() -> None:
    code = """
import warnings
warnings.simplefilter("error")
from magicbyte.decoding.protobuf import _batch_decoder
from magicbyte.engines.columnar.kernel_loader import is_plain_python
from magicbyte_tools.fuzz import mutated_values
assert is_plain_python()
_batch_decoder.is_library_built = lambda: True
mutated_values.GROUP_VALUES = 20
print(sum(mutated_values.fuzz("protobuf", 200, seed=3).values()))
"""
    assert int(run(code, NUMBA_DISABLE_JIT="1")) == 200
