"""Tests that a cluster takes what `restore` writes, by the check for restores."""

from pathlib import Path

import pytest

import magicbyte as mb
from magicbyte.verification.restore_check import RestoreTarget, restore_check
from paths import DATA

LOG_DIRS = [path for path in sorted(DATA.glob("*/*/log-*")) if "killed" not in path.parts]


@pytest.mark.parametrize("log_dir", LOG_DIRS, ids=lambda path: path.relative_to(DATA).as_posix())
def test_restored_folders_have_no_finding(log_dir: Path, tmp_path: Path) -> None:
    dataset = mb.open(log_dir, on_damage="skip")
    report = mb.restore(dataset, tmp_path / "out")
    assert not report.failures
    check = restore_check(tmp_path / "out", restore_target=RestoreTarget(retention_ms=-1))
    assert check.findings == []
    assert check.num_taken == len(dataset.logs) > 0
