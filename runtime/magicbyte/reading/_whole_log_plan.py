"""Plan a split by a survey of its log, where its plan from index files does not hold.

A split may be read on any machine, so its log is listed there. A survey of the whole log is cached: other
splits of the log may need it, too. Of a range of offsets, no more is surveyed than it needs.
"""

from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from magicbyte.errors import ChangedError
from magicbyte.logdir.discover import described, discover
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._index_plan import index_boundaries
from magicbyte.reading._markers_ahead import AheadPlan
from magicbyte.reading.partial_plan import survey_of_range
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE, ReadOptions
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Opener, Survey
from magicbyte.storage import Storage

MAX_SURVEYS = 8
"""Surveys that are cached; a survey of a log with many transactions may take many MB."""

SurveyKey = tuple[str, tuple[tuple[str, int], ...], ReadOptions, int]

_surveys: OrderedDict[SurveyKey, Survey] = OrderedDict()
_lock = Lock()


def planned_by_survey(
    split: Split, ahead: AheadPlan, position: int, open_log: Opener
) -> list[Split]:
    """Return splits for the entries of *split* from *position* on, by a survey of the log, or of its range."""
    log = _listed_log(split)
    options = replace(split.options, offsets=NO_RANGE, transactions="markers")
    planner, offsets = Planner(options, open_log=open_log), split.options.offsets
    if ahead.is_of_range:
        survey = survey_of_range(planner, log, offsets, ahead.split_bytes, stable_offset=offsets[1])
    else:
        survey = _survey(planner, log, ahead.split_bytes)
    splits = []
    for whole in planner.splits(survey, offsets, only_wanted=ahead.is_of_range):
        if whole.file.path != split.file.path:
            continue
        if not ahead.is_of_range and not split.start <= whole.start < split.end:
            continue
        if whole.end > position:
            splits.append(
                replace(
                    whole,
                    file=split.file,
                    start=max(whole.start, position),
                    end=min(whole.end, split.file.size_bytes),
                    first=None if whole.start < position else whole.first,
                    is_verified=False,  # so that damage is reported with the split
                    unsound_ranges=(),
                    log_start_offset=split.log_start_offset,
                    last_stable_offset=split.last_stable_offset,
                    options=split.options,
                )
            )
    return splits


def _survey(planner: Planner, log: PartitionLog, split_bytes: int) -> Survey:
    """Return the survey of *log*, with boundaries where its offset indexes divide it."""
    sizes = tuple((file.path, file.size_bytes) for file in log.logs)
    key = log.key, sizes, planner.options, split_bytes
    with _lock:  # another thread may be about to need the same survey
        survey = _surveys.get(key)
        if survey is None:
            boundaries = index_boundaries(log, split_bytes)
            survey = _surveys[key] = planner.survey_once(log, split_bytes, cuts=boundaries)
            if len(_surveys) > MAX_SURVEYS:
                _surveys.popitem(last=False)
        return survey


def _listed_log(split: Split) -> PartitionLog:
    """Return the log of *split* as its folder is now."""
    store, folder = split.file.store, split.file.path.rpartition("/")[0]
    storage = Storage(None if store is None else store.options)
    for log in discover([folder], storage).partitions:
        if log.folder == folder and any(file.path == split.file.path for file in log.logs):
            return described(log, storage=storage)
    raise ChangedError(
        "the segment is not in its partition folder", "the folder as planned", path=split.file.path
    )
