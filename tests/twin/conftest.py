from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import magicbyte_construct as twin
from paths import DATA, shared

FORMATS = (
    (".log", twin.Log),
    (".checkpoint", twin.Log),
    (".timeindex", twin.TimeIndex),
    (".index", twin.OffsetIndex),
    (".txnindex", twin.TransactionIndex),
    (".snapshot", twin.ProducerSnapshot),
    ("partition.metadata", twin.PartitionMetadata),
    ("leader-epoch-checkpoint", twin.LeaderEpochCheckpoint),
    ("-offset-checkpoint", twin.OffsetCheckpoint),
)


def files(folder: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the brokers' files below *folder* that the twin describes, and their formats."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "oracle" not in path.parts:
            name = path.name.removesuffix(".deleted")
            for ending, construct in FORMATS:
                if name.endswith(ending):
                    yield path, construct
                    break


@pytest.fixture(scope="session")
def brokers_files() -> list[tuple[Path, Any]]:
    return list(files(DATA))


@pytest.fixture(scope="session")
def killed_brokers_files() -> list[tuple[Path, Any]]:
    """Of brokers that were killed: preallocated slots and ends that no one cut off."""
    folder = shared() / "logs" / "3.9" / "killed"
    if not folder.is_dir():
        pytest.skip(f"no real brokers' logs at {folder} (MAGICBYTE_SHARED says where)")
    return list(files(folder))
