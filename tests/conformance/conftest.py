"""Fixture with all cases of tests/vectors, on which runners are judged."""

import pytest

from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.vectors_folder import VECTORS


@pytest.fixture(scope="session")
def all_cases() -> list[Case]:
    return load_cases(VECTORS)
