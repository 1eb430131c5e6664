"""The result of a survey: a pass over a partition that settles bounds, damage and transactions."""

from collections.abc import Callable
from dataclasses import dataclass, field

from magicbyte.engines.protocol import BatchHeaders
from magicbyte.errors import GoneError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._index_outcomes import AbortedTransactions
from magicbyte.reading._transaction_table import NO_TRANSACTIONS, TransactionTable
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.storage import File, UnreadableFile
from magicbyte.tables.arrays import Indices

SNAPSHOT_DISPUTES = ("snapshot-mismatch", "snapshot-transaction-ignored")
"""Codes of findings that the log contradicts a producer snapshot."""

Opener = Callable[[LogFile], File]
"""Opens the file of a segment."""


open_segment: Opener = LogFile.open
"""Opens the file of a segment with the size that it had when it was listed."""


def open_or_give_up(file: LogFile) -> File:
    """Open the file of a segment like `open_segment`; all its bytes are unreadable if it is gone."""
    try:
        return file.open()
    except GoneError as error:
        return UnreadableFile(file.path, file.size_bytes, error.found)


@dataclass(slots=True)
class Boundary:
    """A position in a segment at which a split may begin."""

    position: int
    floor: int | None
    """The last sound offset before it."""
    first: int | None = None
    """First offset of the entry that begins here; None at the beginning of the segment."""
    open_here: Indices | None = None
    """Numbers of the transactions that are open before that entry; None: there are none."""
    latest: int | None = None
    """The first offset of that entry is at or below this, by an offset index; *floor* is then only a
    lower bound. None: *first* is known."""

    @property
    def last_before(self) -> int | None:
        """The highest offset that the entries before it may have."""
        return self.floor if self.latest is None else self.latest - 1


@dataclass(slots=True)
class SegmentSurvey:
    """The result of a survey for one segment."""

    file: LogFile
    number: int
    """The segment's number in its partition, counted from 0."""
    bounds: Bounds
    is_last: bool
    boundaries: list[Boundary] = field(default_factory=list)
    heads: list[BatchHeaders] = field(default_factory=list)
    """Headers that the survey has read, up to a limit, where it read nothing but headers."""
    unsound_ranges: list[UnsoundRange] = field(default_factory=list)
    end: str = "clean"
    """`clean`, `incomplete`, `zeros`, `garbage` or `unreadable`."""
    sound_bytes: int = 0
    is_cleaned: bool = False
    """True if the log cleaner was here: offsets are missing inside a batch, or a batch has a delete
    horizon."""
    has_transactions: bool = False
    leader_epoch: int = -1
    stop_at: int | None = None
    """Position of the damage at which the read ends, with `on_damage="stop"`."""
    stop_end: int | None = None
    """End of that damage."""
    stop_kind: str = "damaged"
    """Disposition of its bytes."""

    @property
    def tail_bytes(self) -> int:
        return sum(unsound.length for unsound in self.unsound_ranges if unsound.kind == "tail")


@dataclass(slots=True)
class Survey:
    """The result of a survey for a partition."""

    log: PartitionLog
    is_verified: bool
    """True if every checksum was verified."""
    segments: list[SegmentSurvey] = field(default_factory=list)
    transactions: TransactionTable = NO_TRANSACTIONS
    findings: list[Finding] = field(default_factory=list)
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    last_stable_offset: int | None = None
    high_watermark: int | None = None
    num_empty_transactions: int = 0
    """Markers of producers that have written nothing since their last marker."""
    first_empty_transaction: int | None = None
    """Offset of the first of these markers."""
    aborted: AbortedTransactions | None = None
    """The entries of the transaction indexes, where these decide and not the markers."""
    split_bytes_by_index: int | None = None
    """The split size, if offset indexes divide the log, and no header before its end was read."""
    is_of_range: bool = False
    """True if it is of a range of offsets, and all transactions that begin before its end have ended, as far as
    that concerns the read."""

    @property
    def ranges_at_end(self) -> list[UnsoundRange]:
        """The ranges after the last sound entry of the last segment: the log may have more offsets."""
        ranges: list[UnsoundRange] = []
        for segment in self.segments[-1:]:
            end = segment.file.size_bytes
            for unsound in reversed(segment.unsound_ranges):
                if unsound.end != end:
                    break
                ranges.insert(0, unsound)
                end = unsound.start
        return ranges

    @property
    def is_end_unreadable(self) -> bool:
        """True if bytes after the last sound entry cannot be read."""
        return any(unsound.kind == "unreadable" for unsound in self.ranges_at_end)

    @property
    def settles_transactions(self) -> bool:
        """True if the outcomes of transactions are known."""
        return self.is_verified or self.aborted is not None

    @property
    def disputes_start(self) -> bool:
        """True if the log contradicts the producer snapshot at its beginning."""
        logs = self.log.logs
        names = {
            file.name
            for file in self.log.files
            if file.kind == "snapshot" and logs and file.base_offset == logs[0].base_offset
        }
        return any(
            finding.code in SNAPSHOT_DISPUTES and finding.file in names for finding in self.findings
        )

    @property
    def is_in_order(self) -> bool:
        """True if offsets increase from entry to entry, so that boundaries divide them."""
        return not any(finding.code.startswith("offset-out") for finding in self.findings)

    @property
    def leader_epoch(self) -> int | None:
        epoch = max((segment.leader_epoch for segment in self.segments), default=-1)
        return None if epoch < 0 else epoch
