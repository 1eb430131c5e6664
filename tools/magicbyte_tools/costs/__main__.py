"""python -m magicbyte_tools.costs LOG_DIR... [--out FILE.md]: measure the sizes of real batches in every format."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.costs.cost_page import page
from magicbyte_tools.costs.measure import Measured, measure
from magicbyte_tools.costs.samples import samples


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="costs", description="Encode the batches of real logs in every format."
    )
    parser.add_argument("log_dirs", nargs="+", type=Path, metavar="LOG_DIR")
    parser.add_argument("--out", type=Path, help="write the page there; else to the terminal")
    options = parser.parse_args(arguments)
    measured = Measured()
    for log_dir in options.log_dirs:
        measure(samples([log_dir]), measured)
    text = page(measured)
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
