"""Extracts the code examples of the documentation for tests that run them."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from paths import CHECKOUT


def blocks(page: str, *languages: str) -> list[str]:
    """Return the code blocks of *page*, a path in the checkout, that are in one of *languages*."""
    return [code for language, code in _fenced(page) if language in languages]


def examples(page: str) -> list[tuple[str, str]]:
    """Return (code, output) of *page*'s Python blocks; a block without language is the output."""
    found = [*_fenced(page), ("end", "")]
    return [
        (code, shown if follows == "" else "")
        for (language, code), (follows, shown) in pairwise(found)
        if language == "python"
    ]


def shell_transcript(block: str, folder: Path) -> str:
    """Return *block*, whose lines from `$ ` on are commands, with what these print in *folder*."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    transcript = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(
                ["/bin/sh", "-c", line[2:]],
                cwd=folder,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            transcript += f"{line}\n{done.stdout}"
    return transcript


def _fenced(page: str) -> list[tuple[str, str]]:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
