"""Tests that commands which write logs say where they cannot, and leave nothing behind."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import log_builder as build
import magicbyte as mb
from magicbyte.writing.companion_folders import write_companions
from magicbyte_cli import main

READ_ONLY = Path("/sys/kernel/magicbyte-test")
"""A path at which not even root can create a folder: Linux has no files there but its own."""

Write = Callable[[mb.Dataset, Path], Any]

WRITES: dict[str, Write] = {
    "rewrite": mb.rewrite,
    "companions": write_companions,
    "convert": lambda dataset, out: mb.convert(dataset, out, codec="zstd"),
    "salvage": lambda dataset, out: mb.salvage(mb.open(dataset.logs[0].folder, on_damage="skip"), out),
    "erase": lambda dataset, out: mb.erase(dataset, out, mb.erasure_of(keys=[b"k"])),
    "compact": lambda dataset, out: mb.compact(dataset, out, mb.CleanerSettings(now_ms=0)),
    "restore": mb.restore,
    "write": lambda _, out: mb.write(pa.table({"value": [b"v"]}), out, topic="t"),
}  # fmt: skip

each_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


@pytest.fixture
def dataset(tmp_path: Path) -> mb.Dataset:
    build.Folder(tmp_path / "in").segment("t-0", build.batch_of(0, b"v", key=b"k"))
    return mb.open(tmp_path / "in")


@each_write
@pytest.mark.parametrize("name", ["out", "new/folders/out", "existing"])
def test_folder_on_a_read_only_file_system_is_named_and_nothing_is_left(
    write: Write,
    name: str,
    dataset: mb.Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Folders can be created and files cannot, so that something could be left."""
    (tmp_path / "existing").mkdir()
    open_file = os.open

    def refusing(path: Any, flags: int, *arguments: Any, **how: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return open_file(path, flags, *arguments, **how)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(
        OSError, match="Read-only file system; expected a folder in which"
    ) as caught:
        write(dataset, tmp_path / name)
    monkeypatch.undo()
    assert (caught.value.errno, caught.value.filename) == (errno.EROFS, str(tmp_path / name))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["existing", "in"]
    assert list((tmp_path / "existing").iterdir()) == []


@each_write
@pytest.mark.skipif(not READ_ONLY.parent.is_dir(), reason="only Linux has /sys/kernel")
def test_folder_in_a_place_where_nobody_may_write_is_named(
    write: Write, dataset: mb.Dataset
) -> None:
    with pytest.raises(OSError, match="expected a folder in which this process may create files"):
        write(dataset, READ_ONLY)


@pytest.mark.skipif(not READ_ONLY.parent.is_dir(), reason="only Linux has /sys/kernel")
def test_command_ends_with_status_2_and_a_line_that_names_the_folder(
    dataset: mb.Dataset, tmp_path: Path
) -> None:
    arguments = ["rewrite", str(tmp_path / "in"), "-o", str(READ_ONLY)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {READ_ONLY}: ")
    assert len(result.stderr.splitlines()) == 1
