"""Tests of docs/reference/python.md: it has every public name, with its signature and its docstring."""

import inspect

import pytest

import magicbyte as mb
from magicbyte_tools.reference.docstring_sections import split_docstring
from magicbyte_tools.reference.python_page import members, public_names, python_page, signature

NAMES = [each for names in public_names().values() for each in names]


@pytest.fixture(scope="module")
def page() -> str:
    return python_page()


def test_every_public_name_of_magicbyte_is_on_the_page_once(page: str) -> None:
    of_mb = [each.name for each in NAMES if each.module == "mb"]
    assert sorted(of_mb) == sorted(set(mb.__all__) - {"__version__", "CODES"})
    for each in NAMES:
        assert page.count(f'<a id="{each.path}"></a>') == 1, each.path


def test_every_public_name_and_member_has_a_sentence(page: str) -> None:
    num_members = 0
    for each in NAMES:
        assert inspect.getdoc(each.value), each.path
        if inspect.isclass(each.value) and not issubclass(each.value, Exception):
            for name, member in members(each.value).items():
                num_members += 1
                assert inspect.getdoc(member), f"{each.path}.{name}"
                assert f'<a id="{each.path}.{name}">' in page
    assert num_members > 40


def test_every_argument_of_a_function_has_a_row() -> None:
    for each in NAMES:
        if inspect.isfunction(each.value):
            arguments = split_docstring(inspect.getdoc(each.value) or "").entries("Args")
            assert list(inspect.signature(each.value).parameters) == list(arguments), each.path


def test_a_docstring_is_split_into_its_sections() -> None:
    sections = split_docstring(
        """Read it.

        More words.

        Args:
            path: The file;
                local.
            names: Others. Default: none.
        Returns:
            Rows.
        Example:
            >>> 1
            1
        """
    )
    assert sections.text == "Read it.\n\nMore words."
    assert sections.entries("Args") == {
        "path": "The file; local.",
        "names": "Others. Default: none.",
    }
    assert sections.words("Returns") == "Rows."
    assert sections.sections["Example"] == ">>> 1\n1"


def test_a_signature_has_types_as_the_source_writes_them_and_values_of_defaults() -> None:
    def function(a: int, *rest: str, b: "list[str] | None" = None, c: int = len("abc")) -> str:
        """Return nothing."""
        return f"{a}{rest}{b}{c}"

    assert signature("f", function) == (
        "f(a: int, *rest: str, b: list[str] | None = None, c: int = 3) -> str"
    )
