"""Opens files in Chromium: by the Web IDE's parser in a blank page, or in a copy of the IDE."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from magicbyte_tools.generate.kaitai import INSTALLED, NODE, install
from magicbyte_tools.webide.claims import Claims, claims_of
from magicbyte_tools.webide.debug_parsers import HERE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class PageJob:
    """A job for the Web IDE: a file to open, its specification, and what to do with it."""

    file: str
    ksy: str
    open: tuple[str, ...] = ()
    """Labels of the tree nodes to expand, each a child of the previous one."""
    select: tuple[str, ...] = ()
    """Path, in the IDE's notation, of the field to select in the hex view."""
    picture: str | None = None
    """Path of the screenshot to write, if any."""
    size: tuple[int, int] = (1200, 700)
    """Width and height of the page in pixels."""
    edits: tuple[tuple[str, str, str], ...] = ()
    """Replacements in .ksy files before the IDE loads them: id of the file, old text, new text."""
    user_types: str = ""
    """JavaScript that the IDE runs before its generated code."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Result of a PageJob: the file as the Web IDE shows it."""

    error: str | None
    """Text of the error pane; None without an error."""
    tree: list[str]
    """Labels of the nodes that the IDE loaded into its tree."""
    unparsed: int
    """Number of byte ranges that belong to no field, according to the IDE's info panel."""
    json: Any
    """The IDE's export of the parsed file to JSON; None after an error."""
    milliseconds: int
    """Time from the click on the .ksy until the file is parsed."""


def chromium() -> str | None:
    """Return the path of Chromium, from the variable CHROMIUM or from PATH; None if missing."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def in_page(browser: str, folder: Path, files: Sequence[tuple[str, Path]]) -> list[Claims]:
    """Parse *files* in a page of *browser*; return which bytes of each the fields claim.

    *files* are pairs of format id and path; *folder* contains the specifications.
    """
    install()
    return claims_of([NODE, HERE / "page.mjs", INSTALLED, folder, browser], files)


def in_site(browser: str, site: Path, folder: Path, jobs: Sequence[PageJob]) -> list[Opened]:
    """Run *jobs* in the copy of the IDE at *site* with all .ksy files of *folder* loaded."""
    install()
    command: Sequence[str | Path] = [NODE, HERE / "site.mjs", INSTALLED, site, folder, browser]
    text = json.dumps([asdict(job) for job in jobs])
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return [Opened(**one) for one in json.loads(done.stdout)]
