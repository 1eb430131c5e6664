"""Chooses the checks for a mutant: those that can notice it, the cheap ones first.

Tests that need material outside of the project, such as other projects' vectors, are left out, so
that the result is the same in every clone.
"""

from magicbyte_tools.mutants import grammars
from magicbyte_tools.mutants.checks import PARSERS, RUNTIME, Check, Tests, Vectors, naming

SPEC = "tests/spec"

OF_THE_GENERATOR = {f"{SPEC}/test_{name}.py" for name in ("generate", "lint", "stubs")}
"""Tests of the checkout's spec/ and of stubs, which mutants never change."""

JAVASCRIPT = f"{SPEC}/test_refusals.py::test_javascript_refuses_what_python_refuses"
"""Compiles the checkout's spec/ too."""


def tests(*names: str) -> tuple[str, ...]:
    """Return the files of tests that *names* stand for."""
    return tuple(f"tests/{folder}/test_{name}.py" for folder, name in (n.split("/") for n in names))


ENTRIES = tests(
    *(f"reading/{name}" for name in ("engine", "values", "fetch", "limits", "hostile_entries"))
)
CODECS = tests("codecs/codecs", "codecs/hostile")
CHECKPOINTS = tests("reading/checkpoints", "reading/companion", "reading/logdir", "reading/paths")

RULES: dict[str, tuple[str, ...]] = {
    "engines/entry.py": ENTRIES,
    "engines/reference.py": ENTRIES,
    "text.py": tests("reading/values"),
    "transactions.py": tests(
        *(f"reading/{name}" for name in ("tracker", "transactions", "fetch", "dataset")),
        "damage/rules",
    ),
    "logdir/companions.py": tests("reading/logdir", "reading/companions"),
    "logdir/checkpoints.py": CHECKPOINTS,
    "logdir/names.py": tests("reading/logdir", "reading/paths"),
    "codecs/__init__.py": CODECS,
    "codecs/output.py": CODECS,
    "codecs/uvarint.py": (*tests("codecs/snappy"), *CODECS),
    **{
        f"codecs/{name}.py": (*tests(f"codecs/{name}"), *CODECS)
        for name in ("gzip", "lz4", "snappy", "zstd")
    },
}
"""The runtime's rules of the formats, with the tests of each, the quick ones first."""

RUNTIME_ROOT = "runtime/magicbyte/"


def of_grammars(name: str, changed: set[str]) -> list[Check]:
    """Return the checks for a mutant of the grammar *name* that *changed* some generated modules."""
    served = grammars.dependents(name) if changed - {grammars.WIRE} else []
    touched = {*served, *changed & {grammars.WIRE}}
    checks: list[Check] = []
    if served:
        produced = ["kafka_produced"] if "kafka_log" in served else []
        checks.append(Vectors(PARSERS, (*served, *produced)))
    if changed & grammars.used_by_the_runtime():
        checks.append(Vectors(RUNTIME))
    files = [file for file in naming(SPEC, touched) if file not in OF_THE_GENERATOR]
    if files:
        checks.append(Tests(SPEC, tuple(files), (JAVASCRIPT,)))
    return checks


def of_rules(file: str) -> list[Check]:
    """Return the checks for a mutant of the runtime's *file*."""
    module = file.removeprefix(RUNTIME_ROOT)
    quick, *others = RULES[module]
    return [
        Tests(f"{module}, the first", (quick,)),
        Vectors(RUNTIME),
        *([Tests(f"{module}, the others", tuple(others))] if others else []),
    ]


def all_of(part: str) -> list[Check]:
    """Return every check for mutants of *part*, to be tried without any."""
    if part == "runtime":
        files = tuple(dict.fromkeys(file for files in RULES.values() for file in files))
        return [Vectors(RUNTIME), Tests("of rules", files)]
    tests_of_spec = Tests(SPEC, (SPEC,), (*sorted(OF_THE_GENERATOR), JAVASCRIPT))
    return [Vectors(PARSERS), Vectors(RUNTIME), tests_of_spec]
