"""The checks that `verify` makes while it reads a partition, besides the checks of every read."""

from collections.abc import Sequence
from typing import Protocol

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.epoch_check import EpochCheck
from magicbyte.reading.index_check import IndexCheck
from magicbyte.reading.sequence_check import SequenceCheck
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.reading.time_check import TimeCheck


class Check(Protocol):
    """A check that follows the entries of one partition."""

    def add(self, segment: LogFile, entries: Entries) -> None:
        """Check sound *entries* of *segment*, the next ones of the log."""

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return the findings, after the last entry of *segments*."""


def all_checks(log: PartitionLog) -> list[Check]:
    """Return a new instance of every check for *log*."""
    return [IndexCheck(log), EpochCheck(log), SequenceCheck(log), TimeCheck(log)]
