"""Output of Kafka's tool for the cases of `cases.py`, which `test_dump_log.py` records as JSON."""

import json
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from click.testing import CliRunner, Result

from magicbyte_cli.kafka_dump_log import kafka_dump_log

from .cases import Case, segment

TOLD = Path(__file__).with_name("told.json")
"""File of the ends of records' lines, by the case's name and the first release that prints it.

The end is null where an exception ends the output.
"""

RECORD = "headerKeys: []"
"""Text that ends the metadata in the line of a v2 record; key and payload follow it."""

RELEASES = ("2.8", *(f"3.{minor}" for minor in range(10)), "4.0", "4.1", "4.2", "4.3", "4.4")

Told = dict[str, str | None]


def by_release(outputs: Told) -> Told:
    """Return the output of every release, from the first that has the decoder; undoes `steps`."""
    found: Told = {}
    for release in RELEASES:
        if release in outputs:
            found[release] = outputs[release]
        elif found:
            found[release] = next(reversed(found.values()))
    return found


def steps(outputs: Told) -> Told:
    """Return the output of those releases alone whose output differs from the release before."""
    runs = groupby(outputs.items(), itemgetter(1))
    return dict(next(releases) for _, releases in runs)


def load() -> dict[str, Told]:
    told: dict[str, Told] = json.loads(TOLD.read_text())
    return told


def dump_log(case: Case, folder: Path, *flags: str, release: str) -> Result:
    """Run our `kafka-dump-log` with *flags* as *release* on a segment with the record of *case*."""
    path = folder / "00000000000000000000.log"
    path.write_bytes(segment(case))
    arguments = ["--kafka-version", release, *flags, "--files", str(path)]
    return CliRunner().invoke(kafka_dump_log, arguments, catch_exceptions=False)


def tail(output: str, status: int) -> str | None:
    """Return the end of the record's line in *output*, from its key on; None if the tool failed."""
    return None if status else output.split(RECORD, 1)[1].removesuffix("\n")
