"""Fixtures with the specifications and the reference pages, generated once for all tests."""

import pytest

from magicbyte_tools.generate.message_schemas import load_all
from magicbyte_tools.generate.source import Spec, specs
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.reference import reference


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(specs())


@pytest.fixture(scope="session")
def messages() -> dict[str, Spec]:
    return load_all()


@pytest.fixture(scope="session")
def files(library: Library, messages: dict[str, Spec]) -> dict[str, str]:
    return reference(library, messages)
