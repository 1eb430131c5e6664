"""Filters of a query that Spark hands to the source, as ranges of offsets and times, and as partitions to skip.

A filter only rules out what cannot match it, and Spark evaluates all of them again.
"""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.partial_plan import BoundedRange

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ALL_OFFSETS = 0, 1 << 63

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "EqualNullSafe": operator.eq,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "In": lambda value, values: value in values,
    "StringStartsWith": str.startswith,
    "StringEndsWith": str.endswith,
    "StringContains": operator.contains,
}
"""Meaning of pyspark.sql.datasource's filters with a value, by the name of the class: Spark 4.0 lacks the classes."""


@dataclass(frozen=True, slots=True)
class ColumnFilter:
    """A comparison of a column with a value, or a list of values."""

    column: str
    """Name of the column, in lower case."""
    kind: str
    """Name of a class of pyspark.sql.datasource, such as `LessThan`."""
    value: Any
    is_negated: bool = False

    @classmethod
    def of(cls, spark_filter: Any) -> "ColumnFilter | None":
        """Return *spark_filter*, an object of pyspark.sql.datasource; None if its kind is not known."""
        is_negated = type(spark_filter).__name__ == "Not"
        inner = spark_filter.child if is_negated else spark_filter
        kind = type(inner).__name__
        if kind not in _COMPARISONS or len(inner.attribute) != 1:
            return None
        return cls(inner.attribute[0].lower(), kind, inner.value, is_negated)

    def may_match(self, value: str | int | None) -> bool:
        """Return False if *value* certainly does not match."""
        if value is None or self.value is None:
            return True
        return _COMPARISONS[self.kind](value, self.value) is not self.is_negated

    def limits(self) -> tuple[Any, Any]:
        """Return the lowest and the highest value that may match, inclusive; None where there is no limit.

        A strict comparison counts as one that is not strict.
        """
        if self.is_negated or self.value is None:
            return None, None
        if self.kind == "In":
            values = [value for value in self.value if value is not None]
            return (min(values), max(values)) if values else (None, None)
        lowest = self.kind in ("EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual")
        highest = self.kind in ("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual")
        return self.value if lowest else None, self.value if highest else None


class PushedFilters:
    """The filters of a query. A row must match them all."""

    def __init__(self, spark_filters: Iterable[Any] = ()) -> None:
        known = map(ColumnFilter.of, spark_filters)
        self._filters = tuple(each for each in known if each is not None)

    def may_match(self, log: PartitionLog) -> bool:
        """Return False if no record of *log* matches, because of its topic or partition."""
        values = {"topic": log.topic, "partition": log.partition}
        return all(each.may_match(values.get(each.column)) for each in self._filters)

    @property
    def has_limits(self) -> bool:
        """True if offsets or times are limited."""
        return self.offsets != _ALL_OFFSETS or self.first_time is not None

    @property
    def offsets(self) -> BoundedRange:
        """Offsets that may match."""
        first, end = _ALL_OFFSETS
        for each in self._filters:
            if each.column != "offset":
                continue
            lowest, highest = each.limits()
            if lowest is not None:
                first = max(first, lowest + (each.kind == "GreaterThan"))
            if highest is not None:
                end = min(end, highest + (each.kind != "LessThan"))
        return first, end

    @property
    def first_time(self) -> int | None:
        """Earliest time that may match, in milliseconds since the Unix epoch; None if there is no limit.

        A latest time ends nothing: records need not be in the order of their times. A time before the
        epoch is no limit either, since Spark shows records without a time as one millisecond before.
        """
        lowest = [each.limits()[0] for each in self._filters if each.column == "timestamp"]
        first = max((_milliseconds(time) for time in lowest if time is not None), default=-1)
        return first if first >= 0 else None


def _milliseconds(time: datetime) -> int:
    """Return *time* in milliseconds since the Unix epoch, rounded down."""
    return (time - _EPOCH) // timedelta(milliseconds=1)
