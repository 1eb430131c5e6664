"""Tests that nothing is written into what is read, however the path to it looks."""

import os
from pathlib import Path

import pytest

import magicbyte as mb
from log_builder import Folder, batch
from magicbyte.output_guard import check_beside, check_no_log_folder, check_outside


@pytest.fixture
def segment(folder: Folder) -> Path:
    folder.log_dir("kafka")
    return Folder(folder.path / "kafka").segment("t-0", batch())


def test_a_log_dir_and_a_partition_folder_are_refused_by_any_path(
    segment: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(segment.parent)
    (tmp_path / "alias").symlink_to(segment)
    for out in (
        segment,
        segment.parent,
        segment.parent / "x",
        segment.parent.parent / "x" / "y",
        tmp_path / "link" / "x",
        tmp_path / "alias",
        tmp_path / "kafka" / "u-0" / ".." / "x",
    ):
        with pytest.raises(mb.InputError, match=r"inside of the (log\.dir|partition folder)"):
            check_no_log_folder(out)
    check_no_log_folder(tmp_path / "x")
    (segment.parent.parent / "meta.properties").unlink()
    with pytest.raises(mb.InputError, match="inside of the partition folder"):
        check_no_log_folder(segment.parent / "x")


def test_another_name_of_an_input_file_is_refused(segment: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    os.link(segment, twin)
    dataset = mb.open(segment.parent)
    with pytest.raises(mb.InputError, match="the output is the input"):
        check_outside(twin, dataset.logs, [str(segment.parent)])
    with pytest.raises(mb.InputError, match="the output is the input"):
        check_beside(twin, str(segment))


def test_a_companion_beside_a_segment_in_any_folder_is_refused(tmp_path: Path) -> None:
    segment = tmp_path / f"{0:020}.log"
    segment.write_bytes(batch())
    for name in (f"{0:020}.index", f"{9:020}.log", "partition.metadata"):
        with pytest.raises(mb.InputError, match="a file of the input"):
            check_beside(tmp_path / name, str(segment))
    check_beside(tmp_path / "payload.bin", str(segment))
