from pathlib import Path

import pytest

from paths import shared


@pytest.fixture(scope="session")
def real_files() -> list[Path]:
    """All files of the real brokers' log.dirs; tests are skipped where these are absent."""
    logs = shared() / "logs"
    if not logs.is_dir():
        pytest.skip(f"no real brokers' logs at {logs} (MAGICBYTE_SHARED says where)")
    return sorted(p for p in logs.rglob("*") if p.is_file() and "oracle" not in p.parts)
