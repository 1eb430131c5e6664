"""The columns of a partition's row that say what a broker would do with it on startup."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from magicbyte.errors import ChangedError, LimitError, StoreError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.metadata_snapshots import METADATA_TOPIC
from magicbyte.reading.damaged_offsets import DamagedRange
from magicbyte.reading.survey import Survey
from magicbyte.verification.startup import StartupPrediction
from magicbyte.verification.verdicts import Verdict


def prediction_of(
    log: PartitionLog, survey: Survey, limits: Limits, predict: Callable[..., StartupPrediction]
) -> StartupPrediction | None:
    """Return what a broker would do on startup; None where it reads no such log, or where a batch is
    too large to be decoded, or something cannot be read."""
    if log.state is not None or log.is_named_files or log.is_remote:
        return None
    predict = partial(predict, has_transactions=bool(survey.transactions), limits=limits)
    try:
        if log.topic == METADATA_TOPIC:
            # The metadata log is recovered on every startup, and has no checkpoints (KafkaRaftLog).
            return predict(replace(log.on_disk, log_dir=None), is_clean=False)
        return predict(log.on_disk)
    except (LimitError, UnreadableError, StoreError, ChangedError):
        return None


def predicted_columns(
    survey: Survey,
    findings: Sequence[Finding],
    prediction: StartupPrediction | None,
    *,
    quick: bool,
) -> dict[str, Any]:
    """Return the verdict on the partition of *survey*, the offsets it loses, and sentences.

    All *findings* are about the partition. With *quick*, only headers were read.
    """
    log = survey.log
    has_errors = any(finding.severity == "error" for finding in findings)
    if prediction is None:
        # A startup does not read remote storage, and segments alone are no log.
        is_intact = (log.is_named_files and not findings) or (log.is_remote and not has_errors)
        return _columns("intact" if is_intact and not quick else "unknown")
    # A broker opens no file with the name of another segment than its offset has, such as 0.log.
    sizes_before = {
        file.name: file.size_bytes
        for file in log.on_disk.files
        if file.name.endswith(".log") and file.base_offset is not None
    }
    end, open_transactions = survey.log_end_offset, _open_since(survey)
    lost = prediction.lost_ranges(survey.log_start_offset, _log_end_before(survey))
    unnoticed = [
        *prediction.unnoticed_damage(end, open_transactions),
        *_waiting_consumers(survey, findings),
    ]
    verdict = prediction.verdict(
        sizes_before, loses_offsets=bool(lost), is_damaged=has_errors or bool(unnoticed)
    )
    columns = _columns(verdict)
    columns["recovery"] = prediction.sentences(
        log_end_offset=end, open_transactions=open_transactions
    )
    if prediction.refusal is None:
        columns["recovery"] += _waiting_consumers(survey, findings)
        columns["log_end_offset_after_recovery"] = prediction.log_end_offset
        columns["offsets_lost"] = sum(end - first for first, end in lost)
        columns["lost_ranges"] = lost
    return columns


def _columns(verdict: str) -> dict[str, Any]:
    """Return the columns with *verdict*, and nothing known about offsets."""
    return {
        "verdict": verdict,
        "log_end_offset_after_recovery": None,
        "offsets_lost": None,
        "lost_ranges": [],
        "recovery": [],
    }


def _log_end_before(survey: Survey) -> int | None:
    """Return the log end offset before a startup, or the acknowledged offset if it is higher."""
    offsets = survey.log_end_offset, survey.log.acknowledged_offset
    return max((offset for offset in offsets if offset is not None), default=None)


def _waiting_consumers(survey: Survey, findings: Sequence[Finding]) -> list[str]:
    """Return a sentence where no entry follows a gap, as before an empty last segment.

    A broker's fetch in the gap finds no entry in any later segment, and returns nothing (LocalLog.read).
    """
    return [
        f"no record follows the missing offsets: consumers would wait at offset {finding.expected} until one is appended"
        for finding in findings
        if finding.code == "offset-gap" and finding.base_offset == survey.log_end_offset
    ]


def _open_since(survey: Survey) -> dict[int, int]:
    """Return producer id and first offset of each transaction that has data and no marker in the log."""
    return {
        transaction.producer_id: transaction.first_offset
        for transaction in survey.transactions.with_outcome("open", "undecided")
        if transaction.outcome == "open" or transaction.evidence == "snapshot"
    }


def damaged_range_rows(
    damaged_ranges: Iterable[DamagedRange], bytes_after: Mapping[str, int] | None
) -> list[dict[str, Any]]:
    """Return *damaged_ranges* as dicts, with `remains`: whether a startup does not remove them.

    *bytes_after* are the predicted bytes of each segment; None, and `remains` too, if none are.
    """
    return [
        {
            **asdict(damaged),
            "remains": None if bytes_after is None else _remains(damaged, bytes_after),
        }
        for damaged in damaged_ranges
    ]


def _remains(damaged: DamagedRange, bytes_after: Mapping[str, int]) -> bool:
    return damaged.position < bytes_after.get(damaged.file.removesuffix(".swap"), 0)


def with_replica(findings: Iterable[Finding], log: PartitionLog) -> list[Finding]:
    """Return *findings*, which are about *log*, with the log.dir that holds it."""
    log_dir = log.folder.rpartition("/")[0] or None
    return [
        finding if finding.replica else replace(finding, replica=log_dir) for finding in findings
    ]


def mark_partitions_with_errors(
    partition_rows: Iterable[dict[str, Any]], findings: Iterable[Finding], verdict: Verdict
) -> None:
    """Replace `intact` by *verdict* for each partition that an error among *findings* is about.

    Some errors are found after the partition was judged, such as replicas that differ. An error about
    one replica says nothing about the others.
    """
    with_errors = {
        (finding.topic, finding.partition, finding.replica)
        for finding in findings
        if finding.severity == "error" and finding.topic is not None
    }
    for row in partition_rows:
        name = row["topic"], row["partition"]
        is_named = not with_errors.isdisjoint([(*name, None), (*name, row["log_dir"])])
        if row["verdict"] == "intact" and is_named:
            row["verdict"] = verdict
