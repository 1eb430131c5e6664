"""What `verify` looks at while it reads a partition, besides what every reader sees."""

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
    """Follows the entries of one partition."""

    def take(self, segment: LogFile, entries: Entries) -> None:
        """Look at sound *entries* of *segment*, which come in order of the log, none twice."""

    def finish(self, segments: list[SegmentSurvey]) -> list[Finding]:
        """Return what is wrong, all *segments* having been read."""


def all_checks(log: PartitionLog) -> list[Check]:
    """Return every check, anew for *log*."""
    return [IndexCheck(log), EpochCheck(log), SequenceCheck(log), TimeCheck(log)]
