"""Report once a copy of log.dirs without any .log file, instead of for each partition."""

from collections.abc import Sequence

from magicbyte.findings import Finding
from magicbyte.logdir.file_names import parse_file
from magicbyte.logdir.log_file import PartitionLog

FOLLOW = (
    *("segment-missing", "log-begins-above", "log-ends-below", "high-watermark-stale"),
    *("snapshot-mismatch", "snapshot-missing"),
)
"""Codes of findings that follow from the absence of .log files."""

LEAST_PARTITIONS = 2


def fold_missing_logs(findings: list[Finding], logs: Sequence[PartitionLog]) -> list[Finding]:
    """Return *findings* about *logs*, with one in place of all that say that .log files are missing.

    That is done only if no partition has a .log file, and some have indexes or snapshots. Version
    control often ignores `*.log`.
    """
    partitions = [log for log in logs if log.state is None and not log.is_named_files]
    kinds = {parse_file(file.name).kind for log in partitions for file in log.files}
    is_without = "log" not in kinds and kinds.intersection(("index", "timeindex", "snapshot"))
    if not is_without or len(partitions) < LEAST_PARTITIONS:
        return findings
    codes = {finding.code for finding in findings}
    code = next((code for code in ("log-ends-below", "segment-missing") if code in codes), None)
    if code is None:
        return findings
    message = (
        f"none of the {len(partitions)} partitions has a .log file: were they left out of the copy? "
        "(git ignores *.log in many repositories)"
    )
    kept = [finding for finding in findings if finding.code not in FOLLOW]
    return [Finding(code=code, message=message), *kept]
