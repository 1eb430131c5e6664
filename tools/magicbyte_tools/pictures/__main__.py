"""python -m magicbyte_tools.pictures [FOLDER]: write the pictures of the report and the viewer into docs/pictures.

It takes Chromium, and Spark for the report. The picture of a terminal is an SVG that `make docs` writes.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from magicbyte_tools.generate.kaitai import INSTALLED, NODE, install
from magicbyte_tools.webide.browser import chromium

CHECKOUT = Path(__file__).parents[3]
PICTURES = CHECKOUT / "docs" / "pictures"

MAGICBYTE = (sys.executable, "-c", "import sys, magicbyte_cli; sys.exit(magicbyte_cli.main())")

LOGS = "tests/data/4.3/transactions"

BATCH = "tests/data/4.3/transactions/log-0/aborted-0/00000000000000000006.log@1001"
"""Batch of an aborted transaction, compressed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pictures; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte_tools.pictures")
    parser.add_argument("folder", type=Path, nargs="?", default=PICTURES)
    folder = parser.parse_args(arguments).folder
    browser = chromium()
    if browser is None:
        print("There is no Chromium on PATH; the variable CHROMIUM names one.", file=sys.stderr)
        return 2
    install()
    with TemporaryDirectory() as work:
        report, viewer = Path(work, "out", "report.html"), Path(work, "view.html")
        _run("pipeline", LOGS, str(report.parent), "--verify")
        _run("view", BATCH, "-o", str(viewer))
        jobs = [
            _job(report, folder / "report-bytes.png", (1200, 900)),
            _job(report, folder / "report-time.png", (1200, 900), start="#time"),
            _job(viewer, folder / "viewer.png", (1280, 1440), clicks=("Open the payload",)),
        ]
        script = Path(__file__).with_name("shoot.mjs")
        subprocess.run([NODE, script, INSTALLED, browser, json.dumps(jobs)], check=True)
    for job in jobs:
        path = Path(str(job["picture"]))
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


def _run(*arguments: str) -> None:
    subprocess.run([*MAGICBYTE, *arguments], check=True, cwd=CHECKOUT, stdout=subprocess.DEVNULL)


def _job(
    page: Path,
    picture: Path,
    size: tuple[int, int],
    *,
    start: str | None = None,
    clicks: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a job of shoot.mjs: a picture of *page* from the element *start* on, after *clicks* on texts."""
    width, height = size
    return {"page": page.as_uri(), "picture": str(picture.absolute()), "width": width, "height": height,
            "from": start, "clicks": clicks}  # fmt: skip


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
