"""Tests of folders for code that is executed: nobody else may be able to change what is in them."""

import os
from pathlib import Path

import pytest

from magicbyte._private_folder import private_folder

as_root = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away"
)


def folder(parent: Path, name: str = "cache", mode: int = 0o700) -> Path:
    path = parent / name
    path.mkdir()
    path.chmod(mode)
    return path


def test_missing_folders_are_created_for_the_user_alone(tmp_path: Path) -> None:
    mask = os.umask(0o002)
    try:
        assert private_folder(tmp_path / "a" / "b") == (tmp_path / "a" / "b").resolve()
    finally:
        os.umask(mask)
    for path in (tmp_path / "a", tmp_path / "a" / "b"):
        assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o2775, 0o770, 0o757, 0o1777, 0o720])
def test_a_folder_that_others_may_write_is_refused(mode: int, tmp_path: Path) -> None:
    assert private_folder(folder(tmp_path, mode=mode)) is None


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_so_is_one_in_a_folder_that_others_may_write(mode: int, tmp_path: Path) -> None:
    parent = folder(tmp_path, "parent", mode)
    assert private_folder(folder(parent, mode=0o755)) is None
    # They cannot replace what is not theirs where the sticky bit is set.
    parent.chmod(mode | 0o1000)
    assert private_folder(parent / "cache") is not None


def test_links_are_resolved_first(tmp_path: Path) -> None:
    public = folder(tmp_path, "public", 0o777)
    real = folder(public, "real", 0o755)
    link = tmp_path / "link"
    link.symlink_to(real)
    assert private_folder(link) is None


@as_root
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, mode=0o755)
    os.chown(path, 1234, -1)
    assert private_folder(path) is None
    assert private_folder(path / "below") is None
