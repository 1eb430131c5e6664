"""The checks that `verify` makes while it reads a partition."""

from typing import Protocol

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.epoch_check import EpochCheck
from magicbyte.reading.index_check import IndexCheck
from magicbyte.reading.sequence_check import SequenceCheck
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.reading.time_check import TimeCheck


class Check(Protocol):
    """A check of the entries of one partition."""

    def take(self, segment: LogFile, entries: Entries) -> None:
        """Check sound *entries* of *segment*. Each entry comes once, in the order of the log."""

    def finish(self, segments: list[SegmentSurvey]) -> list[Finding]:
        """Return the findings, after all *segments* have been read."""


def all_checks(log: PartitionLog) -> list[Check]:
    """Return new checks for *log*."""
    return [IndexCheck(log), EpochCheck(log), SequenceCheck(log), TimeCheck(log)]
