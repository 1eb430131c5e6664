"""Selects the checks that may find a mutant, in the order in which they run: the quick ones first.

Tests that need files from outside the project, such as other projects' vectors, are left out, so
that the result is the same in every clone.
"""

from pathlib import PurePosixPath

from magicbyte_tools.mutants import grammars
from magicbyte_tools.mutants.checks import PARSERS, RUNTIME, Check, Tests, Vectors, naming

SPEC = "tests/spec"


def tests(*names: str) -> tuple[str, ...]:
    """Return the paths of test files; *names* are paths below tests/, without ``test_`` and ``.py``."""
    paths = (PurePosixPath("tests", name) for name in names)
    return tuple(str(path.with_name(f"test_{path.name}.py")) for path in paths)


ENTRIES = tests(
    "engines/reference",
    *(f"reading/{name}" for name in ("values", "fetch", "limits", "bad_entries")),
)
CODECS = tests("codecs/codecs", "codecs/hostile")
CHECKPOINTS = tests("logdir/checkpoints", "companion_tables", "logdir/discover")

RULES: dict[str, tuple[str, ...]] = {
    "engines/entry.py": ENTRIES,
    "engines/reference.py": ENTRIES,
    "engines/_row_columns.py": ENTRIES,
    "engines/record_decoder.py": ENTRIES,
    "engines/_message_decoder.py": ENTRIES,
    "text.py": tests("reading/values"),
    "_transactions.py": tests(
        "transactions",
        *(f"reading/{name}" for name in ("transactions", "fetch", "dataset", "damage/rules")),
    ),
    "logdir/companions.py": tests("logdir/companions", "reading/transaction_companions"),
    "logdir/checkpoints.py": CHECKPOINTS,
    "logdir/file_names.py": tests("logdir/file_names", "logdir/discover"),
    "codecs/__init__.py": CODECS,
    "codecs/_output.py": CODECS,
    **{
        f"codecs/{name}.py": (*tests(f"codecs/{name}"), *CODECS)
        for name in ("gzip", "lz4", "snappy", "zstd")
    },
}
"""Test files for each mutated module of the runtime, the quickest first."""

RUNTIME_ROOT = "runtime/magicbyte/"


def of_grammars(name: str, changed: set[str]) -> list[Check]:
    """Return the checks for a mutant of the grammar *name*; *changed* is the generated modules that differ."""
    served = grammars.dependents(name) if changed - {grammars.WIRE} else []
    touched = {*served, *changed & {grammars.WIRE}}
    checks: list[Check] = []
    if served:
        produced = ["kafka_produced"] if "kafka_log" in served else []
        checks.append(Vectors(PARSERS, (*served, *produced)))
    if changed & grammars.used_by_the_runtime():
        checks.append(Vectors(RUNTIME))
    files = naming(SPEC, touched)
    if files:
        checks.append(Tests(SPEC, files))
    return checks


def of_rules(file: str) -> list[Check]:
    """Return the checks for a mutant of *file*, a path in runtime/."""
    module = file.removeprefix(RUNTIME_ROOT)
    quick, *others = RULES[module]
    return [
        Tests(f"{module}, the first", (quick,)),
        Vectors(RUNTIME),
        *([Tests(f"{module}, the others", tuple(others))] if others else []),
    ]


def all_of(part: str) -> list[Check]:
    """Return every check for mutants of *part* (spec, runtime), which must pass on the sound sources."""
    if part == "runtime":
        files = tuple(dict.fromkeys(file for files in RULES.values() for file in files))
        return [Vectors(RUNTIME), Tests("of rules", files)]
    return [Vectors(PARSERS), Vectors(RUNTIME), Tests(SPEC, (SPEC,))]
