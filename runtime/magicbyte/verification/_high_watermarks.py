"""Folds the findings about high watermarks that were checkpointed before a crash: one per log.dir."""

from collections import defaultdict
from collections.abc import Sequence

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog

CODE = "high-watermark-stale"


def fold_stale_watermarks(
    findings: Sequence[Finding], logs: Sequence[PartitionLog]
) -> list[Finding]:
    """Return *findings* with one finding for each log.dir that has several stale high watermarks.

    A broker that was killed leaves one in each partition that it wrote to.
    """
    log_dirs = {
        (log.topic, log.partition): log.log_dir.path for log in logs if log.log_dir is not None
    }
    by_log_dir: defaultdict[str | None, list[Finding]] = defaultdict(list)
    others: list[Finding] = []
    for finding in findings:
        if finding.code == CODE:
            log_dir = finding.replica or log_dirs.get((finding.topic, finding.partition))
            by_log_dir[log_dir].append(finding)
        else:
            others.append(finding)
    for log_dir, stale in by_log_dir.items():
        others += stale if len(stale) == 1 or log_dir is None else [_folded(log_dir, stale)]
    return others


def _folded(log_dir: str, stale: Sequence[Finding]) -> Finding:
    first = stale[0]
    return Finding(
        code=CODE,
        message=f"the high watermarks of {len(stale)} partitions in {log_dir} are older than their "
        f"log ends, since the broker stopped without a clean shutdown: that of {first.topic}-"
        f"{first.partition} is {first.found}, its log ends at {first.expected}",
        file="replication-offset-checkpoint",
        found=str(len(stale)),
        replica=first.replica,
    )
