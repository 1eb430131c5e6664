from pathlib import Path
from typing import Any

import pytest

from extent import mixed_part
from magicbyte_tools.vectors.tree import FORMATS
from magicbyte_tools.webide.kinds import files_below
from paths import DATA, shared


def files(folder: Path) -> list[tuple[Path, Any]]:
    """Return (path, Construct format) of the files below *folder* that the twin describes."""
    return [(path, FORMATS[name][0]) for path, name in files_below(folder).items()]


@pytest.fixture(scope="session")
def brokers_files() -> list[tuple[Path, Any]]:
    """The files of tests/data that the twin describes: a third of them, of each format."""
    found = files(DATA)
    return mixed_part(found, len(found) // 3, "files of brokers", lambda file: file[1:])


@pytest.fixture(scope="session")
def killed_brokers_files() -> list[tuple[Path, Any]]:
    """Files of killed brokers: indexes with preallocated slots, logs with cut last batches."""
    folder = shared() / "logs" / "3.9" / "killed"
    if not folder.is_dir():
        pytest.skip(f"no real brokers' logs at {folder} (MAGICBYTE_SHARED says where)")
    return files(folder)
