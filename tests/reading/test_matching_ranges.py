"""Tests of the search for ranges of numbers in which a condition may hold."""

import random
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from magicbyte.reading._matching_ranges import (
    ALL_NUMBERS,
    HIGHEST,
    LOWEST,
    MAX_RANGES,
    MayMatch,
    Span,
    matching_ranges,
)
from magicbyte.reading._row_condition import RowCondition

OFFSET = ds.field("offset")


def of_numbers(numbers: Sequence[int]) -> MayMatch:
    """Return the question whether a range has one of *numbers*."""
    return lambda spans: [any(low <= each <= high for each in numbers) for low, high in spans]


def of_arrow(condition: pc.Expression) -> MayMatch:
    asked = RowCondition(condition, pa.schema([("offset", pa.int64())]))
    return lambda spans: asked.may_match(
        [
            OFFSET == low if low == high else (OFFSET >= low) & (OFFSET <= high)  # noqa: SIM300
            for low, high in spans
        ]
    )


def test_a_few_numbers_are_found_one_by_one() -> None:
    numbers = [-5, 0, 7, 8, (1 << 40) + 5]
    assert matching_ranges(of_numbers(numbers), ALL_NUMBERS) == [
        (-5, -5),
        (0, 0),
        (7, 8),
        (numbers[-1],) * 2,
    ]
    assert matching_ranges(of_numbers([]), ALL_NUMBERS) == []
    assert matching_ranges(of_numbers([3]), [(4, 9)]) == []


@pytest.mark.parametrize("seed", range(20))
def test_ranges_hold_all_numbers_that_match(seed: int) -> None:
    rng = random.Random(seed)
    numbers = sorted(rng.sample(range(10_000), rng.choice([1, 5, 40, 900])))
    ranges = matching_ranges(of_numbers(numbers), [(0, 10_000)])
    assert len(ranges) <= MAX_RANGES
    assert all(any(low <= each <= high for low, high in ranges) for each in numbers)
    assert ranges[0][0] == numbers[0] and ranges[-1][1] == numbers[-1]


@pytest.mark.parametrize(
    ("condition", "ranges"),
    [
        (OFFSET > 1_000_000, [(1_000_001, HIGHEST)]),
        (OFFSET < 5, [(LOWEST, 4)]),
        ((OFFSET >= 10) & (OFFSET < 20), [(10, 19)]),
        (OFFSET.isin([5, 900_000]), [(5, 5), (900_000, 900_000)]),
        ((OFFSET > 5) & (OFFSET < 3), []),
        (~(OFFSET == 7), [(LOWEST, HIGHEST)]),
        (OFFSET.is_null(), []),
        (OFFSET == 4.0, [(LOWEST, HIGHEST)]),  # Arrow cannot compare all offsets with a float
    ],
    ids=str,
)
def test_arrow_tells_the_ranges_of_a_condition(
    condition: pc.Expression, ranges: list[Span]
) -> None:
    assert matching_ranges(of_arrow(condition), ALL_NUMBERS) == ranges


def test_a_condition_that_arrow_knows_of_single_numbers_only_ends() -> None:
    ranges = matching_ranges(of_arrow(pc.add(OFFSET, 1) == 7), ALL_NUMBERS)
    assert any(low <= 6 <= high for low, high in ranges)
