"""Command line of the scorer: options, the run, and the exit status.

Exit status 0: no case failed. 1: a case failed. 2: a wrong argument, or a runner that cannot be
started or answers nothing at all.
"""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from magicbyte_tools.conformance.answer_shape import FEATURES
from magicbyte_tools.conformance.cases import Case, CaseError, load_cases, load_version, selected
from magicbyte_tools.conformance.child import MIB, ProcessBounds
from magicbyte_tools.conformance.known import Known, KnownError, load_known
from magicbyte_tools.conformance.level_scores import LEVELS, LevelScore, level_scores
from magicbyte_tools.conformance.progress import Progress
from magicbyte_tools.conformance.report import case_line, failure_line, summary_line, tables
from magicbyte_tools.conformance.result_files import write_badges, write_json, write_junit
from magicbyte_tools.conformance.runner import Runner, SilentRunnerError
from magicbyte_tools.conformance.scoring import Score, scored


def scorer_main(arguments: Sequence[str] | None, folder: Path) -> int:
    """Run the command line *arguments* on the vectors in *folder*; return the exit status."""
    parser = scorer_parser("score.py", folder)
    options = parser.parse_args(arguments)
    if not options.runner:
        parser.error("expected a RUNNER")
    check_options(parser, options)
    return status_of(runner_of(parser, options), options)


def scorer_parser(program: str, folder: Path) -> argparse.ArgumentParser:
    """Return the parser of the scorer's options; the vectors are those in *folder* by default."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Run an executable on the vectors of Kafka's record formats and judge what it "
        "prints; the README of the vectors tells what that must be.",
    )
    add = parser.add_argument
    add("runner", nargs="*", metavar="RUNNER", help="the command, in words or in one string")
    add("--vectors", type=Path, default=folder, metavar="DIR", help="the folder of the cases")
    add("--cases", metavar="GLOB", help="only cases named so: 'invalid/*', 'kafka_log/v2-*'")
    add("--level", choices=tuple(LEVELS), help="only the cases of a level")
    add(
        "--lacks",
        type=features,
        default=(),
        metavar="NAMES",
        help=f"leave out the cases that need some of {', '.join(FEATURES)}: 'v0,v1,zstd'",
    )
    add("--known", type=Path, metavar="FILE", help='known failures: {"id": {"reason": "..."}}')
    add("--name", metavar="TEXT", help="name of the runner in the results (the command)")
    add("--format", choices=("text", "ndjson"), default="text", help="of standard output (text)")
    add("--json", type=Path, metavar="FILE", help="write all results as one JSON object")
    add("--junit", type=Path, metavar="FILE", help="write all results as JUnit's XML, for CI")
    add("--badges", type=Path, metavar="DIR", help="write LEVEL.json for shields.io's endpoint")
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


def features(text: str) -> tuple[str, ...]:
    """Return the features in *text*, such as `v0,v1`; argparse reports a ValueError."""
    names = tuple(text.split(","))
    unknown = [name for name in names if name not in FEATURES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no features: {', '.join(unknown)}")
    return names


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a message if *options* contradict each other."""
    if options.badges and (options.cases or options.fail_fast):
        parser.error("a badge counts all cases of a level: leave out --cases and --fail-fast")


def runner_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Runner:
    """Return the runner that *options* name; end with a message if its command cannot be read."""
    try:
        words = options.runner
        command = shlex.split(words[0]) if len(words) == 1 else words
    except ValueError as error:
        parser.error(f"{options.runner[0]}: {error}")
    return Runner(command=command, process_per=options.process_per, bounds=bounds_of(options))


def bounds_of(options: argparse.Namespace) -> ProcessBounds:
    return ProcessBounds(timeout_s=options.timeout_s, memory_bytes=options.memory_mib * MIB)


def status_of(runner: Runner, options: argparse.Namespace, known_file: Path | None = None) -> int:
    """Run *runner* on the selected cases and print their outcomes; return the exit status.

    *known_file* has known failures, unless *options* name another file.
    """
    file = options.known or known_file
    try:
        all_cases = load_cases(options.vectors)
        known = load_known(file) if file else {}
        return run(runner, options, all_cases, known)
    except (CaseError, KnownError, OSError, SilentRunnerError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2


def run(runner: Runner, options: argparse.Namespace, all_cases: list[Case], known: Known) -> int:
    """Run *runner* on the selected ones of *all_cases*, print and write results; return the status."""
    cases = selected(all_cases, options.cases, options.level)
    if not cases:
        raise CaseError(f"no case is named like {options.cases}")
    score = Score(stale=sorted(set(known) - {case.id for case in all_cases}))
    progress = Progress(len(cases), sys.stderr)
    for one in scored(runner.answers(cases, options.lacks), known):
        score.add(one)
        has_failed = one.outcome == "failed"
        progress.add(has_failed=has_failed)
        if options.format == "ndjson" or has_failed:
            progress.clear()
            print(case_line(one) if options.format == "ndjson" else failure_line(one), flush=True)
        if options.fail_fast and has_failed:
            break
    progress.clear()
    levels = level_scores(score.case_results)
    if options.level:
        levels = {options.level: levels[options.level]}
    if options.format == "ndjson":
        print(summary_line(score, levels))
    else:
        print("\n".join(tables(score, levels)))
    write_results(options, score, levels, shlex.join(runner.command))
    return 0 if score.is_good else 1


def write_results(
    options: argparse.Namespace, score: Score, levels: Mapping[str, LevelScore], command: str
) -> None:
    """Write the files that *options* ask for."""
    name = options.name or command
    if options.json:
        version = load_version(options.vectors)
        write_json(options.json, score, levels, name=name, vectors_version=version)
    if options.junit:
        write_junit(options.junit, score, name=name)
    if options.badges:
        write_badges(options.badges, levels)
