"""Processors for which kernels are compiled ahead of time, and the choice of the one that is here.

Each process makes the choice itself, by a list of instructions that must be there: an instruction that the
processor lacks ends the process.
"""

import os
import platform
import sys
from collections.abc import Set
from functools import cache
from typing import NamedTuple

from magicbyte.errors import InputError

CPU_VARIABLE = "MAGICBYTE_CPU"
"""Environment variable that names the level to use: to try the lowest if a better one is suspected."""

CPUINFO = "/proc/cpuinfo"


class Target(NamedTuple):
    """The processor that LLVM emits code for, in LLVM's terms."""

    triple: str
    cpu: str
    features: str
    """Instructions with a sign each: `+sse4.2,-avx`."""


class ProcessorLevel(NamedTuple):
    """Processors that run the same shared library of kernels."""

    system: str
    """`sys.platform`."""
    machine: str
    """`platform.machine()`."""
    name: str
    processor: Target
    flags: frozenset[str]
    """Flags of /proc/cpuinfo that a processor must have."""

    @property
    def file_name(self) -> str:
        """Name of the shared library."""
        suffix = "dylib" if self.system == "darwin" else "so"
        return f"{self.system}-{self.machine}-{self.name}.{suffix}"


_BASELINE = frozenset(
    (
        *("cx16", "lahf_lm", "popcnt"),
        *("pni", "ssse3", "sse4_1", "sse4_2", "pclmulqdq"),
    )
)
_AVX512 = _BASELINE | frozenset(
    (
        *("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"),
        *("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "vpclmulqdq"),
    )
)
_AVX512_FEATURES = (
    "+sse4.2,+crc32,+pclmul,+avx512bw,+vpclmulqdq,"
    "-adx,-aes,-avx512bf16,-avx512bitalg,-avx512ifma,-avx512vbmi,-avx512vbmi2,-avx512vnni,"
    "-avx512vpopcntdq,-clflushopt,-clwb,-clzero,-fsgsbase,-gfni,-invpcid,-mwaitx,-pku,-prfchw,"
    "-rdpid,-rdpru,-rdrnd,-rdseed,-sha,-shstk,-sse4a,-vaes,-wbnoinvd,-xsavec,-xsaveopt,-xsaves"
)
"""The instructions of x86-64-v4 with VPCLMULQDQ, in the order that is best for Zen 4: with the order for no
processor in particular, decoding takes 7 % longer there."""

LEVELS = (
    ProcessorLevel(
        "linux",
        "x86_64",
        "avx512",
        Target("x86_64-unknown-linux-gnu", "znver4", _AVX512_FEATURES),
        _AVX512,
    ),
    ProcessorLevel(
        "linux",
        "x86_64",
        "baseline",
        Target("x86_64-unknown-linux-gnu", "x86-64-v2", "+sse4.2,+crc32,+pclmul"),
        _BASELINE,
    ),
    ProcessorLevel(
        "linux",
        "aarch64",
        "baseline",
        Target("aarch64-unknown-linux-gnu", "generic", "+neon,+crc"),
        frozenset({"asimd", "crc32"}),
    ),
    ProcessorLevel(
        "darwin",
        "arm64",
        "baseline",
        Target("arm64-apple-macosx11.0.0", "apple-m1", "+neon,+crc"),
        frozenset(),
    ),
)
"""All levels; the levels of one machine go from the best to the lowest."""


def levels_of(system: str, machine: str) -> list[ProcessorLevel]:
    """Return the levels of a machine, from the best to the lowest."""
    return [level for level in LEVELS if (level.system, level.machine) == (system, machine)]


def supported_levels(
    levels: list[ProcessorLevel], flags: Set[str], wanted: str | None
) -> list[ProcessorLevel]:
    """Return the items of *levels* whose instructions are among *flags*, the best one first.

    Args:
        levels: Levels of this machine.
        flags: Flags of the processor, as in /proc/cpuinfo.
        wanted: Name of the only level that is allowed; None for any.

    Raises:
        InputError: *wanted* is no level of this machine, or the processor lacks instructions of it.
    """
    supported = [level for level in levels if level.flags <= flags]
    if wanted is None or not levels:
        return supported
    chosen = [level for level in supported if level.name == wanted]
    if not chosen:
        names = ", ".join(level.name for level in supported) or "none"
        raise InputError(f"{CPU_VARIABLE}={wanted}", f"a level that this processor has: {names}")
    return chosen


@cache
def levels_here() -> list[ProcessorLevel]:
    """Return the levels that this process can use, the best one first."""
    levels = levels_of(sys.platform, platform.machine())
    return supported_levels(levels, processor_flags(), os.environ.get(CPU_VARIABLE) or None)


def processor_flags(path: str = CPUINFO) -> frozenset[str]:
    """Return the flags of the first processor that the file *path* lists; none if it cannot be read."""
    try:
        with open(path, encoding="ascii", errors="replace") as cpuinfo:
            for line in cpuinfo:
                name, _, flags = line.partition(":")
                if name.strip() in ("flags", "Features"):
                    return frozenset(flags.split())
    except OSError:
        pass
    return frozenset()
