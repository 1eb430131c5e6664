"""A tiered cluster of Kafka 3.9, and what its consumer delivered."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from clusters import lines
from paths import shared

TIERED = shared() / "logs" / "3.9" / "tiered"


class Tiered:
    """The cluster's folders."""

    log_dir = TIERED / "log-0"
    remote = TIERED / "remote"

    def rows(self, level: str) -> dict[str, list[dict[str, Any]]]:
        """Return what the consumer delivered of each tiered partition."""
        records = {}
        folder = TIERED / "oracle" / "records"
        for file in sorted(folder.glob("tiered*.read_uncommitted.ndjson.gz")):
            name = file.name.removesuffix(".read_uncommitted.ndjson.gz")
            chosen = folder / f"{name}.{level}.ndjson.gz"
            records[name] = list(lines(chosen if chosen.exists() else file))
        return records


def copied(folder: Path, to: Path) -> Path:
    """Copy *folder*, which may be for reading only, and return the copy, which is not."""
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
    """A copy of the remote folder, to be changed."""
    return copied(tiered.remote, tmp_path / "remote")


@pytest.fixture
def log_dir(tiered: Tiered, tmp_path: Path) -> Path:
    """A copy of the log.dir, to be changed."""
    return copied(tiered.log_dir, tmp_path / "log-0")
