"""A transaction in a partition, and the outcomes that a plan gives to splits."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from magicbyte.engines.protocol import Control
from magicbyte_formats.wire import ControlType


class LogPosition(NamedTuple):
    """An entry's position in a partition: the segment's number, counted from 0, and the byte."""

    segment: int
    position: int


OUTCOME_OF: dict[int, str] = {ControlType.COMMIT: "committed", ControlType.ABORT: "aborted"}


def outcome_of(control: Control | None) -> str | None:
    """Return the outcome that *control* gives a transaction; None if it ends no transaction."""
    return None if control is None else OUTCOME_OF.get(control.type)


@dataclass(slots=True, eq=False)
class Transaction:
    """A transaction in one partition, or the part of it that missing entries leave."""

    producer_id: int
    producer_epoch: int
    """Epoch of its last data batch in the log."""
    first_offset: int
    last_offset: int
    begun_before_log: bool = False
    first_timestamp: int | None = None
    record_count: int = 0
    size_bytes: int = 0
    first_position: LogPosition | None = None
    last_position: LogPosition | None = None
    """None for a transaction that only the producer snapshot states."""
    is_continuation: bool = False
    """True if earlier data may be missing: lost, or from before a log that has no snapshot."""
    is_uncertain: bool = False
    """True if entries may be missing after its last data, so that its outcome must be proven."""
    outcome: str = "open"
    evidence: str | None = None
    marker_offset: int | None = None
    marker_timestamp: int | None = None
    coordinator_epoch: int | None = None


def last_stable_offset(transactions: Iterable[Transaction], *, log_start: int, log_end: int) -> int:
    """Return the end of what read_committed reads: the first offset of the oldest open transaction.

    An undecided transaction withholds its own records and does not count here.
    """
    firsts = [txn.first_offset for txn in transactions if txn.outcome == "open"]
    return max(log_start, min([*firsts, log_end]))


@dataclass(frozen=True, slots=True)
class PlannedOutcomes:
    """Outcomes that the plan gives a split because the split's own entries do not show them."""

    at_end: tuple[tuple[int, str], ...] = ()
    """Producer id and outcome of each transaction that is open at the split's end."""
    exceptions: tuple[tuple[int, LogPosition, LogPosition, str], ...] = ()
    """Producer id, first and last position and outcome of each uncertain transaction."""
