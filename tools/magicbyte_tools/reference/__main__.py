"""python -m magicbyte_tools.reference [--check] [--html OUT]: write docs/formats and docs/findings.md.

`--check` names the files that are outdated.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.generate import message_schemas
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.generate.source import specs
from magicbyte_tools.reference.findings_page import findings_page
from magicbyte_tools.reference.html import html
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.reference import reference

FORMATS = CHECKOUT / "docs" / "formats"
FINDINGS = CHECKOUT / "docs" / "findings.md"


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


def check_findings(page: Path = FINDINGS) -> int:
    """Print *page* and return 1 if it differs from the codes of findings, else 0."""
    if page.is_file() and _text(page) == findings_page():
        return 0
    print(f"{_shown(page)} is not what the codes of findings say: run `make docs`.")
    return 1


def main(arguments: Sequence[str]) -> int:
    """Write or check docs/formats, or write the HTML file; return the exit status."""
    wanted = reference(Library(specs()), message_schemas.load_all())
    if arguments == ["--check"]:
        return check(wanted) | check_findings()
    if len(arguments) == 2 and arguments[0] == "--html":
        Path(arguments[1]).write_text(html(wanted), "utf-8", newline="\n")
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    write(wanted)
    FINDINGS.write_text(findings_page(), "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
