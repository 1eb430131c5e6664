"""python -m magicbyte_tools.mutants [spec|runtime] [--only TEXT] [--every N] [--jobs N] [--out FILE]

Puts one small fault at a time into every field of every .ksy, or into the runtime's code for the
formats, and runs the vectors and tests that may find it until one fails. Prints the number of faults
found by each check, and the faults that were not found, with the reasons in tests/mutants.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.generate import source
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.mutants import code_mutants, forked, spec_mutants, suite
from magicbyte_tools.mutants.mutant import Mutant
from magicbyte_tools.mutants.trial import STILL, Outcome, fails_as_it_is, run, sound_tree
from magicbyte_tools.parsers.compiler_output import VISUAL

SURVIVORS = CHECKOUT / "tests" / "mutants" / "survivors.json"

LEAST_CAUGHT = 0.95


def planned(part_names: list[str]) -> Iterator[Mutant]:
    """Yield every mutant of the parts *part_names*: spec, runtime."""
    if "spec" in part_names:
        for name, parsed in source.specs().items():
            if name not in VISUAL:
                yield from spec_mutants.mutants(f"spec/{name}.ksy", parsed)
    if "runtime" in part_names:
        for module in suite.RULES:
            file = f"{suite.RUNTIME_ROOT}{module}"
            yield from code_mutants.mutants(file, (CHECKOUT / file).read_text("utf-8"))


def main(arguments: Sequence[str]) -> int:
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
    chosen = [one for one in planned(parts) if options.only in one.name][:: options.every]
    print(f"{len(chosen)} mutants", flush=True)
    with TemporaryDirectory(prefix="magicbyte-sound-") as folder:
        sound = sound_tree(Path(folder))
        forked.preload()
        if failing := fails_as_it_is(sound, parts):
            sys.exit(f"{failing}: fails without any mutant")
        outcomes: list[Outcome] = []
        with ProcessPoolExecutor(options.jobs, get_context("fork")) as pool:
            for outcome in pool.map(partial(run, sound=sound), chosen):
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
    """Print the number of mutants by check, and all survivors; return the exit status."""
    known: dict[str, str] = json.loads(SURVIVORS.read_text("utf-8"))
    live = [outcome for outcome in outcomes if outcome.caught_by != STILL]
    survivors = [outcome.mutant.name for outcome in live if outcome.caught_by is None]
    for name, count in Counter(o.caught_by for o in live if o.caught_by).most_common():
        print(f"{count:6} caught by {name}")
    print(f"{len(outcomes) - len(live):6} were no mutants: nothing is generated, or the same")
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
