"""Tests that the lists of slow and of drawn tests name tests that exist."""

from pathlib import Path

import pytest

from sampled_tests import VARIANTS
from slow_tests import LONGEST, SLOW

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("name", sorted({*VARIANTS, *SLOW, *LONGEST}))
def test_name_is_a_test_or_a_folder_of_tests(name: str) -> None:
    path, _, function = name.partition("::")
    assert (TESTS / path).exists()
    if function:
        assert f"def {function}(" in (TESTS / path).read_text(encoding="utf-8")
