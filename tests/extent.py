"""How much the tests try: `make test` a part of it, and with `MAGICBYTE_WIDE=1` all of it, for hours."""

import os
import random
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

WIDE = bool(os.environ.get("MAGICBYTE_WIDE"))


def part(items: Sequence[T], number: int, seed: str = "") -> list[T]:
    """Return *number* of *items*, drawn by *seed*, in their order; all of them if WIDE."""
    if WIDE or len(items) <= number:
        return list(items)
    return [items[n] for n in sorted(random.Random(seed).sample(range(len(items)), number))]


def only_wide(reason: str) -> pytest.MarkDecorator:
    """Return the mark of a test that runs only if WIDE, because of *reason*."""
    return pytest.mark.skipif(not WIDE, reason=f"{reason}: MAGICBYTE_WIDE=1 runs it")
