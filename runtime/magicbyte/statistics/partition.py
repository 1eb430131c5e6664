"""The files of a partition, counted."""

from typing import NamedTuple

from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.dispositions import Judged
from magicbyte.reading.results import Report
from magicbyte.reading.time_check import TimeCheck
from magicbyte.statistics.counts import Counts
from magicbyte.statistics.payload_sizes import COLUMNS
from magicbyte.statistics.retention import held

BY = ("topic", "partition", "segment")
"""What can be counted as one."""

INDEXES = ("index", "timeindex", "txnindex")


class Place(NamedTuple):
    """What a row is of; the fields are columns, null where it is of several."""

    topic: str | None
    partition: int | None
    log_dir: str | None
    file: str | None

    def by(self, what: str) -> "Place":
        """Return the one of `BY` in which this one lies."""
        match what:
            case "topic":
                return NOWHERE._replace(topic=self.topic)
            case "partition":
                return self._replace(file=None)
        return self


NOWHERE = Place(None, None, None, None)


def read_partition(
    dataset: Dataset, log: PartitionLog, report: Report, *, quick: bool
) -> list[tuple[Place, Counts]]:
    """Return the counts of *log*: those of each live segment, and those of what belongs to none.

    What was found goes to *report*.
    """
    here = Place(log.topic, log.partition, log.folder.rpartition("/")[0] or None, None)
    beside = Counts(not quick)
    if log.state is not None:
        beside.unused_bytes = sum(file.size_bytes for file in log.files)
        return [(here, beside)]
    beside.partition_count = 1
    segments = {file.path: Counts(not quick, segment_count=1) for file in log.logs}
    _count_files(log, segments, beside)
    _read(dataset, log, report, segments, quick=quick)
    times = [(segments[file.path].largest, file.size_bytes) for file in log.logs]
    for file, one in zip(log.logs, held(times), strict=True):
        segments[file.path].held = one
    counted = [(here._replace(file=file.name), segments[file.path]) for file in log.logs]
    return [*counted, (here, beside)]


def _count_files(log: PartitionLog, segments: dict[str, Counts], beside: Counts) -> None:
    """Count the files of *log*, an index with its segment."""
    by_base = {file.base_offset: segments[file.path] for file in log.logs}
    for file in log.files:
        if not file.live:
            beside.unused_bytes += file.size_bytes
        elif file.kind == "log":
            segments[file.path].log_bytes += file.size_bytes
        elif file.kind in INDEXES:
            by_base.get(file.base_offset, beside).index_bytes += file.size_bytes
        else:
            beside.other_bytes += file.size_bytes


def _read(
    dataset: Dataset,
    log: PartitionLog,
    report: Report,
    segments: dict[str, Counts],
    *,
    quick: bool,
) -> None:
    """Count what lies in the *segments* of *log*."""

    ahead = TimeCheck(log)

    def look(file: LogFile, judged: Judged) -> None:
        segments[file.path].take(_name(log, file), judged)
        ahead.take(file, judged.entries)

    columns = None if quick else COLUMNS
    found, tallies = dataset.tallied(log, report, quick=quick, columns=columns, look=look)
    for path, tally in tallies.items():
        segments[path].damaged_bytes = tally.bytes["damaged"] + tally.bytes["over_limit"]
        segments[path].tail_bytes = tally.bytes["tail"]
    if quick:
        for file, entries in dataset.headers(found):
            segments[file.path].take_headers(_name(log, file), entries)
            ahead.take(file, entries)
        for segment in found.segments:
            one, lost = segments[segment.file.path], segment.stretches
            one.tail_bytes = segment.tail_bytes
            one.damaged_bytes = sum(stretch.length for stretch in lost) - one.tail_bytes
    report.findings.extend(ahead.finish(found.segments))


def _name(log: PartitionLog, file: LogFile) -> str:
    return file.name if log.topic is None else f"{log.name}/{file.name}"
