"""Tests that checksum functions by tables, by instructions and by multiplication give the same."""

import subprocess
import sys

import pytest

from magicbyte.engines.columnar._processor_levels import processor_flags

X86 = "x86_64-unknown-linux-gnu"

CHECK = """
import random, sys, zlib
import crc32c as by_library
import numpy as np
from magicbyte.engines.columnar._kernel_compiler import load
from magicbyte.engines.columnar._kernel_emitter import emit
from magicbyte.engines.columnar._kernel_list import Kernel
from magicbyte.engines.columnar._machine_code import MachineCode
from magicbyte.engines.columnar._processor_levels import Target
from magicbyte_kernels.checksums import crc32, crc32c
from magicbyte_kernels.kernel_interface import Signature
from magicbyte_tools.fuzz.memory import GuardedBuffer

signature = Signature(1, (0, 0))
sources = {
    "crc32": lambda: lambda p, end: crc32(p, end),
    "crc32c": lambda: lambda p, end: crc32c(p, end),
}
kernels = {name: Kernel(signature, source) for name, source in sources.items()}
code = emit(kernels, Target(*sys.argv[1:4]), code_model="jitdefault")
library = load(code)
functions = [MachineCode(library.address(f"mb_{name}"), signature) for name in sources]
held = GuardedBuffer(8192).bytes
chance = random.Random(7)
held[:] = np.frombuffer(chance.randbytes(len(held)), np.uint8)
data, address = held.tobytes(), held.ctypes.data
sizes = [*range(700), *(chance.randrange(5000) for _ in range(100)), len(data)]
for size in sizes:
    for begin in {0, chance.randrange(64) % (len(data) - size + 1), len(data) - size}:
        part = data[begin : begin + size]
        found = [function(address + begin, address + begin + size) for function in functions]
        assert found == [zlib.crc32(part), by_library.crc32c(part)], (size, begin)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the processors are those of Linux")
@pytest.mark.parametrize(
    ("cpu", "features", "flags"),
    [
        ("x86-64", "", ()),
        ("x86-64-v2", "+sse4.2,+crc32", ("sse4_2",)),
        ("x86-64-v2", "+sse4.2,+crc32,+pclmul", ("sse4_2", "pclmulqdq")),
        ("x86-64-v3", "+sse4.2,+crc32,+pclmul,+vpclmulqdq", ("avx2", "vpclmulqdq")),
        (
            "x86-64-v4",
            "+sse4.2,+crc32,+pclmul,+vpclmulqdq,+avx512bw",
            ("avx512bw", "avx512vl", "vpclmulqdq"),
        ),
    ],
)
def test_checksums_are_the_same_whatever_instructions_compute_them(
    cpu: str, features: str, flags: tuple[str, ...]
) -> None:
    if not processor_flags() >= {"lm", *flags}:
        pytest.skip("this processor lacks the instructions")
    subprocess.run([sys.executable, "-c", CHECK, X86, cpu, features], check=True)
