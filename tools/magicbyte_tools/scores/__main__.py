"""python -m magicbyte_tools.scores [NAME...]: run client libraries on the vectors, and write docs/scores.md.

Exit status 0: all runners that can be built here ran, and each failed case has a paragraph. 1: a failed case has none, or
a paragraph's case no longer fails, or with --check the page is not current. 2: a wrong name.
"""

import argparse
import sys
from collections.abc import Sequence

from magicbyte_tools.bench.foreign_programs import ProgramUnavailable
from magicbyte_tools.conformance.cases import load_cases
from magicbyte_tools.conformance.runner import SilentRunnerError
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.scores.bugs import absent_sentences, load_bugs, mistakes
from magicbyte_tools.scores.client_runner import load_runners
from magicbyte_tools.scores.page import page
from magicbyte_tools.scores.recorded_runs import load_runs, record, run_reader

PAGE = CHECKOUT / "docs" / "scores.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.scores")
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders of runners (all)")
    parser.add_argument(
        "--check", action="store_true", help="run nothing; fail if the page is not current"
    )
    options = parser.parse_args(arguments)
    runners = load_runners()
    unknown = set(options.names) - {runner.name for runner in runners}
    if unknown:
        parser.error(f"no runner is called {', '.join(sorted(unknown))}")
    cases = load_cases(VECTORS)
    cases_by_id = {case.id: case for case in cases}
    cited = {bug.cited(cases_by_id).id for runner in runners for bug in load_bugs(runner)}
    for runner in runners:
        if options.check or (options.names and runner.name not in options.names):
            continue
        try:
            runs = [
                run_reader(runner, reader, version, cases, cited)
                for reader in runner.readers
                for version in runner.all_versions()
            ]
        except (ProgramUnavailable, SilentRunnerError) as error:
            print(f"scores: {runner.name} was not run, its results stay as they are: {error}")
            continue
        record(runner, runs)
        for run in runs:
            print(f"{run.reader} {run.version}: {len(run.failed)} cases failed", flush=True)
    found = [
        line
        for runner in runners
        for line in mistakes(runner, load_bugs(runner), load_runs(runner), cases_by_id)
    ]
    found += absent_sentences()
    text = page(runners, cases_by_id)
    if not options.check:
        PAGE.write_text(text, "utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != text:
        found.append("docs/scores.md is not what the results say: python -m magicbyte_tools.scores")
    if found:
        print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
