"""Read a whole partition and count its bytes and records by disposition."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._epoch_check import EpochCheck
from magicbyte.reading._index_check import IndexCheck
from magicbyte.reading._record_check import COLUMNS, RecordCheck
from magicbyte.reading._sequence_check import SequenceCheck
from magicbyte.reading.damaged_offsets import DamagedOffsets, DamagedRange
from magicbyte.reading.dispositions import ClassifiedEntries
from magicbyte.reading.partial_plan import wanted_offsets
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report, Tally, bytes_outside_splits, examine_counted
from magicbyte.reading.survey import Survey
from magicbyte.reading.time_check import TimeCheck


@dataclass(slots=True)
class PartitionTally:
    """Bytes and records of a partition by disposition."""

    survey: Survey
    report: Report
    """Totals and findings of the partition."""
    by_path: dict[str, Tally] = field(default_factory=dict)
    """Tallies of the live segments, by path; empty if only headers were read."""
    damaged_ranges: list[DamagedRange] = field(default_factory=list)
    """Damaged ranges with the offsets in them; empty unless all checksums were verified."""


def tally_partition(
    planner: Planner,
    log: PartitionLog,
    *,
    verify: bool = False,
    quick: bool = False,
    columns: tuple[str, ...] | None = None,
    look: Callable[[LogFile, ClassifiedEntries], None] | None = None,
) -> PartitionTally:
    """Read all of *log*, past damage, and return its tally.

    Args:
        verify: Verify all checksums in the survey, and check indexes, epochs, sequences, times and
            the headers of batches.
        quick: Survey the headers only, and tally nothing.
        columns: Columns of the records that *look* needs besides `offset`.
        look: Called with each segment and its decoded entries.
    """
    survey = planner.survey(log, verify=verify, quick=quick)
    offsets = wanted_offsets(planner, log)
    report = Report(findings=list(survey.findings))
    result = PartitionTally(survey, report)
    if quick or log.state is not None:
        return result
    engine, tallies = planner.new_engine(), result.by_path
    damaged_offsets = DamagedOffsets() if verify else None
    checks: list[IndexCheck | EpochCheck | SequenceCheck | TimeCheck] = []
    record_check = RecordCheck(log)
    if verify:
        checks = [IndexCheck(log), EpochCheck(log), SequenceCheck(log), TimeCheck(log)]
        columns = COLUMNS
    for split in planner.splits(survey, offsets):
        split = replace(split, options=replace(split.options, on_damage="skip"))
        tally = tallies.setdefault(split.file.path, Tally())
        for piece in examine_counted(planner, split, columns, engine, tally, ordered=False):
            if isinstance(piece.entries, ClassifiedEntries):
                if damaged_offsets is not None:
                    damaged_offsets.add(split.file, piece.entries)
                if look is not None:
                    look(split.file, piece.entries)
                for check in checks:
                    check.add(split.file, piece.entries.entries)
                if verify:
                    record_check.add(split.file, piece.entries)
    for check in checks:
        report.findings.extend(check.finish(survey.segments))
    report.findings.extend(record_check.finish(survey.segments))
    if damaged_offsets is not None:
        result.damaged_ranges = damaged_offsets.ranges(survey)
    for path, outside in bytes_outside_splits(survey).items():
        tallies.setdefault(path, Tally()).bytes.update(outside)
    for tally in tallies.values():
        report.add(tally)
    return result
