"""Count the functions of this project that opening a dataset and reading from it call.

    python -m magicbyte_tools.trips [--list] [PATH]

A function is a code object under runtime/ or generated/ that runs at least once; modules being
imported do not count. PATH is a segment or a partition folder.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import magicbyte as mb

CHECKOUT = Path(mb.__file__).parents[2]
ROOTS = tuple(f"{CHECKOUT / name}/" for name in ("runtime", "generated"))
SEGMENT = "tests/data/4.3/plain/log-0/java-none-0/00000000000000000000.log"

Calls = dict[CodeType, None]
"""Code objects in the order of their first calls."""


def calls_of(work: Callable[[], Any]) -> tuple[Calls, Any]:
    """Return the functions of this project that *work* calls, and its result."""
    calls: Calls = {}

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOTS) and code.co_name != "<module>":
            calls.setdefault(code)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        result = work()
    finally:
        sys.setprofile(before)
    return calls, result


def open_and_read(path: str) -> tuple[Calls, Calls]:
    """Return the functions called by `magicbyte.open`, and by the first Arrow batch of a dataset.

    Reading uses the columnar engine, as any log of more than a few entries does. Both are done
    once before they are counted, so that neither imports nor the compilation of kernels count.
    """
    next(iter(mb.open(path, engine="columnar").records()))
    opening, _ = calls_of(lambda: mb.open(path))
    dataset = mb.open(path, engine="columnar")
    reading, _ = calls_of(lambda: next(iter(dataset.records())))
    return opening, reading


def _listing(calls: Calls) -> list[str]:
    """Return the functions by file, both in the order of their first calls."""
    files: dict[str, list[str]] = {}
    for code in calls:
        files.setdefault(code.co_filename, []).append(code.co_qualname)
    return [
        f"  {file.removeprefix(f'{CHECKOUT}/')}: {', '.join(names)}"
        for file, names in files.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", nargs="?", default=str(CHECKOUT / SEGMENT), metavar="PATH")
    parser.add_argument("--list", action="store_true", help="also print the functions by file")
    arguments = parser.parse_args()
    titles = ("open", "first Arrow batch")
    for title, calls in zip(titles, open_and_read(arguments.path), strict=True):
        files = {code.co_filename for code in calls}
        print(f"{title}: {len(calls)} functions in {len(files)} files")
        if arguments.list:
            print(*_listing(calls), sep="\n")


if __name__ == "__main__":
    main()
