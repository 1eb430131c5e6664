"""python -m magicbyte_tools.conformance RUNNER...: run an executable on the test vectors, and judge it.

Exit status 0: no case failed. 1: a case failed. 2: a wrong argument, or the runner cannot be started.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.conformance import cases as vectors
from magicbyte_tools.conformance import engines, known, report
from magicbyte_tools.conformance.cases import VECTORS, CaseError
from magicbyte_tools.conformance.child import MIB, ProcessBounds
from magicbyte_tools.conformance.known import KnownError
from magicbyte_tools.conformance.runner import Runner
from magicbyte_tools.conformance.scoring import Score, scored


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; return the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if bool(chosen.runner) == bool(chosen.engine):
        parser.error("expected either a RUNNER or --engine")
    try:
        command = shlex.split(chosen.runner[0]) if len(chosen.runner) == 1 else chosen.runner
    except ValueError as error:
        parser.error(f"{chosen.runner[0]}: {error}")
    bounds = ProcessBounds(timeout_s=chosen.timeout_s, memory_bytes=chosen.memory_mib * MIB)
    try:
        if chosen.engine:
            runner = engines.runner(chosen.engine, bounds)
        else:
            runner = Runner(command=command, process_per=chosen.process_per, bounds=bounds)
        return run(runner, chosen)
    except (CaseError, KnownError, OSError, engines.ToolchainUnavailable) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2


def run(runner: Runner, options: argparse.Namespace) -> int:
    """Run *runner* on the selected cases and print their outcomes; return the exit status."""
    cases = vectors.load(options.vectors)
    wanted = vectors.chosen(cases, options.cases)
    if not wanted:
        raise CaseError(f"no case is named like {options.cases}")
    file = options.known or (engines.known_failures(options.engine) if options.engine else None)
    reasons = known.load(file) if file else {}
    score = Score(stale=sorted(set(reasons) - {case.path for case in cases}))
    for one in scored(runner.answers(wanted), reasons):
        score.add(one)
        if options.format == "ndjson":
            print(report.line(one), flush=True)
        elif one.outcome == "failed":
            print(report.failure(one), flush=True)
        if options.fail_fast and one.outcome == "failed":
            break
    if options.format == "ndjson":
        print(report.summary(score))
    else:
        print("\n".join(report.table(score)))
    return 0 if score.is_good else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m magicbyte_tools.conformance",
        description="Run an executable on the vectors and judge what it prints; "
        "tests/vectors/README.md tells what that must be.",
    )
    add = parser.add_argument
    add("runner", nargs="*", metavar="RUNNER", help="the command, in words or in one string")
    add("--engine", choices=sorted(engines.NAMES), help="a runner of this project instead")
    add("--vectors", type=Path, default=VECTORS, metavar="DIR", help="the folder of the cases")
    add("--cases", metavar="GLOB", help="only cases named so: 'invalid/*', '*/kafka_log/v2-*'")
    add("--known", type=Path, metavar="FILE", help='known failures: {"path": {"reason": "..."}}')
    add("--format", choices=("text", "ndjson"), default="text")
    add(
        "--process-per",
        choices=("case", "format", "run"),
        default="case",
        help="RUNNER FORMAT FILE (case, the default), RUNNER FORMAT FILE... (format), "
        "RUNNER --lines (run)",
    )
    add("--fail-fast", action="store_true", help="stop at the first failure")
    add("--timeout-s", type=_positive, default=20.0, metavar="N", help="for a case (20)")
    add("--memory-mib", type=int, default=4096, metavar="N", help="of data for RUNNER (4096)")
    return parser


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


if __name__ == "__main__":
    sys.exit(main())
