"""Distributes the files of tests to the processes of a run, as `--dist loadfile` does.

Files with tests that share a fixture that is slow to provide run in one process.
"""

from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from slow_tests import LONGEST

SHARED = {
    "spark: SparkSession": "spark session",
    "packages: dict[str, Files]": "packages of parsers",
}
"""Parameters that tests of several files share, and a name for these files.

A Spark session takes ten seconds of CPU to start, and the parsers of all languages six to compile.
"""


def start_order(path: str) -> int:
    """Return a number by which files below tests/ are sorted: the longest files are the first to start."""
    return next((n for n, longest in enumerate(LONGEST) if path.startswith(longest)), len(LONGEST))


def file_of(nodeid: str) -> str:
    """Return the path below tests/ of the file with the test *nodeid*."""
    return nodeid.partition("::")[0].removeprefix("tests/")


class FileScheduling(LoadFileScheduling):
    """Gives all tests of a file to one process, and all files that share a fixture of SHARED to one."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)
        self._scope = cache(self._scope_of_file)

    def _split_scope(self, nodeid: str) -> str:
        return self._scope(nodeid.partition("::")[0])

    def _scope_of_file(self, path: str) -> str:
        text = Path(self.config.rootpath, path).read_text(encoding="utf-8")
        return next((name for parameter, name in SHARED.items() if parameter in text), path)
