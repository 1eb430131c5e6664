"""Starts: what it takes until a program that reads logs has what it needs."""

import sys

from magicbyte_tools.bench import jobs
from magicbyte_tools.bench.jobs import Job

MAGICBYTE = "import magicbyte"
PYARROW = "import pyarrow"

STARTS = 4
"""In each turn of the run: a start is short, and the machine seldom quiet."""


def starts(*, repetitions: int) -> list[Job]:
    """Return what processes take that import ours, and Arrow, and do nothing else."""
    commands = {code: [sys.executable, "-c", code] for code in (MAGICBYTE, PYARROW)}
    return jobs.run(commands, repetitions=repetitions * STARTS)
