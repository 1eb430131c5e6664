"""Folders of a local disk."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from magicbyte.storage import _local


def test_a_segment_that_is_renamed_while_its_folder_is_listed_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned = tmp_path / f"{0:020}.log.swap"
    cleaned.write_bytes(b"records")
    scandir = os.scandir

    def renamed_behind(path: str) -> object:
        with scandir(path) as names:
            seen = list(names)
        if cleaned.exists():
            cleaned.rename(cleaned.with_suffix(""))
        return nullcontext(seen)

    monkeypatch.setattr(os, "scandir", renamed_behind)
    assert [item.name for item in _local.list_folder(str(tmp_path))] == [f"{0:020}.log"]
