"""Plan a read: survey a partition by the cheapest pass that is enough, and divide it into splits.

A survey settles where the log starts and ends, which bytes are damaged, how each transaction ended,
and where splits may begin.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from threading import Lock
from typing import Any

from magicbyte._transactions import PlannedOutcomes
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import BatchHeaders, Engine, Entries
from magicbyte.errors import error_of
from magicbyte.findings import Finding
from magicbyte.limits import MIB
from magicbyte.logdir.companions import (
    TransactionCompanions,
    read_transaction_companions,
)
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading import _times
from magicbyte.reading._index_outcomes import UntrustedIndexError
from magicbyte.reading._index_plan import survey_of_indexed_log
from magicbyte.reading._log_pass import (
    HeaderPass,
    HeadersSufficePass,
    KeptHeaderPass,
    SurveyOptions,
)
from magicbyte.reading._markers_ahead import MAX_AHEAD_BYTES, AheadPlan
from magicbyte.reading._part_markers import UntrustedPartError
from magicbyte.reading._split_outcomes import SplitOutcomes
from magicbyte.reading._split_pieces import joined_pieces, split_pieces
from magicbyte.reading._survey_passes import (
    HeaderCheckPass,
    IndexPass,
    UpToDamagePass,
    VerifiedPass,
)
from magicbyte.reading._walk import HeaderWalk, SoundEntries
from magicbyte.reading.read_options import NO_RANGE, OffsetRange, ReadOptions
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Boundary, Opener, SegmentSurvey, Survey, open_segment

SPLIT_BYTES = 4 * MIB
"""Bytes of a segment that one task of a thread reads. Independent of the number of threads, so
that neither rows nor their order nor the report depend on it."""

RANGE_SPLIT_BYTES = 64 << 10
"""The same where a range of offsets is read, so that few bytes are read before and after it; splits inside
of the range are joined."""

STORED_SPLIT_BYTES = 32 * MIB
"""The same for a log in a store that its offset indexes divide: each split begins with a few requests."""

MAX_CACHED = 1 << 17
"""Files and boundaries of the surveys that a planner caches, about 100 MB; other logs are surveyed again."""

MIN_SURVEYS = 64
"""Surveys that are cached even if they are large: threads survey logs ahead of their reader."""

_START = attrgetter("start")

AbortedList = tuple[tuple[int, int], ...]
"""Producer ids and first offsets of aborted transactions, as a fetch response lists them."""


@dataclass(slots=True)
class Planner:
    """Surveys partitions and divides them into splits, by one set of options.

    The last surveys are cached, so that each is made once unless there are very many. If a file changes later, reading it raises ChangedError.
    """

    options: ReadOptions
    open_log: Opener = open_segment
    aborted_list: AbortedList | None = None
    """Decides which transactions were aborted, in place of markers and indexes."""
    stable_offset: int | None = None
    """Offset of the only log before which no open transaction began, as far as the caller knows."""
    index_findings: list[Finding] = field(default_factory=list, init=False, repr=False)
    """Findings about indexes that could not be read when times were looked up."""
    _surveys: dict[Hashable, Survey | None] = field(default_factory=dict, init=False, repr=False)
    """The last surveys; None where offset indexes do not suffice."""
    _pinned: dict[Hashable, Survey] = field(default_factory=dict, init=False, repr=False)
    """The surveys that were made elsewhere."""
    _headers: dict[str, Sequence[BatchHeaders]] = field(
        default_factory=dict, init=False, repr=False
    )
    """Headers that a cached survey has read, by path of a segment."""
    _num_cached: int = field(default=0, init=False, repr=False)
    """Files and boundaries of the last surveys."""
    _lock: Any = field(default_factory=Lock, init=False, repr=False)

    def new_engine(self, *, views: bool = False) -> Engine:
        """Return an engine for one thread."""
        return engine(self.options.engine, views=views)

    def survey(
        self,
        log: PartitionLog,
        split_bytes: int | None = None,
        *,
        verify: bool = False,
        check: bool = False,
        quick: bool = False,
        by_markers: bool = False,
        for_records: bool = False,
    ) -> Survey:
        """Return the survey of *log*, with a boundary every *split_bytes* (default: SPLIT_BYTES).

        Args:
            for_records: With `transactions="auto"`, read index files instead of headers, if the log is
                in a store: enough to read records, but not for findings about the log.
            verify: Verify all checksums, too.
            check: Compare all companion files with the log.
            quick: Read headers only.
            by_markers: Let markers decide how transactions ended, even if the options say `index`.
        """
        if for_records and log.files and log.files[0].store is not None:
            survey = self.survey_by_index(log, split_bytes or STORED_SPLIT_BYTES)
            if survey is not None:
                return survey
        split_bytes = split_bytes or SPLIT_BYTES
        by_index = self.options.transactions == "index" and not by_markers
        key = log.key, split_bytes, verify, check, quick, by_index
        survey = self._surveys.get(key) or self._pinned.get(key)
        if survey is None:
            survey = self.survey_once(
                log, split_bytes, verify=verify, check=check, quick=quick, by_markers=by_markers
            )
            self._cache(key, survey)
        return survey

    def _cache(self, key: Hashable, survey: Survey | None) -> None:
        """Cache the *survey* of *key*, and drop the oldest surveys that are too many."""
        with self._lock:
            if key in self._surveys:
                return  # another thread has surveyed the log, too
            self._surveys[key] = survey
            if survey is not None:
                self._num_cached += len(survey.log.files)
                for segment in survey.segments:
                    self._headers[segment.file.path] = segment.heads
                    self._num_cached += len(segment.boundaries)
            if self._num_cached > MAX_CACHED:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._num_cached > MAX_CACHED and len(self._surveys) > MIN_SURVEYS:
            key = next(iter(self._surveys))
            survey = self._surveys.pop(key)
            if survey is not None:
                self._num_cached -= len(survey.log.files)
                for segment in survey.segments:
                    self._num_cached -= len(segment.boundaries)
                    if self._headers.get(segment.file.path) is segment.heads:
                        del self._headers[segment.file.path]

    def survey_by_index(self, log: PartitionLog, split_bytes: int) -> Survey | None:
        """Return the survey of *log* in a store by its offset indexes and its end; None if these do not suffice.

        It is cached, as by `survey`.
        """
        is_auto = self.options.transactions == "auto" and self.aborted_list is None
        is_stored = bool(log.files) and log.files[0].store is not None
        if not is_stored or not is_auto or self.options.on_damage == "stop":
            return None
        key = log.key, split_bytes
        survey = self._surveys.get(key)
        if survey is None and key not in self._surveys:
            options = SurveyOptions(
                engine=self.new_engine(),
                limits=self.options.limits,
                split_bytes=split_bytes,
                open_log=self.open_log,
            )
            survey_part = partial(self.survey_of_part, split_bytes=split_bytes)
            survey = survey_of_indexed_log(log, options, survey_part)
            self._cache(key, survey)
        return survey

    def keep(self, survey: Survey, log: PartitionLog, split_bytes: int) -> None:
        """Cache the *survey* of *log* that a planner of the same options made elsewhere, for good."""
        by_index = self.options.transactions == "index"
        key = log.key, split_bytes, False, False, False, by_index
        self._pinned[key] = replace(survey, log=log)

    def known_survey(self, log: PartitionLog) -> Survey | None:
        """Return the survey of *log* for its records, if it is cached."""
        by_index = self.options.transactions == "index"
        key = log.key, SPLIT_BYTES, False, False, False, by_index
        return self._surveys.get(key) or self._pinned.get(key)

    def companions(self, log: PartitionLog) -> TransactionCompanions:
        """Read the companion files of *log* that are about transactions.

        Raises UnreadableError if one cannot be read and the options say `fail`.
        """
        companions = read_transaction_companions(log)
        if self.options.on_damage == "fail":
            for finding in (*log.findings, *companions.findings):
                if finding.code == "unreadable":
                    raise error_of(finding)
        return companions

    def survey_once(
        self,
        log: PartitionLog,
        split_bytes: int | None = None,
        *,
        verify: bool = False,
        check: bool = False,
        quick: bool = False,
        by_markers: bool = False,
        is_part: bool = False,
        cuts: Mapping[str, Sequence[int]] | None = None,
    ) -> Survey:
        """Return the same as `survey`, uncached: for a part of a log, or where memory counts.

        *cuts*: positions by path of a segment at which splits begin, instead of every *split_bytes*.
        *is_part*: earlier segments are left out. Raise UntrustedPartError where transaction indexes decide,
        and markers contradict them.
        """
        options = SurveyOptions(
            engine=self.new_engine(),
            limits=self.options.limits,
            split_bytes=split_bytes or SPLIT_BYTES,
            cuts=cuts,
            open_log=self.open_log,
            is_part=is_part,
        )
        is_to_stop = self.options.on_damage == "stop"
        by_index = self.options.transactions == "index" and not by_markers and not log.is_filled
        if by_index and log.state is None and not (quick or is_to_stop or verify or check):
            return _survey_by_headers(log, options, is_part=is_part)
        companions = self.companions(log)
        if quick:
            return KeptHeaderPass(companions, options).run()
        if log.state is not None and not log.is_named:
            return HeaderPass(companions, options).run()  # half deleted: its records are not read
        if is_to_stop:
            return UpToDamagePass(companions, options).run()
        if verify:
            return VerifiedPass(companions, options).run()
        if check:
            return _cheapest_survey(companions, options, HeaderCheckPass)
        return _cheapest_survey(companions, options)

    def survey_of_part(self, log: PartitionLog, split_bytes: int | None = None) -> Survey | None:
        """Return the survey of *log*, a part of a log; None if only the whole log tells its transactions."""
        try:
            return self.survey_once(log, split_bytes, is_part=True)
        except UntrustedPartError:
            return None

    def offset_at(self, survey: Survey, time: int) -> int | None:
        """Return the first offset whose record has the timestamp *time* or a later one.

        *time* is in milliseconds since the Unix epoch. None: there is no such record.
        """
        return _times.offset_at(
            survey,
            time,
            engine=self.new_engine(),
            limits=self.options.limits,
            open_log=self.open_log,
            findings=self.index_findings,
        )

    def wanted_offsets(self, survey: Survey) -> OffsetRange:
        """Return the offsets that the options want of a partition, with times looked up in *survey*."""
        return self.options.wanted_offsets(partial(self.offset_at, survey))

    def headers(self, survey: Survey) -> Iterator[tuple[LogFile, Entries]]:
        """Yield all entries of a partition by their headers alone, with their segments."""
        engine = self.new_engine()
        for split in self.splits(survey, NO_RANGE):
            for entries in self.headers_of_split(split, engine):
                yield split.file, entries

    def headers_of_split(self, split: Split, engine: Engine) -> Iterator[Entries]:
        """Yield the headers of *split*; headers that a quick survey has cached are not read again."""
        with self.open_log(split.file) as log:
            for piece in HeaderWalk(
                log,
                engine=engine,
                limits=split.options.limits,
                bounds=split.bounds,
                start=split.start,
                end=split.end,
                is_last=False,
                cached_headers=self._headers.get(split.file.path, ()),
            ):
                if isinstance(piece, SoundEntries):
                    yield piece.entries

    def splits_of_ranges(self, survey: Survey, ranges: Iterable[OffsetRange]) -> list[Split]:
        """Return, for each of *ranges* of offsets, the splits that may hold offsets in it."""
        return [
            split for offsets in ranges for split in self.splits(survey, offsets, only_wanted=True)
        ]

    def splits(
        self,
        survey: Survey,
        offsets: OffsetRange,
        *,
        by_segment: bool = False,
        only_wanted: bool = False,
        joined_bytes: int = 0,
    ) -> Iterator[Split]:
        """Yield the splits of a partition; if *only_wanted*, those that may hold *offsets*.

        Adjacent splits of *joined_bytes* at most become one.
        """
        only_wanted = only_wanted and offsets != NO_RANGE and survey.is_in_order
        split_outcomes: SplitOutcomes | None = None
        options = self.options
        if options.offsets != offsets or options.times != NO_RANGE:
            options = replace(options, offsets=offsets, times=NO_RANGE)
        last_stable_offset = survey.last_stable_offset
        if self.aborted_list is not None or last_stable_offset == survey.log_end_offset:
            last_stable_offset = None  # no transaction is open: no record waits for its outcome
        for number, segment in enumerate(survey.segments):
            following = survey.segments[number + 1] if number + 1 < len(survey.segments) else None
            wanted_pieces = split_pieces(
                segment, following, offsets if only_wanted else NO_RANGE, by_segment
            )
            has_transactions = segment.has_transactions and survey.settles_transactions
            for here, there, stop in joined_pieces(wanted_pieces, joined_bytes):
                ranges = segment.unsound_ranges
                low = bisect_left(ranges, here.position, key=_START)
                high = bisect_left(ranges, stop, key=_START)
                planned, index = PlannedOutcomes(), None
                if has_transactions:
                    split_outcomes = split_outcomes or SplitOutcomes(survey)
                    index = split_outcomes.index(segment, here.position, there)
                    planned = split_outcomes.planned(segment, here.position, stop, there)
                yield Split(
                    topic=survey.log.topic,
                    partition=survey.log.partition,
                    file=segment.file,
                    segment=number,
                    start=here.position,
                    end=stop,
                    bounds=replace(segment.bounds, floor=here.floor),
                    first=here.first,
                    unsound_ranges=tuple(ranges[low:high]),
                    is_verified=survey.is_verified,
                    has_transactions=has_transactions,
                    planned_outcomes=planned,
                    outcome_index=index,
                    ahead=None
                    if survey.split_bytes_by_index is None
                    else _ahead(survey, segment, following, here, there, options.isolation_level),
                    log_start_offset=survey.log_start_offset,
                    last_stable_offset=last_stable_offset,
                    options=options,
                    aborted_list=self.aborted_list,
                )


def _cheapest_survey(
    companions: TransactionCompanions,
    options: SurveyOptions,
    pass_over_headers: type[HeadersSufficePass | HeaderCheckPass] = HeadersSufficePass,
) -> Survey:
    """Return the survey of a log, for which checksums are verified only where that is needed.

    Headers alone, by *pass_over_headers*, are enough where nothing is damaged and there are no transactions.
    Otherwise every checksum is verified, since a damaged marker must not count.
    """
    cleaned = None
    if not companions.begins_in_transaction:
        attempt = pass_over_headers(companions, options)
        attempt.read_segments()
        if do_headers_suffice(attempt):
            return attempt.finish()
        cleaned = _cleaned_segments(attempt)
    return VerifiedPass(companions, options, cleaned).run()


def do_headers_suffice(attempt: HeadersSufficePass | HeaderCheckPass) -> bool:
    """Return whether *attempt*, a pass over headers, has met nothing that headers cannot settle."""
    survey = attempt.survey
    if survey.segments and attempt.is_done(survey.segments[-1]):
        return False
    # Sizes that no checksum has confirmed may lead to what looks like damage, or like a tail.
    return not any(finding.code.startswith("offset-") for finding in survey.findings)


def _cleaned_segments(attempt: HeadersSufficePass | HeaderCheckPass) -> list[bool] | None:
    """Return whether each segment was cleaned; None where the pass over headers has ended early."""
    segments = attempt.survey.segments
    if segments and attempt.is_done(segments[-1]):
        return None
    return [segment.is_cleaned for segment in segments]


def _survey_by_headers(log: PartitionLog, options: SurveyOptions, *, is_part: bool) -> Survey:
    """Return the survey of *log* by headers and transaction indexes, if these can be trusted."""
    try:
        companions = read_transaction_companions(log, ("snapshot",))
        return IndexPass(companions, options, is_part=is_part).run()
    except UntrustedIndexError as error:
        reason = str(error)
    survey = _cheapest_survey(read_transaction_companions(log), options)
    survey.findings.append(
        log.finding(
            "txnindex-doubted",
            f"{reason}; the markers decide how transactions ended",
        )
    )
    return survey


def _ahead(
    survey: Survey,
    segment: SegmentSurvey,
    following: SegmentSurvey | None,
    here: Boundary,
    there: Boundary | None,
    isolation_level: str,
) -> AheadPlan:
    """Return how the task of the split between *here* and *there* finds outcomes by itself."""
    assert survey.split_bytes_by_index is not None
    is_near = there is None or segment.file.size_bytes - there.position <= MAX_AHEAD_BYTES
    return AheadPlan(
        split_bytes=survey.split_bytes_by_index,
        next_file=following.file
        if following and (is_near or there is following.boundaries[0])
        else None,
        cleaned_below=survey.log.cleaner_offset,
        open_transactions=tuple(
            (txn.producer_id, txn.first_offset)
            for txn in survey.transactions
            if there is None or there.latest is None or txn.first_offset < there.latest
        ),
        first_offsets=None
        if here.latest is None or here.floor is None
        else (here.floor, here.latest),
        is_of_range=survey.is_of_range,
        is_open_allowed=survey.is_of_range and isolation_level == "read_uncommitted",
    )
