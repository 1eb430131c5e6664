import os
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.generate import kaitai, source
from magicbyte_tools.parsers import ToolchainUnavailable, dumper
from magicbyte_tools.parsers.compiler_output import Files, compile_targets, write
from magicbyte_tools.parsers.packages import REFUSED, package
from magicbyte_tools.webide import kinds
from paths import DATA

CLUSTERS = ("2.8/formats", "3.9/transactions")


@pytest.fixture(scope="session")
def specs() -> dict[str, dict[str, Any]]:
    return source.specs()


@pytest.fixture(scope="session")
def packages(specs: dict[str, dict[str, Any]]) -> dict[str, Files]:
    """Provide every target language's files, as paths and texts; one process compiles them all."""
    targets = [target for target in kaitai.all_languages() if target not in REFUSED]
    compiled = compile_targets(targets)
    return {target: package(target, compiled[target], specs) for target in targets}


@pytest.fixture(scope="session")
def folders(packages: dict[str, Files], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder with the parsers in Python, JavaScript and Java, whose examples are run."""
    out = tmp_path_factory.mktemp("parsers")
    for target in ("python", "javascript", "java"):
        write(packages[target], out / target)
    return out


@pytest.fixture(scope="session")
def real_files() -> dict[str, list[Path]]:
    """Provide real brokers' files by format, without files of equal content in the same cluster."""
    files = defaultdict(list)
    for cluster in CLUSTERS:
        for path, name in kinds.files_below(DATA / cluster).items():
            files[name].append(path)
    return files


@pytest.fixture(scope="session")
def java_build() -> Path:
    """Provide the build folder of Java's dumper; skip without Kaitai's runtime, a JDK or Maven."""
    try:
        command = dumper("java")
    except ToolchainUnavailable as error:
        pytest.skip(str(error))
    (folder,) = {Path(part).parent for part in command[2].split(os.pathsep)}
    return folder


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """Provide a function that runs a command, which must succeed, and returns its stdout."""

    def run(command: Sequence[str | Path], folder: Path | None = None) -> str:
        done = subprocess.run(command, cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run
