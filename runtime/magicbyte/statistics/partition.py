"""Counts of a partition's files and of the batches and messages in them."""

from typing import NamedTuple

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.dispositions import ClassifiedEntries
from magicbyte.reading.partition_tally import tally_partition
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.survey import Survey, open_or_give_up
from magicbyte.reading.time_check import TimeCheck
from magicbyte.statistics._counts import Counts
from magicbyte.statistics._dirty_bytes import dirty_bytes
from magicbyte.statistics._payload_sizes import COLUMNS
from magicbyte.statistics._retention import retentions
from magicbyte.tables.schemas import LOST

BY = ("topic", "partition", "segment")
"""Kinds of groups: a row of statistics counts one topic, partition or segment."""

INDEX_KINDS = ("index", "timeindex", "txnindex")


class CountedGroup(NamedTuple):
    """Topic, partition, log.dir and file that a row of statistics is about; None for several."""

    topic: str | None
    partition: int | None
    log_dir: str | None
    file: str | None

    def by(self, group: str) -> "CountedGroup":
        """Return the *group*, one of `BY`, that this one belongs to."""
        match group:
            case "topic":
                return TOTAL._replace(topic=self.topic)
            case "partition":
                return self._replace(file=None)
        return self


TOTAL = CountedGroup(None, None, None, None)


def count_partition(
    log: PartitionLog, *, options: ReadOptions, quick: bool
) -> tuple[list[tuple[CountedGroup, Counts]], list[Finding]]:
    """Return the counts of each live segment of *log* and of its other files, and findings."""
    group = CountedGroup(log.topic, log.partition, log.folder.rpartition("/")[0] or None, None)
    others = Counts(not quick)
    if log.state is not None:
        others.unused_bytes = sum(file.size_bytes for file in log.files)
        return [(group, others)], []
    others.partition_count = 1
    segments = {file.path: Counts(not quick, segment_count=1) for file in log.logs}
    _count_files(log, segments, others)
    planner = Planner(options, open_or_give_up)
    findings, survey = _count_entries(planner, log, segments, quick=quick)
    dirty_segments = dirty_bytes(log, survey.last_stable_offset, survey.log_end_offset)
    for file, dirty in zip(log.logs, dirty_segments, strict=True):
        segments[file.path].dirty = dirty
    latest = [(segments[file.path].latest, file.size_bytes) for file in log.logs]
    for file, retention in zip(log.logs, retentions(latest), strict=True):
        segments[file.path].held = retention
    counted = [(group._replace(file=file.name), segments[file.path]) for file in log.logs]
    return [*counted, (group, others)], findings


def _count_files(log: PartitionLog, segments: dict[str, Counts], others: Counts) -> None:
    """Count the files of *log*; an index counts with its segment."""
    by_base = {file.base_offset: segments[file.path] for file in log.logs}
    for file in log.files:
        if not file.live:
            others.unused_bytes += file.size_bytes
        elif file.kind == "log":
            segments[file.path].log_bytes += file.size_bytes
        elif file.kind in INDEX_KINDS:
            by_base.get(file.base_offset, others).index_bytes += file.size_bytes
        else:
            others.other_bytes += file.size_bytes


def _count_entries(
    planner: Planner, log: PartitionLog, segments: dict[str, Counts], *, quick: bool
) -> tuple[list[Finding], Survey]:
    """Count the batches and messages in the *segments* of *log*; return findings and the survey."""
    time_check = TimeCheck(log)

    def look(file: LogFile, judged: ClassifiedEntries) -> None:
        segments[file.path].count(_name(log, file), judged)
        time_check.add(file, judged.entries)

    columns = None if quick else COLUMNS
    tally = tally_partition(planner, log, quick=quick, columns=columns, look=look)
    for path, by_disposition in tally.by_path.items():
        counts, num_bytes = segments[path], by_disposition.bytes
        counts.damaged_bytes = sum(num_bytes[name] for name in LOST)
        counts.tail_bytes = num_bytes["tail"]
    if quick:
        for file, entries in planner.headers(tally.survey):
            segments[file.path].count_headers(_name(log, file), entries)
            time_check.add(file, entries)
        for segment in tally.survey.segments:
            counts = segments[segment.file.path]
            counts.tail_bytes = segment.tail_bytes
            lost = sum(stretch.length for stretch in segment.unsound_ranges)
            counts.damaged_bytes = lost - segment.tail_bytes
    findings = [*tally.report.findings, *time_check.finish(tally.survey.segments)]
    return findings, tally.survey


def _name(log: PartitionLog, file: LogFile) -> str:
    return file.name if log.topic is None else f"{log.name}/{file.name}"
