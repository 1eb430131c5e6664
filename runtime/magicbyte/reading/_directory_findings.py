"""Findings about the files of a partition, judged by the offsets that its log has."""

from collections.abc import Iterator, Sequence

from magicbyte.findings import Finding, offsets_are
from magicbyte.logdir.log_file import PartitionLog


def directory_findings(
    log: PartitionLog, bases: Sequence[int], end: int | None, log_end_offset: int | None
) -> Iterator[Finding]:
    """Yield findings that *log* once began lower, ended higher or had more segments.

    *bases* are the base offsets of its segments, *end* the offset after its last entry,
    *log_end_offset* the log end offset of the survey.
    """
    known = set(bases)
    orphans = {
        file.base_offset: file.name
        for file in log.files
        if file.kind in ("index", "timeindex", "txnindex")
        and file.live
        and file.base_offset not in known
    }
    for base, name in orphans.items():
        yield log.finding("segment-missing", f"{name} has no segment", file=name, found=str(base))
    starts = [
        start for start in (log.log_start_checkpoint, log.first_epoch_start) if start is not None
    ]
    lower_starts = [start for start in starts if bases and start < bases[0]]
    if lower_starts:
        # A negative offset is garbage, and says nothing about what is missing.
        stated = min((start for start in lower_starts if start >= 0), default=min(lower_starts))
        why = (
            "no offset is negative, so the checkpoint is wrong"
            if stated < 0
            else "the offsets between are in remote storage, or lost"
        )
        yield log.finding(
            "log-begins-above",
            f"the log begins at offset {bases[0]}, its checkpoints say {stated}: {why}",
            found=str(bases[0]),
            expected=str(stated),
        )
    start = log.log_start_checkpoint
    highest = max((offset for offset in (*bases[-1:], end) if offset is not None), default=None)
    if start is not None and highest is not None and start > highest:
        yield log.finding(
            "log-start-beyond",
            f"the log ends at offset {highest}, but its log start checkpoint is {start}: "
            "consumers get no record, and on startup a broker would delete every segment",
            found=str(start),
            expected=f"{highest} or less",
        )
    acknowledged = log.acknowledged_offset
    if acknowledged is not None and log_end_offset is not None and log_end_offset < acknowledged:
        yield log.finding(
            "log-ends-below",
            f"the log ends at offset {log_end_offset}, its checkpoints say {acknowledged}: "
            f"{offsets_are(log_end_offset, acknowledged - 1, 'lost')}",
            found=str(log_end_offset),
            expected=str(acknowledged),
        )
