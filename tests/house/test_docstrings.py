"""Tests that the public API is documented in Google style and that its examples run."""

import doctest
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from paths import CAPTURE, DATA

ERRORS = {name for name in mb.__all__ if name.endswith("Error")}
CLASSES = {name: getattr(mb, name) for name in mb.__all__ if inspect.isclass(getattr(mb, name))}
BASE_CLASSES = {
    base.__name__: base
    for name, kind in CLASSES.items()
    for base in kind.__mro__[1:]
    if name not in ERRORS
    and base.__module__.startswith("magicbyte.")
    and base.__name__ not in CLASSES
}
"""Classes that public ones inherit documented methods from."""

FUNCTIONS = {
    name: getattr(mb, name) for name in mb.__all__ if inspect.isfunction(getattr(mb, name))
}

TABLES = (
    "records",
    "batches",
    "segments",
    "transactions",
    "partitions",
    "problems",
    "replicas",
    "gaps",
)


def methods() -> Iterator[tuple[str, Any]]:
    for name, kind in (CLASSES | BASE_CLASSES).items():
        for attribute, value in vars(kind).items():
            if not attribute.startswith("_") and name not in ERRORS:
                is_method = inspect.isfunction(value) or isinstance(value, property | classmethod)
                if is_method:
                    yield f"{name}.{attribute}", value


METHODS = dict(methods())
CALLABLES = FUNCTIONS | {
    name: value for name, value in METHODS.items() if not isinstance(value, property)
}


def parameters_of(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


@pytest.mark.parametrize("name", [*CLASSES, *FUNCTIONS, *METHODS])
def test_public_name_has_a_docstring(name: str) -> None:
    value = {**CLASSES, **FUNCTIONS, **METHODS}[name]
    assert inspect.getdoc(value), name


@pytest.mark.parametrize("name", [name for name, f in CALLABLES.items() if parameters_of(f)])
def test_docstring_describes_each_argument_and_shows_an_example(name: str) -> None:
    function = CALLABLES[name]
    text = inspect.getdoc(function) or ""
    sections = text.partition("Args:\n")[2]
    assert sections, f"{name} has no Args"
    arguments = sections.split("\nReturns:")[0]
    for argument in parameters_of(function):
        assert f"    {argument}: " in arguments, f"{name} does not describe {argument}"
    if inspect.signature(function).return_annotation not in (None, "None"):
        assert "\nReturns:\n" in sections, f"{name} has no Returns"
    assert "\nExample:\n" in sections, f"{name} has no Example"


@pytest.mark.parametrize("name", sorted(CLASSES.keys() - ERRORS))
def test_docstring_of_a_class_shows_an_example(name: str) -> None:
    assert "\nExample:\n" in (inspect.getdoc(CLASSES[name]) or ""), name


@pytest.mark.parametrize("name", [*CLASSES, *BASE_CLASSES, *FUNCTIONS])
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in (DATA / "4.3/transactions/log-0", CAPTURE):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder(recurse=True, exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failures: list[str] = []
    value = {**CLASSES, **BASE_CLASSES, **FUNCTIONS}[name]
    for test in finder.find(value, name, module=False, globs={"mb": mb}):
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_dataset_shows_its_tables_and_its_plan_only() -> None:
    public = {name for name in dir(mb.Dataset) if not name.startswith("_")}
    assert public == {
        *TABLES,
        "all_topics",
        "latest",
        "of_topics",
        "plan",
        "scan",
        "splits",
        "stored",
        "table",
        "typed_records",
    }
