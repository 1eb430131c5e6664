"""Read a whole partition and count its bytes and records by disposition."""

from collections.abc import Callable, Iterator
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
from magicbyte.reading.split import ChunkResult
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
    """Damaged ranges with the offsets in them, of `verify_partition`."""
    control_records: int = 0
    """Records of control batches with any disposition, of `verify_partition`."""


def tally_partition(
    planner: Planner,
    log: PartitionLog,
    *,
    quick: bool = False,
    columns: tuple[str, ...] | None = None,
    look: Callable[[LogFile, ClassifiedEntries], None] | None = None,
) -> PartitionTally:
    """Read all of *log*, past damage, and return its tally.

    Args:
        quick: Survey the headers only, and tally nothing.
        columns: Columns of the records that *look* needs besides `offset`.
        look: Called with each segment and its decoded entries.
    """
    result = _tally_of(planner.survey(log, quick=quick))
    if quick or log.state is not None:
        return result
    for file, piece in _pieces(planner, result, columns):
        if look is not None and isinstance(piece.entries, ClassifiedEntries):
            look(file, piece.entries)
    return _with_totals(result)


def verify_partition(planner: Planner, log: PartitionLog, *, quick: bool = False) -> PartitionTally:
    """Read all of *log*, past damage, and return its tally, with all checks.

    Checksums, companion files, epochs, sequences, times and the headers of batches are checked. See
    `tally_partition` for *quick*.
    """
    survey = planner.survey(log, check=True, quick=quick)
    if quick or log.state is not None:
        return _tally_of(survey)
    tally = _checked(planner, log, survey)
    if tally is None:
        tally = _checked(planner, log, planner.survey(log, verify=True))
        assert tally is not None
    return tally


def _checked(planner: Planner, log: PartitionLog, survey: Survey) -> PartitionTally | None:
    """Return the tally of *log* with all checks; None if there is damage that *survey* has not looked for.

    A survey of headers is enough for a log without damage: reading verifies all checksums.
    """
    result, damaged_offsets, record_check = _tally_of(survey), DamagedOffsets(), RecordCheck(log)
    checks: list[IndexCheck | EpochCheck | SequenceCheck | TimeCheck] = []
    checks += IndexCheck(log), EpochCheck(log), SequenceCheck(log), TimeCheck(log)
    for file, piece in _pieces(planner, result, COLUMNS):
        if not isinstance(piece.entries, ClassifiedEntries):
            if not survey.is_verified:
                return None
            continue
        damaged_offsets.add(file, piece.entries)
        result.control_records += piece.entries.num_control_records
        for check in checks:
            check.add(file, piece.entries.entries)
        record_check.add(file, piece.entries)
    for check in checks:
        result.report.findings.extend(check.finish(survey.segments))
    result.report.findings.extend(record_check.finish(survey.segments))
    result.damaged_ranges = damaged_offsets.ranges(survey)
    return _with_totals(result)


def _tally_of(survey: Survey) -> PartitionTally:
    """Return the tally of a partition, of whose records nothing has been read after its *survey*."""
    return PartitionTally(survey, Report(findings=list(survey.findings)))


def _pieces(
    planner: Planner, result: PartitionTally, columns: tuple[str, ...] | None
) -> Iterator[tuple[LogFile, ChunkResult]]:
    """Yield each segment with the results of reading it, which are counted in *result*."""
    engine, survey = planner.new_engine(), result.survey
    for split in planner.splits(survey, wanted_offsets(planner, survey.log)):
        split = replace(split, options=replace(split.options, on_damage="skip"))
        tally = result.by_path.setdefault(split.file.path, Tally())
        for piece in examine_counted(planner, split, columns, engine, tally, ordered=False):
            yield split.file, piece
            del piece  # frees the memory before the next piece is made


def _with_totals(result: PartitionTally) -> PartitionTally:
    """Add the tallies of all segments in *result* to its report."""
    for path, outside in bytes_outside_splits(result.survey).items():
        result.by_path.setdefault(path, Tally()).bytes.update(outside)
    for tally in result.by_path.values():
        result.report.add(tally)
    return result
