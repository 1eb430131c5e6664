"""Runners to judge, and what they are judged on."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from magicbyte_tools.conformance import cases
from magicbyte_tools.conformance.cases import Case

Write = Callable[[str], list[str]]


@pytest.fixture(scope="session")
def all_cases() -> list[Case]:
    return cases.load()


@pytest.fixture
def runner(tmp_path: Path) -> Write:
    """Return the command of a runner whose program is given. It starts fast: no site-packages."""

    def write(program: str) -> list[str]:
        file = tmp_path / "runner.py"
        file.write_text(textwrap.dedent(program))
        return [sys.executable, "-I", "-S", str(file)]

    return write
