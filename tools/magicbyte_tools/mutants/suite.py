"""Which checks are to find a mutant: those that can notice it, the cheap ones first."""

from magicbyte_tools.mutants import grammars
from magicbyte_tools.mutants.checks import PARSERS, RUNTIME, Check, Tests, Vectors, naming

SPEC = "tests/spec"
OTHERS = "tests/vectors_of_others"

OF_THE_GENERATOR = {f"{SPEC}/test_{name}.py" for name in ("generate", "lint", "stubs")}
"""They look at the checkout's spec/ and at stubs, where no mutant is."""

JAVASCRIPT = f"{SPEC}/test_refusals.py::test_javascript_refuses_what_python_refuses"
"""Compiles the checkout's spec/ too."""

CODECS = "runtime/magicbyte/codecs"
ENTRIES = tuple(
    f"tests/reading/test_{name}.py" for name in ("hostile_entries", "values", "limits", "fetch")
)
RULES: dict[str, tuple[str, ...]] = {
    "runtime/magicbyte/engines/reference.py": (*ENTRIES, OTHERS),
    "runtime/magicbyte/engines/entry.py": (*ENTRIES, OTHERS),
    "runtime/magicbyte/engines/header_keys.py": ("tests/reading/test_values.py",),
    "runtime/magicbyte/transactions.py": (
        "tests/reading/test_transactions.py",
        "tests/reading/test_fetch.py",
        "tests/reading/test_dataset.py",
        "tests/damage/test_rules.py",
    ),
    "runtime/magicbyte/logdir/companions.py": ("tests/reading/test_companions.py",),
    "runtime/magicbyte/logdir/checkpoints.py": (
        "tests/reading/test_checkpoints.py",
        "tests/reading/test_paths.py",
    ),
    "runtime/magicbyte/logdir/names.py": ("tests/reading/test_paths.py",),
    **{
        f"{CODECS}/{name}.py": ("tests/codecs", OTHERS)
        for name in ("__init__", "gzip", "lz4", "output", "snappy", "uvarint", "zstd")
    },
}
"""The runtime's rules of the formats, with the tests of each, the vectors aside."""


def of_grammars(name: str, changed: set[str]) -> list[Check]:
    """Return the checks for a mutant of the grammar *name* that *changed* some generated modules."""
    served = grammars.dependents(name) if changed - {grammars.WIRE} else []
    touched = {*served, *changed & {grammars.WIRE}}
    checks: list[Check] = []
    if served:
        produced = ["kafka_produced"] if "kafka_log" in served else []
        checks.append(Vectors(PARSERS, (*served, *produced)))
    runs_otherwise = bool(changed & grammars.used_by_the_runtime())
    if runs_otherwise:
        checks.append(Vectors(RUNTIME))
    files = [file for file in naming(SPEC, touched) if file not in OF_THE_GENERATOR]
    if files:
        checks.append(Tests(SPEC, tuple(files), (JAVASCRIPT,)))
    if runs_otherwise:
        checks.append(Tests(OTHERS, (OTHERS,)))
    return checks


def of_rules(file: str) -> list[Check]:
    """Return the checks for a mutant of the runtime's *file*."""
    return [Vectors(RUNTIME), *(Tests(path, (path,)) for path in RULES[file])]


def all_of(part: str) -> list[Check]:
    """Return every check for mutants of *part*, to be tried without any."""
    if part == "runtime":
        return [check for file in RULES for check in of_rules(file)]
    files = (SPEC,), (*sorted(OF_THE_GENERATOR), JAVASCRIPT)
    return [Vectors(PARSERS), Vectors(RUNTIME), Tests(SPEC, *files), Tests(OTHERS, (OTHERS,))]
