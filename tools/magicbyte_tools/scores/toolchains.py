"""Builds the runners: fetches the libraries that their lock files name, and compiles, in the cache folder.

Each function returns the command that runs a version. Raises ProgramUnavailable if a tool is missing or fails.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from magicbyte_tools.bench.foreign_programs import attempt, compiled, sources, tool
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.scores import kafka_programs
from magicbyte_tools.scores.client_runner import RUNNERS, SHARED, ClientRunner

CACHE = CHECKOUT / ".cache" / "runners"

RECORDED = ("known.json", "results.json", "bugs.json", "runner.json")
"""Files beside a runner that are no part of it."""

NODE_HEAP = "--max-old-space-size=256"
"""Option of Node: the largest heap, in MiB. With the default a client that fills it takes 20 s or more, by the machine."""


def _built(runner: ClientRunner, build: Callable[[Path], None]) -> Path:
    """Return the copy of the runner's folder in the cache, after *build* has fetched and compiled there."""
    folders = [runner.folder, SHARED / runner.toolchain]
    files = [path for folder in folders for path in sources(folder)]
    files = [path for path in files if path.name not in RECORDED and path.suffix != ".pyc"]

    def copy_and_build(place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        for path in files:
            copy = place / path.relative_to(RUNNERS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        build(place / runner.name)

    return (
        compiled(runner.name, [path.read_bytes() for path in files], CACHE, copy_and_build)
        / runner.name
    )


def go(runner: ClientRunner, version: str) -> list[str]:
    """Build a runner in Go; a file inside.go is compiled inside the package, for types that are not exported."""

    def build(folder: Path) -> None:
        inside = folder / "inside.go"
        text = inside.read_text("utf-8") if runner.into else ""
        if runner.into:
            inside.unlink()
            attempt([tool("go"), "mod", "vendor"], folder=folder, environment={})
            target = folder / "vendor" / runner.into / "inside.go"
            target.write_text(text.replace("//go:build inside\n", ""), "utf-8")
        attempt([tool("go"), "build", "-o", "runner", "."], folder=folder, environment={})

    return [str(_built(runner, build) / "runner")]


def node(runner: ClientRunner, version: str) -> list[str]:
    """Install the packages of a runner in JavaScript; none of them may run a script."""

    def build(folder: Path) -> None:
        attempt([tool("npm"), "ci", "--ignore-scripts"], folder=folder, environment={})

    return [tool("node"), NODE_HEAP, str(_built(runner, build) / "runner.js")]


def rust(runner: ClientRunner, version: str) -> list[str]:
    """Build a runner in Rust. Its Cargo.lock names no registry: Cargo's own is entered here."""

    def build(folder: Path) -> None:
        lock = folder / "Cargo.lock"
        locked = lock.read_text("utf-8")
        lock.unlink()
        attempt([tool("cargo"), "generate-lockfile"], folder=folder, environment={})
        source = re.search(r"^source = .*$", lock.read_text("utf-8"), re.MULTILINE)
        assert source is not None, "Cargo names the source of each package"
        lock.write_text(re.sub(r"^(?=checksum = )", f"{source[0]}\n", locked, flags=re.MULTILINE))
        options = ["--release", "--locked", "--target-dir", "target"]
        attempt([tool("cargo"), "build", *options], folder=folder, environment={})

    return [str(_built(runner, build) / "target" / "release" / "runner")]


def python(runner: ClientRunner, version: str) -> list[str]:
    """Install the packages of a runner in Python into an environment of its own."""

    def build(folder: Path) -> None:
        attempt([sys.executable, "-m", "venv", ".venv"], folder=folder, environment={})
        pip = [str(folder / ".venv" / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        options = ["--require-hashes", "--only-binary", ":all:", "--requirement"]
        attempt([*pip, *options, "requirements.txt"], folder=folder, environment={})

    folder = _built(runner, build)
    return [os.path.join(folder, ".venv", "bin", "python"), str(folder / "runner.py")]


def kafka(runner: ClientRunner, version: str) -> list[str]:
    """Compile a runner in Java against the jars of a Kafka release."""
    return kafka_programs.command(runner.folder / f"{runner.main}.java", version)


TOOLCHAINS: Mapping[str, Callable[[ClientRunner, str], list[str]]] = {
    one.__name__: one for one in (go, node, rust, python, kafka)
}
