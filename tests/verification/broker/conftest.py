"""Fixture: the log.dirs of a broker."""

from pathlib import Path

import pytest

from kraft_builder import KraftBroker


@pytest.fixture
def broker(tmp_path: Path) -> KraftBroker:
    return KraftBroker(tmp_path)
