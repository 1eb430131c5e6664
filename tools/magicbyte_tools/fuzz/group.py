"""Builds a group of fuzz cases and the arrangement of their bytes from a seed and the group's number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import NamedTuple

from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS
from magicbyte_tools.fuzz.mutate import mutated
from magicbyte_tools.fuzz.seed import Seed

NUM_CASES = 64
"""Cases per group; most groups are decoded in one call, so that they share the cost of a call."""

USUAL_LIMITS = Limits(max_batch_bytes=1 << 20)
"""Limits of the engine for fuzzed entries; decompression bombs have tests of their own."""

SCRATCH_BYTES = (16, 700, 1 << 16)
"""First capacities for decompressed payloads, in bytes: few or no payloads fit into the first, some into
the second, all into the third."""

MAX_COLUMN_BYTES = ((1 << 31) - 1, 1000)
"""Largest sizes of a column in bytes: Arrow's maximum, and one so small that most calls exceed it."""

COLUMNS = (WIRE_COLUMNS, ("offset",), ())
"""Selections of columns. The first has a decode kernel of its own; the others share one."""


class FuzzCase(NamedTuple):
    number: int
    kind: str
    """Format and codec of the seed."""
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """Placement of a group's bytes in memory, and the arguments of the engine's calls."""

    is_last: bool
    """True if the bytes end at a guard page, False if they begin at one."""
    alignment: int
    """Alignment of the engine's own buffers in bytes; with 1 each ends right before a guard page."""
    min_capacity: int
    """Smallest capacity of a column, in rows or bytes."""
    max_column_bytes: int
    """Largest size of a column of bytes."""
    scratch_bytes: int
    """First capacity for decompressed payloads, in bytes."""
    verify: bool
    columns: tuple[str, ...] = WIRE_COLUMNS
    views: bool = False
    limits: Limits = USUAL_LIMITS


@dataclass(frozen=True, slots=True)
class CaseGroup:
    calls: list[list[FuzzCase]]
    arrangement: Arrangement
    lot: float
    """Random number from 0 to 1; the group is compared with the reference engine if it is below a share."""


def group(number: int, *, seed: int, seeds: Sequence[Seed]) -> CaseGroup:
    """Return the group *number*, whose first case has the number *number* times NUM_CASES."""
    chance = Random(f"{seed} {number}")
    chosen = chance.choices(seeds, k=NUM_CASES)
    if chance.random() < 0.96:
        # Consecutive entries of one format are decoded in one call of a kernel, so sort by format.
        chosen.sort(key=lambda one: one.magic == 2)
    cases = [
        FuzzCase(number * NUM_CASES + index, one.kind, mutated(chance, one, seeds))
        for index, one in enumerate(chosen)
    ]
    size = chance.choices((NUM_CASES, 8, 1), (94, 5, 1))[0]
    calls = [cases[at : at + size] for at in range(0, NUM_CASES, size)]
    return CaseGroup(calls, _arrangement(chance), chance.random())


def _arrangement(chance: Random) -> Arrangement:
    columns = chance.choices(COLUMNS, (38, 1, 1))[0]
    limits = USUAL_LIMITS
    if chance.random() < 0.03:
        limits = Limits(max_batch_bytes=chance.choice((1, 60, 300)))
    return Arrangement(
        is_last=chance.random() < 0.7,
        alignment=chance.choice((1, 1, 8, 64)),
        min_capacity=chance.choice((1, 64)),
        max_column_bytes=chance.choices(MAX_COLUMN_BYTES, (9, 1))[0],
        scratch_bytes=chance.choices(SCRATCH_BYTES, (1, 1, 3))[0],
        verify=chance.random() < 0.5,
        columns=columns,
        views=columns == WIRE_COLUMNS and chance.random() < 0.2,
        limits=limits,
    )


def arrangements() -> Iterator[Arrangement]:
    """Yield every arrangement in which `--replay` decodes the bytes of a failure."""
    choices = [(columns, False) for columns in COLUMNS] + [(WIRE_COLUMNS, True)]
    every = product((True, False), (1, 64), (1, 64), MAX_COLUMN_BYTES, SCRATCH_BYTES, choices)
    for is_last, alignment, min_capacity, max_column_bytes, scratch_bytes, choice in every:
        columns, views = choice
        yield Arrangement(
            is_last=is_last,
            alignment=alignment,
            min_capacity=min_capacity,
            max_column_bytes=max_column_bytes,
            scratch_bytes=scratch_bytes,
            verify=is_last,
            columns=columns,
            views=views,
        )
