"""Tests that all imports in the documentation work."""

import re

import pytest

from paths import CHECKOUT

PAGES = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md"), *CHECKOUT.glob("*/*/README.md")]
IMPORT = re.compile(
    r"^ *(from magicbyte[\w.]* import [\w, ]+|import magicbyte[\w.]*)", re.MULTILINE
)
IMPORTS = sorted({found for page in PAGES for found in IMPORT.findall(page.read_text("utf-8"))})


@pytest.mark.parametrize("statement", IMPORTS)
def test_an_import_in_the_documentation_works(statement: str) -> None:
    exec(statement, {})


def test_the_documentation_imports_something() -> None:
    assert len(IMPORTS) > 3
