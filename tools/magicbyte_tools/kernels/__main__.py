"""python -m magicbyte_tools.kernels [--all] [LIBRARY...]: build libraries of kernels in .cache/kernels.

The default is the library that this processor needs; --all builds for all systems and processors.
"""

import argparse

from magicbyte.engines.columnar._processor_levels import LEVELS, levels_here
from magicbyte_tools.kernels.levels import level_of
from magicbyte_tools.kernels.library_builder import build


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="all systems and processors")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="linux-x86_64-baseline.so")
    arguments = parser.parse_args()
    levels = list(LEVELS) if arguments.all else [*map(level_of, arguments.libraries)]
    for path in build(levels or levels_here()[:1]):
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
