"""python -m magicbyte_tools.parsers TARGET OUT: write the parsers of a language into a folder."""

import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.generate import source
from magicbyte_tools.generate.kaitai import CompileError
from magicbyte_tools.parsers.compiler_output import Files, compile_targets, write
from magicbyte_tools.parsers.imhex import patterns
from magicbyte_tools.parsers.packages import LAYOUTS, REFUSED, left_out, package

IMHEX = "imhex"
"""Target that is no language of the compiler: patterns for the hex editor ImHex."""

USAGE = "usage: python -m magicbyte_tools.parsers TARGET OUT (make parsers TARGET=... OUT=...)"


def main(arguments: Sequence[str]) -> int:
    """Write the parsers of a language into a folder; return the exit status, 2 for a failure."""
    if len(arguments) != 2 or not all(arguments):
        return complain(USAGE)
    target, out = arguments[0], Path(arguments[1])
    if target in REFUSED:
        return complain(f"{target}: {REFUSED[target]}")
    if target not in {*LAYOUTS, IMHEX}:
        known = ", ".join(sorted({*LAYOUTS, *REFUSED, IMHEX}))
        return complain(f"there is no target {target!r}; there are {known}")
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        return complain(f"{out} is there already and is not an empty folder")
    specs = source.specs()
    if target == IMHEX:
        return finish(patterns(specs), out)
    try:
        files = package(target, compile_targets([target])[target], specs)
    except CompileError as error:
        return complain(str(error))
    return finish(files, out, sorted(left_out(target, specs)))


def finish(files: Files, out: Path, absent: Sequence[str] = ()) -> int:
    """Write *files* into *out*, and say so; return the exit status 0."""
    write(files, out)
    print(f"{out}: {len(files)} files; README.md says how to use them")
    if absent:
        print(f"left out, as README.md explains: {', '.join(absent)}")
    return 0


def complain(words: str) -> int:
    """Print the reason of a failure on stderr; return the exit status 2."""
    print(words, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
