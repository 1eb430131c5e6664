"""The reference, generated once for all tests."""

import pytest

from magicbyte_tools.generate.source import specs
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.reference import reference


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(specs())


@pytest.fixture(scope="session")
def files(library: Library) -> dict[str, str]:
    return reference(library)
