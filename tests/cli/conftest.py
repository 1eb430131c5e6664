import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from magicbyte_cli import main
from paths import DATA

Run = Callable[..., Result]


@pytest.fixture(scope="session")
def logs() -> Path:
    """Real brokers' logs: <release>/<cluster>/log-0."""
    return DATA


@pytest.fixture(scope="session")
def transactions(logs: Path) -> Path:
    return logs / "4.3" / "transactions" / "log-0"


@pytest.fixture(scope="session")
def plain(logs: Path) -> Path:
    return logs / "4.3" / "plain" / "log-0"


@pytest.fixture
def damaged(transactions: Path, tmp_path: Path) -> Path:
    """A log.dir of three partitions; a byte of the first entry of the second one is flipped."""
    log_dir = tmp_path / "log-0"
    for name in ("aborted-0", "append-time-0", "timed-out-0"):
        shutil.copytree(transactions / name, log_dir / name)
    for file in transactions.iterdir():
        if file.is_file() and "checkpoint" not in file.name:
            shutil.copy(file, log_dir)
    flip(log_dir / "append-time-0" / "00000000000000000000.log", 70)
    return log_dir


def flip(path: Path, position: int) -> None:
    """Flip the bits of a byte of *path*."""
    data = bytearray(path.read_bytes())
    data[position] ^= 0xFF
    path.write_bytes(data)


@pytest.fixture
def run() -> Run:
    """Call the command in this process."""

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return call


@pytest.fixture(scope="session")
def command() -> list[str]:
    """Command line that starts the command in a process of its own."""
    return [sys.executable, "-c", "from magicbyte_cli import main; main()"]


def only_line(text: str) -> str:
    """Return the one line that *text* is."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]
