"""Extracts the code examples of the documentation for tests that run them."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout, suppress
from itertools import pairwise
from pathlib import Path

from magicbyte_cli import main
from paths import CHECKOUT

PLAIN_COMMAND = re.compile(
    r"""magicbyte(?P<words>( [\w./=:,@%+-]+| '[^']*'| "([^"$`\\]|\\")*")*)(?P<quiet> 2>/dev/null)?"""
)
"""A command that the shell only splits into words, perhaps without its stderr."""


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
    transcript = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            transcript += f"{line}\n{_output(line[2:], folder)}"
    return transcript


def _output(command: str, folder: Path) -> str:
    """Return what *command* prints in *folder*: a `magicbyte` command in this process, others in a shell."""
    if plain := PLAIN_COMMAND.fullmatch(command):
        with chdir(folder):
            return _output_here(shlex.split(plain["words"]), quiet=plain["quiet"] is not None)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def _output_here(arguments: list[str], *, quiet: bool) -> str:
    """Return what `magicbyte` writes to one file: stdout in blocks, stderr in lines unless *quiet*."""
    with tempfile.TemporaryFile() as file, ExitStack() as streams:
        stdout = streams.enter_context(open(os.dup(file.fileno()), "w"))
        target = os.devnull if quiet else os.dup(file.fileno())
        stderr = streams.enter_context(open(target, "w", buffering=1))
        with redirect_stdout(stdout), redirect_stderr(stderr), suppress(SystemExit):
            main(arguments, prog_name="magicbyte")
        streams.close()
        file.seek(0)
        return file.read().decode().replace("\r\n", "\n")  # CSV has both


def _fenced(page: str) -> list[tuple[str, str]]:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


SCRIPT = re.compile(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A script of a page, after a sentence that says under which name to save it."""


def save_scripts(page: str, folder: Path) -> list[str]:
    """Write the scripts that *page* says to save to *folder*; return their names."""
    scripts = SCRIPT.findall((CHECKOUT / page).read_text(encoding="utf-8"))
    for name, code in scripts:
        (folder / name).write_text(code, encoding="utf-8")
    return [name for name, _ in scripts]
