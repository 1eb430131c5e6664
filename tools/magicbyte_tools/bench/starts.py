"""Measures the cost of importing magicbyte, beside the cost of importing pyarrow."""

import sys

from magicbyte_tools.bench import jobs
from magicbyte_tools.bench.jobs import ProcessJob

MAGICBYTE = "import magicbyte"
PYARROW = "import pyarrow"

STARTS = 4
"""Process starts per repetition: one start is short, and other load would distort it."""


def starts(*, repetitions: int) -> list[ProcessJob]:
    """Measure processes that import magicbyte, or pyarrow, and end."""
    commands = {code: [sys.executable, "-c", code] for code in (MAGICBYTE, PYARROW)}
    return jobs.run(commands, repetitions=repetitions * STARTS)
