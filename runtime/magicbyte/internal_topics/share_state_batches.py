"""Ranges of offsets with their delivery state in a share group, and their merge (PersisterStateBatchCombiner)."""

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

DELIVERY_STATES = {0: "available", 1: "acquired", 2: "acknowledged", 3: "archiving", 4: "archived"}
"""Delivery states by number."""


class StateBatch(NamedTuple):
    """A range of offsets that have one delivery state."""

    first_offset: int
    last_offset: int
    """Last offset of the range, included."""
    delivery_state: int
    delivery_count: int

    @property
    def priority(self) -> tuple[int, int]:
        """Delivery count and delivery state: where ranges overlap, the one with the greater pair counts."""
        return self.delivery_count, self.delivery_state


def merge_batches(state_batches: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """Return the state of each offset from *start_offset* on, as ranges that do not overlap.

    Neighbouring ranges with the same state are one. A start offset of -1 leaves out nothing.
    """
    ordered = sorted(
        batch._replace(first_offset=max(batch.first_offset, start_offset))
        for batch in state_batches
        if batch.first_offset <= batch.last_offset and batch.last_offset >= start_offset
    )
    edges = sorted({edge for each in ordered for edge in (each.first_offset, each.last_offset + 1)})
    merged: list[StateBatch] = []
    current: list[tuple[int, int, int]] = []  # a heap: negated priority and last offset
    upcoming = iter(ordered)
    batch = next(upcoming, None)
    for edge, next_edge in pairwise(edges):
        while batch is not None and batch.first_offset <= edge:
            heappush(current, (-batch.delivery_count, -batch.delivery_state, batch.last_offset))
            batch = next(upcoming, None)
        while current and current[0][2] < edge:
            heappop(current)
        if current:
            count, state, _ = current[0]
            _append(merged, StateBatch(edge, next_edge - 1, -state, -count))
    return merged


def _append(merged: list[StateBatch], batch: StateBatch) -> None:
    """Append *batch*, or extend the last range if that ends before it with the same state."""
    before = merged[-1] if merged else None
    if (
        before is not None
        and before.last_offset + 1 == batch.first_offset
        and before.priority == batch.priority
    ):
        merged[-1] = before._replace(last_offset=batch.last_offset)
    else:
        merged.append(batch)
