"""Extracts the code examples of the documentation for tests that run them."""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout, suppress
from itertools import pairwise
from pathlib import Path
from typing import IO

from magicbyte_cli import main
from paths import CHECKOUT

PLAIN_COMMAND = re.compile(
    r"""magicbyte(?P<words>( [\w./=:,@%+-]+| '[^']*'| "([^"$`\\]|\\")*")*)"""
    r"""(?P<stderr> 2>/dev/null| 2>&1(?= \|))?( \| (?P<filters>[^|&;].*))?"""
)
"""A command that the shell only splits into words, perhaps without its stderr, or with filters of its output."""


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


def example_output(code: str, folder: Path = CHECKOUT) -> str:
    """Return what the Python example *code* prints in *folder*; it runs in this process."""
    with chdir(folder), redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    return out.getvalue()


def shell_transcript(block: str, folder: Path) -> str:
    """Return *block*, whose lines from `$ ` on are commands, with what these print in *folder*."""
    transcript = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            transcript += f"{line}\n{_output(line[2:], folder)}"
    return transcript


def _output(command: str, folder: Path) -> str:
    """Return what *command* prints in *folder*: a `magicbyte` command in this process, others in a shell."""
    plain = PLAIN_COMMAND.fullmatch(command)
    if plain is None:
        return _in_shell(command, folder)
    with chdir(folder), ExitStack() as files:
        stdout, shown, hidden = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        # Filters read stdout alone, unless stderr is sent there too.
        default = shown if plain["filters"] else stdout
        stderr = {None: default, " 2>&1": stdout, " 2>/dev/null": hidden}[plain["stderr"]]
        _run_here(shlex.split(plain["words"]), stdout, stderr)
        errors, output = _text(shown), _text(stdout)
    return errors + (_in_shell(plain["filters"], folder, output) if plain["filters"] else output)


def _in_shell(command: str, folder: Path, stdin: str = "") -> str:
    """Return what a shell prints that runs *command* in *folder*."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def _run_here(arguments: list[str], stdout: IO[bytes], stderr: IO[bytes]) -> None:
    """Run `magicbyte`, which writes to *stdout* in blocks and to *stderr* in lines."""
    with (
        open(os.dup(stdout.fileno()), "w") as out,
        open(os.dup(stderr.fileno()), "w", buffering=1) as err,
        redirect_stdout(out),
        redirect_stderr(err),
        suppress(SystemExit),
    ):
        main(arguments, prog_name="magicbyte")


def _text(file: IO[bytes]) -> str:
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
