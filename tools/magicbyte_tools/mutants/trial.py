"""One mutant tried: the project's files with its text in place, and the checks run on them."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from magicbyte_tools.generate.__main__ import outputs
from magicbyte_tools.generate.kaitai import CHECKOUT, CompileError
from magicbyte_tools.mutants.mutant import Mutant

PYTEST = (sys.executable, "-m", "pytest", "-x", "-q")

MEMORY_BYTES = 12 << 30
"""Of address space, for a mutant that forgot its limits."""


@dataclass(frozen=True, slots=True)
class Check:
    """A command that ends with another status than 0 where it finds a fault."""

    name: str
    command: tuple[str, ...]
    timeout_s: float
    memory_bytes: int | None = MEMORY_BYTES


@dataclass(frozen=True, slots=True)
class Outcome:
    mutant: Mutant
    caught_by: str | None
    """The check that found the fault; `still` where it is no mutant: nothing would run, or
    nothing that is generated from it differs. None for a survivor."""


def engine(name: str) -> Check:
    """Return the check that runs an engine on all vectors."""
    harness = (sys.executable, "-m", "magicbyte_tools.conformance", "--fail-fast")
    return Check(f"vectors, {name}", (*harness, "--engine", name), 180)


def tests(*paths: str, memory_bytes: int | None = MEMORY_BYTES) -> Check:
    """Return the check that runs the tests at *paths*."""
    return Check(f"tests, {paths[0]}", (*PYTEST, *paths), 900, memory_bytes)


def passes_as_it_is(check: Check) -> bool:
    """Return whether *check* passes on the project without any fault in it."""
    with TemporaryDirectory() as folder:
        return _passes(check, Path(folder))


def run(mutant: Mutant, checks: Sequence[Check]) -> Outcome:
    """Return which of *checks* is the first to find *mutant*."""
    with TemporaryDirectory(prefix="magicbyte-mutant-") as name:
        folder = Path(name)
        if mutant.file.endswith(".ksy"):
            shutil.copytree(CHECKOUT / "spec", folder / "spec")
            (folder / mutant.file).write_text(mutant.text, "utf-8")
            if not _generated(folder):
                return Outcome(mutant, "still")
        else:
            root = Path(mutant.file).parts[0]
            shutil.copytree(
                CHECKOUT / root, folder / root, ignore=shutil.ignore_patterns("__pycache__")
            )
            (folder / mutant.file).write_text(mutant.text, "utf-8")
        for check in checks:
            if not _passes(check, folder):
                return Outcome(mutant, check.name)
    return Outcome(mutant, None)


def _generated(folder: Path) -> bool:
    """Write generated/ from spec/ in *folder*; return whether it can be and differs."""
    try:
        files = outputs(folder / "spec", folder / "generated" / "magicbyte_formats")
    except (CompileError, ArithmeticError, LookupError, TypeError, ValueError):
        return False
    differs = False
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        ours = CHECKOUT / path.relative_to(folder)
        differs |= path.suffix == ".py" and _code(ours.read_text("utf-8")) != _code(text)
    return differs


def _code(text: str) -> list[str]:
    """Return the lines that run: without the header, which names the hash of the source."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def _passes(check: Check, folder: Path) -> bool:
    roots = [folder / root for root in ("generated", "runtime") if (folder / root).exists()]
    environment = {
        **os.environ,
        # Before what is installed; without .pyc files, which would outlive the mutant.
        "PYTHONPATH": os.pathsep.join([*map(str, roots), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    limit = "unlimited" if check.memory_bytes is None else str(check.memory_bytes >> 10)
    process = subprocess.Popen(
        ["/bin/sh", "-c", f'ulimit -v {limit}; exec "$@"', "sh", *check.command],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(check.timeout_s) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End *process* and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
