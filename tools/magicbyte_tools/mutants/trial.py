"""Tries one mutant: runs the checks on a copy of the project's Python that has the fault."""

import compileall
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory

from magicbyte_tools.generate.kaitai import CHECKOUT, CompileError
from magicbyte_tools.mutants import grammars, suite
from magicbyte_tools.mutants.mutant import Mutant

ROOTS = ("generated", "runtime", "spec")

CANNOT_GENERATE = (CompileError, ArithmeticError, LookupError, TypeError, ValueError)

STILL = "still"

CHECKED_HASH = PycInvalidationMode.CHECKED_HASH


@dataclass(frozen=True, slots=True)
class Outcome:
    mutant: Mutant
    caught_by: str | None
    """The check that found the fault; `still` where it is no mutant: nothing would run, or
    nothing that is generated from it differs. None for a survivor."""


def sound_tree(folder: Path) -> Path:
    """Fill *folder* with the project's Python, compiled to .pyc; each mutant gets a copy of it."""
    for root in ROOTS:
        ignored = shutil.ignore_patterns("__pycache__", "magicbyte_construct")
        shutil.copytree(CHECKOUT / root, folder / root, ignore=ignored)
        # Validate .pyc files by hash: a mutant may have the time and the size of the file it replaces.
        compileall.compile_dir(folder / root, quiet=1, invalidation_mode=CHECKED_HASH)
    return folder


def fails_as_it_is(tree: Path, part_names: Sequence[str]) -> str | None:
    """Return the name of a check of *part_names* that fails on the sound *tree*, None where none does."""
    checks = dict.fromkeys(check for part in part_names for check in suite.all_of(part))
    return next((check.name for check in checks if not check.passes(tree)), None)


def run(mutant: Mutant, sound: Path) -> Outcome:
    """Return which check is the first to find *mutant* in a copy of the *sound* tree."""
    with TemporaryDirectory(prefix="magicbyte-mutant-") as name:
        tree = Path(name, "tree")
        shutil.copytree(sound, tree)
        if mutant.file.endswith(".ksy"):
            try:
                changed = grammars.regenerate(mutant, tree / "spec", tree)
            except CANNOT_GENERATE:
                return Outcome(mutant, STILL)
            if not changed:
                return Outcome(mutant, STILL)
            checks = suite.of_grammars(Path(mutant.file).stem, changed)
        else:
            (tree / mutant.file).write_text(mutant.text, "utf-8")
            checks = suite.of_rules(mutant.file)
        for check in checks:
            if not check.passes(tree):
                return Outcome(mutant, check.name)
    return Outcome(mutant, None)
