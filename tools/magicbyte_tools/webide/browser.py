"""Files opened in Chromium: by the Web IDE's engine in a blank page, and in a copy of the IDE."""

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
    """A file to be opened in the IDE with one of the specifications."""

    file: str
    ksy: str
    open: tuple[str, ...] = ()
    """Labels of the tree nodes to be opened, each below the one before."""
    select: tuple[str, ...] = ()
    """The path of the field to be marked in the hex view, as the IDE names it."""
    picture: str | None = None
    """Path of the screenshot to write."""
    size: tuple[int, int] = (1200, 700)
    """Pixels of the page."""
    edits: tuple[tuple[str, str, str], ...] = ()
    """Replacements in .ksy files before they are dropped: id of the file, old text, new text."""
    user_types: str = ""
    """JavaScript that the IDE runs before its generated code."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Result of a job in the IDE."""

    error: str | None
    """Text of the error pane."""
    tree: list[str]
    """The labels of the tree's nodes, as far as they were loaded."""
    unparsed: int
    """Number of byte ranges that belong to no field, by the info panel."""
    json: Any
    """The IDE's export to JSON; null where there is an error."""
    milliseconds: int
    """Time from the click on the .ksy until the file is parsed."""


def chromium() -> str | None:
    """Return the browser's path: what CHROMIUM says, or what PATH has; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def in_page(browser: str, folder: Path, files: Sequence[tuple[str, Path]]) -> list[Claims]:
    """Return the claims of the formats in *folder* on *files*, computed in a page of *browser*."""
    install()
    return claims_of([NODE, HERE / "page.mjs", INSTALLED, folder, browser], files)


def in_site(browser: str, site: Path, folder: Path, jobs: Sequence[PageJob]) -> list[Opened]:
    """Return the results of *jobs* in the IDE at *site*, with all .ksy files of *folder* loaded."""
    install()
    command: Sequence[str | Path] = [NODE, HERE / "site.mjs", INSTALLED, site, folder, browser]
    text = json.dumps([asdict(job) for job in jobs])
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return [Opened(**one) for one in json.loads(done.stdout)]
