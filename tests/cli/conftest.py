import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from file_damage import flip
from magicbyte_cli import main
from paths import DATA

PLAIN = DATA / "4.3" / "plain" / "log-0"
TRANSACTIONS = DATA / "4.3" / "transactions" / "log-0"

COMMAND = [sys.executable, "-c", "from magicbyte_cli import main; main()"]
"""Command line that starts `magicbyte` in a new process."""


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Provide a log.dir of three partitions; the first batch of `append-time-0` is damaged."""
    log_dir = tmp_path / "log-0"
    for name in ("aborted-0", "append-time-0", "timed-out-0"):
        shutil.copytree(TRANSACTIONS / name, log_dir / name)
    for file in TRANSACTIONS.iterdir():
        if file.is_file() and "checkpoint" not in file.name:
            shutil.copy(file, log_dir)
    flip(log_dir / "append-time-0" / "00000000000000000000.log", 70)
    return log_dir


def run(*arguments: object) -> Result:
    """Run the `magicbyte` command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def run_ndjson(*arguments: object, status: int = 0) -> list[dict[str, Any]]:
    """Run `magicbyte` with `--format ndjson`; return the objects that it prints."""
    result = run(*arguments, "--format", "ndjson")
    assert result.exit_code == status, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def refusal(*arguments: object, status: int = 2) -> str:
    """Run `magicbyte`, which must exit with *status* and an empty stdout; return its stderr."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    return result.stderr


def error_line(*arguments: object, status: int = 2) -> str:
    """Run `magicbyte`, which must fail with one line on stderr; return that line."""
    return only_line(refusal(*arguments, status=status))


def only_line(text: str) -> str:
    """Return the only line of *text*."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]
