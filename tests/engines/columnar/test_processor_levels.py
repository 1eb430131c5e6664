"""Tests of choosing the machine code for a processor by the flags that the system lists."""

from pathlib import Path

import pytest

from magicbyte.engines.columnar._processor_levels import (
    LEVELS,
    levels_of,
    processor_flags,
    supported_levels,
)
from magicbyte.errors import InputError

WESTMERE = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat clflush mmx fxsr sse sse2 ht "
    "syscall nx lm constant_tsc pni pclmulqdq ssse3 cx16 pcid sse4_1 sse4_2 popcnt aes lahf_lm"
)
HASWELL = (
    WESTMERE + " xsave avx f16c rdrand abm fsgsbase bmi1 avx2 smep bmi2 erms invpcid fma movbe"
)
SKYLAKE_X = HASWELL + " avx512f avx512dq rdseed adx clflushopt clwb avx512cd avx512bw avx512vl"
ICE_LAKE = SKYLAKE_X + " avx512vbmi avx512_vbmi2 gfni vaes vpclmulqdq avx512_vnni avx512_bitalg"
NEHALEM = WESTMERE.replace(" pclmulqdq", "")
X86 = levels_of("linux", "x86_64")


def names(flags: str, wanted: str | None = None) -> list[str]:
    return [level.name for level in supported_levels(X86, set(flags.split()), wanted)]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (ICE_LAKE, ["avx512", "baseline"]),
        (SKYLAKE_X, ["baseline"]),
        (HASWELL, ["baseline"]),
        (WESTMERE, ["baseline"]),
        (NEHALEM, []),
        ("", []),
    ],
)
def test_level_is_the_best_of_those_whose_instructions_are_all_listed(
    flags: str, expected: list[str]
) -> None:
    assert names(flags) == expected


@pytest.mark.parametrize("flag", sorted(X86[0].flags - X86[1].flags))
def test_level_is_lower_where_one_instruction_is_missing(flag: str) -> None:
    assert names(" ".join(set(ICE_LAKE.split()) - {flag})) == ["baseline"]


def test_forced_level_must_be_one_that_the_processor_has() -> None:
    assert names(ICE_LAKE, "baseline") == ["baseline"]
    with pytest.raises(InputError, match="a level that this processor has: baseline"):
        names(HASWELL, "avx512")
    with pytest.raises(InputError, match="a level that this processor has: none"):
        names(NEHALEM, "baseline")
    assert supported_levels([], set(), "baseline") == []


def test_arm_needs_the_instructions_for_checksums() -> None:
    levels = levels_of("linux", "aarch64")
    assert supported_levels(levels, {"fp", "asimd", "crc32"}, None) == levels
    assert supported_levels(levels, {"fp", "asimd"}, None) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("processor\t: 0\nflags\t\t: fpu sse2\nbugs\t: x\n\nflags\t: other\n", {"fpu", "sse2"}),
        ("processor\t: 0\nBogoMIPS : 1\nFeatures\t: fp asimd crc32\n", {"fp", "asimd", "crc32"}),
        ("vendor_id : \xe9\n", set()),
    ],
)
def test_flags_are_those_of_the_first_processor(
    text: str, expected: set[str], tmp_path: Path
) -> None:
    (path := tmp_path / "cpuinfo").write_text(text, encoding="latin-1")
    assert processor_flags(str(path)) == expected


def test_no_flags_where_the_system_lists_none(tmp_path: Path) -> None:
    assert processor_flags(str(tmp_path / "none")) == frozenset()


def test_levels_of_a_machine_go_from_the_best_to_the_lowest() -> None:
    for level in LEVELS:
        alike = levels_of(level.system, level.machine)
        assert [one.flags for one in alike] == sorted(
            (one.flags for one in alike), key=len, reverse=True
        )
    assert levels_of("win32", "AMD64") == []
