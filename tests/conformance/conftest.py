"""Fixture with all cases of tests/vectors, on which runners are judged."""

import pytest

from magicbyte_tools.conformance import cases
from magicbyte_tools.conformance.cases import Case


@pytest.fixture(scope="session")
def all_cases() -> list[Case]:
    return cases.load()
