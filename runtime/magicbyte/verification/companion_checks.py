"""What lies beside the segments of partitions: is it what belongs there, and is anything missing?"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.file_names import KINDS, parse_file
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.survey import Survey
from magicbyte.verification.startup import has_offset_name, invalid_files

UNDER_WAY = {
    "cleaned": "a cleaning or split was not finished, and a start removes them",
    "swap": "a cleaning or split was not finished, and a start finishes it",
    "deleted": "they wait for file.delete.delay.ms, and a start removes them",
}
"""What files with a suffix wait for."""

OTHER_FILES = re.compile(
    r"leader-epoch-checkpoint|partition\.metadata|quorum-state|\.?kafka_cleanshutdown|.*\.tmp"
)
"""Kafka's files in a partition's folder that belong to no segment."""


def wrong_beside(log: PartitionLog, found: Survey) -> Iterator[Finding]:
    """Yield what is wrong with the files of *log* that are no segments, *found* being in those."""
    finding = partial(Finding, topic=log.topic, partition=log.partition)
    yield from invalid_files(log.on_disk)
    for name, base in _missing_indexes(log):
        yield finding(
            code="index-missing", message=f"there is no {name}", file=name, base_offset=base
        )
    yield from _snapshots_at_the_end(log, found)
    for suffix, files in groupby(
        sorted(log.files, key=_suffix), key=_suffix
    ):  # by name within each, as they were
        if suffix in UNDER_WAY:
            names = [file.name for file in files]
            some = names[0] if len(names) == 1 else f"{len(names)} files that end in .{suffix}"
            yield finding(
                code="left-over",
                message=f"{some}: {UNDER_WAY[suffix]}",
                file=names[0],
                found=", ".join(names[:8]),
            )
    for file in log.files:
        if file.base_offset is not None or OTHER_FILES.fullmatch(file.name):
            continue
        if file.name.endswith(tuple(KINDS)) and not has_offset_name(file.name):
            yield finding(
                code="file-name-invalid",
                message="the name does not begin with an offset: a broker does not start with it",
                file=file.name,
            )
        elif not file.name.endswith(tuple(KINDS)):
            yield finding(code="foreign-file", message="this is no file of Kafka's", file=file.name)


def _suffix(file: LogFile) -> str:
    return parse_file(file.name).suffix or ""


def _missing_indexes(log: PartitionLog) -> Iterator[tuple[str, int]]:
    """Yield names and base offsets of the indexes that segments lack, where others have theirs."""
    for kind in ("index", "timeindex"):
        there = {
            file.base_offset
            for file in log.files
            # Those of a remote segment that is read in part lead behind its end.
            if file.kind == kind and (file.live or file.is_remote)
        }
        for segment in log.logs if there else ():
            if segment.base_offset is not None and segment.base_offset not in there:
                yield segment.name.removesuffix(".log") + f".{kind}", segment.base_offset


def _snapshots_at_the_end(log: PartitionLog, found: Survey) -> Iterator[Finding]:
    """Yield the producer snapshots above the log's end, and the one that a clean stop takes there."""
    end = found.log_end_offset
    snapshots = [file for file in log.files if file.live and file.kind == "snapshot"]
    if end is None or not snapshots:
        return
    finding = partial(Finding, topic=log.topic, partition=log.partition)
    for file in snapshots:
        base = file.base_offset or 0
        if base > end:
            yield finding(
                code="snapshot-mismatch",
                message=f"it lies above the end of the log, {end}",
                file=file.name,
                found=str(base),
                expected=f"{end} or less",
            )
    is_clean = log.log_dir is not None and log.log_dir.clean_shutdown
    if is_clean and max(file.base_offset or 0 for file in snapshots) < end:
        yield finding(
            code="snapshot-missing",
            message=f"there is no producer snapshot at {end}, where the log ends and a clean stop "
            "takes one",
            file=f"{end:020}.snapshot",
        )


def wrong_between(logs: Sequence[PartitionLog]) -> Iterator[Finding]:
    """Yield where the topic ids of *logs* are missing or disagree."""
    ids: defaultdict[str, Counter[str]] = defaultdict(Counter)
    folders: Counter[str] = Counter()
    """By log.dir, how many partitions have an id."""
    served = [log for log in logs if log.state is None and log.topic and not log.is_named_files]
    for log in served:
        if log.topic_id is not None:
            ids[log.topic or ""][log.topic_id] += 1
            folders[_parent(log)] += 1
    for log in served:
        finding = partial(
            Finding, topic=log.topic, partition=log.partition, file="partition.metadata"
        )
        is_kraft = log.log_dir is not None and log.log_dir.is_kraft
        if log.topic_id is None and (is_kraft or folders[_parent(log)]):
            if not any(file.name == "partition.metadata" for file in log.files):
                yield finding(
                    code="topic-id-missing",
                    message="there is no partition.metadata, which holds the topic's id",
                )
        elif log.topic_id is not None and len(known := ids[log.topic or ""]) > 1:
            others = ", ".join(sorted(known.keys() - {log.topic_id}))
            yield finding(
                code="topic-id-differs",
                message=f"the topic id is {log.topic_id}, in other partitions {others}",
                field="topic_id",
                found=log.topic_id,
                expected=others,
            )


def _parent(log: PartitionLog) -> str:
    return log.folder.rpartition("/")[0]
