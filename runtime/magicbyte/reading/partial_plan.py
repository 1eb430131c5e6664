"""Surveys of only some segments of a log, to find its readable range, the offset of a time, or the
outcomes of the transactions in an offset range.

The last segment and the snapshot at its base tell how far a log may be read. A segment whose time
index ends before a time is not read for it. An offset range needs the segments that hold it and
those after it in which its transactions end. Where these contradict the snapshot at their
beginning, or leave a transaction of the range uncertain, more of the log is read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from magicbyte.findings import TAILS, Finding
from magicbyte.logdir.indexes import read_times
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._indexed_range import UNREAD_BYTES, survey_by_index
from magicbyte.reading._indexed_times import offset_by_index
from magicbyte.reading._stream_plan import survey_of_appended, survey_of_ranges
from magicbyte.reading.plan_ahead import plan_ahead
from magicbyte.reading.planner import RANGE_SPLIT_BYTES, Planner
from magicbyte.reading.read_options import NO_RANGE, OffsetRange
from magicbyte.reading.segment_range import before, each_segment, from_offset, up_to
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Survey

BoundedRange = tuple[int, int]
"""Offsets, half-open."""

FileSizes = tuple[tuple[str, int], ...]
"""The live files of a log, by path, with their sizes."""

UNREAD_SEGMENTS = UNREAD_BYTES
"""Code of the finding that segments were left out of a survey."""

UNFINISHED = ("transaction-open", "transaction-undecided")
"""Codes of findings about transactions without an end."""


def readable_range(survey: Survey, isolation_level: str) -> BoundedRange:
    """Return the offsets that a consumer of *isolation_level* can read."""
    first = survey.log_start_offset or 0
    return first, max(first, _readable_end(survey, isolation_level))


def _readable_end(survey: Survey, isolation_level: str) -> int:
    if isolation_level == "read_committed" and survey.last_stable_offset is not None:
        return survey.last_stable_offset
    return survey.log_end_offset or 0


def _end_for_all(survey: Survey, isolation_level: str) -> int:
    """Return the offset after the last one that a consumer can read, as far as *survey* shows.

    A transaction that is open in it may have begun before it.
    """
    end = _readable_end(survey, isolation_level)
    if isolation_level == "read_committed":
        opened = (one.first_offset for one in survey.transactions.with_outcome("open"))
        end = min([end, *opened])
    return end


@dataclass(slots=True)
class ReadableRanges:
    """The offsets of logs that a consumer can read, cached while the files keep their sizes.

    The offsets of a log whose end cannot be read are not cached: perhaps it can be read the next time.
    """

    _cached: dict[str, tuple[FileSizes | None, BoundedRange, list[Finding]]] = field(
        default_factory=dict
    )
    _stable: dict[str, tuple[str | None, int]] = field(default_factory=dict)
    """Topic id, and the offset up to which all transactions had ended, of each log."""

    def findings_at_end(self, log: PartitionLog) -> list[Finding]:
        """Return the findings about the bytes of *log* after its last sound entry, as `of` saw them.

        The range of offsets that `of` returned ends before these bytes.
        """
        return self._cached[log.folder][2]

    def is_end_known(self, log: PartitionLog) -> bool:
        """Return whether the log ended where `of` said, as far as its bytes tell.

        False if bytes after the last sound entry are damaged or cannot be read: they may have been
        records before, so that nothing was truncated.
        """
        return all(finding.code in TAILS for finding in self.findings_at_end(log))

    def of(self, planner: Planner, log: PartitionLog) -> BoundedRange:
        """Return the offsets of *log* that a consumer can read now."""
        sizes = tuple((file.path, file.size_bytes) for file in log.files if file.live)
        cached = self._cached.get(log.folder)
        if cached is not None and cached[0] == sizes:
            return cached[1]
        survey = self._survey_from_end(planner, log) or self._survey_of_last_segment(planner, log)
        end = _end_for_all(survey, planner.options.isolation_level)
        first = log.log_start_offset or 0
        readable = first, max(first, end)
        findings = [
            finding.at(log.topic, log.partition, segment.file.name, segment.file.replica)
            for segment in survey.segments[-1:]
            for unsound in survey.ranges_at_end
            for finding in unsound.findings
        ]
        is_settled = not survey.is_end_unreadable
        self._cached[log.folder] = sizes if is_settled else None, readable, findings
        self._stable[log.folder] = log.topic_id, end
        return readable

    def stable_offset(self, log: PartitionLog) -> int | None:
        """Return an offset of *log* such that no transaction that began before it was open; None if unknown.

        It is the end that `of` found, for `read_committed`.
        """
        topic_id, offset = self._stable.get(log.folder, (None, None))
        return offset if topic_id == log.topic_id else None

    def _survey_from_end(self, planner: Planner, log: PartitionLog) -> Survey | None:
        """Return a survey of *log* from the end that `of` returned before; None if that tells too little."""
        before = self.stable_offset(log)
        if not before or not self.is_end_known(log):
            return None
        survey = survey_of_appended(planner, log, before) or survey_by_index(
            planner, log, (before, None), None, before
        )
        if survey is None or _end_for_all(survey, planner.options.isolation_level) < before:
            return None  # it was truncated: which transactions are open is not known any more
        return survey

    def _survey_of_last_segment(self, planner: Planner, log: PartitionLog) -> Survey:
        bases = [file.base_offset for file in log.logs]
        last = bases[-1] if bases else None
        rest = log if last is None else from_offset(log, last)
        survey, _ = _undisputed_survey(planner, log, rest, lambda part: part)
        return survey


def offset_at(planner: Planner, log: PartitionLog, time: int) -> int | None:
    """Return the first offset whose record has the timestamp *time* or a later one.

    *time* is in milliseconds since the Unix epoch. None: there is no such record.
    """
    for part in each_segment(log):
        if part.logs and part.logs[-1] is not log.logs[-1] and not log.is_filled:
            # A broker writes the largest timestamp of a segment to its index when it rolls it.
            times = read_times(log, part.logs[-1], planner.index_findings)
            if len(times) and int(times["timestamp"][-1]) < time:
                continue
        lookup = offset_by_index(planner, log, part, time) if part.logs else None
        if lookup is None:
            offset = planner.offset_at(planner.survey_once(part), time)
        else:
            offset = lookup.offset
        if offset is not None:
            return offset
    return None


def wanted_offsets(planner: Planner, log: PartitionLog) -> OffsetRange:
    """Return the offsets that the options want of *log*; times are looked up in few segments.

    Whole reads use the same lookup as reads of a range, so that both mean the same offsets.
    """
    options = planner.options
    if options.times != NO_RANGE and options.on_damage == "stop":
        return planner.wanted_offsets(planner.survey(log))
    return options.wanted_offsets(partial(offset_at, planner, log))


def survey_of_range(
    planner: Planner,
    log: PartitionLog,
    offsets: OffsetRange,
    split_bytes: int | None = None,
    *,
    stable_offset: int | None = None,
) -> Survey:
    """Return a survey of the bytes of *log* that hold *offsets* and the ends of transactions.

    It has a finding if segments, or parts of them, were left out. If the caller knows that no transaction
    that began before *stable_offset* is open, fewer bytes are read.
    """
    first, end = offsets
    survey_of_bytes = survey_by_index(planner, log, offsets, split_bytes, stable_offset)
    if survey_of_bytes is not None:
        return _without_later_transactions(survey_of_bytes, end)
    rest = log if first is None else from_offset(log, first)
    num_more = 0
    while True:
        cut = partial(_up_to, end=end, more=num_more)
        survey, rest = _undisputed_survey(planner, log, rest, cut, split_bytes)
        if survey.log is log:
            return survey
        if _is_uncertain(survey, offsets):
            return planner.survey(log, split_bytes)  # what proves an outcome may be anywhere
        if survey.log is rest or end is None or not _has_open(survey, end):
            break
        num_more = 2 * num_more or 1
    num_read, num_segments = len(survey.log.logs), len(log.logs)
    survey.findings.append(
        log.finding(
            UNREAD_SEGMENTS,
            f"{num_read} of {num_segments} segments were read for these offsets: damage in the "
            "others, and records that are in the wrong segment, would not be noticed",
            found=str(num_read),
            expected=str(num_segments),
        )
    )
    return _without_later_transactions(survey, end)


def _without_later_transactions(survey: Survey, end: int | None) -> Survey:
    """Remove from *survey* the findings about transactions that begin at the offset *end* or after it.

    They are not in the range, and the bytes in which they end may not have been read.
    """
    if end is not None:
        survey.findings = [
            finding
            for finding in survey.findings
            if finding.code not in UNFINISHED or (finding.base_offset or 0) < end
        ]
    return survey


def survey_for_tasks(
    planner: Planner,
    log: PartitionLog,
    bounded_ranges: Sequence[BoundedRange],
    split_bytes: int,
    *,
    stable_offset: int | None = None,
) -> Survey:
    """Return a survey for splits of consecutive *bounded_ranges* of *log*; with `read_committed`, all that begins there has ended.

    Arguments as for `survey_of_range`. Where the indexes permit it, nothing is read that a task reads again.
    """
    survey = survey_of_ranges(planner, log, bounded_ranges, split_bytes)
    if survey is not None:
        return survey
    offsets = bounded_ranges[0][0], bounded_ranges[-1][1]
    return survey_of_range(planner, log, offsets, split_bytes, stable_offset=stable_offset)


def _up_to(rest: PartitionLog, *, end: int | None, more: int) -> PartitionLog:
    return rest if end is None else up_to(rest, end, more=more)


def _undisputed_survey(
    planner: Planner,
    log: PartitionLog,
    rest: PartitionLog,
    cut: Callable[[PartitionLog], PartitionLog],
    split_bytes: int | None = None,
) -> tuple[Survey, PartitionLog]:
    """Return a survey of *cut* of *rest*, the end of *log*, and the rest that was surveyed.

    It begins earlier where later entries or snapshots contradict the producer snapshot at its
    beginning: that may hide a transaction that is open.
    """
    num_back = 1
    while True:
        part = cut(rest)
        survey = None if part is log else planner.survey_of_part(part, split_bytes)
        if survey is None:
            return planner.survey_once(log, split_bytes), log
        if rest is log:
            return survey, rest
        if not survey.disputes_start:
            # Its producers may have written before the range only.
            survey.findings = [f for f in survey.findings if f.code != "snapshot-unconfirmed"]
            return survey, rest
        rest, num_back = before(log, rest, num_back), 2 * num_back


def _is_uncertain(survey: Survey, offsets: OffsetRange) -> bool:
    """Return whether missing entries make the outcome of a transaction in *offsets* uncertain."""
    first, end = offsets
    return any(
        (first is None or txn.last_offset >= first) and (end is None or txn.first_offset < end)
        for txn in survey.transactions.uncertain()
    )


def _has_open(survey: Survey, end: int) -> bool:
    """Return whether a transaction that begins before *end* is open or undecided in *survey*."""
    unfinished = survey.transactions.with_outcome("open", "undecided")
    return any(one.first_offset < end for one in unfinished)


def plan_partitions(
    planner: Planner, logs: Iterable[PartitionLog], max_partition_bytes: int | None
) -> Iterator[Split]:
    """Yield the splits that cover all bytes of *logs*, each of *max_partition_bytes* at most.

    A split spans at least one entry. None: one split per segment. Few partitions are planned ahead of the reader.
    """
    by_segment = max_partition_bytes is None
    survey_ahead = partial(planner.survey, split_bytes=max_partition_bytes, for_records=True)
    for log, survey in plan_ahead(logs, survey_ahead):
        offsets = wanted_offsets(planner, log)
        yield from planner.splits(survey, offsets, by_segment=by_segment)


def survey_of_wanted(planner: Planner, log: PartitionLog) -> tuple[Survey, OffsetRange]:
    """Return a survey of the segments that the wanted offsets need, and these offsets.

    Other segments are not read, unless damage in them ends the log (`on_damage="stop"`).
    """
    if planner.options.on_damage != "stop":
        offsets = wanted_offsets(planner, log)
        if offsets != NO_RANGE:
            survey = survey_of_range(
                planner, log, offsets, RANGE_SPLIT_BYTES, stable_offset=planner.stable_offset
            )
            return survey, offsets
    return planner.survey(log, for_records=True), wanted_offsets(planner, log)
