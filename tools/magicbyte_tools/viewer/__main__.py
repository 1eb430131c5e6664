"""python -m magicbyte_tools.viewer [--check]: write the viewer's page, or fail if it is not what its sources give."""

import sys

from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.viewer.page_builder import PAGE, page


def main(check: bool) -> int:
    """Write the page if it differs; with *check*, only say so. Return the exit status."""
    text = page()
    if PAGE.is_file() and PAGE.read_text("utf-8") == text:
        return 0
    name = PAGE.relative_to(CHECKOUT)
    if check:
        print(f"{name} is not what its sources give: run `make generate`.")
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, "utf-8", newline="\n")
    print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
