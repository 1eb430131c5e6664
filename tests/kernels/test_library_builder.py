"""Tests of the shared libraries of kernels: what they contain, and that a second build gives the same bytes."""

import shutil
from pathlib import Path

import pytest

from elf_file import EXECUTABLE, GNU_STACK, WRITABLE, ElfFile
from extent import only_wide
from magicbyte.engines.columnar._kernel_list import kernels
from magicbyte.engines.columnar._processor_levels import LEVELS, ProcessorLevel, levels_here
from magicbyte_tools.kernels.library_builder import BUILT, build, is_current

MACHINES = {"x86_64": 62, "aarch64": 183}
"""Numbers of processors in ELF files."""

ELF_LEVELS = [level for level in LEVELS if level.system == "linux"]


def library(level: ProcessorLevel) -> Path:
    if not is_current(level):
        pytest.skip("`make kernels` or `make dist-all` has not built this library")
    return BUILT / level.file_name


def name_of(level: ProcessorLevel) -> str:
    return level.file_name


@pytest.mark.parametrize("level", ELF_LEVELS, ids=name_of)
def test_a_library_defines_every_kernel_and_needs_nothing(level: ProcessorLevel) -> None:
    elf = ElfFile(library(level))
    assert elf.machine == MACHINES[level.machine]
    expected = {f"mb_{name}" for name in kernels()} | {"mb_abi", "mb_python", "mb_release"}
    assert elf.symbols() == dict.fromkeys(expected, True)
    assert elf.needed_libraries() == 0


@pytest.mark.parametrize("level", ELF_LEVELS, ids=name_of)
def test_no_segment_of_a_library_is_writable_and_executable(level: ProcessorLevel) -> None:
    segments = ElfFile(library(level)).segments
    assert any(segment.flags & EXECUTABLE for segment in segments)
    for segment in segments:
        assert not (segment.flags & EXECUTABLE and segment.flags & WRITABLE)
        assert not (segment.type == GNU_STACK and segment.flags & EXECUTABLE)
    assert sum(segment.type == GNU_STACK for segment in segments) == 1


def test_no_library_names_a_folder_of_the_machine_that_built_it() -> None:
    for level in levels_here()[:1]:
        data = library(level).read_bytes()
        assert str(Path.home()).encode() not in data and str(BUILT.parents[1]).encode() not in data


@only_wide("all kernels are compiled for half a minute")
@pytest.mark.skipif(not levels_here(), reason="this processor has no library")
def test_a_second_build_gives_the_same_bytes(tmp_path: Path) -> None:
    level = levels_here()[0]
    expected = library(level).read_bytes()
    (path,) = build([level], tmp_path)
    assert path.read_bytes() == expected


def test_a_library_that_is_up_to_date_is_not_built_again(tmp_path: Path) -> None:
    level = ELF_LEVELS[0]
    for path in BUILT.glob(f"{level.file_name}*"):
        shutil.copy(path, tmp_path)
    if not is_current(level, tmp_path):
        pytest.skip("`make kernels` has not built this library")
    before = (tmp_path / level.file_name).stat()
    assert build([level], tmp_path) == [tmp_path / level.file_name]
    assert (tmp_path / level.file_name).stat() == before
    (tmp_path / f"{level.file_name}.built-from").write_text("other sources")
    assert not is_current(level, tmp_path)
