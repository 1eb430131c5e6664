"""Fixtures of the tests of written logs."""

import pytest


@pytest.fixture(autouse=True)
def no_disk_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the files in the page cache: flushing hundreds of small files takes minutes."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
