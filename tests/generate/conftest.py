import shutil
from pathlib import Path

import pytest

from magicbyte_tools.generate import kaitai
from paths import CHECKOUT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the folders that the generator reads and writes."""
    for root in ("spec", "generated", "tools"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / root, tmp_path / root, ignore=ignored)
    kaitai.install()
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "node").symlink_to(CHECKOUT / ".cache" / "node")
    return tmp_path
