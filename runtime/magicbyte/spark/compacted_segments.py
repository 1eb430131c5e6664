"""What a stream reads while the cleaner replaces segments: planned again where it has to be.

A compacting broker puts a smaller segment in the place of one of the same name, or one in the
place of several, at any time. The records that are left keep their offsets, so that a split that
finds other bytes than it was planned for is planned again, from the offset on that it has come to.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

import pyarrow as pa

from magicbyte.errors import ChangedError, FormatError
from magicbyte.reading.partial_plan import BoundedRange
from magicbyte.reading.retry import MAX_TRIES, retry_changed
from magicbyte.reading.split import Split
from magicbyte.spark.record_reader import Part
from magicbyte.spark.values import Partition


class OwnPart(Part):
    """Splits that one task reads, each of which wants only the offsets that lie in it.

    *are_own* says of which that is so: where offsets are in no order, a split may hold any.
    """

    def __init__(self, splits: tuple[Split, ...], are_own: tuple[bool, ...]) -> None:
        super().__init__(splits)
        self.are_own = are_own


def with_own_offsets(parts: Sequence[Part], in_order: Collection[Partition]) -> list[OwnPart]:
    """Return *parts*, which are a plan, as they are read again; *in_order* are partitions."""
    splits = [split for part in parts for split in part.splits]
    following = iter([*splits[1:], None])
    made = []
    for part in parts:
        own = [
            _own(split, there) if place_of(split) in in_order else None
            for split, there in zip(part.splits, following, strict=False)
        ]
        narrowed = (
            split if offsets is None else _with_offsets(split, offsets)
            for split, offsets in zip(part.splits, own, strict=True)
        )
        made.append(OwnPart(tuple(narrowed), tuple(offsets is not None for offsets in own)))
    return made


def _own(here: Split, there: Split | None) -> BoundedRange | None:
    """Return the offsets of *here*, behind which *there* lies; None where that is not known."""
    first, end = here.options.offsets
    if first is None or end is None:
        return None
    if here.bounds.floor is not None:
        first = max(first, here.bounds.floor + 1)
    if there is not None and (place_of(there), there.options) == (place_of(here), here.options):
        if there.bounds.floor is None:
            return None
        end = min(end, there.bounds.floor + 1)
    return first, end


def _with_offsets(split: Split, offsets: BoundedRange) -> Split:
    return replace(split, options=replace(split.options, offsets=offsets))


def place_of(split: Split) -> Partition:
    return split.topic or "", split.partition or 0


def read_again(
    split: Split,
    read: Callable[[Split], Iterator[pa.RecordBatch]],
    plan: Callable[[BoundedRange], list[Split] | None],
) -> Iterator[pa.RecordBatch]:
    """Yield what *read* gives of the offsets of *split*, wherever they lie by now.

    The first column of what is read is the offset. *plan* returns splits of offsets as they lie
    now, None where offsets have no order. An error is let out where the file is still what was
    planned, or changes too often.
    """
    first, end = split.options.offsets
    assert first is not None and end is not None
    todo = [split]
    for num_tries in count(1):
        try:
            while todo:
                for batch in read(todo[0]):
                    if batch.num_rows:
                        first = batch.column(0)[-1].as_py() + 1
                    yield batch
                del todo[0]
            return
        except (ChangedError, FormatError) as error:
            again = None if num_tries == MAX_TRIES else retry_changed(partial(plan, (first, end)))
            is_damage = isinstance(error, FormatError)
            if again is None or (is_damage and any(one.file == todo[0].file for one in again)):
                raise
            todo = again
