"""Checks the files next to the segments: those that are invalid, missing, left over or foreign."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from magicbyte.findings import Finding
from magicbyte.logdir.file_names import KINDS, is_partition_file, parse_file
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import Survey
from magicbyte.verification.startup import invalid_files, offset_in_name, segment_name

LEFT_OVER = {
    "cleaned": "left by an interrupted cleaning or split, a broker deletes it on startup",
    "swap": "left by an interrupted cleaning or split, which a broker completes on startup",
    "deleted": "due for deletion after file.delete.delay.ms, or on startup",
}
"""Reason why a file with this suffix was left over."""


def companion_findings(log: PartitionLog, survey: Survey) -> Iterator[Finding]:
    """Yield findings about files of *log* that are not segments; *survey* is the log's survey."""
    finding = partial(Finding, topic=log.topic, partition=log.partition)
    for invalid in invalid_files(log.on_disk):
        if invalid.finding.code != "unreadable":  # which the opening of the log has found
            yield invalid.finding
    for name, base in _missing_indexes(log):
        yield finding(
            code="index-missing", message=f"there is no {name}", file=name, base_offset=base
        )
    yield from _snapshot_findings(log, survey)
    if survey.num_empty_transactions:
        markers = (
            "1 marker ends"
            if survey.num_empty_transactions == 1
            else f"{survey.num_empty_transactions} markers end"
        )
        yield finding(
            code="transactions-empty",
            message=f"{markers} transactions that wrote nothing here, the first at offset "
            f"{survey.first_empty_transaction}",
            found=str(survey.num_empty_transactions),
        )
    # Files are grouped by suffix, and keep their order within a group.
    for suffix, files in groupby(sorted(log.files, key=_suffix), key=_suffix):
        if suffix in LEFT_OVER:
            names = [file.name for file in files]
            subject = names[0] if len(names) == 1 else f"{len(names)} files that end in .{suffix}"
            yield finding(
                code="left-over",
                message=f"{subject}: {LEFT_OVER[suffix]}",
                file=names[0],
                found=", ".join(names[:8]),
            )
    for file in log.files:
        if file.base_offset is not None or is_partition_file(file.name):
            continue
        if not file.name.endswith(tuple(KINDS)):
            yield finding(code="foreign-file", message="not a file of Kafka", file=file.name)
        elif (offset := offset_in_name(file.name)) is not None and file.name.endswith(".log"):
            yield finding(
                code="foreign-file",
                message=f"a broker does not read it: for offset {offset} it opens {segment_name(offset)}",
                file=file.name,
            )
        elif offset is None:
            yield finding(
                code="file-name-invalid",
                message="the file name does not begin with an offset: a broker fails to load this "
                "partition",
                file=file.name,
            )


def _suffix(file: LogFile) -> str:
    return parse_file(file.name).suffix or ""


def _missing_indexes(log: PartitionLog) -> Iterator[tuple[str, int]]:
    """Yield names and base offsets of missing indexes of each kind that some segment has."""
    for kind in ("index", "timeindex"):
        bases = {
            file.base_offset
            for file in log.files
            # Indexes of a remote segment that is read in part are not live: they lead past its end.
            if file.kind == kind and (file.live or file.is_remote)
        }
        for segment in log.logs if bases else ():
            if segment.base_offset is not None and segment.base_offset not in bases:
                yield segment.name.removesuffix(".log") + f".{kind}", segment.base_offset


def _snapshot_findings(log: PartitionLog, survey: Survey) -> Iterator[Finding]:
    """Yield findings about producer snapshots above the log end offset, or missing at it."""
    end = survey.log_end_offset
    bases = {
        file.name: file.base_offset or 0
        for file in log.files
        if file.live and file.kind == "snapshot"
    }
    if end is None or not bases or survey.is_end_unreadable:
        return
    finding = partial(Finding, topic=log.topic, partition=log.partition)
    for name, base in bases.items():
        if base > end:
            yield finding(
                code="snapshot-mismatch",
                message=f"the snapshot at offset {base} is above the log end offset {end}",
                file=name,
                found=str(base),
                expected=f"{end} or less",
            )
    is_clean = log.log_dir is not None and log.log_dir.clean_shutdown
    if is_clean and max(bases.values()) < end:
        yield finding(
            code="snapshot-missing",
            message=f"there is no producer snapshot at the log end offset {end}, where a clean "
            "shutdown writes one",
            file=f"{end:020}.snapshot",
        )


def topic_id_findings(logs: Sequence[PartitionLog]) -> Iterator[Finding]:
    """Yield findings about topic ids of *logs* that are missing, or differ within a topic."""
    ids: defaultdict[str, Counter[str]] = defaultdict(Counter)
    num_with_id: Counter[str] = Counter()
    """Number of partitions that have a topic id, by log.dir."""
    served = [log for log in logs if log.state is None and log.topic and not log.is_named_files]
    for log in served:
        if log.topic_id is not None:
            ids[log.topic or ""][log.topic_id] += 1
            num_with_id[_parent(log)] += 1
    num_replicas = Counter((log.topic, log.partition) for log in served)
    for log in served:
        finding = partial(
            Finding,
            topic=log.topic,
            partition=log.partition,
            file="partition.metadata",
            replica=_parent(log) if num_replicas[log.topic, log.partition] > 1 else None,
        )
        is_kraft = log.log_dir is not None and log.log_dir.is_kraft
        if log.topic_id is None and (is_kraft or num_with_id[_parent(log)]):
            # One that cannot be read has a finding already.
            names = {*(file.name for file in log.files), *(each.file for each in log.findings)}
            if "partition.metadata" not in names:
                yield finding(
                    code="topic-id-missing",
                    message="there is no partition.metadata, which holds the topic id",
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
