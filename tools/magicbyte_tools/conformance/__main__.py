"""python -m magicbyte_tools.conformance RUNNER...: run an executable on the test vectors, and judge it.

The same as tests/vectors/score.py, and `--engine` names a runner of this project.
"""

import sys
from collections.abc import Sequence

from magicbyte_tools.conformance import engines
from magicbyte_tools.conformance.command import (
    bounds_of,
    check_options,
    runner_of,
    scorer_parser,
    status_of,
)
from magicbyte_tools.conformance.vectors_folder import VECTORS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; return the exit status."""
    parser = scorer_parser("python -m magicbyte_tools.conformance", VECTORS)
    parser.add_argument(
        "--engine", choices=sorted(engines.NAMES), help="a runner of this project instead"
    )
    options = parser.parse_args(arguments)
    if bool(options.runner) == bool(options.engine):
        parser.error("expected either a RUNNER or --engine")
    check_options(parser, options)
    if not options.engine:
        return status_of(runner_of(parser, options), options)
    try:
        runner = engines.runner(options.engine, bounds_of(options))
    except engines.ToolchainUnavailable as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return status_of(runner, options, engines.known_failures(options.engine))


if __name__ == "__main__":
    sys.exit(main())
