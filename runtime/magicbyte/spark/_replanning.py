"""Plan a stream's splits again if the log cleaner replaces their segments.

A broker that compacts may, at any time, replace one or several segments by a smaller one. The
remaining records keep their offsets. So a split that finds other bytes than it was planned for is
planned again, from the first offset that it has not delivered.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from magicbyte.errors import ChangedError, FormatError
from magicbyte.reading.partial_plan import BoundedRange
from magicbyte.reading.retry import MAX_TRIES, retry_changed
from magicbyte.reading.split import Split
from magicbyte.spark._option_values import Partition
from magicbyte.spark._splits_task import SplitsTask


class ReplannableTask(SplitsTask):
    """A task whose splits can be planned again.

    *can_replan* is true for a split whose own options name the offsets that it must deliver. If
    offsets are out of order, a split may contain any offset, and cannot be planned again.
    """

    def __init__(self, splits: tuple[Split, ...], can_replan: tuple[bool, ...]) -> None:
        super().__init__(splits)
        self.can_replan = can_replan

    def arguments(self) -> tuple[Any, ...]:
        return self.splits, self.can_replan


def replannable_tasks(
    tasks: Sequence[tuple[Split, ...]], in_order: Collection[Partition]
) -> list[ReplannableTask]:
    """Return tasks for the splits of consecutive *tasks* of a plan; the partitions *in_order* have their offsets in order."""
    splits = [split for task in tasks for split in task]
    next_splits = iter([*splits[1:], None])
    replannable = []
    for own_splits in tasks:
        ranges = [
            _own_offsets(split, next_split) if partition_of_split(split) in in_order else None
            for split, next_split in zip(own_splits, next_splits, strict=False)
        ]
        narrowed = tuple(
            split
            if offsets is None
            else replace(split, options=replace(split.options, offsets=offsets))
            for split, offsets in zip(own_splits, ranges, strict=True)
        )
        can_replan = tuple(offsets is not None for offsets in ranges)
        replannable.append(ReplannableTask(narrowed, can_replan))
    return replannable


def _own_offsets(split: Split, next_split: Split | None) -> BoundedRange | None:
    """Return the offsets of *split*, which end where *next_split* begins; None if not known."""
    first, end = split.options.offsets
    if first is None or end is None:
        return None
    if split.bounds.floor is not None:
        first = max(first, split.bounds.floor + 1)
    if (
        next_split is not None
        and partition_of_split(split) == partition_of_split(next_split)
        and split.options == next_split.options
    ):
        if next_split.bounds.floor is None:
            return None
        end = min(end, next_split.bounds.floor + 1)
    return first, end


def partition_of_split(split: Split) -> Partition:
    return split.topic or "", split.partition or 0


def read_replanned(
    split: Split,
    read: Callable[[Split], Iterator[pa.RecordBatch]],
    plan: Callable[[BoundedRange], list[Split] | None],
) -> Iterator[pa.RecordBatch]:
    """Yield the Arrow batches that *read* returns for the offsets of *split* in their current files.

    The first column of the batches is the offset. *plan* returns the current splits of some offsets;
    None if offsets are out of order. Errors are raised if the file is unchanged since the plan, or
    if files change MAX_TRIES times without a record between the changes.
    """
    first, end = split.options.offsets
    assert first is not None and end is not None
    rest = [split]
    num_tries = 0
    while True:
        num_tries += 1
        try:
            while rest:
                for batch in read(rest[0]):
                    if batch.num_rows:
                        first, num_tries = batch.column(0)[-1].as_py() + 1, 0
                    yield batch
                del rest[0]
            return
        except (ChangedError, FormatError) as error:
            splits = None if num_tries == MAX_TRIES else retry_changed(partial(plan, (first, end)))
            is_damage = isinstance(error, FormatError)
            if splits is None or (is_damage and any(new.file == rest[0].file for new in splits)):
                raise
            rest = splits
