import shutil
from pathlib import Path

import pytest

from magicbyte_tools.generate import kaitai
from paths import CHECKOUT, shared


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def real_files() -> list[Path]:
    """The files of real brokers' log directories, where they are on this machine."""
    logs = shared() / "logs"
    if not logs.is_dir():
        pytest.skip(f"no real brokers' logs at {logs} (MAGICBYTE_SHARED says where)")
    return sorted(p for p in logs.rglob("*") if p.is_file() and "oracle" not in p.parts)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what the generator reads and writes."""
    for root in ("spec", "generated", "tools"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / root, tmp_path / root, ignore=ignored)
    kaitai.install()
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "node").symlink_to(CHECKOUT / ".cache" / "node")
    return tmp_path
