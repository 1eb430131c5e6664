import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.generate import kaitai, source
from magicbyte_tools.parsers.compiler_output import Files, compile_targets
from magicbyte_tools.parsers.packages import REFUSED, package
from magicbyte_tools.webide import kinds
from paths import DATA

CLUSTERS = ("2.8/formats", "3.9/transactions")


@pytest.fixture(scope="session")
def specs() -> dict[str, dict[str, Any]]:
    return source.specs()


@pytest.fixture(scope="session")
def compiled() -> dict[str, Files]:
    """Provide the compiler's output for every target; one process compiles them all."""
    return compile_targets([target for target in kaitai.all_languages() if target not in REFUSED])


@pytest.fixture(scope="session")
def packages(compiled: dict[str, Files], specs: dict[str, dict[str, Any]]) -> dict[str, Files]:
    """Provide every target language's files, as paths and texts."""
    return {target: package(target, files, specs) for target, files in compiled.items()}


@pytest.fixture(scope="session")
def real_files() -> dict[str, list[Path]]:
    """Provide real brokers' files by format, without files of equal content in the same cluster."""
    files = defaultdict(list)
    for cluster in CLUSTERS:
        for path, name in kinds.files_below(DATA / cluster).items():
            files[name].append(path)
    return files


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """Provide a function that runs a command, which must succeed, and returns its stdout."""

    def run(command: Sequence[str | Path], folder: Path | None = None) -> str:
        done = subprocess.run(command, cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run
