"""Tries one mutant: runs its checks on a copy of the project's Python sources with the fault."""

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

KERNELS = Path(".cache", "kernels")
"""Folder of machine code in a tree, built from the sound sources so that no process compiles it again. A
library that was built from other sources is refused."""
KERNEL_SOURCES = {
    f"runtime/magicbyte/{name}.py" for name in ("engines/entry", "codecs/gzip", "codecs/snappy")
}
"""Mutated modules, beside generated ones, that kernels import."""

CANNOT_GENERATE = (CompileError, ArithmeticError, LookupError, TypeError, ValueError)

STILL = "still"

CHECKED_HASH = PycInvalidationMode.CHECKED_HASH


@dataclass(frozen=True, slots=True)
class Outcome:
    mutant: Mutant
    caught_by: str | None
    """Name of the check that failed. `still`: the fault cannot be compiled, or changes no generated
    code, so the mutant does not count. None: no check failed."""


def sound_tree(folder: Path) -> Path:
    """Copy the project's Python sources to *folder* and compile them to .pyc; each mutant copies it."""
    for root in ROOTS:
        ignored = shutil.ignore_patterns("__pycache__", "magicbyte_construct")
        shutil.copytree(CHECKOUT / root, folder / root, ignore=ignored)
        # Validate .pyc files by hash: a mutant may have the time and the size of the file it replaces.
        compileall.compile_dir(folder / root, quiet=1, invalidation_mode=CHECKED_HASH)
    if (CHECKOUT / KERNELS).is_dir():
        shutil.copytree(CHECKOUT / KERNELS, folder / KERNELS)
    return folder


def fails_as_it_is(tree: Path, part_names: Sequence[str]) -> str | None:
    """Return the first check of *part_names* that fails on *tree*, which has no fault; None if all pass."""
    checks = dict.fromkeys(check for part in part_names for check in suite.all_of(part))
    return next((check.name for check in checks if not check.passes(tree)), None)


def run(mutant: Mutant, sound: Path) -> Outcome:
    """Return the outcome of *mutant*: the first check that fails on a copy of *sound* with the fault."""
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
            is_compiled_again = grammars.WIRE in changed
            checks = suite.of_grammars(Path(mutant.file).stem, changed)
        else:
            (tree / mutant.file).write_text(mutant.text, "utf-8")
            is_compiled_again = mutant.file in KERNEL_SOURCES
            checks = suite.of_rules(mutant.file)
        if is_compiled_again:
            shutil.rmtree(tree / KERNELS, ignore_errors=True)
        for check in checks:
            if not check.passes(tree):
                return Outcome(mutant, check.name)
    return Outcome(mutant, None)
