"""How much the tests try: `make test` a part of it, and with `MAGICBYTE_WIDE=1` all of it, for hours.

The part is the same in each run, so that a failure comes again; with `MAGICBYTE_DRAW=TEXT` it is another part.
"""

import os
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

WIDE = bool(os.environ.get("MAGICBYTE_WIDE"))
DRAW = os.environ.get("MAGICBYTE_DRAW", "")
"""Added to the seed of each draw: another text draws another part."""


def part(items: Sequence[T], number: int, seed: str = "") -> list[T]:
    """Return *number* of *items*, drawn by *seed*, in their order; all of them if WIDE."""
    if WIDE or len(items) <= number:
        return list(items)
    numbers = random.Random(seed + DRAW).sample(range(len(items)), number)
    return [items[n] for n in sorted(numbers)]


def mixed_part(
    items: Sequence[T], number: int, seed: str, values: Callable[[T], Iterable[Hashable]]
) -> list[T]:
    """Return *number* of *items*, drawn by *seed*, in their order; all of them if WIDE.

    An item is drawn before others if more of its *values* are those of no item drawn so far: the part
    has all values, if it is as large as the number of them.
    """
    if WIDE or len(items) <= number:
        return list(items)
    order = random.Random(seed + DRAW).sample(range(len(items)), len(items))
    drawn: list[int] = []
    missing = {value for item in items for value in values(item)}
    while len(drawn) < number:
        best = max(order, key=lambda n: len(missing.intersection(values(items[n]))))
        order.remove(best)
        drawn.append(best)
        missing.difference_update(values(items[best]))
    return [items[n] for n in sorted(drawn)]


def only_wide(reason: str) -> pytest.MarkDecorator:
    """Return the mark of a test that runs only if WIDE, because of *reason*."""
    return pytest.mark.skipif(not WIDE, reason=f"{reason}: MAGICBYTE_WIDE=1 runs it")
