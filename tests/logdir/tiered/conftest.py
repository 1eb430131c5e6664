"""Fixtures: log.dir, remote storage and consumed records of a tiered Kafka 3.9 cluster."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from clusters import lines
from paths import shared

TIERED = shared() / "logs" / "3.9" / "tiered"


class Tiered:
    """The folders of the tiered cluster: its log.dir and its remote storage."""

    log_dir = TIERED / "log-0"
    remote = TIERED / "remote"

    def rows(self, level: str) -> dict[str, list[dict[str, Any]]]:
        """Return the records that Kafka's consumer delivered at *level*, by tiered partition."""
        records = {}
        folder = TIERED / "oracle" / "records"
        for file in sorted(folder.glob("tiered*.read_uncommitted.ndjson.gz")):
            name = file.name.removesuffix(".read_uncommitted.ndjson.gz")
            chosen = folder / f"{name}.{level}.ndjson.gz"
            records[name] = list(lines(chosen if chosen.exists() else file))
        return records


def copied(folder: Path, to: Path) -> Path:
    """Copy *folder*, which may be read-only, to *to*; return the copy, which is writable."""
    shutil.copytree(folder, to)
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return to


@pytest.fixture(scope="session")
def tiered() -> Tiered:
    if not TIERED.is_dir():
        pytest.skip(f"the logs of a tiered cluster are not at hand: {TIERED}")
    return Tiered()


@pytest.fixture
def remote(tiered: Tiered, tmp_path: Path) -> Path:
    """A writable copy of the cluster's remote storage folder."""
    return copied(tiered.remote, tmp_path / "remote")


@pytest.fixture
def log_dir(tiered: Tiered, tmp_path: Path) -> Path:
    """A writable copy of the cluster's log.dir."""
    return copied(tiered.log_dir, tmp_path / "log-0")
