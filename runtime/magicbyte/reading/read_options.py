"""The options of a read, as one value that travels from the caller to each split."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from magicbyte.engines.factory import ENGINES
from magicbyte.errors import InputError
from magicbyte.limits import DEFAULT_LIMITS, Limits

ISOLATION_LEVELS = ("read_committed", "read_uncommitted")
DAMAGE_POLICIES = ("fail", "skip", "stop")
TRANSACTION_SOURCES = ("auto", "markers", "index")

OffsetRange = tuple[int | None, int | None]
"""Offsets, half-open; None is no bound."""

NO_RANGE = None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options of a read: by `magicbyte.open`, by a split on another machine, or by Spark.

    Raises InputError for a value that is not allowed.
    """

    isolation_level: str = "read_committed"
    """Isolation level, as for a Kafka consumer."""
    on_damage: str = "fail"
    """Damage policy: raise, skip the damaged range, or end the partition there."""
    transactions: str = "auto"
    """Source of the outcomes of transactions."""
    offsets: OffsetRange = NO_RANGE
    times: tuple[int | None, int | None] = NO_RANGE
    """Milliseconds since the Unix epoch, half-open; None is no bound."""
    engine: str = "auto"
    threads: int = 1
    """Threads that read records and batches; 1 is the caller's own."""
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        for name, allowed in (
            ("isolation_level", ISOLATION_LEVELS),
            ("on_damage", DAMAGE_POLICIES),
            ("transactions", TRANSACTION_SOURCES),
            ("engine", ENGINES),
        ):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} {getattr(self, name)!r}", alternatives(allowed))
        for name in ("offsets", "times"):
            low, high = getattr(self, name)
            if low is not None and high is not None and low > high:
                raise InputError(f"{name} from {low} to {high}", "the lower bound first")
        if self.threads < 1:
            raise InputError(f"threads {self.threads}", "at least 1")
        if self.transactions == "index" and self.on_damage == "stop":
            raise InputError(
                "transactions 'index' with on_damage 'stop'",
                "transactions 'markers': an index does not know where damage ends the log",
            )

    def ending_at(self, offset: int | None, time_ms: int | None) -> "ReadOptions":
        """Return the options with an earlier end: before *offset*, and before *time_ms*; None: no other end."""
        ends = []
        for (low, high), end in ((self.offsets, offset), (self.times, time_ms)):
            if end is not None and (high is None or end < high):
                high = end
            ends.append((low, high if low is None or high is None else max(low, high)))
        return replace(self, offsets=ends[0], times=ends[1])

    def wanted_offsets(self, offset_at: Callable[[int], int | None]) -> OffsetRange:
        """Return the offsets of a partition that are both in the range of offsets and in the range of times.

        *offset_at* returns the first offset at a time or later, None where there is none.
        """
        low, high = self.offsets
        begin, end = self.times
        if begin is not None:
            first = offset_at(begin)
            if first is None:
                first = BEYOND_ALL_OFFSETS
            low = first if low is None else max(low, first)
        if end is not None:
            last = offset_at(end)
            if last is not None:
                high = last if high is None else min(high, last)
        if low is not None and high is not None:
            high = max(low, high)  # an empty range, where one ends before the other begins
        return low, high


BEYOND_ALL_OFFSETS = (1 << 63) - 1
"""An offset that no record has."""


def alternatives(names: Sequence[str]) -> str:
    """Return *names* in a sentence: a, b or c."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
