"""python -m magicbyte_tools.mutants [spec|runtime] [--only TEXT] [--every N] [--jobs N] [--out FILE]

Puts one small fault at a time into every field of every .ksy and into the runtime's rules of the
formats, and runs the vectors, then the tests of that part, until something fails. Prints how many
were caught, by what, and those that were not.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from magicbyte_tools.generate import source
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.mutants import code, spec
from magicbyte_tools.mutants.mutant import Mutant
from magicbyte_tools.mutants.trial import Check, Outcome, engine, passes_as_it_is, run, tests

SURVIVORS = CHECKOUT / "tests" / "mutants" / "survivors.json"

LEAST_CAUGHT = 0.95

FOR_VIEWERS = {"kafka_crc", "kafka_record_batch_checked"}
"""Shown to people in the Web IDE; no parser of ours uses them."""

SPEC_CHECKS = (
    engine("kaitai-python"),
    engine("runtime"),
    # Node reserves more address space than it uses.
    tests("tests/spec", "--deselect", "tests/spec/test_generate.py", memory_bytes=None),
    tests("tests/vectors_of_others"),
)

CODECS = "runtime/magicbyte/codecs"
ENTRIES = tuple(
    f"tests/reading/test_{name}.py" for name in ("hostile_entries", "values", "limits", "fetch")
)
RULES = {
    "runtime/magicbyte/engines/reference.py": ("tests/vectors_of_others", *ENTRIES),
    "runtime/magicbyte/engines/entry.py": ("tests/vectors_of_others", *ENTRIES),
    "runtime/magicbyte/engines/header_keys.py": ("tests/reading/test_values.py",),
    "runtime/magicbyte/transactions.py": (
        "tests/damage/test_rules.py",
        "tests/reading/test_dataset.py",
        "tests/reading/test_transactions.py",
    ),
    "runtime/magicbyte/logdir/companions.py": ("tests/reading/test_companions.py",),
    "runtime/magicbyte/logdir/checkpoints.py": (
        "tests/reading/test_checkpoints.py",
        "tests/reading/test_paths.py",
    ),
    "runtime/magicbyte/logdir/names.py": ("tests/reading/test_paths.py",),
    **{
        f"{CODECS}/{name}.py": ("tests/codecs", "tests/vectors_of_others")
        for name in ("__init__", "gzip", "lz4", "output", "snappy", "uvarint", "zstd")
    },
}
"""The runtime's rules of the formats, with the tests of each, the vectors aside."""


def planned(parts: list[str]) -> Iterator[tuple[Mutant, tuple[Check, ...]]]:
    """Yield every mutant with the checks that are to find it."""
    if "spec" in parts:
        for name, parsed in source.specs().items():
            if name not in FOR_VIEWERS:
                for mutant in spec.mutants(f"spec/{name}.ksy", parsed):
                    yield mutant, SPEC_CHECKS
    if "runtime" in parts:
        for file, paths in RULES.items():
            checks = (engine("runtime"), tests(*paths))
            for mutant in code.mutants(file, (CHECKOUT / file).read_text("utf-8")):
                yield mutant, checks


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="mutants", description="Count the small faults that the tests find."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="spec, runtime; both by default")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth mutant")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many at once")
    parser.add_argument("--out", type=Path, help="write each outcome there, as it is known")
    options = parser.parse_args(arguments)
    parts = options.parts or ["spec", "runtime"]
    chosen = [pair for pair in planned(parts) if options.only in pair[0].name][:: options.every]
    print(f"{len(chosen)} mutants", flush=True)
    for check in dict.fromkeys(check for _, checks in chosen for check in checks):
        if not passes_as_it_is(check):
            sys.exit(f"{check.name} fails without any mutant: {' '.join(check.command)}")

    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda pair: run(*pair), chosen):
            outcomes.append(outcome)
            _note(outcome, len(outcomes), options.out)
    return report(outcomes)


def _note(outcome: Outcome, number: int, out: Path | None) -> None:
    if outcome.caught_by is None:
        print(f"survived: {outcome.mutant.name}", flush=True)
    elif number % 100 == 0:
        print(f"... {number}", flush=True)
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            line = {"mutant": outcome.mutant.name, "caught_by": outcome.caught_by}
            file.write(json.dumps(line) + "\n")


def report(outcomes: list[Outcome]) -> int:
    """Print what became of all mutants; return the exit status."""
    known: dict[str, str] = json.loads(SURVIVORS.read_text("utf-8"))
    live = [outcome for outcome in outcomes if outcome.caught_by != "still"]
    survivors = [outcome.mutant.name for outcome in live if outcome.caught_by is None]
    for name, count in Counter(o.caught_by for o in live if o.caught_by).most_common():
        print(f"{count:6} caught by {name}")
    print(f"{len(outcomes) - len(live):6} were no mutants: nothing that runs differs")
    for name in survivors:
        print(f"survived: {name}\n          {known.get(name, 'NO REASON KNOWN')}")
    for name in sorted({o.mutant.name for o in live if o.caught_by} & known.keys()):
        print(f"caught, though listed as a survivor: {name}")
    share = 1 - len(survivors) / len(live) if live else 0.0
    print(f"{len(live) - len(survivors)} of {len(live)} caught: {share:.1%}")
    unknown = [name for name in survivors if name not in known]
    return int(share < LEAST_CAUGHT or bool(unknown))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
