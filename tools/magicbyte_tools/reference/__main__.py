"""python -m magicbyte_tools.reference [--check] [--html OUT]: write docs/formats and the other generated files of docs/.

`--check` names the files that are outdated.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from magicbyte_tools.generate import message_schemas
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.generate.source import specs
from magicbyte_tools.reference.commands_page import commands_page
from magicbyte_tools.reference.findings_page import findings_page
from magicbyte_tools.reference.html import html
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.ndjson_page import ndjson_page
from magicbyte_tools.reference.notebook import notebook
from magicbyte_tools.reference.python_page import python_page
from magicbyte_tools.reference.reference import reference
from magicbyte_tools.reference.tables_page import tables_page
from magicbyte_tools.reference.terminal_picture import terminal_picture

DOCS = CHECKOUT / "docs"
FORMATS = DOCS / "formats"

SINGLE_FILES: Mapping[str, Callable[[], str]] = {
    "findings.md": findings_page,
    "pictures/terminal.svg": terminal_picture,
    "reference/commands.md": commands_page,
    "reference/ndjson.md": ndjson_page,
    "reference/python.md": python_page,
    "reference/tables.md": tables_page,
    "tutorial.ipynb": lambda: notebook((DOCS / "tutorial.md").read_text("utf-8")),
}
"""Generated files beside docs/formats: the functions that return their texts, by path below docs/."""


def differing(pages: dict[str, str], folder: Path = FORMATS) -> list[Path]:
    """Return the paths in *folder* that differ from *pages*, are missing or superfluous."""
    there = {path for path in folder.rglob("*") if path.is_file()}
    files = {folder / name: text for name, text in pages.items()}
    stale = there - files.keys()
    changed = {path for path in files if path not in there or _text(path) != files[path]}
    return sorted(stale | changed)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def write(pages: dict[str, str], folder: Path = FORMATS) -> None:
    """Write *pages*, text by relative path, to *folder*; delete all other files there."""
    for path in differing(pages, folder):
        name = path.relative_to(folder).as_posix()
        if name not in pages:
            path.unlink()
            print(f"{_shown(path)}: deleted")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages[name], "utf-8", newline="\n")
        print(_shown(path))


def _shown(path: Path) -> Path:
    return path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else path


def check(pages: dict[str, str], folder: Path = FORMATS) -> int:
    """Print the files of *folder* that differ from *pages*; return 1 if any do, else 0."""
    found = differing(pages, folder)
    for path in found:
        print(_shown(path))
    if found:
        print("docs/formats is not what spec/ and tests/vectors/ say: run `make docs`.")
    return int(bool(found))


def outdated(folder: Path = DOCS) -> list[Path]:
    """Return the paths of SINGLE_FILES that are not in *folder* as their functions write them."""
    files = {folder / name: text_of() for name, text_of in SINGLE_FILES.items()}
    return [path for path, text in files.items() if not path.is_file() or _text(path) != text]


def check_single_files(folder: Path = DOCS) -> int:
    """Print the paths of SINGLE_FILES that are outdated in *folder*; return 1 if any are, else 0."""
    found = outdated(folder)
    for path in found:
        print(f"{_shown(path)} is not what the code says: run `make docs`.")
    return int(bool(found))


def main(arguments: Sequence[str]) -> int:
    """Write or check the generated files, or write the HTML file; return the exit status."""
    wanted = reference(Library(specs()), message_schemas.load_all())
    if arguments == ["--check"]:
        return check(wanted) | check_single_files()
    if len(arguments) == 2 and arguments[0] == "--html":
        Path(arguments[1]).write_text(html(wanted), "utf-8", newline="\n")
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    write(wanted)
    for path in outdated():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = SINGLE_FILES[path.relative_to(DOCS).as_posix()]()
        path.write_text(text, "utf-8", newline="\n")
        print(_shown(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
