"""Measures the start of a program that reads logs: its imports."""

import sys

from magicbyte_tools.bench import jobs
from magicbyte_tools.bench.jobs import ProcessJob

MAGICBYTE = "import magicbyte"
PYARROW = "import pyarrow"

STARTS = 4
"""Starts per repetition: a start is short, and the machine is seldom quiet."""


def starts(*, repetitions: int) -> list[ProcessJob]:
    """Measure processes that import magicbyte or pyarrow and then end."""
    commands = {code: [sys.executable, "-c", code] for code in (MAGICBYTE, PYARROW)}
    return jobs.run(commands, repetitions=repetitions * STARTS)
