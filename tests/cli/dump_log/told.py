"""Output of Kafka's tool for the cases of `cases.py`: `told.json`, recorded by `test_dump_log.py`."""

import json
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from click.testing import CliRunner, Result

from magicbyte_cli.kafka_dump_log import kafka_dump_log

from .cases import Case, segment

TOLD = Path(__file__).with_name("told.json")
"""End of a record's line, by the case's name and the first release that prints it.

It is null where an exception ends the line.
"""

RECORD = "headerKeys: []"
"""Fields in the line of a v2 record before the key."""

RELEASES = ("2.8", *(f"3.{minor}" for minor in range(10)), "4.0", "4.1", "4.2", "4.3")

Told = dict[str, str | None]


def by_release(told: Told) -> Told:
    """Return what is told as every release says it, from the first that has the decoder."""
    found: Told = {}
    for release in RELEASES:
        if release in told:
            found[release] = told[release]
        elif found:
            found[release] = next(reversed(found.values()))
    return found


def steps(told: Told) -> Told:
    """Return what is told with the releases alone that say something new."""
    runs = groupby(told.items(), itemgetter(1))
    return dict(next(releases) for _, releases in runs)


def load() -> dict[str, Told]:
    told: dict[str, Told] = json.loads(TOLD.read_text())
    return told


def dump_log(case: Case, folder: Path, *flags: str, release: str) -> Result:
    """Return what our command prints of a segment of the case, as *release* does."""
    path = folder / "00000000000000000000.log"
    path.write_bytes(segment(case))
    arguments = ["--kafka-version", release, *flags, "--files", str(path)]
    return CliRunner().invoke(kafka_dump_log, arguments, catch_exceptions=False)


def tail(output: str, status: int) -> str | None:
    """Return what the tool's *output* says of its only record."""
    return None if status else output.split(RECORD, 1)[1].removesuffix("\n")
