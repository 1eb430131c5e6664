"""Partitions, and their ranges of offsets, that may have records for which a condition holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._matching_ranges import (
    ALL_NUMBERS,
    HIGHEST,
    LOWEST,
    Span,
    joined,
    matching_ranges,
)
from magicbyte.reading._row_condition import RowCondition
from magicbyte.reading.read_options import NO_RANGE, OffsetRange
from magicbyte.reading.segment_range import known_bases

MAX_OWN_RANGES = 1024
"""Partitions that are each asked about, which takes up to a millisecond. For more, the ranges of offsets are the
same in all partitions."""

FAR_OFFSET = 1 << 62
"""A bound that is farther from 0 is no bound: no log has such offsets."""

_offset, _topic, _partition = map(pds.field, ("offset", "topic", "partition"))


@dataclass(frozen=True, slots=True)
class LogRange:
    """A range of offsets of a partition."""

    log: PartitionLog
    offsets: OffsetRange = NO_RANGE
    is_left_out: bool = False
    """True if it is read only where a condition names its topic, as Kafka's internal topics are."""

    @property
    def guarantee(self) -> pc.Expression:
        """The expression that is true for all records of the range."""
        guarantee, (low, high) = partition_guarantee(self.log), self.offsets
        if low is not None:
            guarantee &= _offset >= low
        return guarantee if high is None else guarantee & (_offset < high)


def partition_guarantee(log: PartitionLog) -> pc.Expression:
    """Return the expression that is true for all records of *log*."""
    topic = _topic.is_null() if log.topic is None else _topic == log.topic
    partition = (
        _partition.is_null()
        if log.partition is None
        else _partition == pa.scalar(log.partition, pa.int32())
    )
    return topic & partition


def segment_ranges(log_range: LogRange) -> list[LogRange]:
    """Return the ranges of offsets of the segments of *log_range*, which are all of its offsets."""
    bases = sorted(set(known_bases(log_range.log)))[1:]
    bounds = [None, *bases, None]
    clipped = (intersection(log_range.offsets, each) for each in pairwise(bounds))
    return [replace(log_range, offsets=offsets) for offsets in clipped if offsets is not None]


def intersection(one: OffsetRange, another: OffsetRange) -> OffsetRange | None:
    """Return the offsets that are in both ranges; None if there are none."""
    lows = [low for low, _ in (one, another) if low is not None]
    highs = [high for _, high in (one, another) if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if low is not None and high is not None and low >= high else (low, high)


def matching_log_ranges(
    log_ranges: Sequence[LogRange], condition: RowCondition, *, by_offset: bool
) -> list[LogRange]:
    """Return the parts of *log_ranges* that may have records for which *condition* holds, in the same order.

    Unless *by_offset*, ranges of offsets are not made smaller.
    """
    matches = condition.may_match([each.guarantee for each in log_ranges])
    matching = [each for each, is_match in zip(log_ranges, matches, strict=True) if is_match]
    if any(each.is_left_out for each in matching):
        names = _names_topic(condition, {each.log.topic for each in matching if each.is_left_out})
        matching = [each for each in matching if not each.is_left_out or each.log.topic in names]
    if not by_offset or "offset" not in condition.columns:
        return matching
    shared = matching_ranges(partial(_may_match, condition, pc.scalar(True)), ALL_NUMBERS)
    if len(matching) > MAX_OWN_RANGES or condition.columns == {"offset"}:
        return [part for each in matching for part in _parts(each, shared)]
    own_ranges = []
    for each in matching:
        may_match = partial(_may_match, condition, partition_guarantee(each.log))
        own_ranges += _parts(each, matching_ranges(may_match, shared))
    return own_ranges


def _names_topic(condition: RowCondition, allowed_topics: Iterable[str | None]) -> set[str | None]:
    """Return the topics of *allowed_topics* that *condition* names.

    It names a topic if it allows the topic, as it does, but not the next name in alphabetical order.
    """
    named = [topic for topic in allowed_topics if topic is not None]
    matches = condition.may_match([_topic == f"{topic}\0" for topic in named])
    return {topic for topic, is_match in zip(named, matches, strict=True) if not is_match}


def _parts(log_range: LogRange, spans: Sequence[Span]) -> list[LogRange]:
    """Return the parts of *log_range* with offsets in *spans*."""
    clipped = (intersection(log_range.offsets, _offset_range(*span)) for span in spans)
    return [replace(log_range, offsets=offsets) for offsets in clipped if offsets is not None]


def _offset_range(low: int, high: int) -> OffsetRange:
    return None if low <= -FAR_OFFSET else low, None if high >= FAR_OFFSET else high + 1


def joined_ranges(ranges: Iterable[OffsetRange]) -> list[OffsetRange]:
    """Return *ranges*, which are in order, with those joined that follow each other; of many, the nearest ones, too."""
    spans = [
        (LOWEST if low is None else low, HIGHEST if high is None else high - 1)
        for low, high in ranges
    ]
    return [_offset_range(*span) for span in joined(spans)]


def _may_match(
    condition: RowCondition, guarantee: pc.Expression, spans: Sequence[Span]
) -> list[bool]:
    return condition.may_match([guarantee & _span_guarantee(*span) for span in spans])


def _span_guarantee(low: int, high: int) -> pc.Expression:
    # Of an equality Arrow knows more than of two bounds: it computes functions of the value.
    return _offset == low if low == high else (_offset >= low) & (_offset <= high)
