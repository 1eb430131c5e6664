"""Runs the checks that may find a mutant: conformance vectors and pytest files."""

import importlib.util
import io
import json
import re
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.conformance import engines
from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.child import ProcessBounds
from magicbyte_tools.conformance.runner import Answer, Runner, parse
from magicbyte_tools.conformance.scoring import scored
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.mutants import forked

RUNTIME, PARSERS = "runtime", "kaitai-python"

CASE_TIMEOUT_S = 10
VECTORS_TIMEOUT_S = 180
TESTS_TIMEOUT_S = 300


@dataclass(frozen=True, slots=True)
class Vectors:
    """Check that reads the conformance vectors of some formats by an engine in Python."""

    engine: str
    formats: tuple[str, ...] = ()
    """Formats whose vectors are run, in this order; by default all."""

    @property
    def name(self) -> str:
        return f"vectors, {self.engine}"

    def passes(self, tree: Path) -> bool:
        """Return whether the engine, imported from *tree*, fails no case."""
        wanted = _cases(self.formats)
        claim = partial(_all_pass, _parsers if self.engine == PARSERS else _runtime, wanted)
        if self.engine == PARSERS:
            _runner()  # build the parsers before the fork
        return forked.holds(claim, tree, timeout_s=VECTORS_TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class Tests:
    """Check that runs the pytest files *paths* up to the first failure."""

    about: str
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"tests, {self.about}"

    def passes(self, tree: Path) -> bool:
        """Return whether all tests pass with the modules of *tree*."""
        arguments = ["-x", "-q", *self.paths]
        return forked.holds(lambda: pytest.main(arguments) == 0, tree, timeout_s=TESTS_TIMEOUT_S)


Check = Vectors | Tests


def naming(folder: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of the test files in *folder* whose text contains one of *names* as a word."""
    word = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    return tuple(
        str(file.relative_to(CHECKOUT))
        for file in sorted((CHECKOUT / folder).glob("test_*.py"))
        if word.search(file.read_text("utf-8"))
    )


@cache
def _all_cases() -> list[Case]:
    return load_cases(VECTORS)


@cache
def _cases(formats: tuple[str, ...]) -> list[Case]:
    """Return the conformance cases of *formats*, in the order of *formats*; all cases if it is empty."""
    if not formats:
        return _all_cases()
    chosen = [case for case in _all_cases() if case.format in formats]
    return sorted(chosen, key=lambda case: formats.index(case.format))


def _all_pass(engine: Callable[[], Callable[[Case], bytes]], cases: list[Case]) -> bool:
    """Return whether the engine that *engine* imports, in the fork, fails none of *cases*."""
    printed = engine()

    def answer(case: Case) -> tuple[Case, Answer]:
        # SIGALRM ends the process, so a case that hangs fails the check.
        signal.alarm(CASE_TIMEOUT_S)
        return case, parse(printed(case))

    return all(one.outcome != "failed" for one in scored(map(answer, cases), {}))


@cache
def _runner() -> Runner:
    return engines.runner(PARSERS, ProcessBounds())


def _parsers() -> Callable[[Case], bytes]:
    """Return a function from a case to the output of the runner `kaitai-python`."""
    runner = _runner()
    out = io.BytesIO()
    sys.stdout = io.TextIOWrapper(out)
    dump = _module(Path(runner.command[-1]))

    def printed(case: Case) -> bytes:
        if case.format in runner.unread:
            return json.dumps({"unsupported": runner.unread[case.format]}).encode()
        out.seek(0)
        out.truncate()
        dump.main([runner.aliases.get(case.format, case.format), str(case.data_path)])
        return out.getvalue()

    return printed


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _runtime() -> Callable[[Case], bytes]:
    """Return a function from a case to the output of the runner `runtime`."""
    engine = importlib.import_module(f"{engines.__name__}.runtime")

    def printed(case: Case) -> bytes:
        return json.dumps(engine.read(case.format, case.data_path, case.settings)).encode()

    return printed
