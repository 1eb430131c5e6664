"""Distributes the files of tests to the processes of a run, as `--dist loadfile` does, with one Spark session in all."""

from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from slow_tests import LONGEST

SESSION = "spark: SparkSession"
"""Parameter of the tests that share a Spark session, which takes ten seconds of CPU to start."""


def start_order(path: str) -> int:
    """Return a number by which files below tests/ are sorted: the longest files are the first to start."""
    return next((n for n, longest in enumerate(LONGEST) if path.startswith(longest)), len(LONGEST))


def file_of(nodeid: str) -> str:
    """Return the path below tests/ of the file with the test *nodeid*."""
    return nodeid.partition("::")[0].removeprefix("tests/")


class FileScheduling(LoadFileScheduling):
    """Gives all tests of a file to one process, and all files that share a Spark session to one."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)
        self._scope = cache(self._scope_of_file)

    def _split_scope(self, nodeid: str) -> str:
        return self._scope(nodeid.partition("::")[0])

    def _scope_of_file(self, path: str) -> str:
        text = Path(self.config.rootpath, path).read_text(encoding="utf-8")
        return "spark session" if SESSION in text else path
